"""Write a BERT encoder as a standard ONNX model with int8 layers and 4-bit word vectors.

Used when weights are converted: by `e5_conversion` once on a user's machine, by studies/student_onnx.py for the encoder
that Paragloss ships. Running a model needs onnxruntime only; converting needs the package `onnx` as well.

The graph takes `input_ids` and `attention_mask` (texts, tokens) and returns `sentence_embedding` (texts, dim): the mean
of the last layer over the tokens of each text, scaled to length 1.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paragloss.types import Floats

#: Numbers of a word vector that share one scale.
WORD_BLOCK = 32
#: Texts of more tokens than this are shortened to half their length after layer `pool_after`.
POOL_ABOVE_TOKENS = 64
#: A channel of activations is an outlier if it is larger than the median channel by more than this factor.
OUTLIER_FACTOR = 8.0
CONTRIB = "com.microsoft"

Array = np.ndarray[Any, Any]


class BertWeights(NamedTuple):
    """The weights of an encoder.

    `word_codes` holds the numbers 0 to 15 of the word vectors (pieces, dim), `word_scales` their scales (pieces, dim /
    WORD_BLOCK); a number is (code - 8) * scale. `tensors` maps "position" (positions, dim), "norm.weight", "norm.bias"
    and, for each layer i, "i.q.weight" (out, in), "i.q.bias" and so on for q, k, v, out, up, down, "i.norm1.weight",
    "i.norm2.weight", ... to float32 arrays. "i.up.smoothing" (in,), where it is, divides the input of that product,
    whose weights have been multiplied by it.

    After `pool_after` layers, neighbouring tokens of long texts are merged by "pool.weight" (dim, dim); 0: never.
    """

    word_codes: Array
    word_scales: Floats
    tensors: Mapping[str, Floats]
    layer_count: int
    head_count: int
    epsilon: float = 1e-12
    pool_after: int = 0


def write_onnx_model(weights: BertWeights, path: Path, *, quantize: bool = True) -> None:
    """Write an encoder as an ONNX file.

    :param quantize: write the matrices of the layers in int8, with one scale per output; but not the products "down",
        whose inputs have outliers: in int8 they cost .008 of the reciprocal rank of titles
        (docs/understand/encoder-figures.md)
    """
    onnx = import_module("onnx")
    model = build_model(weights)
    if not quantize:
        onnx.save(model, str(path))
        return
    quantization = import_module("onnxruntime.quantization")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "float.onnx")
        onnx.save(model, str(source))
        quantization.quantize_dynamic(
            str(source),
            str(path),
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            weight_type=quantization.QuantType.QInt8,
            nodes_to_exclude=[f"{i}.down" for i in range(weights.layer_count)],
            extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
        )


def smooth_activations(weights: BertWeights, token_rows: Sequence[Sequence[int]]) -> BertWeights:
    """Divide outlier channels of activations by a constant and multiply their weights by it, as SmoothQuant does.

    Quantized models scale all activations of a product together, and a few channels of the products "up" are forty
    times as large as the others. Smoothing all channels (arXiv 2211.10438, equation 4) was worse:
    docs/understand/log-models.md.

    :param token_rows: the pieces of some texts, by which the channels are measured
    """
    largest = _measure_activations(weights, token_rows)
    tensors = dict(weights.tensors)
    for name, activations in largest.items():
        smoothing = np.maximum(activations / (OUTLIER_FACTOR * np.median(activations)), 1.0)  # (in,)
        tensors[f"{name}.weight"] = (tensors[f"{name}.weight"] * smoothing).astype(np.float32)
        tensors[f"{name}.smoothing"] = smoothing.astype(np.float32)
    return weights._replace(tensors=tensors)


def _measure_activations(weights: BertWeights, token_rows: Sequence[Sequence[int]]) -> dict[str, Floats]:
    """Measure how large the inputs of the matrix products called "up" get, of which each layer of the model has one.

    :param token_rows: numbers of the pieces of some texts
    :return: name of the product -> the largest absolute value of each channel of its input, (channels,)
    """
    model = build_model(weights)
    product_names = [f"{i}.up" for i in range(weights.layer_count)]
    product_inputs = _add_product_inputs_to_outputs(model, product_names)
    runtime = import_module("onnxruntime")
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    largest: dict[str, Floats] = {}
    for row in token_rows:
        ids = np.array([row], np.int64)
        activations = session.run(product_inputs, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        for name, array in zip(product_names, activations, strict=True):
            largest_in_text = np.abs(array[0]).max(axis=0)  # array[0] is (tokens, channels)
            largest[name] = np.maximum(largest.get(name, 0.0), largest_in_text)
    return largest


def _add_product_inputs_to_outputs(model: Any, product_names: Sequence[str]) -> list[str]:
    """Make the inputs of products outputs of a graph as well; return their names in the graph."""
    onnx = import_module("onnx")
    input_by_matrix = {node.input[1]: node.input[0] for node in model.graph.node if node.op_type == "MatMul"}
    product_inputs = [input_by_matrix[f"{name}.weight"] for name in product_names]
    for product_input in product_inputs:
        model.graph.output.append(onnx.helper.make_tensor_value_info(product_input, onnx.TensorProto.FLOAT, None))
    return product_inputs


def build_model(weights: BertWeights) -> Any:
    """Return an encoder as an `onnx.ModelProto` with float32 layers."""
    return _BertGraphBuilder(weights).build()


class _BertGraphBuilder:
    """Adds the nodes of one BERT to a graph. Each `_add_*` method returns the name of the output it adds."""

    def __init__(self, weights: BertWeights) -> None:
        self._weights = weights
        self._onnx = import_module("onnx")
        self._helper = import_module("onnx.helper")
        self._nodes: list[Any] = []
        self._initializers: list[Any] = []

    def build(self) -> Any:
        hidden = self._add_embeddings()
        mask = self._node("Cast", ["attention_mask"], to=self._onnx.TensorProto.FLOAT)  # (texts, tokens)
        token_weights = mask
        for i in range(self._weights.layer_count):
            if i and i == self._weights.pool_after:
                hidden, mask, token_weights = self._add_pooling(hidden, mask)
            hidden = self._add_layer(i, hidden, mask)
        self._add_sentence_embedding(hidden, token_weights)
        return self._make_model()

    def _add_embeddings(self) -> str:
        """Add the sum of word and position vectors, normalized; return the name of its output (texts, tokens, dim)."""
        codes = self._pack_codes()
        scales = self._constant("word_scales", np.asarray(self._weights.word_scales, np.float16))
        words = self._node(
            "GatherBlockQuantized",
            [codes, "input_ids", scales],
            domain=CONTRIB,
            gather_axis=0,
            quantize_axis=1,
            block_size=WORD_BLOCK,
            bits=4,
        )
        float_words = self._node("Cast", [words], to=self._onnx.TensorProto.FLOAT)
        token_count = self._unsqueeze(self._add_token_count("input_ids"))
        first, axis = self._ints(0), self._ints(0)
        positions = self._node("Slice", [self._tensor("position"), first, token_count, axis])
        return self._add_norm("norm", self._node("Add", [float_words, positions]))

    def _add_token_count(self, tensor: str) -> str:
        """Add the number of tokens of a tensor (texts, tokens); return its name."""
        return self._node("Gather", [self._node("Shape", [tensor]), self._int(1)], axis=0)

    def _pack_codes(self) -> str:
        """Add the codes of the word vectors, two in a byte, the first in the low half."""
        codes = np.asarray(self._weights.word_codes, np.uint8)
        packed = (codes[:, ::2] | codes[:, 1::2] << 4).astype(np.uint8)
        return self._constant("word_codes", packed)

    def _add_layer(self, i: int, hidden: str, mask: str) -> str:
        """Add a transformer layer; return the name of its output (texts, tokens, dim)."""
        attended = self._add_linear(f"{i}.out", self._add_attention(i, hidden, mask))
        hidden = self._add_norm(f"{i}.norm1", self._node("Add", [attended, hidden]))
        activated = self._node("Gelu", [self._add_linear(f"{i}.up", hidden)], domain=CONTRIB)
        projected = self._add_float_product(f"{i}.down", activated)
        return self._add_norm(f"{i}.norm2", self._node("Add", [projected, hidden]))

    def _add_attention(self, i: int, hidden: str, mask: str) -> str:
        """Add the self-attention of a layer, with one product for query, key and value; return its output's name.

        :param i: number of the layer
        :param hidden: name of its input, (texts, tokens, dim)
        :param mask: name of the mask, (texts, tokens), 0 for padding
        """
        tensors = self._weights.tensors
        weight = np.concatenate([tensors[f"{i}.{part}.weight"] for part in "qkv"])
        bias = np.concatenate([tensors[f"{i}.{part}.bias"] for part in "qkv"])
        joined = self._add_product(f"{i}.qkv", hidden, weight, bias)
        query, key, value = self._node_with_outputs("Split", [joined], 3, axis=-1, num_outputs=3)
        key_mask = self._node("Cast", [mask], to=self._onnx.TensorProto.INT32)
        return self._node(
            "MultiHeadAttention",
            [query, key, value, "", key_mask],
            domain=CONTRIB,
            num_heads=self._weights.head_count,
        )

    def _add_pooling(self, hidden: str, mask: str) -> tuple[str, str, str]:
        """Merge each two neighbouring tokens of a long text: their mean plus a learned map of their difference.

        The stride is 2 for long texts and 1 for short ones, for which both neighbours are the same token and nothing
        changes.

        :param hidden: name of the tokens, (texts, tokens, dim)
        :param mask: name of their mask, (texts, tokens), 0 for padding
        :return: the names of the merged tokens, of their mask, and of how many tokens each stands for
        """
        length = self._add_token_count(mask)
        is_long = self._node("Greater", [length, self._int(POOL_ABOVE_TOKENS)])
        extra_stride = self._node("Cast", [is_long], to=self._onnx.TensorProto.INT64)  # 1 for long texts, else 0
        stride = self._node("Add", [extra_stride, self._int(1)])
        hidden, mask = self._add_padding(hidden, mask, length, stride)
        first_start = self._ints(0)
        second_start = self._unsqueeze(self._node("Sub", [stride, self._int(1)]))
        first = self._take_every(stride, first_start, hidden)
        first_mask = self._take_every(stride, first_start, mask)
        second = self._take_every(stride, second_start, hidden)
        second_mask = self._take_every(stride, second_start, mask)
        merged = self._merge_neighbours(first, second, second_mask)
        return merged, first_mask, self._node("Add", [first_mask, second_mask])

    def _merge_neighbours(self, first: str, second: str, second_mask: str) -> str:
        """Add the mean of neighbours plus a learned map of their difference; where there is no second, the first.

        :param first: name of the first tokens, (texts, pairs, dim); so are `second` and, (texts, pairs), its mask
        """
        has_second = self._node("Greater", [self._unsqueeze(second_mask, axis=-1), self._float(0.0)])
        neighbour = self._node("Where", [has_second, second, first])
        mean = self._node("Mul", [self._node("Add", [first, neighbour]), self._float(0.5)])
        difference = self._node("Sub", [first, neighbour])
        weight = self._constant("pool.weight", np.ascontiguousarray(self._weights.tensors["pool.weight"].T))
        return self._node("Add", [mean, self._node("MatMul", [difference, weight])])

    def _add_padding(self, hidden: str, mask: str, length: str, stride: str) -> tuple[str, str]:
        """Add a masked token at the end where the number of tokens is no multiple of the stride.

        :param length: the number of tokens
        :return: the names of the tokens, (texts, tokens, dim), and of their mask, (texts, tokens)
        """
        missing = self._unsqueeze(self._node("Mod", [length, stride]))  # 1 where a long text has an odd length
        zero, no_padding_before = self._ints(0), self._ints(0, 0)
        hidden_pads = self._node("Concat", [no_padding_before, zero, zero, missing, zero], axis=0)
        mask_pads = self._node("Concat", [no_padding_before, zero, missing], axis=0)
        return self._node("Pad", [hidden, hidden_pads]), self._node("Pad", [mask, mask_pads])

    def _take_every(self, stride: str, start: str, tensor: str) -> str:
        """Return every stride-th token of a tensor from `start` on."""
        end = self._ints(np.iinfo(np.int64).max)
        return self._node("Slice", [tensor, start, end, self._ints(1), self._unsqueeze(stride)])

    def _add_sentence_embedding(self, hidden: str, token_weights: str) -> None:
        """Add the weighted mean over tokens, scaled to length 1."""
        column = self._unsqueeze(token_weights, axis=-1)
        total = self._node("ReduceSum", [self._node("Mul", [hidden, column]), self._ints(1)], keepdims=0)
        length = self._node("ReduceL2", [total, self._ints(1)], keepdims=1)
        safe_length = self._node("Max", [length, self._float(1e-12)])
        self._node("Div", [total, safe_length], output="sentence_embedding")

    def _add_norm(self, name: str, tensor: str) -> str:
        parts = [self._tensor(f"{name}.weight"), self._tensor(f"{name}.bias")]
        return self._node("LayerNormalization", [tensor, *parts], axis=-1, epsilon=self._weights.epsilon)

    def _add_linear(self, name: str, tensor: str) -> str:
        tensors = self._weights.tensors
        if f"{name}.smoothing" in tensors:
            divisors = self._constant(f"{name}.smoothing", (1 / tensors[f"{name}.smoothing"]).astype(np.float32))
            tensor = self._node("Mul", [tensor, divisors])
        return self._add_product(name, tensor, tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def _add_product(self, name: str, tensor: str, weight: Floats, bias: Floats) -> str:
        matrix = self._constant(f"{name}.weight", np.ascontiguousarray(weight.T))
        return self._node("Add", [self._node("MatMul", [tensor, matrix]), self._constant(f"{name}.bias", bias)])

    def _add_float_product(self, name: str, tensor: str) -> str:
        """Add a product that stays in float32; its matrix is stored in float16, which halves the file."""
        matrix = np.ascontiguousarray(self._weights.tensors[f"{name}.weight"].T.astype(np.float16))
        stored = self._constant(f"{name}.weight", matrix)
        product = self._node(
            "MatMul", [tensor, self._node("Cast", [stored], to=self._onnx.TensorProto.FLOAT)], output=name
        )
        return self._node("Add", [product, self._tensor(f"{name}.bias")])

    def _tensor(self, name: str) -> str:
        return self._constant(name, self._weights.tensors[name])

    def _constant(self, name: str, array: Array) -> str:
        self._initializers.append(import_module("onnx.numpy_helper").from_array(array, name))
        return name

    def _int(self, value: int) -> str:
        return self._constant(f"int_{len(self._initializers)}", np.array(value, np.int64))

    def _ints(self, *values: int) -> str:
        return self._constant(f"ints_{len(self._initializers)}", np.array(values, np.int64))

    def _float(self, value: float) -> str:
        return self._constant(f"float_{len(self._initializers)}", np.array(value, np.float32))

    def _unsqueeze(self, tensor: str, axis: int = 0) -> str:
        return self._node("Unsqueeze", [tensor, self._ints(axis)])

    def _node(self, kind: str, inputs: Sequence[str], *, output: str = "", domain: str = "", **attributes: Any) -> str:
        output = output or f"{kind}_{len(self._nodes)}"
        self._nodes.append(self._helper.make_node(kind, list(inputs), [output], output, domain=domain, **attributes))
        return output

    def _node_with_outputs(self, kind: str, inputs: Sequence[str], count: int, **attributes: Any) -> list[str]:
        outputs = [f"{kind}_{len(self._nodes)}_{i}" for i in range(count)]
        self._nodes.append(self._helper.make_node(kind, list(inputs), outputs, outputs[0], **attributes))
        return outputs

    def _make_model(self) -> Any:
        """Return the graph of all nodes as a model."""
        make_info, proto = self._helper.make_tensor_value_info, self._onnx.TensorProto
        inputs = [make_info(name, proto.INT64, ["texts", "tokens"]) for name in ("input_ids", "attention_mask")]
        dim = self._weights.word_codes.shape[1]
        outputs = [make_info("sentence_embedding", proto.FLOAT, ["texts", dim])]
        graph = self._helper.make_graph(self._nodes, "encoder", inputs, outputs, self._initializers)
        opsets = [self._helper.make_opsetid("", 18), self._helper.make_opsetid(CONTRIB, 1)]
        return self._helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="paragloss")
