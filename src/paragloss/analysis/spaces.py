"""Languages that put spaces between words: one regular expression over the text as it stands, one look-up per token."""

from __future__ import annotations

import re

import numpy as np

from paragloss.analysis._characters import APOSTROPHES, GERSHAYIM, JOINERS, word_pattern
from paragloss.analysis._words import TokenNormalizer
from paragloss.types import Span, TokenizedText

#: What may stand inside a word where it is not the usual apostrophes and joiners. Persian spells plural and tense
#: endings behind a zero-width non-joiner, or a space, or nothing: cut there, all three give the same first term.
_INSIDE = {"he": APOSTROPHES + GERSHAYIM + JOINERS, "fa": APOSTROPHES, "ckb": APOSTROPHES}
_CLOSING = APOSTROPHES + GERSHAYIM + JOINERS


class SpacedAnalyzer:
    """Words between spaces and signs; hyphens, dots and underscores separate."""

    def __init__(self, lang: str, *, stem: bool = True, stop: bool = True) -> None:
        self.lang = lang
        self._words = TokenNormalizer(lang, stem=stem, stop=stop)
        self.token_terms = self._words.token_terms
        self._pattern = word_pattern(_INSIDE.get(lang, APOSTROPHES + JOINERS))

    def terms(self, text: str) -> list[str]:
        return self._words.terms(self._pattern.findall(text))

    def says_something(self, text: str) -> bool:
        """Whether there is a word that is no stop word."""
        return any(self._words.counts(match[0]) for match in self._pattern.finditer(text))

    def tokens(self, text: str) -> list[tuple[int, int, str]]:
        return [_placed(match) for match in self._pattern.finditer(text)]

    def spans(self, text: str) -> list[Span]:
        return self._words.spans(self.tokens(text))

    def tokenize(self, text: str) -> TokenizedText:
        parts = self._pattern.split(text)  # what stands between words, and words
        ends = np.fromiter(map(len, parts), np.int64, len(parts)).cumsum()
        return self._words.tokenize(text, parts[1::2], ends[:-1:2], _CLOSING)


def _placed(match: re.Match[str]) -> tuple[int, int, str]:
    """A word without the closing quotation marks that its own apostrophes can't be told from."""
    word, start = match[0].rstrip(_CLOSING), match.start()
    return start, start + len(word), word
