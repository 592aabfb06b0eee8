"""Where sentences begin and end, in every script (ICU's rules)."""

from __future__ import annotations

from paragloss.errors import LanguageError
from paragloss.languages import normalise


def sentences(text: str, lang: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence, one after another; together they are the whole text."""
    from icu4py.breakers import SentenceBreaker
    from icu4py.locale import Locale

    try:
        locale = Locale(normalise(lang))
    except LanguageError:
        locale = Locale("en")
    found, start = [], 0
    # Pieces, not its places: those count UTF-16 units, which are not Python's characters.
    for piece in SentenceBreaker(text, locale):
        found.append((start, start + len(piece)))
        start += len(piece)
    return found
