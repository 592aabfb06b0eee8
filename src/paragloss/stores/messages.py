"""Serialize messages for a socket or a file: JSON, followed by the raw bytes of arrays, blobs and long texts.

Processes that share a collection's folder exchange records, arrays and rankings (`_owner_server`), and backups store
them in files. Pickle would do, but reading a pickle can run any code, and JSON alone is slow for arrays.

A message is two lengths, the JSON and the data that the JSON refers to. In the JSON, an object with one key that starts
with `$` stands for a value that JSON lacks: `$array`, `$bytes`, `$text`, `$record`, `$hits` or `$map`.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
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
#: On a socket, texts of this many characters are sent as data: writing them as JSON takes more than twice as long.
#: In files all texts are in the JSON, because older versions read only those.
_LONG_TEXT = 500
#: Array types that are read; all others are refused.
_ARRAY_TYPES = ("<f4", "<f8", "<u4", "<i4", "<i8", "|b1")


def send_message(connection: socket.socket, message: Any) -> None:
    """Send a message over a socket."""
    for part in _Encoder(_LONG_TEXT).encode(message):
        connection.sendall(part)


def receive_message(connection: socket.socket) -> Any:
    """Receive the next message from a socket; raise EOFError if the other side has closed it."""
    json_size, data_size = _HEADER.unpack(_receive_exactly(connection, _HEADER.size))
    if json_size + data_size > _MAX_MESSAGE_SIZE:
        raise EOFError("a message longer than any that is sent")
    content = json.loads(_receive_exactly(connection, json_size).decode("utf-8", "surrogatepass"))
    return _decode(content, memoryview(_receive_exactly(connection, data_size)))


def encode_message(message: Any) -> bytes:
    """Return a message as bytes for a file."""
    return b"".join(_Encoder(sys.maxsize).encode(message))


def decode_message(data: bytes) -> Any:
    """Return the message that `encode_message` wrote."""
    json_size, _ = _HEADER.unpack_from(data)
    json_end = _HEADER.size + json_size
    content = json.loads(data[_HEADER.size : json_end].decode("utf-8", "surrogatepass"))
    return _decode(content, memoryview(data)[json_end:])


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
    """Encodes one message.

    :param long_text: the length from which texts are moved from the JSON to the data.
    """

    def __init__(self, long_text: int) -> None:
        self._long_text = long_text
        self._buffers: list[bytes] = []
        self._data_size = 0

    def encode(self, message: Any) -> list[bytes]:
        """Return the parts of the encoded message."""
        content = json.dumps(self._to_json(message), ensure_ascii=False, allow_nan=True)
        text = content.encode("utf-8", "surrogatepass")
        return [_HEADER.pack(len(text), self._data_size) + text, *self._buffers]

    def _to_json(self, value: Any) -> Any:
        """Return a value as JSON, with references to the data."""
        if isinstance(value, str):
            return self._text_to_json(value)
        if isinstance(value, np.ndarray):
            return self._array_to_json(value)
        if isinstance(value, bytes):
            return {"$bytes": self._add_data(value)}
        type_name = type(value).__name__
        if type_name in _RECORD_TYPES and isinstance(value, tuple):
            return {"$record": [type_name, [self._to_json(field) for field in value]]}
        if isinstance(value, list | tuple):
            return self._sequence_to_json(value)
        if hasattr(value, "items"):
            return {"$map": [[key, self._to_json(item)] for key, item in value.items()]}
        return value.item() if isinstance(value, np.generic) else value

    def _text_to_json(self, text: str) -> Any:
        """Return a short text as it is, and a long one as a reference to the data."""
        if len(text) < self._long_text:
            return text
        return {"$text": self._add_data(text.encode("utf-8", "surrogatepass"))}

    def _array_to_json(self, value: np.ndarray[Any, Any]) -> Any:
        array = np.ascontiguousarray(value)
        return {"$array": [array.dtype.str, list(array.shape), self._add_data(array.tobytes())]}

    def _sequence_to_json(self, values: list[Any] | tuple[Any, ...]) -> Any:
        """Return a list as JSON; a list of hits becomes a list of ids and an array of scores."""
        if isinstance(values, list) and values and isinstance(values[0], Hit):
            scores = np.array([hit.score for hit in values], np.float64)
            return {"$hits": [[hit.id for hit in values], self._array_to_json(scores)]}
        return values if _has_only_plain_values(values) else [self._to_json(value) for value in values]

    def _add_data(self, data: bytes) -> list[int]:
        """Append bytes to the message's data; return where they start and how many they are."""
        start = self._data_size
        self._buffers.append(data)
        self._data_size += len(data)
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


def _decode_text(content: Any, data: memoryview) -> str:
    """Return the text that `$text` stands for: where its bytes start in `data`, and how many they are."""
    start, size = content
    return str(data[start : start + size], "utf-8", "surrogatepass")


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
    "$text": _decode_text,
}


def _has_only_plain_values(values: Any) -> bool:
    """Tell whether JSON can hold all values as they are: most lists that are sent are lists of ids."""
    return {str, int, float}.issuperset(map(type, values))
