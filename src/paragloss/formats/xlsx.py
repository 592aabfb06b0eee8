"""Excel files (.xlsx): the words and numbers of every sheet, a line for each row, with tabs between cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from paragloss.errors import InputError
from paragloss.formats.archive import DocumentArchive
from paragloss.formats.text import MAX_DOCUMENT_BYTES, PathLike
from paragloss.types import Document

_SHEET_PART = re.compile(r"xl/worksheets/sheet(\d+)\.xml")


def read_xlsx(path: PathLike, *, id: str = "") -> Document:
    """Read a workbook, with a blank line between sheets. Dates are the numbers that Excel stores."""
    archive = DocumentArchive(path)
    shared_strings = [_join_text(item, ("t",)) for item in archive.read_part_elements("xl/sharedStrings.xml", ("si",))]
    matches = [match for match in map(_SHEET_PART.fullmatch, archive.names) if match is not None]
    sheets: list[str] = []
    size = 0
    for match in sorted(matches, key=lambda match: (int(match[1][:9]), match[0])):
        lines: list[str] = []
        for line in _read_rows(archive, match[0], shared_strings):
            lines.append(line)
            size += len(line)
            # A shared string may be repeated in any number of cells.
            if size > MAX_DOCUMENT_BYTES:
                raise InputError(f"more than {MAX_DOCUMENT_BYTES:,} characters of text; split the file", location=path)
        sheets.append("\n".join(lines))
    if_empty = f"no text in {len(matches)} sheets; give a workbook that has some"
    return archive.make_document(id, "\n\n".join(filter(None, sheets)), if_empty, meta={"sheets": len(matches)})


def _read_rows(archive: DocumentArchive, sheet: str, shared_strings: list[str]) -> Iterator[str]:
    """Yield the rows of a sheet that are not empty."""
    strings_by_index = {str(index): text for index, text in enumerate(shared_strings)}
    for row in archive.read_part_elements(sheet, ("row",)):
        cells: list[str] = []
        for cell in row:
            value = _join_text(cell, ("v", "t")).strip()
            if cell.get("t") == "s":
                value = strings_by_index.get(value, "")
            cells.append(" ".join(value.split()))
        line = "\t".join(filter(None, cells))
        if line:
            yield line


def _join_text(element: Element, tags: tuple[str, ...]) -> str:
    return "".join(part.text or "" for part in element.iter() if part.tag in tags)
