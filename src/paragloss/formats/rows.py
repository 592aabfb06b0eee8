"""What a row of named values means, whatever file it stood in: a Document, a Query, or part of a Concept.

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
    """The row as a Document. Its id is `id`; else its concept and language, `volcano.fr`; else `fallback`.

    A missing language is "": the caller finds out. A nested value of meta is kept as its JSON text; null is dropped.
    """
    if "text" not in row and "title" not in row and "fields" not in row:
        raise InputError(f"no text: the row has only {_listed(row)}; add a key 'text'")
    lang = get_row_language(row)
    title, text = get_row_text(row, "title"), get_row_text(row, "text")
    meta = _meta(row)
    return Document(get_row_id(row, lang, fallback), text, lang, title, _strings(row, "fields"), meta)


def parse_query_row(row: Mapping[str, Any], fallback: str) -> Query:
    """The row as a Query, with an id as a document's."""
    text = get_row_text(row, "text")
    if not text.strip():
        raise InputError(f"no text: the row has {_listed(row)}; add a key 'text' that says what is asked")
    lang = get_row_language(row)
    return Query(get_row_id(row, lang, fallback), text, lang)


def parse_concept_row(row: Mapping[str, Any]) -> list[ConceptText]:
    """The row's share of a concept: one language, or every language of an object `texts`."""
    name = _key(row, "concept")
    if not name:
        raise InputError(f"no concept: the row has {_listed(row)}; add a key 'concept' that joins its translations")
    if "texts" in row:
        texts, titles = _strings(row, "texts"), _strings(row, "titles")
        return [
            ConceptText(name, parse_language_code(lang), text, titles.get(lang, "")) for lang, text in texts.items()
        ]
    lang = get_row_language(row)
    if not lang:
        raise InputError(f'no language for concept {name!r}; add a key \'lang\', for example "lang": "en"')
    return [ConceptText(name, lang, get_row_text(row, "text"), get_row_text(row, "title"))]


def group_by_concept(parts: Iterable[ConceptText]) -> list[Concept]:
    """Parts joined by concept, in the order in which concepts first appear. A part with neither text nor title
    is left out; of two parts in the same language the first is kept, and one warning counts the others."""
    texts: dict[str, dict[str, str]] = {}
    titles: dict[str, dict[str, str]] = {}
    repeated, example = 0, ""
    for part in parts:
        if not part.text.strip() and not part.title.strip():
            continue
        known = texts.setdefault(part.concept, {})
        if part.lang in known:
            repeated, example = repeated + 1, example or f"{part.concept!r} in {part.lang}"
            continue
        known[part.lang] = part.text
        if part.title:
            titles.setdefault(part.concept, {})[part.lang] = part.title
    if repeated:
        warnings.warn(f"{repeated} repeated texts were left out, the first being {example}", stacklevel=3)
    return [Concept(name, by_lang, titles.get(name, {})) for name, by_lang in texts.items()]


def format_document_row(doc: Document) -> dict[str, Any]:
    """A Document as the row that `document` reads back. Meta lies flat in the row where its keys are free."""
    row: dict[str, Any] = {"id": doc.id, "lang": doc.lang, "title": doc.title, "text": doc.text}
    if doc.fields:
        row["fields"] = dict(doc.fields)
    if taken := {key: value for key, value in doc.meta.items() if key in _KEYS}:
        row["meta"] = taken
    return row | {key: value for key, value in doc.meta.items() if key not in _KEYS}


def get_row_id(row: Mapping[str, Any], lang: str, fallback: str) -> str:
    """The row's id: its own, or made of its concept and language, or the fallback."""
    if name := _key(row, "id") or _key(row, "_id"):
        return name
    if concept := _key(row, "concept"):
        return f"{concept}.{lang}" if lang else concept
    return fallback


def get_row_language(row: Mapping[str, Any]) -> str:
    """The row's `lang`, which must look like a code; "" where it has none."""
    lang = get_row_text(row, "lang")
    return parse_language_code(lang) if lang else ""


def get_row_text(row: Mapping[str, Any], key: str) -> str:
    """The text under `key`; "" where it is missing or null."""
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{key!r} is {_shown(value)}, not text; put it in quotes")
    return value


def _key(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"{key!r} is {_shown(value)}; give a text that is not empty, or a whole number")


def _strings(row: Mapping[str, Any], key: str) -> dict[str, str]:
    value = row.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f'{key!r} is {_shown(value)}; give an object of texts, for example {{"name": "text"}}')
    return {name: get_row_text(value, name) for name in value if value[name] is not None}


def _meta(row: Mapping[str, Any]) -> dict[str, Any]:
    inner = row.get("meta")
    if inner is not None and not isinstance(inner, Mapping):
        raise InputError(f"'meta' is {_shown(inner)}; give an object, for example {{\"year\": 1999}}")
    meta = {key: value for key, value in row.items() if key not in _KEYS}
    return {key: _plain(value) for key, value in (meta | dict(inner or {})).items() if value is not None}


def _plain(value: Any) -> Any:
    flat = isinstance(value, _SCALAR) or (isinstance(value, list) and all(isinstance(item, _SCALAR) for item in value))
    return value if flat else json.dumps(value, ensure_ascii=False)


def _listed(row: Mapping[str, Any]) -> str:
    return ", ".join(repr(key) for key in list(row)[:8]) or "no keys"


def _shown(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 40 else shown[:37] + "..."
