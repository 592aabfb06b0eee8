"""Associations between English words: a small vector for each word, learned from which words occur near each other.

They tell which sense of a word suits the rest of its sentence. studies/word_associations.py learns them from open
texts; word_associations.npz is CC BY-SA 4.0 (NOTICE).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paragloss.gloss.meanings import terms_of
from paragloss.types import Floats, Integers

#: The language whose words are known.
LANG = "en"
#: How much being in company counts beside how likely a meaning is by itself: exp(4 cos). Chosen on Tatoeba sentences of
#: ten languages (docs/understand/gloss.md); a word that has no vector is as near to others as words are on average.
SWAY, USUAL = 4.0, 0.1
_PLACE = Path(__file__).parent / "word_associations.npz"


class _Company:
    """Terms with their vectors, of unit length in bytes, and how much each says."""

    def __init__(self, terms: Sequence[str], rows: npt.NDArray[np.int8], weights: Floats) -> None:
        self._index = {term: place for place, term in enumerate(terms)}
        self._rows, self._weights = rows, weights
        self._place = lru_cache(maxsize=50_000)(self._placed)

    def _placed(self, text: str) -> int:
        """The last known term of a meaning: of a few words that is the one the others describe."""
        known = [self._index[term] for term in terms_of(text, LANG) if term in self._index]
        return known[-1] if known else -1

    def sways(
        self, texts: Sequence[str], weights: npt.NDArray[np.float64], starts: Integers, sizes: Sequence[int]
    ) -> Floats:
        """For the meanings of words, with their shares and where each word's begin, by how much each is to be
        multiplied, since it suits what the other words of its sentence may mean, or does not. `sizes`: how many words
        each sentence has."""
        places, shares = np.array([*map(self._place, texts)]), weights.astype(np.float32)
        known = places >= 0
        rows = self._rows[places].astype(np.float32) / 127
        sums = np.add.reduceat((shares * self._weights[places] * known)[:, None] * rows, starts)
        ends = accumulate(sizes, initial=0)
        others = np.concatenate([sums[a:b].sum(axis=0) - sums[a:b] for a, b in pairwise(ends)])
        others = others.repeat(np.diff(starts, append=len(texts)), axis=0)
        long = np.sqrt(np.einsum("ij,ij->i", others, others))
        near = np.einsum("ij,ij->i", rows, others) / np.where(long > 0, long, 1)
        return np.asarray(np.exp(SWAY * np.where(known & (long > 0), near, USUAL)), np.float32)


@cache
def open() -> _Company:
    with np.load(_PLACE, allow_pickle=False) as data:
        terms = bytes(data["terms"]).decode().split("\n")
        return _Company(terms, data["rows"], data["weights"].astype(np.float32))
