"""Named bytes (blobs) on a Qdrant server, in a collection of points without vectors. Knows nothing of documents.

A blob that fits into one request is one point, its head. Of a larger blob the parts are written first, as points with
new names, and the head that lists them last. So a reader gets the complete old blob or the complete new one. A reader
that misses a part was overtaken by a writer, and reads the head again.
"""

from __future__ import annotations

import base64
import math
import uuid
from collections.abc import Callable
from typing import Any

from paragloss.errors import StoreError
from paragloss.stores._payload import hash_to_uuid

#: Bytes of one part: a server accepts requests of up to 32 MB, and base64 adds a third.
_PART_SIZE = 6_000_000
_HEADS_PER_REQUEST = 1000


class ServerBlobs:
    """The blobs of a collection.

    :param call: calls a method of the client and turns its errors into StoreError.
    :param write: the same for a method that writes to a collection; it needs the right to write.
    """

    def __init__(self, client: Any, collection: str, call: Callable[..., Any], write: Callable[..., Any]) -> None:
        self._client = client
        self._collection = collection
        self._call = call
        self._write_points = write

    def exists(self) -> bool:
        """Tell whether the server has the collection of blobs."""
        return bool(self._call(self._client.collection_exists, self._collection))

    def create(self, **options: Any) -> None:
        """Create the collection of blobs."""
        self._call(self._client.create_collection, self._collection, vectors_config={}, **options)

    def read(self, name: str) -> bytes | None:
        """Return a blob's bytes; None if there is no such blob.

        :raises StoreError: a part is missing, and the head has not changed since it was read.
        """
        head = self._read_point(name)
        while head is not None:
            data = self._read_data(name, head)
            if data is not None:
                return data
            new_head = self._read_point(name)
            if new_head == head:  # nobody has replaced the blob meanwhile, which also removes parts
                raise StoreError(f"{name!r} in {self._collection} has lost some of its parts: restore a copy")
            head = new_head
        return None

    def _read_data(self, name: str, head: dict[str, Any]) -> bytes | None:
        """Return the bytes of a blob, which are in its head or in its parts; None if a part is missing."""
        if "data" in head:
            return base64.b64decode(head["data"])
        parts = self._read_parts(name, head)
        if parts is None:
            return None
        return b"".join(parts)

    def write(self, name: str, data: bytes) -> None:
        """Replace a blob: its parts first, then its head, then remove the parts of the old blob."""
        old_head = self._read_point(name)
        head: dict[str, Any] = {"name": name, "version": uuid.uuid4().hex, "parts": 0}
        if len(data) > _PART_SIZE:
            head["parts"] = math.ceil(len(data) / _PART_SIZE)
            self._write_parts(list_part_keys(name, head), data)
        else:
            head["data"] = base64.b64encode(data).decode()
        self._write_point(name, head)
        if old_head and old_head["parts"]:
            self.remove_points(list_part_keys(name, old_head))

    def _write_parts(self, keys: list[str], data: bytes) -> None:
        """Write the parts of a blob under their keys."""
        for number, key in enumerate(keys):
            part = data[number * _PART_SIZE : (number + 1) * _PART_SIZE]
            self._write_point(key, {"data": base64.b64encode(part).decode()})

    def delete(self, name: str) -> None:
        """Remove a blob with its parts."""
        head = self._read_point(name)
        self.remove_points([name, *(list_part_keys(name, head) if head else [])])

    def list_versions(self) -> dict[str, str]:
        """Return all blobs' names with their versions."""
        versions: dict[str, str] = {}
        offset = None
        while True:
            points, offset = self._call(
                self._client.scroll,
                self._collection,
                limit=_HEADS_PER_REQUEST,
                offset=offset,
                with_payload=["name", "version"],
            )
            for point in points:
                if point.payload and "name" in point.payload:
                    versions[point.payload["name"]] = point.payload["version"]
            if offset is None:
                return dict(sorted(versions.items()))

    def get_version(self, name: str) -> str | None:
        """Return the version of a blob, which changes with every write; None if there is no such blob."""
        head = self._read_point(name, ["version"])
        return head["version"] if head else None

    def remove_points(self, keys: list[str]) -> None:
        """Remove heads or parts by their keys."""
        from qdrant_client import models

        point_ids: list[Any] = [hash_to_uuid(key) for key in keys]
        self._write_points(self._client.delete, self._collection, models.PointIdsList(points=point_ids))

    def _read_parts(self, name: str, head: dict[str, Any]) -> list[bytes] | None:
        """Return the parts of a blob in order; None if one is missing."""
        parts = []
        for key in list_part_keys(name, head):
            part = self._read_point(key)
            if part is None:
                return None
            parts.append(base64.b64decode(part["data"]))
        return parts

    def _read_point(self, key: str, fields: list[str] | bool = True) -> dict[str, Any] | None:
        points = self._call(self._client.retrieve, self._collection, [hash_to_uuid(key)], with_payload=fields)
        return points[0].payload if points else None

    def _write_point(self, key: str, payload: dict[str, Any]) -> None:
        from qdrant_client import models

        point = models.PointStruct(id=hash_to_uuid(key), vector={}, payload=payload)
        self._write_points(self._client.upsert, self._collection, [point])


def list_part_keys(name: str, head: dict[str, Any]) -> list[str]:
    """Return the keys of the points that hold the parts of a blob."""
    return [f"{name}/{head['version']}/{i}" for i in range(head["parts"])]
