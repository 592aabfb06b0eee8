"""Foreign names and loan words as English spells them: each letter becomes none to three English ones, by the two
letters before it and what became of them. Learned from pairs of names and loan words (studies/english_letters.py); what
lies in the folder of this name is CC BY-SA 4.0 (NOTICE). Knows nothing of which words there are."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

#: Spellings that are kept from letter to letter, ways of one letter that are tried, and kept, spellings told at last.
_BEAM, _TRIED, _WAYS, _MOST = 20, 14, 8, 16
#: How far behind the best, as a logarithm, a spelling may fall on the way.
_FAR = 6.0
#: The least share, beside the best, of a spelling that is told; what a step has that was never seen.
_LEAST, _UNSEEN = 0.002, 1e-6
#: Nobody's name is longer.
_LONGEST = 40
PLACE = Path(__file__).parent / "english_letters"


def letters(word: str, lang: str) -> str:
    """A word as the letters that are spelled one by one: Hangul in its parts, Hiragana as Katakana."""
    lower = unicodedata.normalize("NFC", word).lower()
    if lang == "ko":
        return unicodedata.normalize("NFD", lower)
    return "".join(chr(ord(char) + 0x60) if "ぁ" <= char <= "ゖ" else char for char in lower)


@lru_cache(maxsize=20_000)
def spelled(word: str, lang: str) -> tuple[tuple[str, float], ...]:
    """The ways English may spell a word, likeliest first, with shares that sum to one; none for a word with letters
    that its language does not write names with."""
    steps = _steps(lang)
    return steps.spelled(letters(word, lang)) if steps and len(word) <= _LONGEST else ()


class _Steps:
    """How often one step (a letter and what becomes of it) follows one or two others; number 0 is where words begin
    and end."""

    def __init__(self, texts: list[tuple[str, str]], *counted: Mapping[int, int]) -> None:
        self._out = [english for _, english in texts]
        self._size = len(texts)
        self._of: dict[str, list[int]] = {}
        for number in sorted(range(self._size), key=lambda number: -counted[0][number]):
            self._of.setdefault(texts[number][0], []).append(number)
        self._of = {letter: steps[:_TRIED] for letter, steps in self._of.items()}
        self._counted = counted
        self._after: list[dict[int, tuple[int, int]]] = []
        for counts in counted:  # by what stands before: how many, and how many different
            before = np.fromiter(counts, np.int64, len(counts)) // self._size
            contexts, place, different = np.unique(before, return_inverse=True, return_counts=True)
            all_ = np.bincount(place, np.fromiter(counts.values(), np.int64, len(counts))).astype(int)
            self._after.append(
                dict(zip(contexts.tolist(), zip(all_.tolist(), different.tolist(), strict=True), strict=True))
            )
        self._one = lru_cache(maxsize=10_000)(self._behind_one)
        self._two = lru_cache(maxsize=50_000)(self._behind_two)

    def _behind_one(self, last: int, letter: str) -> list[tuple[int, float]]:
        """The commonest steps of a letter, with shares by the step before it, after Witten and Bell."""
        return [
            (step, self._share(2, last, step, self._share(1, 0, step, _UNSEEN))) for step in self._of.get(letter, ())
        ]

    def _behind_two(self, before: int, letter: str) -> list[tuple[int, str, float]]:
        """The same by two steps, the likeliest only, with what is spelled and the logarithms of shares."""
        known = self._one(before % self._size, letter)
        shares = [(self._share(3, before, step, share), step) for step, share in known]
        return [(step, self._out[step], math.log(share)) for share, step in sorted(shares, reverse=True)[:_WAYS]]

    def _share(self, size: int, before: int, step: int, otherwise: float) -> float:
        all_, different = self._after[size - 1].get(before, (0, 0))
        if not all_:
            return otherwise
        return (self._counted[size - 1].get(before * self._size + step, 0) + different * otherwise) / (all_ + different)

    def spelled(self, word: str) -> tuple[tuple[str, float], ...]:
        beam = {(0, ""): 0.0}  # the last two steps, what is spelled -> logarithm of likelihood
        for letter in word:
            grown: dict[tuple[int, str], float] = {}
            for (before, text), score in beam.items():
                for step, english, more in self._two(before, letter):
                    key = before % self._size * self._size + step, text + english
                    grown[key] = max(grown.get(key, -math.inf), score + more)
            least = max(grown.values(), default=0.0) - _FAR
            near = [item for item in grown.items() if item[1] >= least]
            beam = dict(sorted(near, key=lambda item: -item[1])[:_BEAM])
        found: dict[str, float] = {}
        for (before, text), score in beam.items():
            ((_, _, end),) = self._two(before, "")
            found[text] = found.get(text, 0.0) + math.exp(score + end)
        best = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
        kept = [(text, share) for text, share in best if text and share >= _LEAST * best[0][1]]
        total = sum(share for _, share in kept)
        return tuple((text, share / total) for text, share in kept)


@cache
def _steps(lang: str) -> _Steps | None:
    path = PLACE / f"{lang}.npz"
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as data:
        lines = bytes(data["texts"]).decode().split("\n")
        counted = [
            dict(zip(np.cumsum(data[f"keys{size}"]).tolist(), data[f"counts{size}"].tolist(), strict=True))
            for size in (1, 2, 3)
        ]
    return _Steps([(letter, text) for letter, _, text in (line.partition("\t") for line in lines)], *counted)
