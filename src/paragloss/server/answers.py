"""The work behind the routes, which knows nothing of HTTP.

Every function takes a collection first and a deadline last and returns what JSON can hold, so that a worker process can
run it.
"""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

from paragloss.collection import Answer, Collection, Deadline, Result, SearchOptions
from paragloss.errors import ParaglossError
from paragloss.formats.numbers import get_document_day
from paragloss.types import Document, Query

#: Documents that are counted by language and field: as many as a person might page through.
MAX_COUNTED = 200
#: Best documents that are sorted by date.
MAX_SORTED_BY_DATE = 50
#: Values of a field that are listed.
MAX_FIELD_VALUES = 12
#: Longest value of a field that is listed, in characters.
MAX_VALUE_LENGTH = 60
#: Fields of metadata that nobody filters by.
_UNLISTED_FIELDS = {
    "path",
    "url",
    "modified",
    "date",
    "year",
    "pages",
    "slides",
    "sheets",
    "page",
    "row",
    "unread",
    "added",
}


class UnknownDocumentError(ParaglossError):
    """The collection has no document of this id."""


class _SourcedResult(NamedTuple):
    """A result, and the answer that found and can explain it."""

    result: Result
    answer: Answer


def find_documents(
    collection: Collection,
    text: str,
    options: SearchOptions,
    deadline: Deadline,
    *,
    why: bool = False,
    newest: bool = False,
    each_language: bool = False,
) -> dict[str, Any]:
    """Search a collection, and return what JSON can hold.

    :param text: the query.
    :param why: explain every result: each gets the parts of its score.
    :param newest: sort the best results by date.
    :param each_language: add the best document of every language that has none among the results, unless `newest`.
    :return: the answer as `paragloss search --json` prints it, each result with where it is from.
    """
    options = _with_local_folders(collection, replace(options, deadline=deadline))
    if newest:
        options = replace(options, newest=MAX_SORTED_BY_DATE)
    answer = collection.search(text, options)
    sourced_results = [_SourcedResult(result, answer) for result in answer.results]
    if each_language and not newest:
        sourced_results += _search_missing_languages(collection, text, options, answer)
    results = [sourced.result for sourced in sourced_results]
    response = answer._replace(results=results).as_json()
    for row, sourced in zip(response["results"], sourced_results, strict=True):
        row.update(describe_origin(collection, row["meta"]))
        if why:
            deadline.step()
            row["why"] = sourced.answer.why(sourced.result.id)["parts"]
    return response


def _search_missing_languages(
    collection: Collection, text: str, options: SearchOptions, answer: Answer
) -> list[_SourcedResult]:
    """Find the best document of every language that has none among the results of a search.

    :param text: the query of that search.
    :param options: the options of that search. Its filters, target languages and deadline hold here as well, but each
        language gets only one result, and the query is taken to be in the language that the search identified.
    :param answer: the answer of that search.
    :return: the documents with their own answers, best first; none for a language without a match.
    """
    languages_with_result = {result.lang for result in answer.results}
    single_result_options = replace(options, lang=answer.query.lang, k=1)
    additions: list[_SourcedResult] = []
    for lang in options.to or collection.langs:
        if lang not in languages_with_result:
            language_answer = collection.search(text, single_result_options, to=[lang])
            additions += [_SourcedResult(result, language_answer) for result in language_answer.results]
    return sorted(additions, key=lambda sourced: -sourced.result.score)


def _with_local_folders(collection: Collection, options: SearchOptions) -> SearchOptions:
    """Return options whose conditions on folders name those of this machine, as the collection needs them."""
    return replace(options, where=collection.sources.resolve_folders(options.where)) if options.where else options


