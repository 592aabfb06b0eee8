"""Segment Japanese, Thai, Lao, Khmer and Burmese by ICU's dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

#: ICU takes "a.b", "a_b", "a:b" and "a'b" as one word; a space in place of the sign splits them and keeps all offsets.
_SEPARATORS = "._:'’"


def make_icu_segmenter(lang: str) -> Callable[[str], list[str]]:
    """Return a function that splits a text into all its pieces."""
    from icu4py.locale import Locale

    return partial(_segment, Locale(lang))


def _segment(locale: Any, text: str) -> list[str]:
    from icu4py.breakers import WordBreaker

    text = text.replace("C++", "Cpp")
    for separator in _SEPARATORS:
        text = text.replace(separator, " ")
    # Its offsets count UTF-16 units, so the pieces themselves are used.
    return list(WordBreaker(text, locale))
