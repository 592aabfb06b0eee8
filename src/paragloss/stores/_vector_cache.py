"""A cache of sparse vectors, so that searches don't read the same vectors from the engine again.

Knows nothing of engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from paragloss.bm25 import Ids, filter_entries
from paragloss.types import SparseRows, SparseVector

#: Entries that are cached, at most: about 320 MB, and 300 bytes for each vector.
MAX_CACHED_ENTRIES = 40_000_000
#: Share of the entries that vectors which are read in advance may fill; the others are for vectors that searches read.
_MAX_PRELOADED_SHARE = 7 / 8


class PointVector(NamedTuple):
    """The language of a point's document, and one of its sparse vectors."""

    lang: str
    vector: SparseVector


#: Stands for a point that does not exist.
_NO_POINT = PointVector("", SparseVector(np.zeros(0, np.uint32), np.zeros(0, np.float32)))


class SparseVectorCache:
    """The sparse vectors of one name, by point id.

    Vectors that were read in advance stay. Those that searches have read are dropped, all at once, when no more fit.
    Whoever writes points must call `forget` for them. Nobody may write between reading vectors and adding them here.

    :param max_entries: how many entries of vectors are cached at most.
    """

    def __init__(self, max_entries: int = MAX_CACHED_ENTRIES) -> None:
        self._max_entries = max_entries
        self._n_entries = 0
        self._preloaded: dict[int, PointVector] = {}
        self._recent: dict[int, PointVector] = {}

    def get_rows(
        self,
        point_ids: Sequence[int],
        read: Callable[[list[int]], Iterable[tuple[int, PointVector]]],
        term_ids: Ids | None = None,
    ) -> tuple[list[str], SparseRows]:
        """Return the languages and vectors of points, in the order of `point_ids`.

        A point that does not exist has the language "" and an empty vector.

        :param read: called with the ids of points that are not cached; returns the vectors of those that exist.
        :param term_ids: keep the entries with these ids, and a few others; None keeps all entries.
        """
        vector_by_point = {point_id: self._get(point_id) for point_id in point_ids}
        missing = [point_id for point_id, vector in vector_by_point.items() if vector is None]
        if missing:
            read_vectors = dict(read(missing))
            vector_by_point |= read_vectors
            self._add_recent(read_vectors)
        vectors = [vector_by_point[point_id] or _NO_POINT for point_id in point_ids]
        langs = [vector.lang for vector in vectors]
        rows = _join_vectors([vector.vector for vector in vectors])
        if term_ids is not None:
            rows = filter_entries(rows, term_ids)
        return langs, rows

    def preload(self, vectors: Iterable[tuple[int, PointVector]]) -> bool:
        """Cache vectors that were read in advance; if they don't fit, nothing is added and False is returned."""
        new_vectors = {point_id: vector for point_id, vector in vectors if self._get(point_id) is None}
        n_entries = self._n_entries + _count_entries(new_vectors.values())
        if n_entries > _MAX_PRELOADED_SHARE * self._max_entries:
            return False
        self._preloaded |= new_vectors
        self._n_entries = n_entries
        return True

    def forget(self, point_ids: Iterable[int]) -> None:
        """Remove points that are written or deleted."""
        for point_id in point_ids:
            removed = self._preloaded.pop(point_id, None) or self._recent.pop(point_id, None)
            if removed is not None:
                self._n_entries -= _count_entries([removed])

    def _get(self, point_id: int) -> PointVector | None:
        """Return the vector of a point; None if it is not cached."""
        return self._preloaded.get(point_id) or self._recent.get(point_id)

    def _add_recent(self, vectors: dict[int, PointVector]) -> None:
        """Cache vectors that a search has read, unless they don't fit even in place of all others of this kind."""
        n_new_entries = _count_entries(vectors.values())
        if self._n_entries + n_new_entries > self._max_entries:
            self._n_entries -= _count_entries(self._recent.values())
            self._recent.clear()
        if self._n_entries + n_new_entries <= self._max_entries:
            self._recent |= vectors
            self._n_entries += n_new_entries


def _join_vectors(vectors: Sequence[SparseVector]) -> SparseRows:
    """Put the entries of vectors into flat arrays, one vector after the other."""
    return SparseRows(
        np.array([len(vector.indices) for vector in vectors], np.int64),
        np.concatenate([_NO_POINT.vector.indices, *(vector.indices for vector in vectors)]),
        np.concatenate([_NO_POINT.vector.values, *(vector.values for vector in vectors)]),
    )


def _count_entries(vectors: Iterable[PointVector]) -> int:
    return sum(len(vector.vector.indices) for vector in vectors)
