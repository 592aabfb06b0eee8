"""Identifiers of software, which tables learned from technical documentation offer as translations of words."""

from __future__ import annotations

import re
from functools import lru_cache

from paragloss.gloss.lexicon import Lexicon

#: A small letter before a capital (addEventListener), signs that only code has (snake_case, <tag>), and a call.
_CODE = re.compile(r"[a-z][A-Z]|[_$<>{}]|\w\((?!-|e?s\))|::")
_LETTERS_AND_DIGITS = re.compile(r"[A-Za-z]\d|\d[A-Za-z]")
#: A number as an ordinal, decade, time of day or multiple, or with a unit: 21st, 1980s, 3pm, 4x, 9x19mm.
_NUMBER = re.compile(r"\d[\dx.,]*(?:st|nd|rd|th|s|am|pm|h|x|m|mm|cm|km|g|kg)?")
_PUNCTUATION = ".,;:!?'\""
_VOWEL = re.compile("[aeiouy]")
_MIN_JOINED_LETTERS = 8
_MIN_PART_LETTERS = 3
#: Shorter words that names of events and attributes are made with: onclick, noopener.
_SHORT_PARTS = frozenset({"on", "no", "is", "to", "in", "by", "up", "my"})


def find_code_words(text: str) -> list[str]:
    """Return the words of a text that are written as identifiers are; only a dictionary can tell that they are none.

    These are words with a capital after a small letter (addEventListener, but also YouTube), with letters and digits
    (bgra8unorm, but also CO2), or with a sign that only code has. Numbers with a unit or an ending are left out.
    """
    words = [word.strip(_PUNCTUATION) for word in text.split()]
    return [word for word in words if _CODE.search(word) or _mixes_letters_and_digits(word)]


@lru_cache(maxsize=20_000)
def is_software_identifier(text: str, lexicon: Lexicon) -> bool:
    """Say whether a translation is an identifier rather than an English word.

    It is if it is written as code is, has no vowels in small letters (xhp), or consists of English words written as one
    (onsecuritypolicyviolation) that the lexicon does not have.

    :param lexicon: its English meanings are the English words that are known.
    """
    is_small_letters = text.islower() and text.isalpha()
    has_no_vowels = is_small_letters and text.isascii() and not _VOWEL.search(text)
    if has_no_vowels:
        return True
    is_phrase_or_known_word = " " in text or lexicon.has_meaning(text)
    if is_phrase_or_known_word:
        return False
    is_written_as_code = bool(find_code_words(text)) or "(" in text or ")" in text
    if is_written_as_code:
        return True
    may_be_joined = is_small_letters and len(text) >= _MIN_JOINED_LETTERS
    return may_be_joined and _is_joined(text, lexicon)


def _mixes_letters_and_digits(word: str) -> bool:
    return bool(_LETTERS_AND_DIGITS.search(word)) and not _NUMBER.fullmatch(word)


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
