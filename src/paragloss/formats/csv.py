"""Tables with a header: CSV or TSV with commas, semicolons, tabs or bars; columns are the keys of `rows`.

Every value is text; an empty cell is a missing one. A column `fields.NAME` is one of the document's fields.
Documents are also read from tables with neither a column `text` nor `title`: there all columns are the text.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from paragloss.errors import InputError
from paragloss.formats.rows import ConceptText, parse_concept_row, parse_document_row, parse_query_row
from paragloss.formats.text import (
    MAX_LINE_BYTES,
    OnError,
    PathLike,
    file_stem,
    open_output,
    raise_or_report,
    read_lines,
)
from paragloss.types import Document, Query

T = TypeVar("T")
_DELIMITERS = ",;\t|"
#: Beginnings of cells that a spreadsheet runs as formulas, perhaps behind apostrophes; and numbers, which are harmless.
_FORMULA, _ESCAPED_FORMULA = re.compile(r"'*[=+\-@\t\r]"), re.compile(r"'+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*")
_NAMED_COLUMNS = frozenset({"id", "_id", "lang", "title", "text", "concept"})


def read_csv_documents(path: PathLike, *, name: str = "", on_error: OnError = None) -> Iterator[Document]:
    """Yield a Document for each row; one without `id` and `concept` is named after the file, or `name`, and line.

    In a table without text and title, ids count in that table only, so that all rows are named after file and line.
    """
    return _read_table(path, parse_document_row, on_error, name, make_textless_record=_describe_row)


def read_csv_queries(path: PathLike) -> Iterator[Query]:
    """Yield a Query for each row."""
    return _read_table(path, parse_query_row, None)


def read_csv_concept_texts(path: PathLike, *, on_error: OnError = None) -> Iterator[ConceptText]:
    """Yield the texts of concepts: columns `concept`, `lang`, `text` and perhaps `title`."""
    for concept_texts in _read_table(path, lambda row, _: parse_concept_row(row), on_error):
        yield from concept_texts


def build_csv_header(documents: Iterable[Document]) -> list[str]:
    """Return the columns of a table that can hold these documents: the common ones, then fields and meta."""
    columns = dict.fromkeys(["id", "lang", "title", "text"])
    for document in documents:
        columns |= dict.fromkeys(f"fields.{name}" for name in document.fields)
        columns |= dict.fromkeys(str(name) for name in document.meta if str(name) not in _NAMED_COLUMNS)
    return list(columns)


def write_csv_documents(path: PathLike, documents: Iterable[Document], header: Sequence[str]) -> int:
    """Write a table with a row for each document; return the number of documents.

    :param path: cells are separated by tabs if the name ends in `.tsv` or `.tsv.gz`, otherwise by commas
    :param header: the columns, made by `build_csv_header`
    """
    delimiter = "\t" if str(path).removesuffix(".gz").endswith(".tsv") else ","
    n_documents = 0
    with open_output(path) as output:
        table = csv.DictWriter(output, header, delimiter=delimiter, lineterminator="\n", extrasaction="ignore")
        table.writeheader()
        for document in documents:
            table.writerow(_format_row(document))
            n_documents += 1
    return n_documents


def _format_row(document: Document) -> dict[str, object]:
    """Return the cells of a document by their columns; its attributes take precedence over meta of the same name."""
    row = dict(document.meta)
    row |= {f"fields.{name}": text for name, text in document.fields.items()}
    row |= {"id": document.id, "lang": document.lang, "title": document.title, "text": document.text}
    return {column: _escape_formula(value) for column, value in row.items()}


def _read_table(
    path: PathLike,
    make_record: Callable[[dict[str, Any], str], T],
    on_error: OnError,
    name: str = "",
    *,
    make_textless_record: Callable[[dict[str, Any], str], T] | None = None,
) -> Iterator[T]:
    """Yield a record for every row of a table.

    :param make_record: makes a record of a row, its cells by column, and of the id it has if it states none
    :param on_error: called with the error of each bad row; without it the first error is raised
    :param name: the beginning of such ids, before the number of the row's last line; by default the name of the file
    :param make_textless_record: used for tables without text and title, with the columns as they are written; such
        tables are refused if it is None
    """
    # The limit holds for the whole process, and its default would refuse a document of 128 KiB.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    lines = _CountedLines(path, on_error)
    header_line = next((line for line in lines if line.strip()), "")
    header = _parse_header(header_line, path, needs_text=make_textless_record is None)
    if make_textless_record is not None and not header.has_text:
        make_record = make_textless_record
    table = csv.reader(lines, delimiter=header.delimiter, strict=True)
    id_prefix = name or file_stem(path)
    for line_number, cells in _read_rows(table, lines, path, on_error):
        try:
            record = make_record(_parse_row(header.columns, cells), f"{id_prefix}:{line_number}")
        except InputError as error:
            raise_or_report(error, path, line_number, on_error)
        else:
            yield record


class _CountedLines:
    """The lines of a file, with the number of the last one that was read: a row may take several lines."""

    def __init__(self, path: PathLike, on_error: OnError) -> None:
        self._lines = read_lines(path, on_error=on_error)
        self.number = 0

    def __iter__(self) -> _CountedLines:
        return self

    def __next__(self) -> str:
        self.number, line = next(self._lines)
        return line + "\n"


def _read_rows(
    table: Iterator[list[str]], lines: _CountedLines, path: PathLike, on_error: OnError
) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of the last line, cells) of every row that is not empty.

    :param table: the rows as the csv module parses them
    :param lines: the lines it reads, which count themselves
    """
    while True:
        try:
            cells = next(table, None)
        except csv.Error as error:
            remedy = "close every quotation mark, and double those inside a quoted cell"
            raise_or_report(InputError(f"not a row of a table ({error}); {remedy}"), path, lines.number, on_error)
            continue
        if cells is None:
            return
        if cells:
            yield lines.number, cells


