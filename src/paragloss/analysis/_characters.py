r"""The characters of words, and the regular expressions by which analyzers find words.

Python's `\w` lacks combining marks, so it splits Devanagari and Thai words at their vowel signs, and contains the
underscore. The class here lists the characters instead, and the `re` module turns it into one look-up per character.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

#: Straight, typographic and modifier apostrophes: parts of a word when inside it.
APOSTROPHES = "'’ʼ＇"
#: Hebrew geresh and gershayim, and the quotation mark typed for the latter: parts of an acronym when inside it.
GERSHAYIM = '"׳״'
#: Zero-width (non-)joiner and soft hyphen: they shape a word on the page and are no part of it.
JOINERS = "\u200c\u200d\u00ad"
#: Letters beyond the Basic Multilingual Plane, roughly: historic scripts, mathematical letters, rare ideographs.
_ASTRAL = "\U00010000-\U0001cfff\U0001d400-\U0001d7ff\U0001e000-\U0001efff\U00020000-\U0003ffff"

#: Ranges of code points whose characters are all parts of words, or all not: (first, last, are parts of words). They
#: hold most characters and need not be tested one by one.
_UNIFORM_RANGES = ((0x3400, 0x4DB5, True), (0x4E00, 0x9FA5, True), (0xAC00, 0xD7A3, True), (0xD800, 0xF8FF, False))


@cache
def word_class() -> str:
    """Return the content of a regular expression's [...] that matches letters, marks and digits of every script."""
    flags, next_code = "", 0  # "1" or "0" for each code point: part of a word or not
    for first, last, are_words in (*_UNIFORM_RANGES, (0x10000, 0xFFFF, False)):
        characters = map(chr, range(next_code, first))
        flags += "".join(["1" if is_word_character(character) else "0" for character in characters])
        flags += ("1" if are_words else "0") * (last + 1 - first)
        next_code = last + 1
    runs = (run.span() for run in re.finditer("1+", flags))
    return "".join(f"{chr(first)}-{chr(end - 1)}" for first, end in runs) + _ASTRAL


def is_word_character(character: str) -> bool:
    """Tell whether a character is a letter, mark or digit; Unicode counts one of the apostrophes as a letter, too."""
    return (character.isalnum() and character not in APOSTROPHES) or unicodedata.category(character)[0] == "M"


def compile_word_pattern(inner: str = APOSTROPHES + JOINERS) -> re.Pattern[str]:
    """Compile a pattern of words, and of C++, C# and F#, whose signs are part of their names.

    The word is a group, so `split` returns the words and what stands between them by turns.

    :param inner: further characters that may stand within a word, but not begin it
    """
    word = word_class()
    return re.compile(rf"([Cc]\+\+|[CcFf]#|[{word}][{word}{inner}]*)")
