"""Serialize messages for a socket or a file: JSON, followed by the raw bytes of arrays and blobs.

Processes that share a collection's folder exchange records, arrays and rankings (`_owner_server`), and backups store
them in files. Pickle would do, but reading a pickle can run any code, and JSON alone is slow for arrays.

A message is two lengths, the JSON and the data that the JSON refers to. In the JSON, an object with one key that starts
with `$` stands for a value that JSON lacks: `$array`, `$bytes`, `$record`, `$hits` or `$map`.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from paragloss.types import CandidateRows, Document, Hit, Range, Record, SparseRows, SparseVector

#: The lengths of the JSON and of the data, in bytes.
_HEADER = struct.Struct("<QQ")
_MAX_MESSAGE_SIZE = 1 << 32
_RECORD_TYPES = {
    record_type.__name__: record_type
    for record_type in (CandidateRows, Document, Hit, Range, Record, SparseRows, SparseVector)
}
#: Array types that are read; all others are refused.
_ARRAY_TYPES = ("<f4", "<f8", "<u4", "<i4", "<i8", "|b1")


def encode_message(message: Any) -> bytes:
    """Return a message as bytes, for a file or a socket."""
    encoder = _Encoder()
    content = json.dumps(encoder.to_json(message), ensure_ascii=False, allow_nan=True)
    text = content.encode("utf-8", "surrogatepass")
    return b"".join([_HEADER.pack(len(text), encoder.data_size), text, *encoder.buffers])


def decode_message(data: bytes | bytearray) -> Any:
    """Return the message that `encode_message` wrote."""
    json_size, _ = _HEADER.unpack_from(data)
    json_end = _HEADER.size + json_size
    content = json.loads(data[_HEADER.size : json_end].decode("utf-8", "surrogatepass"))
    return _decode(content, memoryview(data)[json_end:])


def send_message(connection: socket.socket, message: Any) -> None:
    """Send a message over a socket."""
    connection.sendall(encode_message(message))


def receive_message(connection: socket.socket) -> Any:
    """Receive the next message from a socket; raise EOFError if the other side has closed it."""
    header = _receive_exactly(connection, _HEADER.size)
    size = sum(_HEADER.unpack(header))
    if size > _MAX_MESSAGE_SIZE:
        raise EOFError("a message longer than any that is sent")
    return decode_message(header + _receive_exactly(connection, size))


def _receive_exactly(connection: socket.socket, size: int) -> bytearray:
    """Receive `size` bytes; raise EOFError if the other side closes the socket before."""
    received = bytearray(size)
    remaining = memoryview(received)
    while remaining:
        n_bytes = connection.recv_into(remaining)
        if not n_bytes:
            raise EOFError("the other process has gone")
        remaining = remaining[n_bytes:]
    return received


class _Encoder:
    """Turns one message into JSON, and collects the bytes that the JSON refers to."""

    def __init__(self) -> None:
        self.buffers: list[bytes] = []
        self.data_size = 0  # the length of all buffers

    def to_json(self, value: Any) -> Any:
        """Return a value as JSON; arrays and bytes are moved to the buffers, and their places there are in the JSON."""
        if isinstance(value, np.ndarray):
            return self._array_to_json(value)
        if isinstance(value, bytes):
            return {"$bytes": self._add_data(value)}
        type_name = type(value).__name__
        if type_name in _RECORD_TYPES and isinstance(value, tuple):
            return {"$record": [type_name, [self.to_json(field) for field in value]]}
        if isinstance(value, list | tuple):
            return self._sequence_to_json(value)
        if hasattr(value, "items"):
            return {"$map": [[key, self.to_json(item)] for key, item in value.items()]}
        if isinstance(value, np.generic):  # a number of numpy
            return value.item()
        return value

    def _array_to_json(self, value: np.ndarray[Any, Any]) -> Any:
        array = np.ascontiguousarray(value)
        return {"$array": [array.dtype.str, list(array.shape), self._add_data(array.tobytes())]}

    def _sequence_to_json(self, values: list[Any] | tuple[Any, ...]) -> Any:
        """Return a list as JSON; a list of hits becomes a list of ids and an array of scores."""
        if isinstance(values, list) and values and isinstance(values[0], Hit):
            scores = np.array([hit.score for hit in values], np.float64)
            return {"$hits": [[hit.id for hit in values], self._array_to_json(scores)]}
        return values if _has_only_plain_values(values) else [self.to_json(value) for value in values]

    def _add_data(self, data: bytes) -> list[int]:
        """Append bytes to the message's data; return where they start and how many they are."""
        start = self.data_size
        self.buffers.append(data)
        self.data_size += len(data)
        return [start, len(data)]


def _decode(value: Any, data: memoryview) -> Any:
    """Return the value that some JSON stands for; `data` is what follows the message's JSON."""
    if isinstance(value, list):
        return value if _has_only_plain_values(value) else [_decode(item, data) for item in value]
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    decode: Callable[[Any, memoryview], Any] = _DECODERS.get(tag, _decode_array)
    return decode(content, data)


def _decode_map(content: Any, data: memoryview) -> dict[Any, Any]:
    """Return the mapping that `$map` stands for: pairs of a key and a value."""
    return {key: _decode(item, data) for key, item in content}


def _decode_hits(content: Any, data: memoryview) -> list[Hit]:
    """Return the hits that `$hits` stands for: their ids, and an array of their scores."""
    ids, scores = content
    return list(map(Hit, ids, _decode(scores, data).tolist()))


def _decode_record(content: Any, data: memoryview) -> Any:
    """Return the record that `$record` stands for: the name of its type, and its fields."""
    type_name, fields = content
    return _RECORD_TYPES[type_name](*(_decode(field, data) for field in fields))


def _decode_bytes(content: Any, data: memoryview) -> bytes:
    """Return the bytes that `$bytes` stands for: where they start in `data`, and how many they are."""
    start, size = content
    return bytes(data[start : start + size])


def _decode_array(content: Any, data: memoryview) -> np.ndarray[Any, Any]:
    """Return the array that `$array` stands for: its type, its shape, and where its bytes are in `data`."""
    dtype, shape, (start, size) = content
    if dtype not in _ARRAY_TYPES:
        raise EOFError(f"an array of {dtype!r}, which nobody sends")
    return np.frombuffer(data[start : start + size], dtype).reshape(shape)


#: What decodes an object with one key, by that key; any other is an array.
_DECODERS: dict[str, Callable[[Any, memoryview], Any]] = {
    "$map": _decode_map,
    "$hits": _decode_hits,
    "$record": _decode_record,
    "$bytes": _decode_bytes,
}


def _has_only_plain_values(values: Any) -> bool:
    """Tell whether JSON can hold all values as they are: most lists that are sent are lists of ids."""
    return {str, int, float}.issuperset(map(type, values))
