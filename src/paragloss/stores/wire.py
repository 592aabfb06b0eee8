"""Messages between two processes, or kept in a file: JSON, with arrays, bytes and long texts behind it as they are. No
pickle.

A message is two lengths, the JSON and the buffers it points to. Knows nothing of what is said.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
from typing import Any

import numpy as np

from paragloss.types import CandidateRows, Document, Hit, Range, Record, SparseRows, SparseVector

_HEAD = struct.Struct("<QQ")
_MOST = 1 << 32
_KINDS = {kind.__name__: kind for kind in (Document, Hit, CandidateRows, Range, Record, SparseRows, SparseVector)}
#: Texts of so many characters are sent behind the JSON: to write them into it takes more than twice as long. In files,
#: which versions read that know nothing of it, they are within.
_LONG = 500
#: What arrays may be made of; nothing else is read.
_TYPES = ("<f4", "<f8", "<u4", "<i4", "<i8", "|b1")


def send(link: socket.socket, message: Any) -> None:
    for part in _written(message, _LONG):
        link.sendall(part)


def receive(link: socket.socket) -> Any:
    """The next message; EOFError when the other side has gone."""
    text, data = _HEAD.unpack(_exactly(link, _HEAD.size))
    if text + data > _MOST:
        raise EOFError("a message longer than any that is sent")
    told = json.loads(_exactly(link, text).decode("utf-8", "surrogatepass"))
    return _rich(told, memoryview(_exactly(link, data)))


def to_bytes(message: Any) -> bytes:
    """A message for a file."""
    return b"".join(_written(message, sys.maxsize))


def from_bytes(data: bytes) -> Any:
    """What `to_bytes` was given."""
    text, _ = _HEAD.unpack_from(data)
    told = json.loads(data[_HEAD.size : _HEAD.size + text].decode("utf-8", "surrogatepass"))
    return _rich(told, memoryview(data)[_HEAD.size + text :])


def _written(message: Any, long: int) -> list[bytes]:
    buffers: list[bytes] = []
    plain = _plain(message, buffers, long)
    text = json.dumps(plain, ensure_ascii=False, allow_nan=True).encode("utf-8", "surrogatepass")
    return [_HEAD.pack(len(text), sum(map(len, buffers))) + text, *buffers]


def _exactly(link: socket.socket, size: int) -> bytearray:
    whole = bytearray(size)
    left = memoryview(whole)
    while left:
        read = link.recv_into(left)
        if not read:
            raise EOFError("the other process has gone")
        left = left[read:]
    return whole


def _plain(value: Any, buffers: list[bytes], long: int) -> Any:
    if isinstance(value, str):
        return value if len(value) < long else {"$text": _behind(value.encode("utf-8", "surrogatepass"), buffers)}
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value)
        return {"$array": [data.dtype.str, list(data.shape), _behind(data.tobytes(), buffers)]}
    if isinstance(value, bytes):
        return {"$bytes": _behind(value, buffers)}
    if type(value).__name__ in _KINDS and isinstance(value, tuple):
        return {"$record": [type(value).__name__, [_plain(part, buffers, long) for part in value]]}
    if isinstance(value, list) and value and isinstance(value[0], Hit):
        scores = np.array([hit.score for hit in value], np.float64)
        return {"$hits": [[hit.id for hit in value], _plain(scores, buffers, long)]}
    if isinstance(value, list | tuple):
        return value if _is_plain(value) else [_plain(part, buffers, long) for part in value]
    if hasattr(value, "items"):
        return {"$map": [[key, _plain(part, buffers, long)] for key, part in value.items()]}
    return value.item() if isinstance(value, np.generic) else value


def _is_plain(values: Any) -> bool:
    """Whether many values are what JSON has anyway: most of what is sent are names."""
    return {str, int, float}.issuperset(map(type, values))


def _behind(data: bytes, buffers: list[bytes]) -> list[int]:
    start = sum(map(len, buffers))
    buffers.append(data)
    return [start, len(data)]


def _rich(value: Any, data: memoryview) -> Any:
    if isinstance(value, list):
        return value if _is_plain(value) else [_rich(part, data) for part in value]
    if not isinstance(value, dict):
        return value
    ((kind, told),) = value.items()
    if kind == "$map":
        return {key: _rich(part, data) for key, part in told}
    if kind == "$hits":
        return list(map(Hit, told[0], _rich(told[1], data).tolist()))
    if kind == "$record":
        return _KINDS[told[0]](*(_rich(part, data) for part in told[1]))
    if kind in ("$bytes", "$text"):
        some = data[told[0] : told[0] + told[1]]
        return bytes(some) if kind == "$bytes" else str(some, "utf-8", "surrogatepass")
    dtype, shape, (start, size) = told
    if dtype not in _TYPES:
        raise EOFError(f"an array of {dtype!r}, which nobody sends")
    return np.frombuffer(data[start : start + size], dtype).reshape(shape)
