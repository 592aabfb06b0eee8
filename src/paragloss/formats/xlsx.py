"""Excel files (.xlsx): the words and numbers of every sheet, a line for each row, with tabs between cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from paragloss.formats.archive import DocumentArchive
from paragloss.formats.text import PathLike, TextLimit
from paragloss.types import Document

_MAX_DIGITS = 9
_SHEET_PART = re.compile(r"xl/worksheets/sheet(\d+)\.xml")


def read_xlsx(path: PathLike, *, id: str = "") -> Document:
    """Read a workbook, with a blank line between sheets. Dates are the numbers that Excel stores.

    :param id: the id of the document; by default the file's name
    :raises InputError: if the file is no workbook, or has no text
    """
    archive = DocumentArchive(path)
    shared_strings = [_join_text(item, ("t",)) for item in archive.read_part_elements("xl/sharedStrings.xml", ("si",))]
    sheet_parts = _list_sheets(archive)
    limit = TextLimit(path)  # a shared string may be repeated in any number of cells
    sheet_texts: list[str] = []
    for part in sheet_parts:
        lines = [limit.count(line) for line in _read_rows(archive, part, shared_strings)]
        sheet_texts.append("\n".join(lines))
    text = "\n\n".join(filter(None, sheet_texts))
    if_empty = f"no text in {len(sheet_parts)} sheets; give a workbook that has some"
    return archive.make_document(id, text, if_empty, meta={"sheets": len(sheet_parts)})


def _list_sheets(archive: DocumentArchive) -> list[str]:
    """Return the names of the parts that are sheets, in the order of their numbers."""
    matches = [match for match in map(_SHEET_PART.fullmatch, archive.names) if match is not None]
    matches.sort(key=lambda match: (int(match[1][:_MAX_DIGITS]), match[0]))
    return [match[0] for match in matches]


def _read_rows(archive: DocumentArchive, sheet: str, shared_strings: list[str]) -> Iterator[str]:
    """Yield the rows of a sheet that are not empty, each with tabs between its cells.

    :param sheet: the name of the part that is the sheet
    :param shared_strings: the texts that cells refer to by their index
    """
    strings_by_index = {str(index): text for index, text in enumerate(shared_strings)}
    for row in archive.read_part_elements(sheet, ("row",)):
        cells = [_read_cell(cell, strings_by_index) for cell in row]
        line = "\t".join(filter(None, cells))
        if line:
            yield line


def _read_cell(cell: Element, strings_by_index: Mapping[str, str]) -> str:
    """Return the text of a cell as one line; a cell of type "s" holds the index of a shared string."""
    value = _join_text(cell, ("v", "t")).strip()
    if cell.get("t") == "s":
        value = strings_by_index.get(value, "")
    return " ".join(value.split())


def _join_text(element: Element, tags: tuple[str, ...]) -> str:
    return "".join(part.text or "" for part in element.iter() if part.tag in tags)
