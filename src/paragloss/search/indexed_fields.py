"""Which fields of a document are indexed, and how much each counts when nothing is said.

Web pages, Markdown and Word files have headings and strong words, pages an address; whatever a document lacks costs
nothing. See docs/understand/log.md for what the weights were measured on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from paragloss.statistics import Statistics
from paragloss.types import Document

#: The fields of a new collection, and their weights.
FIELDS: Mapping[str, float] = {"title": 1.0, "text": 1.0, "headings": 0.5, "strong": 0.1, "url": 0.1}
#: Subword terms of title and text: parts of compounds and sounds of names (`translation.subword_terms`). Only searches
#: with translated words read these fields; a pipeline can't name them.
INNER = "inner"
#: The subword terms of the title alone, so that a part of a compound in a title counts as a word of the title.
TITLE_SUBWORDS = "inner_title"
SUBWORD_FIELDS = (INNER, TITLE_SUBWORDS)
_BETWEEN = re.compile(r"[/_\-.+?&=#~]+")


def weights(statistics: Statistics, given: Mapping[str, float | None] | None) -> dict[str, float]:
    """A weight for each field that is searched. Fields said without a weight are searched alone, at weight 1, with
    those that have one; without any such field the others keep theirs."""
    given = given or {}
    there = named(statistics)
    alone = any(weight is None for weight in given.values())
    usual = {field: 0.0 if alone else FIELDS.get(field, 1.0) for field in there}
    wanted = usual | {field: 1.0 if weight is None else weight for field, weight in given.items()}
    return {field: weight for field, weight in wanted.items() if weight}


def named(statistics: Statistics) -> list[str]:
    """The fields that a pipeline may name: those in the documents' own language."""
    return [field for field in statistics.layout.fields if not language_of(field) and field not in SUBWORD_FIELDS]


def translation(lang: str) -> str:
    """The field that holds a document's translation into a language."""
    return f"text@{lang}"


def language_of(field: str) -> str:
    """The language of a field that is not in its document's; "" for one that is."""
    return field.partition("@")[2]


def text_of(document: Document, field: str) -> str:
    """What a field says; an address as the words in it."""
    if field == "text":
        return document.text
    if field == "title":
        return document.title
    text = document.fields.get(field, "")
    return _words(text) if field == "url" else text


def _words(address: str) -> str:
    try:
        path = urlsplit(address).path
    except ValueError:
        path = address
    return _BETWEEN.sub(" ", unquote(path)).strip()
