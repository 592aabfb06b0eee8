"""Every collection of ir_datasets (MacAvaney et al. 2021) by its id, `irds:antique/test`: documents, queries, qrels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paragloss.errors import InputError, MissingExtraError
from paragloss.formats.text import is_language_code
from paragloss.types import Document, Qrels, Query

IRDS_PREFIX = "irds:"
_TITLES = ("title", "headline", "page_title", "name")
_QUERY_TEXTS = ("text", "query", "title", "description")


def read_irds_documents(name: str) -> Iterator[Document]:
    """Documents. Their title is a field called so; their text is what the collection itself calls its default text,
    without the title, else all fields of text."""
    dataset = _dataset(name, "docs")
    lang = _lang(dataset, "docs")
    return (_document(doc, lang) for doc in dataset.docs_iter())


def read_irds_queries(name: str) -> Iterator[Query]:
    """Queries: what the collection calls their default text, else `text`, `query` or `title`."""
    dataset = _dataset(name, "queries")
    lang = _lang(dataset, "queries")
    return (Query(str(q.query_id), _query_text(q), _own_lang(q) or lang) for q in dataset.queries_iter())


def read_irds_qrels(name: str) -> Qrels:
    """Grades by query and document."""
    qrels: Qrels = {}
    for judged in _dataset(name, "qrels").qrels_iter():
        qrels.setdefault(str(judged.query_id), {})[str(judged.doc_id)] = int(judged.relevance)
    return qrels


def _dataset(name: str, part: str) -> Any:
    try:
        import ir_datasets
    except ImportError as error:
        raise MissingExtraError(f"reading {name}", "datasets") from error
    bare = name.removeprefix(IRDS_PREFIX)
    try:
        dataset = ir_datasets.load(bare)
    except KeyError as error:
        remedy = "https://ir-datasets.com lists them"
        raise InputError(f"ir_datasets has no collection {bare!r}; {remedy}", place=name) from error
    if not getattr(dataset, f"has_{part}")():
        has = [kind for kind in ("docs", "queries", "qrels") if getattr(dataset, f"has_{kind}")()]
        raise InputError(
            f"the collection has no {part}, only {', '.join(has) or 'nothing'}; name a part that has", place=name
        )
    return dataset


def _document(doc: Any, lang: str) -> Document:
    texts = _texts(doc)
    title = next((texts[name] for name in _TITLES if texts.get(name)), "")
    text = _default_text(doc)
    if not text:
        text = "\n".join(value for field, value in texts.items() if field not in (*_TITLES, "lang", "url"))
    # A default text often begins with the title, which would then count twice.
    body = text.strip().removeprefix(title).strip()
    meta = {"url": texts["url"]} if texts.get("url") else {}
    return Document(str(doc.doc_id), body, _own_lang(doc) or lang, title, {}, meta)


def _texts(record: Any) -> dict[str, str]:
    """The record's fields that hold text, its ids left out."""
    values = ((field, getattr(record, field)) for field in record._fields if not field.endswith("_id"))
    return {field: value for field, value in values if isinstance(value, str)}


def _default_text(record: Any) -> str:
    default = getattr(record, "default_text", None)
    text = default() if callable(default) else None
    return text if isinstance(text, str) else ""


def _query_text(query: Any) -> str:
    texts = _texts(query)
    return _default_text(query) or next((texts[name] for name in _QUERY_TEXTS if texts.get(name)), "")


def _own_lang(record: Any) -> str:
    lang = getattr(record, "lang", "")
    return lang if isinstance(lang, str) and is_language_code(lang) else ""


def _lang(dataset: Any, part: str) -> str:
    lang = getattr(dataset, f"{part}_lang", lambda: None)()
    return lang if isinstance(lang, str) else ""
