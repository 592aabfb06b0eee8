"""Read collections of ir_datasets (MacAvaney et al. 2021) by their id, `irds:antique/test`."""

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
    """Yield the documents of a collection.

    The title is a field of such a name. The text is the collection's default text without the title, else all other
    fields that hold text.
    """
    dataset = _load_dataset(name, "docs")
    lang = _get_declared_language(dataset, "docs")
    return (_make_document(doc, lang) for doc in dataset.docs_iter())


def read_irds_queries(name: str) -> Iterator[Query]:
    """Yield the queries of a collection: their default text, else `text`, `query` or `title`."""
    dataset = _load_dataset(name, "queries")
    lang = _get_declared_language(dataset, "queries")
    return (Query(str(q.query_id), _get_query_text(q), _get_record_language(q) or lang) for q in dataset.queries_iter())


def read_irds_qrels(name: str) -> Qrels:
    """Return the grades by query and document."""
    qrels: Qrels = {}
    for judgment in _load_dataset(name, "qrels").qrels_iter():
        qrels.setdefault(str(judgment.query_id), {})[str(judgment.doc_id)] = int(judgment.relevance)
    return qrels


def _load_dataset(name: str, part: str) -> Any:
    """Open a collection of ir_datasets.

    :param name: such as `irds:beir/nfcorpus/test`
    :param part: what it must have: "docs", "queries" or "qrels"
    :raises InputError: if there is no such collection, or it does not have the part
    """
    try:
        import ir_datasets
    except ImportError as error:
        raise MissingExtraError(f"reading {name}", "datasets") from error
    dataset_id = name.removeprefix(IRDS_PREFIX)
    try:
        dataset = ir_datasets.load(dataset_id)
    except KeyError as error:
        message = f"ir_datasets has no collection {dataset_id!r}; https://ir-datasets.com lists them"
        raise InputError(message, location=name) from error
    has_part = {"docs": dataset.has_docs(), "queries": dataset.has_queries(), "qrels": dataset.has_qrels()}
    parts = [part_name for part_name, is_there in has_part.items() if is_there]
    if part not in parts:
        message = f"the collection has no {part}, only {', '.join(parts) or 'nothing'}; name a part that has"
        raise InputError(message, location=name)
    return dataset


def _make_document(doc: Any, lang: str) -> Document:
    texts = _get_text_fields(doc)
    title = next((texts[name] for name in _TITLES if texts.get(name)), "")
    text = _get_default_text(doc)
    if not text:
        text = "\n".join(value for field, value in texts.items() if field not in (*_TITLES, "lang", "url"))
    # A default text often begins with the title, which would then count twice.
    body = text.strip().removeprefix(title).strip()
    meta = {"url": texts["url"]} if texts.get("url") else {}
    return Document(str(doc.doc_id), body, _get_record_language(doc) or lang, title, {}, meta)


def _get_text_fields(record: Any) -> dict[str, str]:
    """Return the fields of a record that hold text, without its ids."""
    values = ((field, getattr(record, field)) for field in record._fields if not field.endswith("_id"))
    return {field: value for field, value in values if isinstance(value, str)}


def _get_default_text(record: Any) -> str:
    default = getattr(record, "default_text", None)
    text = default() if callable(default) else None
    return text if isinstance(text, str) else ""


def _get_query_text(query: Any) -> str:
    texts = _get_text_fields(query)
    return _get_default_text(query) or next((texts[name] for name in _QUERY_TEXTS if texts.get(name)), "")


def _get_record_language(record: Any) -> str:
    lang = getattr(record, "lang", "")
    return lang if isinstance(lang, str) and is_language_code(lang) else ""


def _get_declared_language(dataset: Any, part: str) -> str:
    lang = getattr(dataset, f"{part}_lang", lambda: None)()
    return lang if isinstance(lang, str) else ""
