"""Languages written without spaces whose words ICU's dictionaries find: Japanese, Thai, Lao, Khmer, Burmese."""

from __future__ import annotations

from collections.abc import Callable

#: ICU keeps "a.b", "a_b", "a:b" and "a'b" together as one word; a space in their place cuts them and moves nothing.
_SEPARATORS = "._:'’"


def make_icu_segmenter(lang: str) -> Callable[[str], list[str]]:
    """A function from text to all its pieces."""
    from icu4py.breakers import WordBreaker
    from icu4py.locale import Locale

    locale = Locale(lang)

    def cut(text: str) -> list[str]:
        text = text.replace("C++", "Cpp")
        for separator in _SEPARATORS:
            text = text.replace(separator, " ")
        # Pieces, not its places: those count UTF-16 units, which are not Python's characters.
        return list(WordBreaker(text, locale))

    return cut
