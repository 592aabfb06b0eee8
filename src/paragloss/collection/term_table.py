"""Count many names or terms in a collection: of each, how often and in how many documents it stands, and where."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple, TextIO

from paragloss.collection import retrieval
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.operator_filter import Occurrences
from paragloss.collection.query_language import FALLBACK
from paragloss.collection.retrieval import RankedQuery
from paragloss.collection.state import State
from paragloss.types import Document, Query

#: Documents that are counted for a term, and those of them that are listed with their places.
MAX_COUNTED_DOCUMENTS = 500
MAX_LISTED_DOCUMENTS = 20
MAX_PLACES_PER_DOCUMENT = 3
#: Terms of one table.
MAX_TERMS = 10_000
#: Characters of text that are shown on each side of a place.
_CONTEXT = 60
#: A cell that begins with one of these would be a formula to a spreadsheet.
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
_HEADER_NAMES = frozenset({"term", "terms", "name", "names", "query"})


class ListedDocument(NamedTuple):
    """A document that has a term: how often, and the texts around the first places."""

    id: str
    lang: str
    title: str
    path: str
    hits: int
    places: tuple[str, ...]


class TermCount(NamedTuple):
    """A row of the table."""

    term: str
    #: How often the term or a translation of it stands in the documents.
    hits: int
    documents: int
    #: The best documents.
    listed: tuple[ListedDocument, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the row as plain dictionaries and lists."""
        return {**self._asdict(), "listed": [document._asdict() for document in self.listed]}


def count_term(state: State, term: str, options: SearchOptions) -> TermCount:
    """Find the documents that have a term or a translation of it, and count the places where it stands in them.

    :param term: a word or phrase, which is looked for as a phrase in quotation marks is, unless it has operators.
    :param options: how to search; `options.k` has no effect.
    :return: the counts of at most MAX_COUNTED_DOCUMENTS documents, and the best of these with their first places.
    """
    state.index.catch_up()
    ranked = _rank_documents_with_term(state, term, options)
    occurrences_by_id = ranked.occurrences
    best_ids = [hit.id for hit in ranked.ranking][:MAX_LISTED_DOCUMENTS]
    best_documents = state.documents(best_ids)
    listed = [_list_document(document, occurrences_by_id[document.id]) for document in best_documents]
    total_hits = sum(_count_hits(occurrences) for occurrences in occurrences_by_id.values())
    return TermCount(term, total_hits, len(occurrences_by_id), tuple(listed), ranked.notes)


def _rank_documents_with_term(state: State, term: str, options: SearchOptions) -> RankedQuery:
    """Rank the documents that have a term; without operators of its own, all of it is required as a phrase."""
    reading = retrieval.read_query(state, Query("", term, options.lang or ""), options.reader or FALLBACK)
    operators = reading.operators
    if not operators.required:
        phrase_operators = operators._replace(required=(operators.text,))
        reading = reading._replace(operators=phrase_operators)
    return retrieval.rank_query(state, reading, replace(options, k=MAX_COUNTED_DOCUMENTS))


def read_terms(lines: Iterable[str], *, is_csv: bool) -> list[str]:
    """Return the terms of a list: one in each line, or the first column of a CSV file, whose header is left out."""
    cells = (row[0] for row in csv.reader(lines) if row) if is_csv else lines
    terms = list(dict.fromkeys(filter(None, (cell.strip().lstrip("\ufeff") for cell in cells))))
    return terms[1:] if is_csv and terms and terms[0].lower() in _HEADER_NAMES else terms


def write_term_table(stream: TextIO, rows: Iterable[TermCount]) -> None:
    """Write a table as CSV: a line for each term and listed document, or one for a term without documents.

    Cells that would be formulas are made texts. The lines of a term are written as soon as it is counted.
    """
    writer = csv.writer(stream)
    writer.writerow(["term", "hits", "documents", "document", "language", "title", "file", "hits in it", "places"])
    for row in rows:
        for line in _list_lines(row):
            writer.writerow([protect_cell(cell) for cell in line])
        stream.flush()


def _list_lines(row: TermCount) -> list[list[object]]:
    """Return the cells of the lines of a term: its counts, in each line, and the documents that have it."""
    counts: list[object] = [row.term, row.hits, row.documents]
    if not row.listed:
        return [counts]
    lines = []
    for document in row.listed:
        contexts = " | ".join(document.places)
        about_document = [document.id, document.lang, document.title, document.path, document.hits, contexts]
        lines.append([*counts, *about_document])
    return lines


def protect_cell(value: object) -> object:
    """Return a cell that a spreadsheet takes for a text and not for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_SIGNS) else value


def _list_document(document: Document, occurrences: Occurrences) -> ListedDocument:
    """Describe a document that has a term, with the texts around the first of its occurrences."""
    contexts = [_cut_context(document.text, *span) for span in occurrences.spans[:MAX_PLACES_PER_DOCUMENT]]
    path = str(document.meta.get("path") or document.meta.get("url") or "")
    return ListedDocument(document.id, document.lang, document.title, path, _count_hits(occurrences), tuple(contexts))


def _count_hits(occurrences: Occurrences) -> int:
    return len(occurrences.spans) + occurrences.field_count


def _cut_context(text: str, start: int, end: int) -> str:
    return " ".join(text[max(0, start - _CONTEXT) : end + _CONTEXT].split())
