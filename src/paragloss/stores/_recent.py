"""Sparse vectors that were read lately, packed, so that a search does not have the engine hand them out again: what is
found once is found again, by the next words of the same person or by the next person. Knows nothing of engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from paragloss.types import SparseRows, SparseVector

#: So many entries are remembered, in all vectors together: about 50 MB.
MOST = 4_000_000


class Packed(NamedTuple):
    """A document's language and one of its vectors."""

    lang: str
    vector: SparseVector


class Recent:
    """By the name of the vector and the point it belongs to; the oldest go when there are too many entries. Who writes
    points has to `forget` them; nobody may write between reading and remembering."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._entries = most, 0
        self._known: dict[tuple[str, int], Packed] = {}

    def rows(
        self, name: str, points: Sequence[int], read: Callable[[list[int]], Iterable[tuple[int, Packed]]]
    ) -> tuple[list[str], SparseRows]:
        """Languages and vectors in the order asked for; `read` brings those that are not known. A point that is not
        there has no language and an empty vector."""
        known = self._known
        here = {point: known[name, point] for point in points if (name, point) in known}
        lacking = list(dict.fromkeys(point for point in points if point not in here))
        if lacking:
            new = dict(read(lacking))
            here |= new
            self._remember(name, new)
        nothing = Packed("", SparseVector(np.zeros(0, np.uint32), np.zeros(0, np.float32)))
        found = [here.get(point, nothing) for point in points]
        parts = [one.vector for one in found]
        return [one.lang for one in found], SparseRows(
            np.array([len(part.indices) for part in parts], np.int64),
            np.concatenate([part.indices for part in parts]) if parts else np.zeros(0, np.uint32),
            np.concatenate([part.values for part in parts]) if parts else np.zeros(0, np.float32),
        )

    def forget(self, points: Iterable[int]) -> None:
        names = {name for name, _ in self._known}
        for point in points:
            for name in names:
                if (gone := self._known.pop((name, point), None)) is not None:
                    self._entries -= len(gone.vector.indices)

    def _remember(self, name: str, new: dict[int, Packed]) -> None:
        self._known.update({(name, point): one for point, one in new.items()})
        self._entries += sum(len(one.vector.indices) for one in new.values())
        while self._entries > self._most and self._known:
            oldest = next(iter(self._known))
            self._entries -= len(self._known.pop(oldest).vector.indices)
