"""Terms to hashed ids, and how many documents hold each: two tables that stay small. Knows nothing of weights."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ids: TypeAlias = npt.NDArray[np.uint32]
Counts: TypeAlias = npt.NDArray[np.int64]

_MEMO = 500_000  # terms remembered per language: about 60 MB


class Hashes(dict[str, int]):
    """The hash of each term of a language, made once."""

    def __init__(self, lang: str) -> None:
        super().__init__()
        self._lang = lang

    def __missing__(self, term: str) -> int:
        if len(self) > _MEMO:
            self.clear()
        key = f"{self._lang}\0{term}".encode("utf-8", "surrogatepass")
        self[term] = value = int.from_bytes(blake2b(key, digest_size=4).digest(), "little")
        return value


class Frequencies:
    """Document frequencies by id: sorted arrays, and a small table of what changed since they were sorted."""

    def __init__(self, ids: Ids | None = None, df: Counts | None = None) -> None:
        self._ids = np.zeros(0, np.uint32) if ids is None else ids
        self._sorted = np.zeros(0, np.int64) if df is None else df
        self._changed: Counter[int] = Counter()

    def of(self, ids: Ids) -> Counts:
        found = np.zeros(len(ids), np.int64)
        if len(self._ids):
            place = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
            found = np.where(self._ids[place] == ids, self._sorted[place], 0)
        changed = self._changed
        return found + np.array([changed[i] for i in ids.tolist()], np.int64)

    def add(self, ids: Ids, sign: int) -> None:
        if sign > 0:
            self._changed.update(ids.tolist())
        else:
            self._changed.subtract(ids.tolist())
        if len(self._changed) > max(100_000, len(self._ids) // 4):  # merging then costs little per document
            self._ids, self._sorted = self.arrays()
            self._changed.clear()

    def arrays(self) -> tuple[Ids, Counts]:
        """All ids in order, and their frequencies; none is zero."""
        ids = np.concatenate([self._ids, np.fromiter(self._changed.keys(), np.uint32, len(self._changed))])
        df = np.concatenate([self._sorted, np.fromiter(self._changed.values(), np.int64, len(self._changed))])
        unique, inverse = np.unique(ids, return_inverse=True)
        total = np.bincount(inverse, df, len(unique)).astype(np.int64)
        return unique[total != 0], total[total != 0]
