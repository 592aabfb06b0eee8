"""The Large-Scale CLIR dataset of Sasaki et al. (NAACL 2018): Wikipedia queries, documents and graded links, as TSV.

Files: `wiki_en.queries` (id, title, first sentence), `wiki_xx.documents` (id, title, text), `en2xx.rel` (query,
document, 2 or 1); what is in no line is irrelevant. Another published form has rows `label, query, document`.
"""

from __future__ import annotations

from collections.abc import Iterator

from paragloss.errors import InputError
from paragloss.formats.text import OnError, PathLike, file_stem, parse_language_code, parse_lines
from paragloss.types import Document, Qrels, Query


def read_lsclir_queries(path: PathLike) -> Iterator[Query]:
    """Queries in the language the file is named after; their text is the first sentence."""
    found = parse_lines(path, lambda _, line: _columns(line, "id, title, first sentence"))
    code = _named(path)
    return (Query(name, sentence, code) for name, _, sentence in found)


def read_lsclir_documents(path: PathLike, *, on_error: OnError = None) -> Iterator[Document]:
    """Documents in the language the file is named after."""
    found = parse_lines(path, lambda _, line: _columns(line, "id, title, text"), on_error=on_error)
    code = _named(path)
    return (Document(name, text, code, title) for name, title, text in found)


def read_lsclir_qrels(path: PathLike) -> Qrels:
    """The links: 2 for the query's own page, 1 for a page linked with it both ways."""
    qrels: Qrels = {}
    for query, document, grade in parse_lines(path, lambda _, line: _columns(line, "query id, document id, grade")):
        if grade not in ("0", "1", "2"):
            raise InputError(f"grade {grade[:20]!r} is none of 0, 1 and 2; check the columns", place=path)
        grades = qrels.setdefault(query, {})
        grades[document] = max(int(grade), grades.get(document, 0))
    return qrels


def _columns(line: str, expected: str) -> tuple[str, str, str]:
    columns = line.split("\t", 2)
    if len(columns) != 3 or not columns[0]:
        raise InputError(f"{len(columns)} columns where 3 are expected: {expected}, with tabs between them")
    return columns[0].strip(), columns[1].strip(), columns[2].strip()


def _named(path: PathLike) -> str:
    name = file_stem(path).rpartition("_")[2]
    try:
        return parse_language_code(name)
    except InputError as error:
        raise InputError("no language in the file's name; call it wiki_xx.documents", place=path) from error
