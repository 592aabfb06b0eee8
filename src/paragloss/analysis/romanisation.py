"""How a word of any script sounds, in Latin letters."""

from __future__ import annotations


def romanised(word: str) -> str:
    """The word in ASCII letters, as near to its sound as letter by letter gets; Latin words stay as they are."""
    if all(ord(char) < 0x250 for char in word):
        return word
    from anyascii import anyascii

    found: str = anyascii(word)
    return found.strip() or word
