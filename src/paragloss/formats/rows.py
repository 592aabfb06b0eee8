"""Convert rows of named values, from any kind of file, to a Document, a Query, or texts of a Concept.

The keys: `id` (or `_id`), `lang`, `title`, `text`, `fields` (an object of further texts), `meta` (an object), and
`concept`, which joins rows that say the same in several languages. Every other key is taken as meta.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from paragloss.errors import InputError
from paragloss.formats.text import parse_language_code
from paragloss.types import Concept, Document, Query

_KEYS = frozenset({"id", "_id", "lang", "title", "text", "fields", "meta"})
_SCALAR = (str, int, float, bool)


class ConceptText(NamedTuple):
    """One language's side of a concept."""

    concept: str
    lang: str
    text: str
    title: str = ""


def parse_document_row(row: Mapping[str, Any], fallback: str) -> Document:
    """Convert a row to a Document. Its id is `id`; else its concept and language, `volcano.fr`; else `fallback`.

    A missing language is "". A nested value of meta is kept as its JSON text; null is dropped.
    """
    if "text" not in row and "title" not in row and "fields" not in row:
        raise InputError(f"no text: the row has only {_list_keys(row)}; add a key 'text'")
    lang = get_row_language(row)
    title, text = get_row_text(row, "title"), get_row_text(row, "text")
    meta = _get_row_meta(row)
    return Document(get_row_id(row, lang, fallback), text, lang, title, _get_row_texts(row, "fields"), meta)


def parse_query_row(row: Mapping[str, Any], fallback: str) -> Query:
    """Convert a row to a Query; its id is made like that of a document."""
    text = get_row_text(row, "text")
    if not text.strip():
        raise InputError(f"no text: the row has {_list_keys(row)}; add a key 'text' that says what is asked")
    lang = get_row_language(row)
    return Query(get_row_id(row, lang, fallback), text, lang)


def parse_concept_row(row: Mapping[str, Any]) -> list[ConceptText]:
    """Return the texts of a concept in a row: one language, or every language of an object `texts`.

    :param row: the values of the row by their keys
    :raises InputError: if the row names no concept, or has one text without a language
    """
    concept = _get_row_name(row, "concept")
    if not concept:
        raise InputError(f"no concept: the row has {_list_keys(row)}; add a key 'concept' that joins its translations")
    if "texts" in row:
        titles = _get_row_texts(row, "titles")
        concept_texts: list[ConceptText] = []
        for lang, text in _get_row_texts(row, "texts").items():
            concept_texts.append(ConceptText(concept, parse_language_code(lang), text, titles.get(lang, "")))
        return concept_texts
    lang = get_row_language(row)
    if not lang:
        raise InputError(f'no language for concept {concept!r}; add a key \'lang\', for example "lang": "en"')
    return [ConceptText(concept, lang, get_row_text(row, "text"), get_row_text(row, "title"))]


def group_by_concept(concept_texts: Iterable[ConceptText]) -> list[Concept]:
    """Join the texts that say the same in several languages, in the order in which their concepts first appear.

    A text that is blank and has no title is left out. Of two texts in one language the first is used; a warning counts
    the others.
    """
    texts_by_concept: dict[str, dict[str, ConceptText]] = {}  # of each concept, by language
    repeated_texts: list[ConceptText] = []
    for concept_text in concept_texts:
        if not concept_text.text.strip() and not concept_text.title.strip():
            continue
        texts_by_lang = texts_by_concept.setdefault(concept_text.concept, {})
        if concept_text.lang in texts_by_lang:
            repeated_texts.append(concept_text)
        else:
            texts_by_lang[concept_text.lang] = concept_text
    if repeated_texts:
        example = f"{repeated_texts[0].concept!r} in {repeated_texts[0].lang}"
        warnings.warn(f"{len(repeated_texts)} repeated texts were left out, the first being {example}", stacklevel=3)
    return [_join_concept(concept, texts_by_lang) for concept, texts_by_lang in texts_by_concept.items()]


def _join_concept(name: str, texts_by_lang: Mapping[str, ConceptText]) -> Concept:
    texts = {lang: item.text for lang, item in texts_by_lang.items()}
    return Concept(name, texts, {lang: item.title for lang, item in texts_by_lang.items() if item.title})


def format_document_row(doc: Document) -> dict[str, Any]:
    """Convert a Document to a row that `parse_document_row` reads back; meta is flat where its keys are free."""
    row: dict[str, Any] = {"id": doc.id, "lang": doc.lang, "title": doc.title, "text": doc.text}
    if doc.fields:
        row["fields"] = dict(doc.fields)
    ambiguous_meta = {key: value for key, value in doc.meta.items() if key in _KEYS}
    if ambiguous_meta:
        row["meta"] = ambiguous_meta
    return row | {key: value for key, value in doc.meta.items() if key not in _KEYS}


def get_row_id(row: Mapping[str, Any], lang: str, fallback: str) -> str:
    """Return the id of a row: its own, else made of its concept and language, else the fallback."""
    row_id = _get_row_name(row, "id") or _get_row_name(row, "_id")
    if row_id:
        return row_id
    concept = _get_row_name(row, "concept")
    if concept:
        return f"{concept}.{lang}" if lang else concept
    return fallback


def get_row_language(row: Mapping[str, Any]) -> str:
    """Return the `lang` of a row, which must be a language code; "" if it has none."""
    lang = get_row_text(row, "lang")
    return parse_language_code(lang) if lang else ""


def get_row_text(row: Mapping[str, Any], key: str) -> str:
    """Return the text under a key; "" if it is missing or null."""
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{key!r} is {_abbreviate(value)}, not text; put it in quotes")
    return value


def _get_row_name(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"{key!r} is {_abbreviate(value)}; give a text that is not empty, or a whole number")


def _get_row_texts(row: Mapping[str, Any], key: str) -> dict[str, str]:
    value = row.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f'{key!r} is {_abbreviate(value)}; give an object of texts, for example {{"name": "text"}}')
    return {name: get_row_text(value, name) for name in value if value[name] is not None}


def _get_row_meta(row: Mapping[str, Any]) -> dict[str, Any]:
    inner = row.get("meta")
    if inner is not None and not isinstance(inner, Mapping):
        raise InputError(f"'meta' is {_abbreviate(inner)}; give an object, for example {{\"year\": 1999}}")
    meta = {key: value for key, value in row.items() if key not in _KEYS}
    return {key: _flatten_value(value) for key, value in (meta | dict(inner or {})).items() if value is not None}


def _flatten_value(value: Any) -> Any:
    flat = isinstance(value, _SCALAR) or (isinstance(value, list) and all(isinstance(item, _SCALAR) for item in value))
    return value if flat else json.dumps(value, ensure_ascii=False)


def _list_keys(row: Mapping[str, Any]) -> str:
    return ", ".join(repr(key) for key in list(row)[:8]) or "no keys"


def _abbreviate(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."
