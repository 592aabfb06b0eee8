"""What searches read of an engine's points beside their scores, remembered: what documents are called, their languages
and sparse vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import qdrant_edge as edge

from paragloss.bm25 import Ids
from paragloss.stores import _points
from paragloss.stores._point_ids import Names
from paragloss.stores._recent import Packed, Recent
from paragloss.stores._shard import Shard
from paragloss.types import SparseRows, SparseVector

#: Documents read ahead in one step, for which searches wait.
_AHEAD = 50
#: Documents whose metadata are remembered.
_BARE = 20_000


class Postings:
    """Who writes points `forget`s them, in the same turn."""

    def __init__(self, shard: Shard) -> None:
        self.names = Names(self._named)
        self._shard = shard
        self._by_index = "id" in shard.indexed  # older collections index languages only
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

    def rows(self, name: str, points: Sequence[int], among: Ids | None = None) -> tuple[list[str], SparseRows]:
        """Languages and vectors in the order asked for; nothing is written between reading and remembering."""
        with self._shard.turn:
            return self._recent.rows(name, points, lambda some: self._read(name, some), among)

    def ahead(self, name: str) -> Iterator[int]:
        """Read what searches would read bit by bit, as much as is remembered. Gives back how many were read after each
        step, so that searches have their turn between."""
        offset, read = None, 0
        while True:
            request = edge.ScrollRequest(offset=offset, limit=_AHEAD, with_payload=False, with_vector=False)
            with self._shard.turn:
                points, offset = self._shard.ask("scroll", request)
                keys = [point.id for point in points]
                self.names.know(self._named(keys))
                if not self._recent.remember(name, self._read(name, keys)):
                    return
            read += len(points)
            yield read
            if offset is None:
                return

    def _read(self, name: str, points: Sequence[int]) -> list[tuple[int, Packed]]:
        langs, found = self._langs(points), self._shard.ask("retrieve", points, False, [name])
        return [(point.id, Packed(langs[point.id], _vector(point.vector.get(name)))) for point in found]

    # The engine reads a document whole to say anything of it; what is indexed it knows.

    def _named(self, points: Sequence[int]) -> list[tuple[int, str]]:
        """What documents are called, and their points."""
        found = {_points.point_number(id): id for id in self._values("id", points)} if self._by_index else {}
        return [*found.items(), *self._shard.payloads([point for point in points if point not in found], "id")]

    def _langs(self, points: Sequence[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        for lang in self._values("lang", points):
            here = edge.Filter(must=[_among(points), edge.FieldCondition("lang", match=edge.MatchAny([lang]))])
            wanted = edge.ScrollRequest(limit=len(points), filter=here, with_payload=False, with_vector=False)
            found.update((point.id, lang) for point in self._shard.ask("scroll", wanted)[0])
        return {**found, **dict(self._shard.payloads([point for point in points if point not in found], "lang"))}

    def _values(self, key: str, points: Sequence[int]) -> list[str]:
        """What some points hold under a key that is indexed, each value once."""
        wanted = edge.FacetRequest(key, limit=len(points), filter=edge.Filter(must=[_among(points)]))
        return [hit.value for hit in self._shard.ask("facet", wanted).hits] if points else []


def _among(points: Sequence[int]) -> Any:
    return edge.HasIdCondition(set(points))


def _vector(vector: Any) -> SparseVector:
    return _points.sparse(vector.indices, vector.values) if vector else _points.sparse((), ())
