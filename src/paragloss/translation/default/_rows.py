"""Translation probabilities of numbered words in two or three bytes each: the target word and a log probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.groups import list_positions

if TYPE_CHECKING:
    import scipy.sparse as sp

#: The start of every such group of rows is stored; the sizes of the rows before one in its group are added up.
GROUP_SIZE = 16
#: A byte b stands for exp(-b / LOG_SCALE): from 1 down to 0.0003 in steps of 3 %.
LOG_SCALE = 32.0
MAX_ROW_SIZE = 255
_PROBABILITIES = np.exp(-np.arange(256) / LOG_SCALE)
_PROBABILITY_LIST = _PROBABILITIES.tolist()
_POSITIONS_IN_GROUP = np.arange(GROUP_SIZE)[:, None]


class WordShares(NamedTuple):
    """Words of a language, by their numbers, each with a share or a probability."""

    numbers: npt.NDArray[np.int64]
    shares: npt.NDArray[np.float64]


class TableStarts(NamedTuple):
    """Where the table of each of some rows begins in the arrays of all tables, (rows,) each."""

    sizes: npt.NDArray[np.int64]
    groups: npt.NDArray[np.int64]
    entries: npt.NDArray[np.int64]


class RowEntries(NamedTuple):
    """The entries of some rows, row after row."""

    sizes: npt.NDArray[np.int64]  # (rows,) number of entries of each row
    targets: npt.NDArray[np.int64]  # (entries,) numbers of target words
    probabilities: npt.NDArray[np.float64]  # (entries,)


class TranslationRows(NamedTuple):
    """A row for each source word: its target words and their probabilities, best first."""

    sizes: npt.NDArray[np.uint8]  # (rows,)
    starts: npt.NDArray[np.uint32]  # (rows / GROUP_SIZE,)
    targets: npt.NDArray[np.unsignedinteger]  # (entries,)
    weights: npt.NDArray[np.generic]  # (entries,): bytes on the log scale, or floating point before packing

    def row(self, number: int) -> WordShares:
        """Return the target words of a row and their probabilities."""
        entries = self._find_entries(number)
        return WordShares(self.targets[entries].astype(np.int64), decode_weights(self.weights[entries]))

    def first_pairs(self, number: int, limit: int) -> list[tuple[int, float]]:
        """Return the first entries of a row as Python numbers, which takes a third of the time."""
        entries = self._find_entries(number, limit)
        weights = self.weights[entries].tolist()
        if self.weights.dtype == np.uint8:
            weights = [_PROBABILITY_LIST[level] for level in weights]
        return list(zip(self.targets[entries].tolist(), weights, strict=True))

    def _find_entries(self, number: int, limit: int = MAX_ROW_SIZE) -> slice:
        group = number // GROUP_SIZE
        start: int = self.starts.item(group) + sum(self.sizes[group * GROUP_SIZE : number].tolist())
        return slice(start, start + min(self.sizes.item(number), limit))

    def read_rows_of_tables(self, numbers: npt.NDArray[np.int64], table_starts: TableStarts) -> RowEntries:
        """Read many rows at once, where the arrays hold several tables one after the other.

        :param numbers: (rows,) the number of each row in its table.
        :param table_starts: where the table of each row begins in the arrays.
        :return: the target words of the rows and their probabilities.
        """
        sizes = self.sizes[table_starts.sizes + numbers].astype(np.int64)  # (rows,)
        first_entries = self._find_first_entries(numbers, table_starts)  # (rows,)
        entries = np.repeat(first_entries, sizes) + list_positions(sizes)  # (all entries of the rows,)
        return RowEntries(sizes, self.targets[entries].astype(np.int64), decode_weights(self.weights[entries]))

    def _find_first_entries(self, numbers: npt.NDArray[np.int64], table_starts: TableStarts) -> npt.NDArray[np.int64]:
        """Return where each row begins, (rows,): at the start of its group, behind the rows before it in the group."""
        group, position = np.divmod(numbers, GROUP_SIZE)
        rows_of_group = table_starts.sizes + GROUP_SIZE * group + _POSITIONS_IN_GROUP  # (GROUP_SIZE, rows)
        sizes_of_group = self.sizes[np.minimum(rows_of_group, len(self.sizes) - 1)]
        sizes_before = np.where(position > _POSITIONS_IN_GROUP, sizes_of_group, 0).sum(axis=0, dtype=np.int64)
        return np.asarray(table_starts.entries + self.starts[table_starts.groups + group] + sizes_before)


def decode_weights(weights: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    """Return the probabilities that bytes stand for; floating point stays as it is."""
    return np.asarray(_PROBABILITIES[weights] if weights.dtype == np.uint8 else weights, np.float64)


def pack_rows(matrix: sp.csr_matrix, *, exact: bool = False) -> TranslationRows:
    """Pack a matrix whose rows have their entries best first, at most MAX_ROW_SIZE a row.

    :param exact: keep floating point instead of rounding probabilities to 8 bits.
    """
    sizes = np.diff(matrix.indptr)
    assert sizes.max(initial=0) <= MAX_ROW_SIZE, "a word has too many translations: prune them"
    assert exact or matrix.shape[1] <= 1 << 16, f"{matrix.shape[1]} words of a language are too many: keep fewer"
    return TranslationRows(
        sizes.astype(np.uint8),
        starts=matrix.indptr[:-1:GROUP_SIZE].astype(np.uint32),
        targets=matrix.indices.astype(np.uint32 if exact else np.uint16),
        weights=matrix.data.astype(np.float32) if exact else _encode_weights(matrix.data),
    )


def _encode_weights(probabilities: npt.NDArray[np.floating]) -> npt.NDArray[np.uint8]:
    """Return the bytes that stand for probabilities, on the log scale."""
    levels = -LOG_SCALE * np.log(np.maximum(probabilities, 1e-9))
    return np.asarray(np.clip(np.rint(levels), 0, 255), np.uint8)
