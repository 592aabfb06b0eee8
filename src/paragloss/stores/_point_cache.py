"""A cache of what searches read from the embedded engine: document ids, languages, metadata and sparse vectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import qdrant_edge as edge

from paragloss.bm25 import Ids
from paragloss.stores._document_ids import DocumentIds
from paragloss.stores._payload import KEYS_WITHOUT_TEXT, hash_to_uint64, to_engine_sparse_vector
from paragloss.stores._shard import Shard
from paragloss.stores._vector_cache import PointVector, SparseVectorCache
from paragloss.types import SparseRows, SparseVector

#: Points that `preload` reads in one step, for which searches wait.
_POINTS_PER_STEP = 50
#: Documents whose metadata is cached, at most.
_MAX_CACHED_PAYLOADS = 20_000


class PointCache:
    """Caches parts of points. Whoever writes points must call `forget` for them while holding the shard's lock."""

    def __init__(self, shard: Shard) -> None:
        self.document_ids = DocumentIds(self._read_document_ids)
        self._shard = shard
        self._has_id_index = "id" in shard.list_indexed_keys()  # older collections index languages only
        self._vectors: defaultdict[str, SparseVectorCache] = defaultdict(SparseVectorCache)  # by vector name
        self._payloads: dict[int, Mapping[str, Any]] = {}

    def forget(self, point_ids: Sequence[int]) -> None:
        """Remove points that are about to be written or deleted."""
        for vectors in self._vectors.values():
            vectors.forget(point_ids)
        for point_id in point_ids:
            self._payloads.pop(point_id, None)

    def get_payloads(self, point_ids: Sequence[int]) -> dict[int, Mapping[str, Any]]:
        """Return the payloads without texts of those points that exist.

        They are cached because the engine reads the whole payload, with the text, to return a part of it.
        """
        with self._shard.lock:
            missing = [point_id for point_id in point_ids if point_id not in self._payloads]
            if len(self._payloads) + len(missing) > _MAX_CACHED_PAYLOADS:
                self._payloads.clear()
                missing = list(point_ids)
            if missing:
                points = self._shard.call("retrieve", missing, list(KEYS_WITHOUT_TEXT), False)
                self._payloads.update((point.id, point.payload) for point in points)
            return {point_id: self._payloads[point_id] for point_id in point_ids if point_id in self._payloads}

    def get_rows(
        self, name: str, point_ids: Sequence[int], term_ids: Ids | None = None
    ) -> tuple[list[str], SparseRows]:
        """Return the languages and sparse vectors of points; see `SparseVectorCache.get_rows`."""

        def read(missing: Sequence[int]) -> list[tuple[int, PointVector]]:
            return self._read_vectors(name, missing)

        with self._shard.lock:  # nothing may be written between reading and caching
            return self._vectors[name].get_rows(point_ids, read, term_ids)

    def preload(self, name: str) -> Iterator[int]:
        """Read document ids and the sparse vectors of a name in advance, as many as the cache holds.

        Yields the number of points that were read after each step, so that searches can run in between.
        """
        offset, n_read = None, 0
        while True:
            request = edge.ScrollRequest(offset=offset, limit=_POINTS_PER_STEP, with_payload=False, with_vector=False)
            with self._shard.lock:
                points, offset = self._shard.call("scroll", request)
                point_ids = [point.id for point in points]
                self.document_ids.add(self._read_document_ids(point_ids))
                if not self._vectors[name].preload(self._read_vectors(name, point_ids)):
                    return
            n_read += len(points)
            yield n_read
            if offset is None:
                return

    def _read_vectors(self, name: str, point_ids: Sequence[int]) -> list[tuple[int, PointVector]]:
        """Read the languages and sparse vectors of those points that exist."""
        langs = self._read_langs(point_ids)
        points = self._shard.call("retrieve", point_ids, False, [name])
        return [(point.id, PointVector(langs[point.id], _get_sparse_vector(point, name))) for point in points]

    # Indexed values are read from the index: to return one payload key, the engine would read the whole document.

    def _read_document_ids(self, point_ids: Sequence[int]) -> list[tuple[int, str]]:
        """Return pairs of point id and document id."""
        ids_by_point: dict[int, str] = {}
        if self._has_id_index:
            for document_id in self._read_distinct_values("id", point_ids):
                ids_by_point[hash_to_uint64(document_id)] = document_id
        remaining = [point_id for point_id in point_ids if point_id not in ids_by_point]
        return [*ids_by_point.items(), *self._shard.read_payload_key(remaining, "id")]

    def _read_langs(self, point_ids: Sequence[int]) -> dict[int, str]:
        """Return the languages of points by point id."""
        lang_by_point: dict[int, str] = {}
        for lang in self._read_distinct_values("lang", point_ids):
            is_lang = edge.FieldCondition("lang", match=edge.MatchAny([lang]))
            condition = edge.Filter(must=[edge.HasIdCondition(set(point_ids)), is_lang])
            request = edge.ScrollRequest(limit=len(point_ids), filter=condition, with_payload=False, with_vector=False)
            points, _ = self._shard.call("scroll", request)
            lang_by_point.update((point.id, lang) for point in points)
        remaining = [point_id for point_id in point_ids if point_id not in lang_by_point]
        return {**lang_by_point, **dict(self._shard.read_payload_key(remaining, "lang"))}

    def _read_distinct_values(self, key: str, point_ids: Sequence[int]) -> list[str]:
        """Return the distinct values that points have under an indexed key."""
        if not point_ids:
            return []
        condition = edge.Filter(must=[edge.HasIdCondition(set(point_ids))])
        response = self._shard.call("facet", edge.FacetRequest(key, limit=len(point_ids), filter=condition))
        return [hit.value for hit in response.hits]


def _get_sparse_vector(point: Any, name: str) -> SparseVector:
    """Return a point's sparse vector; an empty one if it has none of that name."""
    vector = point.vector.get(name)
    return to_engine_sparse_vector(vector.indices, vector.values) if vector else to_engine_sparse_vector((), ())
