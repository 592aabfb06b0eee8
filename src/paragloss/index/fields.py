"""The fields of a document that are indexed, and their default weights.

Web pages, Markdown and Word files have headings and strong words, pages an address. A field that a document lacks costs
nothing. docs/understand/log-search.md has the measurements behind the weights.
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
_ADDRESS_SEPARATORS = re.compile(r"[/_\-.+?&=#~]+")


def choose_field_weights(statistics: Statistics, requested: Mapping[str, float | None] | None) -> dict[str, float]:
    """Return the weights of the fields that are searched.

    :param requested: fields with a weight, or with None. Fields with None are searched alone, with weight 1, together
        with those that have a weight. Without any None the other fields keep their default weights.
    """
    requested = requested or {}
    is_selection = any(weight is None for weight in requested.values())
    defaults = {field: 0.0 if is_selection else FIELDS.get(field, 1.0) for field in list_own_fields(statistics)}
    weights = defaults | {field: 1.0 if weight is None else weight for field, weight in requested.items()}
    return {field: weight for field, weight in weights.items() if weight}


def list_own_fields(statistics: Statistics) -> list[str]:
    """List the fields that a pipeline may name: those in the documents' own language."""
    return [field for field in statistics.layout.fields if not language_of(field) and field not in SUBWORD_FIELDS]


def translation_field(lang: str) -> str:
    """Return the name of the field that holds a document's translation into a language."""
    return f"text@{lang}"


def language_of(field: str) -> str:
    """Return the language of a translation field; "" for a field in its document's own language."""
    return field.partition("@")[2]


def read_field(document: Document, field: str) -> str:
    """Return the text of a field; of an address the words in it."""
    if field == "text":
        return document.text
    if field == "title":
        return document.title
    text = document.fields.get(field, "")
    return _split_address(text) if field == "url" else text


def _split_address(address: str) -> str:
    """Return the words in the path of an address, separated by spaces."""
    try:
        path = urlsplit(address).path
    except ValueError:
        path = address
    return _ADDRESS_SEPARATORS.sub(" ", unquote(path)).strip()
