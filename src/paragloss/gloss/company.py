"""Which English words keep company with each other, as a small vector for each: what tells the sense of a word from the
words around it. Learned by studies/company.py from open texts; what lies in company.npz is CC BY-SA 4.0 (NOTICE)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.types import Floats

#: The language whose words are known.
LANG = "en"
#: How much being in company counts beside how likely a meaning is by itself: exp(4 cos). Chosen on Tatoeba sentences of
#: ten languages (docs/understand/gloss.md); a word that has no vector is as near to others as words are on average.
SWAY, USUAL = 4.0, 0.1
_PLACE = Path(__file__).parent / "company.npz"


class _Company:
    """Terms with their vectors, of unit length in bytes, and how much each says."""

    def __init__(self, terms: Sequence[str], rows: npt.NDArray[np.int8], weights: Floats) -> None:
        self._index = {term: place for place, term in enumerate(terms)}
        self._rows, self._weights = rows, weights
        self._place = lru_cache(maxsize=50_000)(self._placed)

    def _placed(self, text: str) -> int:
        """The last known term of a meaning: of a few words that is the one the others describe."""
        known = [self._index[term] for term in analyzer(LANG).terms(text) if term in self._index]
        return known[-1] if known else -1

    def sways(self, words: Sequence[Sequence[tuple[str, float]]]) -> list[list[float]]:
        """For the words of a sentence, each some meanings with their shares: by how much each meaning is to be
        multiplied, since it suits what the other words may mean, or does not."""
        places = [[self._place(text) for text, _ in meanings] for meanings in words]
        vectors = [self._rows[[max(place, 0) for place in some]].astype(np.float32) / 127 for some in places]
        shares = [
            np.array([s * self._weights[p] if p >= 0 else 0 for p, (_, s) in zip(*one, strict=True)], np.float32)
            for one in zip(places, words, strict=True)
        ]
        sums = [share @ rows for share, rows in zip(shares, vectors, strict=True)]
        total = np.sum(sums, axis=0)
        found = []
        for some, rows, own in zip(places, vectors, sums, strict=True):
            others = total - own
            long = float(np.linalg.norm(others))
            near = rows @ others / long if long > 0 else np.full(len(some), USUAL)
            found.append([math.exp(SWAY * (float(n) if p >= 0 else USUAL)) for p, n in zip(some, near, strict=True)])
        return found


@cache
def open() -> _Company:
    with np.load(_PLACE, allow_pickle=False) as data:
        terms = bytes(data["terms"]).decode().split("\n")
        return _Company(terms, data["rows"], data["weights"].astype(np.float32))
