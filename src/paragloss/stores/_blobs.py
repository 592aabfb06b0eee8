"""Bytes kept on a Qdrant server: a collection of points without vectors. Knows nothing of documents."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable
from typing import Any

from paragloss.stores import _points

_PART = 6_000_000  # bytes: a server takes requests of up to 32 MB


class Blobs:
    """Named bytes in parts. `ask` makes a call of the client and minds its errors."""

    def __init__(self, client: Any, collection: str, ask: Callable[..., Any]) -> None:
        self._client = client
        self._collection = collection
        self._ask = ask

    def exist(self) -> bool:
        return bool(self._ask(self._client.collection_exists, self._collection))

    def create(self, **options: Any) -> None:
        self._ask(self._client.create_collection, self._collection, vectors_config={}, **options)

    def read(self, name: str) -> bytes | None:
        head = self._get(name)
        if head is None:
            return None
        parts = (self._get(part) for part in _parts(name, head))
        return b"".join(base64.b64decode(part["data"]) for part in parts if part is not None)

    def write(self, name: str, data: bytes) -> None:
        """The parts are written first, then the head that names them: a reader sees the old blob or the new one."""
        from qdrant_client import models

        old = self._get(name)
        head = {"version": uuid.uuid4().hex, "parts": -(-len(data) // _PART)}
        for i, part in enumerate(_parts(name, head)):
            self._put(part, {"data": base64.b64encode(data[i * _PART : (i + 1) * _PART]).decode()})
        self._put(name, head)
        if old and old["parts"]:
            gone: list[Any] = [_points.point_id(part) for part in _parts(name, old)]
            self._ask(self._client.delete, self._collection, models.PointIdsList(points=gone), wait=True)

    def _get(self, key: str) -> dict[str, Any] | None:
        found = self._ask(self._client.retrieve, self._collection, [_points.point_id(key)], with_payload=True)
        return found[0].payload if found else None

    def _put(self, key: str, payload: dict[str, Any]) -> None:
        from qdrant_client import models

        point = models.PointStruct(id=_points.point_id(key), vector={}, payload=payload)
        self._ask(self._client.upsert, self._collection, [point], wait=True)


def _parts(name: str, head: dict[str, Any]) -> list[str]:
    return [f"{name}/{head['version']}/{i}" for i in range(head["parts"])]
