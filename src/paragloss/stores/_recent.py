"""Sparse vectors that were read lately, packed, so that a search does not have the engine hand them out again: what is
found once is found again, by the next words of the same person or by the next person. Knows nothing of engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.bm25 import Ids, sieve
from paragloss.types import SparseRows, SparseVector

#: So many entries of one vector's name are remembered: about 320 MB where all are; what is not used takes no memory.
MOST = 40_000_000


class Packed(NamedTuple):
    """A document's language and one of its vectors."""

    lang: str
    vector: SparseVector


class Recent:
    """By the name of the vector and the point it belongs to. Who writes points has to `forget` them; nobody may write
    between reading and remembering."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._tables: dict[str, _Table] = {}

    def rows(
        self,
        name: str,
        points: Sequence[int],
        read: Callable[[list[int]], Iterable[tuple[int, Packed]]],
        among: Ids | None = None,
    ) -> tuple[list[str], SparseRows]:
        """Languages and vectors in the order asked for, with the entries `among` some ids; `read` brings those that are
        not known. A point that is not there has no language and an empty vector."""
        table = self._table(name)
        if not all(map(table.place.__contains__, points)):
            lacking = list(dict.fromkeys(point for point in points if point not in table.place))
            new = list(read(lacking))
            for make_room in (table.let_last_go, table.clear):
                if not table.room_for(new):  # some go, perhaps also such as are wanted now
                    make_room()
                    here = {point for point, _ in new}.union(lacking)
                    others = [
                        point for point in dict.fromkeys(points) if point not in table.place and point not in here
                    ]
                    new += read(others) if others else []
            table.remember(new)
        return table.rows(points, among)

    def remember(self, name: str, new: Sequence[tuple[int, Packed]]) -> bool:
        """Vectors that were read ahead; nothing is done, and False said, when others would have to go for them."""
        table = self._table(name)
        if not table.room_for(new):
            return False
        table.remember([(point, one) for point, one in new if point not in table.place])
        return True

    def forget(self, points: Iterable[int]) -> None:
        gone = list(points)
        for table in self._tables.values():
            for point in gone:
                table.place.pop(point, None)

    def _table(self, name: str) -> _Table:
        if name not in self._tables:
            self._tables[name] = _Table(self._most)
        return self._tables[name]


class _Table:
    """Vectors one after the other. Where there is no more room the last to come make room for the next: what was read
    ahead stays."""

    def __init__(self, most: int) -> None:
        self.place: dict[int, int] = {}  # of a point
        self._langs: dict[str, int] = {}
        self._starts, self._sizes, self._spoken = (np.zeros(1024, np.int64) for _ in range(3))
        self._indices, self._values = np.empty(most, np.uint32), np.empty(most, np.float32)
        self._next = self._used = 0
        self._edge = most - most // 8  # what begins behind it are the last to come
        self._last: list[int] = []  # of these the points
        self._first = 0  # and the first row

    def room_for(self, new: Sequence[tuple[int, Packed]]) -> bool:
        return self._used + _entries(new) <= len(self._indices)

    def let_last_go(self) -> None:
        for point in self._last:
            self.place.pop(point, None)
        if self._last:
            self._next, self._used, self._last = self._first, int(self._starts[self._first]), []

    def clear(self) -> None:
        self.place.clear()
        self._next, self._used, self._last = 0, 0, []

    def remember(self, new: Sequence[tuple[int, Packed]]) -> None:
        if not self.room_for(new):  # asked for at once: more than is meant to be kept
            self._indices, self._values = np.empty(_entries(new), np.uint32), np.empty(_entries(new), np.float32)
        for point, one in new:
            if self._next == len(self._starts):
                self._starts, self._sizes, self._spoken = map(_doubled, (self._starts, self._sizes, self._spoken))
            row, start, size = self._next, self._used, len(one.vector.indices)
            self._starts[row], self._sizes[row] = start, size
            self._spoken[row] = self._langs.setdefault(one.lang, len(self._langs))
            self._indices[start : start + size] = one.vector.indices
            self._values[start : start + size] = one.vector.values
            self.place[point] = row
            if start >= self._edge:
                self._first = self._first if self._last else row
                self._last.append(point)
            self._next, self._used = row + 1, start + size

    def rows(self, points: Sequence[int], among: Ids | None) -> tuple[list[str], SparseRows]:
        place = np.array([self.place.get(point, -1) for point in points], np.int64)
        starts, sizes = self._starts[place], np.where(place >= 0, self._sizes[place], 0)
        ends = sizes.cumsum()
        each = zip(starts.tolist(), (starts + sizes).tolist(), strict=True)
        indices = np.concatenate([self._indices[:0], *(self._indices[start:end] for start, end in each)])
        here = np.arange(len(indices)) if among is None else sieve(among)(indices)
        kept = here.searchsorted(ends)
        kept[1:] -= kept[:-1].copy()
        values = self._values.take(here + (starts - ends + sizes).repeat(kept))
        names = [*self._langs, ""]
        langs = [names[code] for code in np.where(place >= 0, self._spoken[place], len(self._langs)).tolist()]
        return langs, SparseRows(kept, indices.take(here), values)


def _doubled(array: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.concatenate([array, np.zeros_like(array)])


def _entries(new: Sequence[tuple[int, Packed]]) -> int:
    return sum(len(one.vector.indices) for _, one in new)
