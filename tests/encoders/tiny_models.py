"""Tiny models in folders: their vocabulary has two prompts and four words, and each word has an axis of its own."""

import json
from pathlib import Path

import numpy as np
import pytest

WORDS = ["[PAD]", "[UNK]", "query:", "passage:", "bee", "honey", "lava", "ship"]
VECTORS = np.vstack([np.zeros((2, 4)), np.full((2, 4), 0.1), np.eye(4)]).astype(np.float32)


def write_tokenizer(folder: Path) -> None:
    """Write a tokenizer that splits texts at white space."""
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))


def write_onnx(folder: Path, table: np.ndarray = VECTORS, *, sum_tokens: bool = False, **configuration: object) -> str:
    """Write a transformer without layers, which looks every token up in a table, and its configuration.

    With `sum_tokens` the output is the sum over the tokens of a text.
    """
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    write_tokenizer(folder)
    helper, proto = onnx.helper, onnx.TensorProto
    looked_up = "vectors" if sum_tokens else "output"
    nodes = [helper.make_node("Gather", ["table", "input_ids"], [looked_up])]
    if sum_tokens:
        nodes.append(helper.make_node("ReduceSum", [looked_up, "axis"], ["output"], keepdims=0))
    shape = ["b", table.shape[1]] if sum_tokens else ["b", "t", table.shape[1]]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, proto.INT64, ["b", "t"]) for name in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("output", proto.FLOAT, shape)],
        [onnx.numpy_helper.from_array(table, "table"), onnx.numpy_helper.from_array(np.array([1]), "axis")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    (folder / "config.json").write_text(json.dumps(configuration))
    return str(folder)
