"""Translation probabilities of numbered words in two or three bytes each: the target word and a log probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import scipy.sparse as sp

#: The start of every such group of rows is stored; the sizes of the rows before one in its group are added up.
GROUP_SIZE = 16
#: A byte b stands for exp(-b / LOG_SCALE): from 1 down to 0.0003 in steps of 3 %.
LOG_SCALE = 32.0
MAX_ROW_SIZE = 255
_PROBABILITIES = np.exp(-np.arange(256) / LOG_SCALE)
_PROBABILITY_LIST = _PROBABILITIES.tolist()


class TranslationRows(NamedTuple):
    """A row for each source word: its target words and their probabilities, best first."""

    sizes: npt.NDArray[np.uint8]  # (rows,)
    starts: npt.NDArray[np.uint32]  # (rows / GROUP_SIZE,)
    targets: npt.NDArray[np.unsignedinteger]  # (entries,)
    weights: npt.NDArray[np.generic]  # (entries,): bytes on the log scale, or floating point before packing

    def read_row(self, number: int, max_entries: int = MAX_ROW_SIZE) -> list[tuple[int, float]]:
        """Return the first entries of a row as (number of the target word, probability), best first.

        They are Python numbers: rows are short, and array operations on them take three times as long.
        """
        group = number // GROUP_SIZE
        sizes_before = self.sizes[group * GROUP_SIZE : number].tolist()  # of the rows of its group before this one
        start: int = self.starts.item(group) + sum(sizes_before)
        entries = slice(start, start + min(self.sizes.item(number), max_entries))
        probabilities = self.weights[entries].tolist()
        if self.weights.dtype == np.uint8:
            probabilities = [_PROBABILITY_LIST[level] for level in probabilities]
        return list(zip(self.targets[entries].tolist(), probabilities, strict=True))


def decode_weights(weights: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    """Return the probabilities that bytes stand for; floating point stays as it is."""
    return np.asarray(_PROBABILITIES[weights] if weights.dtype == np.uint8 else weights, np.float64)


def pack_rows(matrix: sp.csr_matrix, *, exact: bool = False) -> TranslationRows:
    """Pack the translation probabilities of a language.

    :param matrix: (source words, target words), the entries of a row best first, at most MAX_ROW_SIZE a row.
    :param exact: keep floating point instead of rounding probabilities to 8 bits.
    """
    sizes = np.diff(matrix.indptr)
    assert sizes.max(initial=0) <= MAX_ROW_SIZE, "a word has too many translations: prune them"
    assert exact or matrix.shape[1] <= 1 << 16, f"{matrix.shape[1]} words of a language are too many: keep fewer"
    starts = matrix.indptr[:-1:GROUP_SIZE]  # of the first row of each group
    target_type = np.uint32 if exact else np.uint16
    weights = matrix.data.astype(np.float32) if exact else _encode_weights(matrix.data)
    return TranslationRows(
        sizes.astype(np.uint8), starts.astype(np.uint32), matrix.indices.astype(target_type), weights
    )


def _encode_weights(probabilities: npt.NDArray[np.floating]) -> npt.NDArray[np.uint8]:
    """Return the bytes that stand for probabilities, on the log scale."""
    levels = -LOG_SCALE * np.log(np.maximum(probabilities, 1e-9))
    return np.asarray(np.clip(np.rint(levels), 0, 255), np.uint8)
