"""Identifiers of software, which tables learned from technical documentation offer as translations of words."""

from __future__ import annotations

import re
from functools import lru_cache

from paragloss.gloss.lexicon import Lexicon

#: A lower-case letter before a capital (addEventListener), or a sign that only code has.
_CODE = re.compile(r"[a-z][A-Z]|[_$<>{}()]|::")
#: A letter before a digit, or digits before letters that are no ordinal, decade or unit: bgra8unorm, 24px, but 40s.
_LETTERS_AND_DIGITS = re.compile(r"[A-Za-z]\d|\d(?!(?:st|nd|rd|th|s|m|mm|cm|km|kg)\b)[a-z]")
_VOWEL = re.compile("[aeiouy]")
_MIN_JOINED_LETTERS = 8
_MIN_PART_LETTERS = 3
#: Shorter words that names of events and attributes are made with: onclick, noopener.
_SHORT_PARTS = frozenset({"on", "no", "is", "to", "in", "by", "up", "my"})


@lru_cache(maxsize=20_000)
def is_software_identifier(text: str, lexicon: Lexicon) -> bool:
    """Say whether a translation is an identifier rather than an English word.

    It is if it is written as code is, has no vowels in small letters (xhp), or consists of English words written as one
    (onsecuritypolicyviolation) that the lexicon does not have.
    """
    if text.islower() and text.isalpha() and text.isascii() and not _VOWEL.search(text):
        return True
    if " " in text or lexicon.has_meaning(text):
        return False
    if _CODE.search(text) or _LETTERS_AND_DIGITS.search(text):
        return True
    return text.islower() and text.isalpha() and len(text) >= _MIN_JOINED_LETTERS and _is_joined(text, lexicon)


def _is_joined(text: str, lexicon: Lexicon) -> bool:
    """Say whether a text is a sequence of two or more meanings that the lexicon has."""
    reachable = {0}  # offsets up to which the text is such a sequence
    for end in range(2, len(text) + 1):
        for start in range(max(0, end - len(text) + 1), end - 1):
            part = text[start:end]
            is_word = len(part) >= _MIN_PART_LETTERS and lexicon.has_meaning(part)
            if start in reachable and (is_word or part in _SHORT_PARTS):
                reachable.add(end)
                break
    return len(text) in reachable
