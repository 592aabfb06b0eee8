"""Languages that a segmenter cuts: it gives all pieces of a text in order, words or not; the rest is as everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate

import numpy as np

from paragloss.analysis._words import TokenNormalizer
from paragloss.types import Span, TokenizedText

_SURROGATES = re.compile("[\ud800-\udfff]")


class SegmentedAnalyzer:
    """Words where `cut` sees them; its pieces may differ from the text in their characters but not in their lengths."""

    def __init__(self, lang: str, cut: Callable[[str], list[str]], *, stem: bool = True, stop: bool = True) -> None:
        self.lang = lang
        self._cut = cut
        self._words = TokenNormalizer(lang, stem=stem, stop=stop)
        self.token_terms = self._words.token_terms

    def terms(self, text: str) -> list[str]:
        return self._words.terms(self._pieces(text))

    def tokens(self, text: str) -> list[tuple[int, int, str]]:
        pieces = self._pieces(text)
        ends = accumulate(map(len, pieces))
        return [(end - len(piece), end, piece) for piece, end in zip(pieces, ends, strict=True)]

    def spans(self, text: str) -> list[Span]:
        return self._words.spans(self.tokens(text))

    def tokenize(self, text: str) -> TokenizedText:
        pieces = self._pieces(text)
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        return self._words.tokenize(text, pieces, np.cumsum(lengths) - lengths)

    def _pieces(self, text: str) -> list[str]:
        try:
            return self._cut(text)
        except UnicodeEncodeError:  # half a surrogate pair, which Python's text may hold and no segmenter takes
            return self._cut(_SURROGATES.sub("\ufffd", text))
