"""The analyzer of languages written without spaces: a segmenter returns all pieces of a text, words or not."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate

import numpy as np

from paragloss.analysis._words import TokenNormalizer
from paragloss.types import Span, TokenizedText

_SURROGATES = re.compile("[\ud800-\udfff]")


class SegmentedAnalyzer:
    """Finds words by a segmenter."""

    def __init__(self, lang: str, segment: Callable[[str], list[str]], *, stem: bool = True, stop: bool = True) -> None:
        """Take the function that splits a text; its pieces may differ from the text in letters, not in length."""
        self.lang = lang
        self._segment = segment
        self._words = TokenNormalizer(lang, stem=stem, stop=stop)
        self.token_terms = self._words.token_terms

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in order."""
        return self._words.terms(self._split(text))

    def tokens(self, text: str) -> list[tuple[int, int, str]]:
        """Return (start, end, token) of everything that may be a word; the same for all analyzers of a language."""
        pieces = self._split(text)
        offsets = accumulate(map(len, pieces))  # where each piece ends
        return [(end - len(piece), end, piece) for piece, end in zip(pieces, offsets, strict=True)]

    def spans(self, text: str) -> list[Span]:
        """Return the terms with their offsets, for highlighting."""
        return self._words.spans(self.tokens(text))

    def tokenize(self, text: str) -> TokenizedText:
        """Return the terms of a long text with their offsets, in arrays that can be searched more than once."""
        pieces = self._split(text)
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        return self._words.tokenize(text, pieces, np.cumsum(lengths) - lengths)

    def _split(self, text: str) -> list[str]:
        try:
            return self._segment(text)
        except UnicodeEncodeError:  # half a surrogate pair, which a Python string may have and no segmenter accepts
            return self._segment(_SURROGATES.sub("\ufffd", text))
