"""Languages written without spaces whose words ICU's dictionaries find: Japanese, Thai, Lao, Khmer, Burmese."""

from __future__ import annotations

from collections.abc import Iterator

from paragloss.analysis._characters import is_word
from paragloss.analysis._words import Words
from paragloss.types import Span

#: ICU keeps "a.b", "a_b", "a:b" and "a'b" together as one word; a space in their place cuts them and moves nothing.
_SEPARATORS = "._:'’"


class IcuAnalyzer:
    """Words where ICU's word breaker sees them."""

    def __init__(self, lang: str, *, stem: bool = True, stop: bool = True) -> None:
        from icu4py.breakers import WordBreaker
        from icu4py.locale import Locale

        self.lang = lang
        self._words = Words(lang, stem=stem, stop=stop)
        self._breaker, self._locale = WordBreaker, Locale(lang)

    def terms(self, text: str) -> list[str]:
        return [span.term for span in self.spans(text)]

    def spans(self, text: str) -> list[Span]:
        tokens = [(start, end, text[start:end]) for start, end in self._segments(text)]
        tokens = [token for token in tokens if is_word(token[2][0])]
        for term_of in (self._words.terms.__getitem__, self._words.always):
            spans = [Span(start, end, term) for start, end, token in tokens if (term := term_of(token))]
            if spans:
                return spans
        return []

    def _segments(self, text: str) -> Iterator[tuple[int, int]]:
        text = text.replace("C++", "Cpp")
        for separator in _SEPARATORS:
            text = text.replace(separator, " ")
        segments: Iterator[tuple[int, int]] = self._breaker(text, self._locale).segments()
        return segments
