"""Which characters make words: the regular expressions every analyzer cuts with.

Python's `\\w` leaves out combining marks, which cuts Devanagari and Thai words at their vowel signs, and takes in the
underscore. The class here is spelled out instead, which the `re` module turns into one table look-up per character.
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


#: Blocks of which all characters are words, or none: most of those there are.
_UNIFORM = ((0x3400, 0x4DB5, True), (0x4E00, 0x9FA5, True), (0xAC00, 0xD7A3, True), (0xD800, 0xF8FF, False))


@cache
def word_class() -> str:
    """The inside of a regular expression's [...]: letters, marks and digits of every script."""
    signs, at = "", 0  # of each character, one after the other: 1 for a word's
    for low, high, word in (*_UNIFORM, (0x10000, 0xFFFF, False)):
        signs += "".join(["1" if is_word(one) else "0" for one in map(chr, range(at, low))])
        signs, at = signs + ("1" if word else "0") * (high + 1 - low), high + 1
    runs = (run.span() for run in re.finditer("1+", signs))
    return "".join(f"{chr(low)}-{chr(high - 1)}" for low, high in runs) + _ASTRAL


def is_word(character: str) -> bool:
    """A letter, mark or digit; Unicode calls one of the apostrophes a letter, too."""
    return (character.isalnum() and character not in APOSTROPHES) or unicodedata.category(character)[0] == "M"


def word_pattern(inside: str = APOSTROPHES + JOINERS) -> re.Pattern[str]:
    """Words with the characters of `inside` kept in them; also C++ and C#, whose signs are their names. In a group, so
    that it also splits a text into words and what stands between."""
    word = word_class()
    return re.compile(rf"([Cc]\+\+|[CcFf]#|[{word}][{word}{inside}]*)")