class _Header(NamedTuple):
    """The delimiter of a table, the names of its columns, and whether one of them is a text or a title."""

    delimiter: str
    columns: list[str]  # in lower case, or as they are written if there is no text
    has_text: bool


def _parse_header(line: str, path: PathLike, *, needs_text: bool) -> _Header:
    """Split the header of a table into columns.

    :param line: the first line of the table
    :param path: the table, which errors name
    :param needs_text: whether a table without a column of texts or titles is refused
    :raises InputError: if it is refused, or has a column of texts or titles and another one twice
    """
    delimiter = max(_DELIMITERS, key=lambda delimiter: _rate_columns(_split_columns(line, delimiter)))
    written_columns = _split_columns(line, delimiter)
    columns = [column.lower() for column in written_columns]
    has_text = "text" in columns or "title" in columns
    if not has_text and not needs_text:
        return _Header(delimiter, _name_columns(written_columns), has_text)
    header_text = line.strip()[:60]
    if not has_text:
        reason = f"no column 'text' in the header {header_text!r}; name columns id, lang, title, text"
        raise InputError(reason, location=f"{path}:1")
    if len(set(columns)) < len(columns):
        reason = f"a column comes twice in the header {header_text!r}; give each its own name"
        raise InputError(reason, location=f"{path}:1")
    return _Header(delimiter, columns, has_text)


def _split_columns(line: str, delimiter: str) -> list[str]:
    """Return the names of columns in a header."""
    cells = next(csv.reader([line.strip("\r\n")], delimiter=delimiter), [])
    return [cell.strip().strip('"').strip() for cell in cells]


def _rate_columns(columns: Sequence[str]) -> tuple[int, int]:
    """Return how many of the columns have known names, and how many columns there are."""
    return len(_NAMED_COLUMNS & {column.lower() for column in columns}), len(columns)


def _name_columns(columns: Sequence[str]) -> list[str]:
    """Give each column a name of its own: the number is added to one without a name, or with that of another."""
    names = [column.removeprefix("fields.") for column in columns]
    return [
        name if name and name not in names[:position] else f"{name} {position + 1}".strip()
        for position, name in enumerate(names)
    ]


def _describe_row(row: dict[str, Any], id: str) -> Document:
    """Make a document of a row without text and title: a line for each cell, with the name of its column."""
    text = "\n".join(f"{column}: {cell}" for column, cell in row.items())
    return Document(id, text, "", "", {}, {column.lower(): cell for column, cell in row.items()})


def _escape_formula(value: object) -> object:
    """Put an apostrophe before a text that a spreadsheet would run as a formula; reading takes it away again."""
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def _parse_row(columns: list[str], cells: list[str]) -> dict[str, Any]:
    """Name the cells of a row by their columns.

    :param columns: the names of the columns
    :param cells: as many cells; empty ones are left out
    :return: the cells by column; those of columns `fields.NAME` are in a dictionary of their own under "fields"
    :raises InputError: if there are more or fewer cells
    """
    if len(cells) != len(columns):
        remedy = "quote a cell that holds the separator"
        raise InputError(f"{len(cells)} cells in a table of {len(columns)} columns; {remedy}")
    row: dict[str, Any] = {}
    for column, cell in zip(columns, cells, strict=True):
        if not cell:
            continue
        value = cell[1:] if _ESCAPED_FORMULA.match(cell) else cell
        if column.startswith("fields."):
            row.setdefault("fields", {})[column.removeprefix("fields.")] = value
        else:
            row[column] = value
    return row
