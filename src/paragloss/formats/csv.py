"""Tables with a header: CSV or TSV with commas, semicolons, tabs or bars; columns are the keys of `rows`.

Every value is text; an empty cell is a missing one. A column `fields.NAME` is one of the document's fields.
Documents are also read from tables with neither a column `text` nor `title`: there all columns are the text.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

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
    table = _Table(path, on_error)
    make_document = parse_document_row if table.has_text else _describe_row
    return table.read_records(make_document, name or file_stem(path))


def read_csv_queries(path: PathLike) -> Iterator[Query]:
    """Yield a Query for each row."""
    table = _Table(path, None)
    table.require_text()
    return table.read_records(parse_query_row, file_stem(path))


def read_csv_concept_texts(path: PathLike, *, on_error: OnError = None) -> Iterator[ConceptText]:
    """Yield the texts of concepts: columns `concept`, `lang`, `text` and perhaps `title`."""
    table = _Table(path, on_error)
    table.require_text()
    for concept_texts in table.read_records(lambda row, _: parse_concept_row(row), file_stem(path)):
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


def _allow_long_cells() -> None:
    """Raise the limit of the csv module, which holds for the whole process: it would refuse a document of 128 KiB."""
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))


class _Table:
    """A table of which the header is read: its columns, and whether one of them is a text or a title."""

    def __init__(self, path: PathLike, on_error: OnError) -> None:
        """Read the header of a table, its first line that is not blank.

        :param on_error: called with the error of each bad row; without it the first error is raised
        :raises InputError: if the table has a column of texts or titles, and another one twice
        """
        _allow_long_cells()
        self._path = path
        self._on_error = on_error
        self._line_number = 0  # of the last line that was read: a row may take several lines
        self._lines = self._read_counted_lines()
        lines_with_text = (line for line in self._lines if line.strip())
        self._header = next(lines_with_text, "").strip("\r\n")
        self._delimiter = _guess_delimiter(self._header)
        written_columns = _split_columns(self._header, self._delimiter)
        lowercase_columns = [column.lower() for column in written_columns]
        self.has_text = "text" in lowercase_columns or "title" in lowercase_columns
        self._columns = lowercase_columns if self.has_text else _name_columns(written_columns)
        if self.has_text and len(set(self._columns)) < len(self._columns):
            raise self._make_header_error("a column comes twice", "give each its own name")

    def require_text(self) -> None:
        """Raise InputError if the table has neither a column of texts nor one of titles."""
        if not self.has_text:
            raise self._make_header_error("no column 'text'", "name columns id, lang, title, text")

    def read_records(self, make_record: Callable[[dict[str, Any], str], T], id_prefix: str) -> Iterator[T]:
        """Yield a record for every row of the table that is not empty.

        :param make_record: makes a record of a row, its cells by column, and of the id it has if it states none
        :param id_prefix: the beginning of such an id, before the number of the row's last line
        """
        for line_number, cells in self._read_rows():
            try:
                record = make_record(_parse_row(self._columns, cells), f"{id_prefix}:{line_number}")
            except InputError as error:
                raise_or_report(error, self._path, line_number, self._on_error)
            else:
                yield record

    def _read_counted_lines(self) -> Iterator[str]:
        for line_number, line in read_lines(self._path, on_error=self._on_error):
            self._line_number = line_number
            yield line + "\n"

    def _read_rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (number of the last line, cells) of every row that is not empty.

        What is no row, such as one with an open quotation mark, is passed to `on_error`, or raised.
        """
        rows = csv.reader(self._lines, delimiter=self._delimiter, strict=True)
        while True:
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                remedy = "close every quotation mark, and double those inside a quoted cell"
                problem = InputError(f"not a row of a table ({error}); {remedy}")
                raise_or_report(problem, self._path, self._line_number, self._on_error)
                continue
            if cells:
                yield self._line_number, cells

    def _make_header_error(self, problem: str, remedy: str) -> InputError:
        header_text = self._header.strip()[:60]
        return InputError(f"{problem} in the header {header_text!r}; {remedy}", location=f"{self._path}:1")


def _guess_delimiter(header: str) -> str:
    """Return the sign that divides a header into most columns of known names, of equal ones into most columns."""
    return max(_DELIMITERS, key=lambda delimiter: _rate_columns(_split_columns(header, delimiter)))


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
