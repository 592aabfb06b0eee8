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
    """Yield queries in the language the file is named after; their text is the first sentence."""
    rows = parse_lines(path, lambda _, line: _split_columns(line, "id, title, first sentence"))
    lang = _parse_file_language(path)
    return (Query(query_id, sentence, lang) for query_id, _, sentence in rows)


def read_lsclir_documents(path: PathLike, *, on_error: OnError = None) -> Iterator[Document]:
    """Yield documents in the language the file is named after."""
    rows = parse_lines(path, lambda _, line: _split_columns(line, "id, title, text"), on_error=on_error)
    lang = _parse_file_language(path)
    return (Document(doc_id, text, lang, title) for doc_id, title, text in rows)


def read_lsclir_qrels(path: PathLike) -> Qrels:
    """Return the links as grades: 2 for the query's own page, 1 for a page linked with it both ways."""
    qrels: Qrels = {}
    for query, document, grade in parse_lines(
        path, lambda _, line: _split_columns(line, "query id, document id, grade")
    ):
        if grade not in ("0", "1", "2"):
            raise InputError(f"grade {grade[:20]!r} is none of 0, 1 and 2; check the columns", location=path)
        grades = qrels.setdefault(query, {})
        grades[document] = max(int(grade), grades.get(document, 0))
    return qrels


def _split_columns(line: str, expected: str) -> tuple[str, str, str]:
    columns = line.split("\t", 2)
    if len(columns) != 3 or not columns[0]:
        raise InputError(f"{len(columns)} columns where 3 are expected: {expected}, with tabs between them")
    return columns[0].strip(), columns[1].strip(), columns[2].strip()


def _parse_file_language(path: PathLike) -> str:
    name = file_stem(path).rpartition("_")[2]
    try:
        return parse_language_code(name)
    except InputError as error:
        raise InputError("no language in the file's name; call it wiki_xx.documents", location=path) from error
