"""Bytes kept on a Qdrant server: a collection of points without vectors. Knows nothing of documents.

A blob that fits into one point is that point. The parts of a larger one are written first, under names nobody knows
yet, and named last: a reader gets the old whole or the new whole. Parts that vanish while he reads were replaced: he
begins again.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable
from typing import Any

from paragloss.errors import StoreError
from paragloss.stores import _points

_PART = 6_000_000  # bytes: a server takes requests of up to 32 MB


class Blobs:
    """Named bytes. `ask` makes a call of the client and minds its errors; `write` one that needs the right to."""

    def __init__(self, client: Any, collection: str, ask: Callable[..., Any], write: Callable[..., Any]) -> None:
        self._client, self._collection = client, collection
        self._ask, self._write = ask, write

    def exist(self) -> bool:
        return bool(self._ask(self._client.collection_exists, self._collection))

    def create(self, **options: Any) -> None:
        self._ask(self._client.create_collection, self._collection, vectors_config={}, **options)

    def read(self, name: str) -> bytes | None:
        head = self._get(name)
        while head is not None:
            if "data" in head:
                return base64.b64decode(head["data"])
            parts = []
            for key in _parts(name, head):
                if (part := self._get(key)) is None:
                    break
                parts.append(base64.b64decode(part["data"]))
            if len(parts) == head["parts"]:
                return b"".join(parts)
            before, head = head, self._get(name)
            if head == before:
                raise StoreError(f"{name!r} in {self._collection} has lost some of its parts: restore a copy")
        return None

    def write(self, name: str, data: bytes) -> None:
        old = self._get(name)
        head: dict[str, Any] = {"name": name, "version": uuid.uuid4().hex, "parts": 0}
        if len(data) > _PART:
            head["parts"] = -(-len(data) // _PART)
            for i, part in enumerate(_parts(name, head)):
                self._put(part, {"data": base64.b64encode(data[i * _PART : (i + 1) * _PART]).decode()})
        else:
            head["data"] = base64.b64encode(data).decode()
        self._put(name, head)
        if old and old["parts"]:
            self._remove(_parts(name, old))

    def delete(self, name: str) -> None:
        head = self._get(name)
        self._remove([name, *(_parts(name, head) if head else [])])

    def heads(self) -> dict[str, str]:
        """All blobs with their versions."""
        found: dict[str, str] = {}
        offset = None
        while True:
            points, offset = self._ask(
                self._client.scroll, self._collection, limit=1000, offset=offset, with_payload=["name", "version"]
            )
            found |= {p.payload["name"]: p.payload["version"] for p in points if p.payload and "name" in p.payload}
            if offset is None:
                return dict(sorted(found.items()))

    def version(self, name: str) -> str | None:
        """What changes with every writing of a blob."""
        head = self._get(name, ["version"])
        return head["version"] if head else None

    def _get(self, key: str, fields: list[str] | bool = True) -> dict[str, Any] | None:
        found = self._ask(self._client.retrieve, self._collection, [_points.point_id(key)], with_payload=fields)
        return found[0].payload if found else None

    def _put(self, key: str, payload: dict[str, Any]) -> None:
        from qdrant_client import models

        point = models.PointStruct(id=_points.point_id(key), vector={}, payload=payload)
        self._write(self._client.upsert, self._collection, [point])

    def _remove(self, keys: list[str]) -> None:
        from qdrant_client import models

        gone: list[Any] = [_points.point_id(key) for key in keys]
        self._write(self._client.delete, self._collection, models.PointIdsList(points=gone))


def _parts(name: str, head: dict[str, Any]) -> list[str]:
    return [f"{name}/{head['version']}/{i}" for i in range(head["parts"])]
