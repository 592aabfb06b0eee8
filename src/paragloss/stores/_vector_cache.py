"""A cache of sparse vectors in flat arrays, so that searches don't read the same vectors from the engine again.

Knows nothing of engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from paragloss.bm25 import Ids, make_id_filter
from paragloss.types import SparseRows, SparseVector

#: Entries cached for one named vector, at most: about 320 MB. Arrays take memory only as they are filled.
MAX_CACHED_ENTRIES = 40_000_000
_INITIAL_ROWS = 1024


class PointVector(NamedTuple):
    """The language of a point's document, and one of its sparse vectors."""

    lang: str
    vector: SparseVector


#: Pairs of point id and vector.
PointVectors: TypeAlias = Sequence[tuple[int, PointVector]]


class SparseVectorCache:
    """Sparse vectors by vector name and point id.

    Whoever writes points must call `forget` for them. Nobody may write between reading vectors and adding them here.

    :param max_entries: the capacity for each vector name.
    """

    def __init__(self, max_entries: int = MAX_CACHED_ENTRIES) -> None:
        self._max_entries = max_entries
        self._tables: dict[str, _VectorTable] = {}

    def get_rows(
        self,
        name: str,
        point_ids: Sequence[int],
        read: Callable[[list[int]], Iterable[tuple[int, PointVector]]],
        term_ids: Ids | None = None,
    ) -> tuple[list[str], SparseRows]:
        """Return the languages and vectors of points, in the order of `point_ids`.

        A point that does not exist has the language "" and an empty vector.

        :param read: called with the ids of points that are not cached; returns those that exist.
        :param term_ids: keep the entries with these ids, and a few others; None keeps all entries.
        """
        table = self._get_table(name)
        if not all(point_id in table.row_by_point for point_id in point_ids):
            self._add_missing(table, point_ids, read)
        return table.get_rows(point_ids, term_ids)

    def add(self, name: str, vectors: PointVectors) -> bool:
        """Cache vectors that were read in advance; if they don't fit, nothing is added and False is returned."""
        table = self._get_table(name)
        if not table.has_space_for(vectors):
            return False
        table.add([(point_id, vector) for point_id, vector in vectors if point_id not in table.row_by_point])
        return True

    def forget(self, point_ids: Iterable[int]) -> None:
        """Remove points that are written or deleted."""
        forgotten = list(point_ids)
        for table in self._tables.values():
            for point_id in forgotten:
                table.row_by_point.pop(point_id, None)

    def _get_table(self, name: str) -> _VectorTable:
        if name not in self._tables:
            self._tables[name] = _VectorTable(self._max_entries)
        return self._tables[name]

    @staticmethod
    def _add_missing(
        table: _VectorTable, point_ids: Sequence[int], read: Callable[[list[int]], Iterable[tuple[int, PointVector]]]
    ) -> None:
        """Read and add the vectors that a table lacks, after making space for them.

        Making space may remove vectors that are requested as well; these are then read, too.

        :param point_ids: the requested points.
        :param read: called with point ids; returns the vectors of those that exist.
        """
        requested = list(dict.fromkeys(point_ids))
        vectors = list(read([point_id for point_id in requested if point_id not in table.row_by_point]))
        for make_space in (table.drop_recent, table.clear):
            if table.has_space_for(vectors):
                break
            cached = [point_id for point_id in requested if point_id in table.row_by_point]
            make_space()
            removed = [point_id for point_id in cached if point_id not in table.row_by_point]
            vectors += read(removed) if removed else []
        table.add(vectors)


