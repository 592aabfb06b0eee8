"""What searches read of an engine's points beside their scores, remembered: what documents are called, their languages
and sparse vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import qdrant_edge as edge

from paragloss.stores import _points
from paragloss.stores._point_ids import Names
from paragloss.stores._recent import Packed, Recent
from paragloss.stores._shard import Shard
from paragloss.types import SparseRows

#: Documents read ahead in one step, for which searches wait.
_AHEAD = 50
#: Documents whose metadata are remembered.
_BARE = 20_000


class Postings:
    """Who writes points `forget`s them, in the same turn."""

    def __init__(self, shard: Shard) -> None:
        self.names = Names(lambda points: shard.payloads(points, "id"))
        self._shard = shard
        self._recent = Recent()
        self._bare: dict[int, Mapping[str, Any]] = {}

    def forget(self, points: Sequence[int]) -> None:
        self._recent.forget(points)
        for point in points:
            self._bare.pop(point, None)

    def bare(self, points: Sequence[int]) -> dict[int, Mapping[str, Any]]:
        """What documents are called, their languages and metadata: the engine reads their texts to say that."""
        with self._shard.turn:
            new = [point for point in points if point not in self._bare]
            if len(self._bare) + len(new) > _BARE:
                self._bare.clear()
                new = list(points)
            if new:
                found = self._shard.ask("retrieve", new, list(_points.BARE), False)
                self._bare.update((point.id, point.payload) for point in found)
            return {point: self._bare[point] for point in points if point in self._bare}

    def rows(self, name: str, points: Sequence[int]) -> tuple[list[str], SparseRows]:
        """Languages and vectors in the order asked for; nothing is written between reading and remembering."""
        with self._shard.turn:
            return self._recent.rows(name, points, lambda some: self._read(name, some))

    def ahead(self, name: str) -> Iterator[int]:
        """Read what searches would read bit by bit, as much as is remembered. Gives back how many were read after each
        step, so that searches have their turn between."""
        offset, read = None, 0
        while True:
            request = edge.ScrollRequest(
                offset=offset, limit=_AHEAD, with_payload=["id", "lang"], with_vector=[name], filter=edge.Filter()
            )
            with self._shard.turn:
                points, offset = self._shard.ask("scroll", request)
                self.names.know((point.id, point.payload["id"]) for point in points)
                if not self._recent.remember(name, [(point.id, _packed(point, name)) for point in points]):
                    return
            read += len(points)
            yield read
            if offset is None:
                return

    def _read(self, name: str, points: Sequence[int]) -> list[tuple[int, Packed]]:
        found = self._shard.ask("retrieve", points, ["lang"], [name])
        return [(point.id, _packed(point, name)) for point in found]


def _packed(point: Any, name: str) -> Packed:
    vector = point.vector.get(name)
    entries = (vector.indices, vector.values) if vector else ((), ())
    return Packed(point.payload["lang"], _points.sparse(*entries))
