"""Translations of numbered words, best first, in two or three bytes each: whose word, and how likely on a log scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import scipy.sparse as sp

#: Rows whose sizes are added up to find one; only every so many rows a place is kept.
GROUP = 16
#: A byte b stands for exp(-b / SCALE): from 1 down to 0.0003 in steps of 3 %.
SCALE = 32.0
_GROUP = np.arange(GROUP)
_LEVELS = np.exp(-np.arange(256) / SCALE)
_LISTED = _LEVELS.tolist()


class Rows(NamedTuple):
    """Row after row of (number of a target word, probability)."""

    sizes: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.uint32]  # of every GROUP-th row
    targets: npt.NDArray[np.unsignedinteger]
    weights: npt.NDArray[np.generic]  # bytes on the log scale; floating point before it is packed

    def row(self, number: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        cells = self._cells(number)
        return self.targets[cells].astype(np.int64), levels(self.weights[cells])

    def pairs(self, number: int, most: int) -> list[tuple[int, float]]:
        """The first few of a row: as Python's numbers, which takes a third of the time."""
        cells = self._cells(number, most)
        weights = self.weights[cells].tolist()
        if self.weights.dtype == np.uint8:
            weights = [*map(_LISTED.__getitem__, weights)]
        return list(zip(self.targets[cells].tolist(), weights, strict=True))

    def _cells(self, number: int, most: int = 255) -> slice:
        group = number // GROUP
        start: int = self.starts.item(group) + sum(self.sizes[group * GROUP : number].tolist())
        return slice(start, start + min(self.sizes.item(number), most))

    def many(
        self, numbers: npt.NDArray[np.int64], begin: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Many rows of several tables that are kept one after the other: the size of each, and their entries one after
        the other. `begin` (3, rows) is where the sizes, starts and entries of each row's table begin."""
        group, place = np.divmod(numbers, GROUP)
        before = begin[0] + GROUP * group + _GROUP[:, None]  # (GROUP, rows); those of the next table don't count
        counted = np.where(_GROUP[:, None] < place, self.sizes[np.minimum(before, len(self.sizes) - 1)], 0)
        start = begin[2] + self.starts[begin[1] + group] + counted.sum(axis=0, dtype=np.int64)
        sizes = self.sizes[begin[0] + numbers].astype(np.int64)
        first = np.cumsum(sizes) - sizes
        cells = np.repeat(start - first, sizes) + np.arange(int(sizes.sum()))
        return sizes, self.targets[cells].astype(np.int64), levels(self.weights[cells])


def levels(weights: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    """The probabilities that bytes stand for; floating point is what it is."""
    return np.asarray(_LEVELS[weights] if weights.dtype == np.uint8 else weights, np.float64)


def packed(matrix: sp.csr_matrix, *, exact: bool = False) -> Rows:
    """Rows of a matrix whose entries stand best first, 255 a row at most. `exact` keeps what 8 bits would round."""
    sizes = np.diff(matrix.indptr)
    assert sizes.max(initial=0) <= 255, "a word has too many translations: prune them"
    assert exact or matrix.shape[1] <= 1 << 16, f"{matrix.shape[1]} words of a language are too many: keep fewer"
    targets = matrix.indices.astype(np.uint32 if exact else np.uint16)
    rounded = np.clip(np.rint(-SCALE * np.log(np.maximum(matrix.data, 1e-9))), 0, 255).astype(np.uint8)
    weights = matrix.data.astype(np.float32) if exact else rounded
    return Rows(sizes.astype(np.uint8), matrix.indptr[:-1:GROUP].astype(np.uint32), targets, weights)