class _VectorTable:
    """The cached vectors of one name, one after the other in flat arrays.

    The last eighth of the arrays holds recent vectors. When the table is full, these are dropped first, so that vectors
    that were read in advance stay.
    """

    def __init__(self, max_entries: int) -> None:
        """Reserve memory for the entries; a table of rows says which of them belong to each vector."""
        self.row_by_point: dict[int, int] = {}
        # One value per row, (n_rows,): the first entry, the number of entries and the language's number.
        self._starts = np.zeros(_INITIAL_ROWS, np.int64)
        self._sizes = np.zeros(_INITIAL_ROWS, np.int64)
        self._lang_codes = np.zeros(_INITIAL_ROWS, np.int64)
        self._code_by_lang: dict[str, int] = {}
        # One value per entry, (max_entries,).
        self._indices = np.empty(max_entries, np.uint32)
        self._values = np.empty(max_entries, np.float32)
        self._n_rows = self._n_entries = 0
        self._recent_start = max_entries - max_entries // 8  # vectors that start at this entry or later are recent
        self._recent_points: list[int] = []
        self._first_recent_row = 0

    def has_space_for(self, vectors: PointVectors) -> bool:
        """Tell whether vectors fit behind those that are cached."""
        return self._n_entries + _count_entries(vectors) <= len(self._indices)

    def drop_recent(self) -> None:
        """Remove the recent vectors."""
        for point_id in self._recent_points:
            self.row_by_point.pop(point_id, None)
        if self._recent_points:
            self._n_rows = self._first_recent_row
            self._n_entries = int(self._starts[self._first_recent_row])
            self._recent_points = []

    def clear(self) -> None:
        """Remove all vectors."""
        self.row_by_point.clear()
        self._n_rows, self._n_entries, self._recent_points = 0, 0, []

    def add(self, vectors: PointVectors) -> None:
        """Append vectors. If one request needs more entries than the capacity, the empty table is enlarged."""
        if not self.has_space_for(vectors):
            n_entries = _count_entries(vectors)
            self._indices, self._values = np.empty(n_entries, np.uint32), np.empty(n_entries, np.float32)
        for point_id, vector in vectors:
            self._append(point_id, vector)

    def get_rows(self, point_ids: Sequence[int], term_ids: Ids | None) -> tuple[list[str], SparseRows]:
        """Return the languages and vectors of points; see `SparseVectorCache.get_rows`."""
        rows = np.array([self.row_by_point.get(point_id, -1) for point_id in point_ids], np.int64)  # (n_points,)
        langs = [*self._code_by_lang, ""]
        codes = np.where(rows >= 0, self._lang_codes[rows], len(self._code_by_lang))
        return [langs[code] for code in codes.tolist()], self._gather(rows, term_ids)

    def _append(self, point_id: int, vector: PointVector) -> None:
        """Add one vector behind the others. Its entries must fit; the table of rows grows if it is full."""
        if self._n_rows == len(self._starts):
            self._grow_rows()
        row, start = self._n_rows, self._n_entries
        size = len(vector.vector.indices)
        end = start + size
        self._starts[row] = start
        self._sizes[row] = size
        self._lang_codes[row] = self._code_by_lang.setdefault(vector.lang, len(self._code_by_lang))
        self._indices[start:end] = vector.vector.indices
        self._values[start:end] = vector.vector.values
        self.row_by_point[point_id] = row
        if start >= self._recent_start:
            self._add_recent(point_id, row)
        self._n_rows = row + 1
        self._n_entries = end

    def _grow_rows(self) -> None:
        """Make room for twice as many rows."""
        self._starts = _double_length(self._starts)
        self._sizes = _double_length(self._sizes)
        self._lang_codes = _double_length(self._lang_codes)

    def _add_recent(self, point_id: int, row: int) -> None:
        """Record that a vector is a recent one, which `drop_recent` removes."""
        if not self._recent_points:
            self._first_recent_row = row
        self._recent_points.append(point_id)

    def _gather(self, rows: npt.NDArray[np.int64], term_ids: Ids | None) -> SparseRows:
        """Join the vectors of some rows, with the entries that `term_ids` keeps; a row of -1 is an empty vector.

        :param rows: the row of each point in this table, (n_points,).
        :param term_ids: keep the entries with these ids, and a few others; None keeps all entries.
        """
        starts = self._starts[rows]  # (n_points,) first entry of each vector in the table
        sizes = np.where(rows >= 0, self._sizes[rows], 0)  # (n_points,)
        indices = self._join_indices(starts, sizes)  # of all entries, vector after vector
        selected = np.arange(len(indices)) if term_ids is None else make_id_filter(term_ids)(indices)
        joined_ends = sizes.cumsum()  # (n_points,) where each vector ends in `indices`
        counts = np.diff(selected.searchsorted(joined_ends), prepend=0)  # (n_points,) selected entries of each vector
        joined_starts = joined_ends - sizes
        table_positions = selected + (starts - joined_starts).repeat(counts)
        return SparseRows(counts, indices.take(selected), self._values.take(table_positions))

    def _join_indices(self, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
        """Return the indices of vectors one after the other, given where each begins in the table and its size."""
        spans = zip(starts.tolist(), (starts + sizes).tolist(), strict=True)
        return np.concatenate([self._indices[:0], *(self._indices[start:end] for start, end in spans)])


def _double_length(array: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.concatenate([array, np.zeros_like(array)])


def _count_entries(vectors: PointVectors) -> int:
    return sum(len(vector.vector.indices) for _, vector in vectors)