def describe_origin(collection: Collection, meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a document without folders of this machine, and whether its file can be opened here."""
    original = {"original": True} if collection.sources.find_original(meta) else {}
    return {"meta": collection.sources.hide_folders(meta), **original}


def count_matching_documents(
    collection: Collection, text: str, options: SearchOptions, deadline: Deadline
) -> dict[str, Any]:
    """Count the best documents for a query by language and by the values of their fields.

    :return: the query, the number of these documents (`of`), their `languages`, and for each of their `fields` how
        many have each value.
    """
    options = _with_local_folders(collection, options)
    query, documents = collection.rank_documents(text, options, k=MAX_COUNTED, deadline=deadline)
    languages = Counter(document.lang for document in documents)
    return {
        "query": {"text": query.text, "lang": query.lang},
        "of": len(documents),
        "languages": dict(languages.most_common()),
        "fields": _count_fields(collection, documents),
    }


def _count_fields(collection: Collection, documents: Sequence[Document]) -> dict[str, dict[str, int]]:
    """Count the values of fields that documents can be filtered by: those that several documents share."""
    counts: dict[str, Counter[str]] = {}
    for document in documents:
        for field, value in _list_filter_values(collection, document).items():
            counts.setdefault(field, Counter())[value] += 1
    return {
        field: dict(values.most_common(MAX_FIELD_VALUES)) for field, values in counts.items() if _can_filter(values)
    }


def _can_filter(values: Counter[str]) -> bool:
    """Tell whether a field helps to filter documents: not if it has one value, nor if its values nearly all differ."""
    return 1 < len(values) <= max(3, values.total() // 2)


def _list_filter_values(collection: Collection, document: Document) -> dict[str, str]:
    """Return the values by which a document can be filtered, by field.

    :return: its `kind` (the suffix of its file), `folder` and year (`dated`), and the texts and numbers of its
        metadata; without values that are empty or longer than MAX_VALUE_LENGTH.
    """
    meta = collection.sources.hide_folders(document.meta)
    folder, file_name = posixpath.split(str(meta.get("path", "")))
    _, suffix = posixpath.splitext(file_name)
    values = {"kind": suffix.removeprefix(".").lower(), "folder": folder, "dated": _format_year(meta)}
    for field, value in meta.items():
        if field in _UNLISTED_FIELDS:
            continue
        if isinstance(value, bool):
            values[field] = str(value).lower()
        elif isinstance(value, str | int):
            values[field] = str(value)
    return {field: value for field, value in values.items() if 0 < len(value) <= MAX_VALUE_LENGTH}


def _format_year(meta: Mapping[str, Any]) -> str:
    """Return the year of a document, "" if it has no date."""
    day = get_document_day(meta)
    return "" if day is None else str(date.fromordinal(int(day)).year)


def answer_term_count(collection: Collection, text: str, options: SearchOptions, deadline: Deadline) -> dict[str, Any]:
    """Count the places of a term, and list the best documents that have it."""
    options = replace(_with_local_folders(collection, options), deadline=deadline)
    (row,) = collection.count_terms([text], options)
    counted = row.as_json()
    for document in counted["listed"]:
        document["path"] = collection.sources.hide_folders({"path": document["path"]})["path"]
    return counted


def explain_document(
    collection: Collection, text: str, document_id: str, options: SearchOptions, deadline: Deadline
) -> dict[str, Any]:
    """Explain why a search finds a document."""
    options = _with_local_folders(collection, options)
    return collection.why(Query("", text, options.lang or ""), document_id, options, deadline=deadline)


def answer_translation(collection: Collection, text: str, lang: str, to: str, deadline: Deadline) -> dict[str, str]:
    """Translate a text with the engine of the collection."""
    deadline.check()
    return {"text": collection.translate(text, lang=lang, to=to)}


def answer_glosses(
    collection: Collection, texts: Sequence[tuple[str, str]], to: str, query: str, deadline: Deadline
) -> dict[str, Any]:
    """Look up the meanings of the words of texts.

    :param texts: each text with its language; "" identifies it.
    :param to: the reader's language.
    :param query: what the reader searched for; meanings that it contains are preferred.
    :param deadline: it is checked before each text.
    :return: the glosses of each text, under `glosses`.
    """
    glosses = collection.glosses(_step_before_each(texts, deadline), to=to, query=query)
    return {"glosses": [gloss.as_json() for gloss in glosses]}


def _step_before_each(texts: Iterable[tuple[str, str]], deadline: Deadline) -> Iterator[tuple[str, str]]:
    """Yield texts with their languages, and stop with an error once the deadline has passed."""
    for text in texts:
        deadline.step()
        yield text


def gloss_text(collection: Collection, text: str, lang: str, to: str, deadline: Deadline) -> dict[str, Any]:
    """Look up the words of one text."""
    gloss: dict[str, Any] = answer_glosses(collection, [(text, lang)], to, "", deadline)["glosses"][0]
    return gloss


def get_document(collection: Collection, document_id: str, deadline: Deadline) -> Document:
    """Return a document; UnknownDocumentError where there is none."""
    deadline.check()
    document = collection.get([document_id])[0]
    if document is None:
        raise UnknownDocumentError(f"no document {document_id!r} in this collection")
    return document


def show_document(collection: Collection, document_id: str, deadline: Deadline) -> dict[str, Any]:
    """Return a document with its text and metadata."""
    document = get_document(collection, document_id, deadline)
    return {**document._asdict(), "fields": dict(document.fields), **describe_origin(collection, document.meta)}


def read_document(
    collection: Collection,
    document_id: str,
    text: str,
    lang: str,
    start: int | None,
    before: int | None,
    deadline: Deadline,
) -> dict[str, Any]:
    """Return some paragraphs of a document, and where it is from.

    :param text: the query, whose matches are marked; it may be empty.
    :param lang: the language of the query; "" identifies it.
    :param start: the offset of the first paragraph; None for those around the best passage for the query.
    :param before: the offset of the first paragraph after these; None for any.
    """
    document = get_document(collection, document_id, deadline)
    excerpt = collection.read_excerpt(document, text, lang=lang or None, start=start, before=before, deadline=deadline)
    heading = {"id": document.id, "lang": document.lang, "title": document.title}
    return {**heading, **describe_origin(collection, document.meta), **excerpt}


def encode_json(collection: Collection, work: Callable[..., Any], *arguments: Any) -> bytes:
    """Run work and return its result as JSON: encoded where the work is done, so that nobody else waits for that."""
    result = work(collection, *arguments)
    return json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
