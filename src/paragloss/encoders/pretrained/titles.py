"""Choose what an encoder reads as the title of a document.

A title gets a vector of its own beside the vectors of the passages. Numbering ("3.2", "Chapter 4.") and parts that many
titles of a collection share (the name of the manual before a colon or after a dash) say nothing about one document, so
they are removed first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from paragloss.types import Document

#: A part of a title is shared if this share of the titles has it, and at least this many do.
MIN_SHARE_OF_TITLES = 0.1
MIN_TITLES_WITH_PART = 5
#: Characters of the first line that stand in for a missing title.
MAX_FIRST_LINE_LENGTH = 200

_NUMBERING = re.compile(r"^\s*(?:(?:[^\W\d_]+\s+)?\d+(?:\.\d+)*[.):]\s+|\d+(?:\.\d+)+\s+)")
_PART_SEPARATOR = re.compile(r"(\s+[-–—|·»:]\s+|:\s+|：|｜)")


def title_vector_name(model_name: str) -> str:
    """Return the name under which a store keeps the title vectors of a model."""
    return f"{model_name}.title"


def find_shared_parts(titles: Iterable[str]) -> frozenset[str]:
    """Return the parts of titles, as separated by colons, dashes or bars, that many of the titles have.

    Five titles like "Handbook: Topic 3" of fifty share the part "Handbook". A title of a single part shares nothing.
    """
    counts: Counter[str] = Counter()
    title_count = 0
    for title in titles:
        title_count += 1
        parts = _split_title(title)
        if len(parts) > 1:
            counts.update(set(parts))
    minimum = max(MIN_TITLES_WITH_PART, MIN_SHARE_OF_TITLES * title_count)
    return frozenset(part for part, count in counts.items() if count >= minimum)


def clean_title(title: str, shared_parts: frozenset[str] = frozenset()) -> str:
    """Remove numbering and shared parts from a title; a title of nothing else stays as it is."""
    pieces = _PART_SEPARATOR.split(title)  # part, separator, part, separator, ..., part
    cleaned = ""
    for i in range(0, len(pieces), 2):
        part = pieces[i].strip()
        if part and part not in shared_parts:
            cleaned = f"{cleaned}{pieces[i - 1]}{part}" if cleaned else part
    return _NUMBERING.sub("", cleaned).strip() or title.strip()


def read_title(document: Document, shared_parts: frozenset[str] = frozenset()) -> str:
    """Return what an encoder reads as the title of a document.

    A document without a title is represented by its first heading, else by the first line of its text.

    :param shared_parts: parts that many titles of the collection share, see `find_shared_parts`
    """
    if document.title.strip():
        return clean_title(document.title, shared_parts)
    for text in (document.fields.get("headings", ""), document.text):
        stripped = text.strip()
        if stripped:
            first_line = stripped.split("\n", 1)[0]
            return clean_title(first_line[:MAX_FIRST_LINE_LENGTH], shared_parts)
    return ""


def _split_title(title: str) -> list[str]:
    parts = (part.strip() for part in _PART_SEPARATOR.split(title)[::2])
    return [part for part in parts if part]
