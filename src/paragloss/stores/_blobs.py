"""Bytes kept on a Qdrant server: a collection of points without vectors. Knows nothing of documents."""

from __future__ import annotations

import base64
import json
import math
import os
import socket
import time
import uuid
from collections.abc import Callable
from typing import Any

from paragloss.errors import StoreError
from paragloss.stores import _points

#: Seconds a lease lasts without renewal, and how long two who ask at once wait for the last word to be known.
LEASE, SETTLE = 30.0, 0.3
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
        head = {"name": name, "version": uuid.uuid4().hex, "parts": -(-len(data) // _PART)}
        for i, part in enumerate(_parts(name, head)):
            self._put(part, {"data": base64.b64encode(data[i * _PART : (i + 1) * _PART]).decode()})
        self._put(name, head)
        if old and old["parts"]:
            gone: list[Any] = [_points.point_id(part) for part in _parts(name, old)]
            self._ask(self._client.delete, self._collection, models.PointIdsList(points=gone), wait=True)

    def delete(self, name: str) -> None:
        from qdrant_client import models

        head = self._get(name)
        gone: list[Any] = [_points.point_id(part) for part in [name, *(_parts(name, head) if head else [])]]
        self._ask(self._client.delete, self._collection, models.PointIdsList(points=gone), wait=True)

    def heads(self) -> dict[str, str]:
        """All blobs with their versions, but for those that versions before this one wrote."""
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
        head = self._get(name)
        return head["version"] if head else None

    def _get(self, key: str) -> dict[str, Any] | None:
        found = self._ask(self._client.retrieve, self._collection, [_points.point_id(key)], with_payload=True)
        return found[0].payload if found else None

    def _put(self, key: str, payload: dict[str, Any]) -> None:
        from qdrant_client import models

        point = models.PointStruct(id=_points.point_id(key), vector={}, payload=payload)
        self._ask(self._client.upsert, self._collection, [point], wait=True)


class Lease:
    """One writer at a time. Whoever writes its name last and finds it there after a moment has the lease; it must be
    renewed, and a holder that was paused past its end finds that out at its next renewal."""

    def __init__(self, blobs: Blobs, where: str) -> None:
        self._blobs, self._where = blobs, where
        self._me = uuid.uuid4().hex
        self._renewed = -math.inf

    def hold(self) -> None:
        """Have the lease, or say who has it."""
        if time.monotonic() - self._renewed < LEASE / 3:
            return
        held = self._read()
        if held is not None and held["holder"] != self._me:
            raise StoreError(
                f"{self._where} is being written by another process ({held['name']}) until {held['seconds']:.0f} s "
                "from now at least: wait until it has finished"
            )
        first = held is None
        self._write(time.time() + LEASE)
        if first:  # someone else may have seen it free at the same moment
            time.sleep(SETTLE)
            held = self._read()
            if held is None or held["holder"] != self._me:
                raise StoreError(f"{self._where} was taken by another writer just now: wait until it has finished")
        self._renewed = time.monotonic()

    def taken(self) -> bool:
        """Whether another holds it."""
        held = self._read()
        return held is not None and held["holder"] != self._me

    def give_back(self) -> None:
        if self._renewed > -math.inf:
            self._renewed = -math.inf
            held = self._read()
            if held is not None and held["holder"] == self._me:
                self._write(0.0)

    def _read(self) -> dict[str, Any] | None:
        data = self._blobs.read("lease")
        held = json.loads(data) if data else None
        if held is None or held["until"] < time.time():
            return None
        return {**held, "seconds": held["until"] - time.time()}

    def _write(self, until: float) -> None:
        name = f"{socket.gethostname()}, process {os.getpid()}"
        self._blobs.write("lease", json.dumps({"holder": self._me, "name": name, "until": until}).encode())


def _parts(name: str, head: dict[str, Any]) -> list[str]:
    return [f"{name}/{head['version']}/{i}" for i in range(head["parts"])]
