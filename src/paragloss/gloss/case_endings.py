"""What endings of nouns say that English says by prepositions: Finnish `talossa` is "in house"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

#: English for endings of nouns, by language; where an ending has several meanings, its commonest in news.
_CASES: dict[str, tuple[tuple[str, str], ...]] = {
    "fi": (
        ("in", "ss[aä]"),
        ("from", "st[aä]|lt[aä]"),
        ("on", "ll[aä]"),
        ("to", "lle|(?<=a)an|(?<=e)en|(?<=i)in|(?<=o)on|(?<=u)un|(?<=y)yn|(?<=ä)än|(?<=ö)ön|h[aeiouyäö]n|seen"),
        ("without", "tt[aä]"),
        ("of", "(?<!ne)n"),
    ),
    "hu": (
        ("in", "b[ae]n"),
        ("from", "b[óő]l|t[óő]l|r[óő]l"),
        ("to", "b[ae]|r[ae]|h[oeö]z|n[ae]k"),
        ("with", "v[ae]l|(?<=([bcdfgjklmnprstvzy]))\\1[ae]l"),
        ("for", "ért"),
        ("at", "n[áé]l"),
        ("until", "ig"),
        ("as", "ként"),
        ("on", "[oeö]?n"),
    ),
    "tr": (
        ("in", "'?[dt][ae]"),
        ("from", "'?[dt][ae]n"),
        ("with", "'?y?l[ae]"),
        ("of", "'?n?[ıiuü]n"),
        ("to", "'?[yn]?[ae]"),
    ),
    "ko": (
        ("in", "에서?"),
        ("to", "에게|께|한테|으?로"),
        ("of", "의"),
        ("from", "(?:에서)?부터|에게서|한테서"),
        ("until", "까지"),
        ("than", "보다"),
        ("like", "처럼"),
        ("and", "[와과]|이?랑"),
    ),
}
_ENDINGS = {
    lang: tuple((english, re.compile(f"(?:{pattern})$")) for english, pattern in cases)
    for lang, cases in _CASES.items()
}


def find_case(word: str, lang: str, is_form: Callable[[str], bool]) -> str:
    """Return the English preposition, or "and", that the ending of a noun stands for; "" if it has no such ending.

    Finnish "talossa" gives "in", if "talo" is a form of the same noun. Otherwise its letters are no ending. Korean
    has an ending for "and", which counts as a case.

    :param word: the noun as written.
    :param is_form: tells whether another word is a form of the same noun.
    """
    min_letters = 1 if lang == "ko" else 3
    for english, ending in _ENDINGS.get(lang, ()):
        match = ending.search(word)
        if match is None or match.start() < min_letters:
            continue
        stem = word[: match.start()]
        if any(is_form(form) for form in _list_forms(stem, lang)):
            return english
    return ""


def _list_forms(stem: str, lang: str) -> Iterator[str]:
    """Yield other forms that a noun may have, given what stands before the ending of a case."""
    yield stem
    if lang == "fi":
        yield f"{stem}n"  # the genitive, which has the same stem: kaupungissa, kaupungin, but kaupunki
    elif lang == "hu" and stem[-1] in "áé":
        yield stem[:-1] + ("a" if stem[-1] == "á" else "e")
    elif lang == "tr" and stem[-1] == "n":
        yield stem[:-1]  # ülkesinde, ülkesi
