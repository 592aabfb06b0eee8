"""Split texts in any script into sentences, by ICU's rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from paragloss.errors import LanguageError
from paragloss.languages import normalise


def split_sentences(text: str, lang: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each sentence; together they cover the whole text."""
    from icu4py.breakers import SentenceBreaker

    start = 0
    # Its offsets count UTF-16 units, so the lengths of the pieces are used.
    for piece in SentenceBreaker(text, _locale(lang)):
        yield start, start + len(piece)
        start += len(piece)


@lru_cache(maxsize=500)
def _locale(lang: str) -> Any:
    from icu4py.locale import Locale

    try:
        return Locale(normalise(lang))
    except LanguageError:
        return Locale("en")
