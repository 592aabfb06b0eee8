"""Tables with a header: CSV or TSV with commas, semicolons, tabs or bars; columns are the keys of `rows`.

Every value is text; an empty cell is a missing one. A column `fields.NAME` is one of the document's fields.
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
    parse_numbered_items,
    raise_or_report,
    read_lines,
)
from paragloss.types import Document, Query

T = TypeVar("T")
_DELIMITERS = ",;\t|"
#: How a cell begins that a spreadsheet runs, perhaps behind apostrophes; how a harmless number looks.
_FORMULA, _ESCAPED_FORMULA = re.compile(r"'*[=+\-@\t\r]"), re.compile(r"'+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*")
_KNOWN = frozenset({"id", "_id", "lang", "title", "text", "concept"})


def read_csv_documents(path: PathLike, *, name: str = "", on_error: OnError = None) -> Iterator[Document]:
    """A Document per row; one without `id` and `concept` is called after the file (or `name`) and its line."""
    return _read(path, parse_document_row, on_error, name)


def read_csv_queries(path: PathLike) -> Iterator[Query]:
    """A Query per row."""
    return _read(path, parse_query_row, None)


def read_csv_concept_texts(path: PathLike, *, on_error: OnError = None) -> Iterator[ConceptText]:
    """Each row's share of a concept: columns `concept`, `lang`, `text` and perhaps `title`."""
    for found in _read(path, lambda row, _: parse_concept_row(row), on_error):
        yield from found


def build_csv_header(documents: Iterable[Document]) -> list[str]:
    """The header of a table that holds some documents: what all have, then fields and what they are filtered by."""
    more = dict.fromkeys(name for d in documents for name in (*(f"fields.{f}" for f in d.fields), *map(str, d.meta)))
    return ["id", "lang", "title", "text", *(name for name in more if name not in _KNOWN)]


def write_csv_documents(path: PathLike, documents: Iterable[Document], header: Sequence[str]) -> int:
    """Write one row per document under a header made by `columns`; how many there were. Tabs stand between cells where
    the file is called `.tsv`, commas otherwise."""
    tabs = str(path).removesuffix(".gz").endswith(".tsv")
    with open_output(path) as out:
        table = csv.DictWriter(out, header, delimiter="\t" if tabs else ",", lineterminator="\n", extrasaction="ignore")
        table.writeheader()
        count = 0
        for d in documents:
            fields = {f"fields.{name}": text for name, text in d.fields.items()}
            row = {**d.meta, **fields, "id": d.id, "lang": d.lang, "title": d.title, "text": d.text}
            table.writerow({column: _escape_formula(value) for column, value in row.items()})
            count += 1
    return count


def _read(path: PathLike, make: Callable[[dict[str, Any], str], T], on_error: OnError, name: str = "") -> Iterator[T]:
    # The limit is the whole process's, and its default would refuse a document of 128 KiB.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    name, number = name or file_stem(path), 0

    def counted() -> Iterator[str]:
        nonlocal number
        for place, line in read_lines(path, on_error=on_error):
            number = place
            yield line + "\n"

    source = counted()
    header = next((line for line in source if line.strip()), "")
    delimiter, columns = _header(header, path)
    table = csv.reader(source, delimiter=delimiter, strict=True)

    def rows() -> Iterator[tuple[int, list[str]]]:
        while True:
            try:
                cells = next(table, None)
            except csv.Error as error:
                remedy = "close every quotation mark, and double those inside a quoted cell"
                raise_or_report(InputError(f"not a row of a table ({error}); {remedy}"), path, number, on_error)
                continue
            if cells is None:
                return
            if cells:
                yield number, cells

    yield from parse_numbered_items(rows(), lambda n, cells: make(_row(columns, cells), f"{name}:{n}"), path, on_error)


def _header(line: str, path: PathLike) -> tuple[str, list[str]]:
    def cut(delimiter: str) -> list[str]:
        return [column.strip().strip('"').strip().lower() for column in line.strip("\r\n").split(delimiter)]

    best = max(_DELIMITERS, key=lambda delimiter: (len(_KNOWN & set(cut(delimiter))), len(cut(delimiter))))
    columns = cut(best)
    if not {"text", "title"} & set(columns):
        raise InputError(
            f"no column 'text' in the header {line.strip()[:60]!r}; name columns id, lang, title, text",
            place=f"{path}:1",
        )
    if len(set(columns)) < len(columns):
        again = f"a column comes twice in the header {line.strip()[:60]!r}; give each its own name"
        raise InputError(again, place=f"{path}:1")
    return best, columns


def _escape_formula(value: object) -> object:
    """Put an apostrophe before a text that a spreadsheet would run as a formula; reading takes it away again."""
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def _row(columns: list[str], cells: list[str]) -> dict[str, Any]:
    if len(cells) != len(columns):
        raise InputError(
            f"{len(cells)} cells in a table of {len(columns)} columns; quote a cell that holds the separator"
        )
    row: dict[str, Any] = {}
    for column, cell in zip(columns, cells, strict=True):
        if not cell:
            continue
        if _ESCAPED_FORMULA.match(cell):
            cell = cell[1:]
        if column.startswith("fields."):
            row.setdefault("fields", {})[column.removeprefix("fields.")] = cell
        else:
            row[column] = cell
    return row
