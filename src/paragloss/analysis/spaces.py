"""Languages that put spaces between words: one regular expression over the text as it stands, one look-up per token."""

from __future__ import annotations

import re

from paragloss.analysis._characters import APOSTROPHES, GERSHAYIM, JOINERS, word_pattern
from paragloss.analysis._words import Words
from paragloss.types import Span

#: What may stand inside a word where it is not the usual apostrophes and joiners. Persian spells plural and tense
#: endings behind a zero-width non-joiner, or a space, or nothing: cut there, all three give the same first term.
_INSIDE = {"he": APOSTROPHES + GERSHAYIM + JOINERS, "fa": APOSTROPHES, "ckb": APOSTROPHES}


class SpacedAnalyzer:
    """Words between spaces and signs; hyphens, dots and underscores separate."""

    def __init__(self, lang: str, *, stem: bool = True, stop: bool = True) -> None:
        self.lang = lang
        self._words = Words(lang, stem=stem, stop=stop)
        self._pattern = word_pattern(_INSIDE.get(lang, APOSTROPHES + JOINERS))

    def terms(self, text: str) -> list[str]:
        tokens = self._pattern.findall(text)
        terms = list(filter(None, map(self._words.terms.__getitem__, tokens)))
        return terms or list(filter(None, map(self._words.always, tokens)))

    def spans(self, text: str) -> list[Span]:
        matches = list(self._pattern.finditer(text))
        for term_of in (self._words.terms.__getitem__, self._words.always):
            spans = [Span(*_place(match), term) for match in matches if (term := term_of(match[0]))]
            if spans:
                return spans
        return []


def _place(match: re.Match[str]) -> tuple[int, int]:
    """Without the closing quotation marks that a word's own apostrophes can't be told from."""
    return match.start(), match.start() + len(match[0].rstrip(APOSTROPHES + GERSHAYIM + JOINERS))
