"""The ONNX graph of an encoder computes what an independent implementation in numpy computes from the same weights."""

import numpy as np
import pytest

from paragloss.encoders.pretrained.bert_graph import POOL_ABOVE_TOKENS, BertWeights, write_onnx_model

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
DIM, HEADS, LAYERS, PIECES, POSITIONS = 64, 2, 3, 50, 100
SHORT, ODD_LONG = POOL_ABOVE_TOKENS, POOL_ABOVE_TOKENS + 9


def make_weights(pool_after):
    chance = np.random.default_rng(0)

    def normal(*shape):
        return chance.normal(0, 0.3, shape).astype(np.float32)

    tensors = {"position": normal(POSITIONS, DIM), "pool.weight": normal(DIM, DIM)}
    shapes = {"q": (DIM, DIM), "k": (DIM, DIM), "v": (DIM, DIM), "out": (DIM, DIM), "up": (96, DIM), "down": (DIM, 96)}
    for i in range(LAYERS):
        for name, shape in shapes.items():
            tensors[f"{i}.{name}.weight"], tensors[f"{i}.{name}.bias"] = normal(*shape), normal(shape[0])
    for name in ["norm", *(f"{i}.norm{n}" for i in range(LAYERS) for n in (1, 2))]:
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = 1 + normal(DIM), normal(DIM)
    codes = chance.integers(0, 16, (PIECES, DIM)).astype(np.uint8)
    scales = chance.normal(0, 0.1, (PIECES, DIM // 32)).astype(np.float16)
    return BertWeights(codes, scales, tensors, LAYERS, HEADS, 1e-12, pool_after)


def encode_in_numpy(weights, ids):
    """Encode one text with float64 arithmetic."""
    tensors = {name: array.astype(np.float64) for name, array in weights.tensors.items()}
    for i in range(LAYERS):  # stored in float16
        tensors[f"{i}.down.weight"] = weights.tensors[f"{i}.down.weight"].astype(np.float16).astype(np.float64)

    def normalize(rows, name):
        rows = (rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + weights.epsilon)
        return rows * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def apply_linear(rows, name):
        return rows @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]

    def apply_gelu(rows):
        from math import erf, sqrt

        return rows * (1 + np.vectorize(erf)(rows / sqrt(2))) / 2

    words = (weights.word_codes[ids].astype(float) - 8) * np.repeat(weights.word_scales[ids].astype(float), 32, axis=1)
    words = words.astype(np.float16).astype(float)  # the type of the scales is that of the word vectors
    rows, counts = normalize(words + tensors["position"][: len(ids)], "norm"), np.ones(len(ids))
    for i in range(LAYERS):
        if i and i == weights.pool_after and len(ids) > POOL_ABOVE_TOKENS:
            pairs = [rows[j : j + 2] for j in range(0, len(rows), 2)]
            counts = np.array([len(pair) for pair in pairs])
            rows = np.stack([pair.mean(0) + (pair[0] - pair[-1]) @ tensors["pool.weight"].T for pair in pairs])
        q, k, v = (apply_linear(rows, f"{i}.{part}").reshape(len(rows), HEADS, -1).swapaxes(0, 1) for part in "qkv")
        shares = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[2]))
        attended = (shares / shares.sum(2, keepdims=True) @ v).swapaxes(0, 1).reshape(len(rows), -1)
        rows = normalize(rows + apply_linear(attended, f"{i}.out"), f"{i}.norm1")
        rows = normalize(rows + apply_linear(apply_gelu(apply_linear(rows, f"{i}.up")), f"{i}.down"), f"{i}.norm2")
    total = (rows * counts[:, None]).sum(0)
    return total / np.linalg.norm(total)


def run_model(path, ids, mask=None):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    ids = np.atleast_2d(ids).astype(np.int64)
    mask = np.ones_like(ids) if mask is None else np.atleast_2d(mask).astype(np.int64)
    return session.run(["sentence_embedding"], {"input_ids": ids, "attention_mask": mask})[0]


@pytest.mark.parametrize("pool_after", [0, 1, 2])
@pytest.mark.parametrize("length", [1, 7, SHORT, SHORT + 2, ODD_LONG])
def test_the_graph_computes_what_numpy_computes_from_the_weights(tmp_path, pool_after, length):
    weights = make_weights(pool_after)
    ids = np.random.default_rng(length).integers(0, PIECES, length)
    write_onnx_model(weights, tmp_path / "model.onnx", quantize=False)
    (row,) = run_model(tmp_path / "model.onnx", ids)
    np.testing.assert_allclose(row, encode_in_numpy(weights, ids), atol=1e-4)


def test_int8_layers_stay_near_the_weights(tmp_path):
    weights = make_weights(2)
    ids = np.random.default_rng(0).integers(0, PIECES, ODD_LONG)
    write_onnx_model(weights, tmp_path / "model.onnx")
    (row,) = run_model(tmp_path / "model.onnx", ids)
    assert row @ encode_in_numpy(weights, ids) > 0.98


@pytest.mark.parametrize("length", [5, ODD_LONG])
def test_padding_does_not_change_a_vector(tmp_path, length):
    write_onnx_model(make_weights(1), tmp_path / "model.onnx", quantize=False)
    ids = np.random.default_rng(0).integers(0, PIECES, length)
    padded, mask = np.append(ids, [1, 1, 1]), np.append(np.ones(length), [0, 0, 0])
    unpadded, in_batch = run_model(tmp_path / "model.onnx", ids), run_model(tmp_path / "model.onnx", padded, mask)
    np.testing.assert_allclose(in_batch, unpadded, atol=1e-5)
