"""The analyzer of languages with spaces between words: one regular expression, and one look-up per token."""

from __future__ import annotations

import re

import numpy as np

from paragloss.analysis._characters import APOSTROPHES, GERSHAYIM, JOINERS, compile_word_pattern
from paragloss.analysis._words import TokenNormalizer
from paragloss.types import Span, TokenizedText

#: The signs that may stand within a word, where they are not the usual apostrophes and joiners. Persian spells plural
#: and tense endings behind a zero-width non-joiner, or a space, or nothing: split there, all give the same first term.
_INNER_SIGNS = {"he": APOSTROPHES + GERSHAYIM + JOINERS, "fa": APOSTROPHES, "ckb": APOSTROPHES}
_CLOSING = APOSTROPHES + GERSHAYIM + JOINERS


class SpacedAnalyzer:
    """Finds words between spaces and signs; hyphens, dots and underscores separate words."""

    def __init__(self, lang: str, *, stem: bool = True, stop: bool = True) -> None:
        self.lang = lang
        self._words = TokenNormalizer(lang, stem=stem, stop=stop)
        self.token_terms = self._words.token_terms
        self._pattern = compile_word_pattern(_INNER_SIGNS.get(lang, APOSTROPHES + JOINERS))

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in order."""
        return self._words.terms(self._pattern.findall(text))

    def tokens(self, text: str) -> list[tuple[int, int, str]]:
        """Return (start, end, token) of everything that may be a word; the same for all analyzers of a language."""
        return [_locate_word(match) for match in self._pattern.finditer(text)]

    def spans(self, text: str) -> list[Span]:
        """Return the terms with their offsets, for highlighting."""
        return self._words.spans(self.tokens(text))

    def tokenize(self, text: str) -> TokenizedText:
        """Return the terms of a long text with their offsets, in arrays that can be searched more than once."""
        parts = self._pattern.split(text)  # text between words and words, by turns
        offsets = np.fromiter(map(len, parts), np.int64, len(parts)).cumsum()  # where each part ends
        return self._words.tokenize(text, parts[1::2], offsets[:-1:2], _CLOSING)


def _locate_word(match: re.Match[str]) -> tuple[int, int, str]:
    """Return start, end and letters of a word, without closing quotation marks, which look like its apostrophes."""
    word, start = match[0].rstrip(_CLOSING), match.start()
    return start, start + len(word), word
