"""Words written together: taken apart into words that are known (Zugverspätung into Zug and Verspätung), and made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: What may stand between the parts of a compound, the most frequent first.
COMPOUNDING = {
    "de": ("", "s", "n", "en", "es", "er", "e"),
    "nl": ("", "s", "en", "e", "n"),
    "sv": ("", "s", "e", "o", "u"),
    "da": ("", "s", "e", "er"),
    "no": ("", "s", "e", "er"),
    "fi": ("", "n", "en", "s"),
    "hu": ("",),
}
_SHORTEST = 3


def parts(term: str, lang: str, known: Callable[[str], bool]) -> list[str]:
    """The two known words a term is made of, or three where no two do; none where it can't be taken apart.

    Of several ways the one with the longest last part is taken: it carries the meaning, and short words hide in long
    ones.
    """
    two = _heads(term, lang, known)
    if two:
        return list(two[0])
    for cut in range(_SHORTEST, len(term) - 2 * _SHORTEST + 1):
        tail = term[cut:]
        if _ends(term[:cut], lang, known):
            rest = _heads(tail, lang, known)
            if rest:
                return [_ends(term[:cut], lang, known), *rest[0]]
    return []


def joined(firsts: Sequence[str], seconds: Sequence[str], lang: str) -> list[str]:
    """Words that one of the first and one of the second might make, known or not."""
    joints = COMPOUNDING[lang][:3]
    return list(dict.fromkeys(first + joint + second for first in firsts for second in seconds for joint in joints))


def _heads(term: str, lang: str, known: Callable[[str], bool]) -> list[tuple[str, str]]:
    found = []
    for cut in range(_SHORTEST, len(term) - _SHORTEST + 1):
        first = known(term[cut:]) and _ends(term[:cut], lang, known)
        if first:
            found.append((first, term[cut:]))
    return found


def _ends(word: str, lang: str, known: Callable[[str], bool]) -> str:
    """The known word a first part is, without what joins it to the next; empty if there is none."""
    for joint in COMPOUNDING[lang]:
        if word.endswith(joint):
            base = word[: len(word) - len(joint)]
            if len(base) >= _SHORTEST and known(base):
                return base
    return ""
