"""What searches by words say of a document: which words were met. Everything about explaining builds on it."""

from __future__ import annotations

from typing import NamedTuple


class Match(NamedTuple):
    """A term of the query, a word of the document it met, and what that gave to the score."""

    source: str
    word: str
    score: float
