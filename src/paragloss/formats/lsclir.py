"""The Large-Scale CLIR dataset of Sasaki et al. (NAACL 2018): Wikipedia queries, documents and graded links, as TSV.

Files: `wiki_en.queries` (id, title, first sentence), `wiki_xx.documents` (id, title, text), `en2xx.rel` (query,
document, 2 or 1); what is in no line is irrelevant. Another published form has rows `label, query, document`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from paragloss.errors import InputError
from paragloss.formats.text import OnError, PathLike, checked_lang, rows, stem
from paragloss.types import Document, Qrels, Query


def read_queries(
    path: PathLike, *, field: Literal["sentence", "title"] = "sentence", lang: str = "", on_error: OnError = None
) -> Iterator[Query]:
    """Queries in the language the file is named after; their text is the first sentence or the title."""
    code = lang or _named(path)

    def parse(_: int, line: str) -> Query:
        name, title, sentence = _columns(line, "id, title, first sentence")
        return Query(name, title if field == "title" else sentence, code)

    return rows(path, parse, on_error=on_error)


def read_documents(path: PathLike, *, lang: str = "", on_error: OnError = None) -> Iterator[Document]:
    """Documents in the language the file is named after."""
    code = lang or _named(path)

    def parse(_: int, line: str) -> Document:
        name, title, text = _columns(line, "id, title, text")
        return Document(name, text, code, title)

    return rows(path, parse, on_error=on_error)


def read_rel(path: PathLike, *, on_error: OnError = None) -> Qrels:
    """The links: 2 for the query's own page, 1 for a page linked with it both ways."""

    def parse(_: int, line: str) -> tuple[str, str, int]:
        query, document, grade = _columns(line, "query id, document id, grade")
        return query, document, _grade(grade)

    qrels: Qrels = {}
    for query, document, grade in rows(path, parse, on_error=on_error):
        grades = qrels.setdefault(query, {})
        grades[document] = max(grade, grades.get(document, grade))
    return qrels


def _columns(line: str, expected: str) -> tuple[str, str, str]:
    columns = line.split("\t", 2)
    if len(columns) != 3 or not columns[0]:
        raise InputError(f"{len(columns)} columns where 3 are expected: {expected}, with tabs between them")
    return columns[0].strip(), columns[1].strip(), columns[2].strip()


def _grade(text: str) -> int:
    if text not in ("0", "1", "2"):
        raise InputError(f"grade {text[:20]!r} is none of 0, 1 and 2; check the order of the columns")
    return int(text)


def _named(path: PathLike) -> str:
    name = stem(path).rpartition("_")[2]
    try:
        return checked_lang(name)
    except InputError as error:
        raise InputError("no language in the file's name; call it wiki_xx or pass lang='xx'", place=path) from error
