"""Excel files (.xlsx): the words and numbers of every sheet, a row a line, cells parted by tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from paragloss.errors import InputError
from paragloss.formats.archive import Archive
from paragloss.formats.text import MAX_DOCUMENT_BYTES, PathLike
from paragloss.types import Document

_SHEET = re.compile(r"xl/worksheets/sheet(\d+)\.xml")


def read_xlsx(path: PathLike, *, id: str = "") -> Document:
    """One document, sheets parted by a blank line. Dates are the numbers Excel keeps them as."""
    archive = Archive(path)
    shared = [_text(item, ("t",)) for item in archive.elements("xl/sharedStrings.xml", ("si",))]
    numbered = sorted((int(found[1][:9]), name) for name in archive.names if (found := _SHEET.fullmatch(name)))
    sheets, size = list[str](), 0
    for _, name in numbered:
        lines = []
        for line in _lines(archive, name, shared):
            lines.append(line)
            size += len(line)
            # One shared text may stand in any number of cells.
            if size > MAX_DOCUMENT_BYTES:
                raise InputError(f"more than {MAX_DOCUMENT_BYTES:,} characters of text; split the file", place=path)
        sheets.append("\n".join(lines))
    text = "\n\n".join(sheet for sheet in sheets if sheet)
    nothing = f"no text in {len(numbered)} sheets; give a workbook that has some"
    return archive.document(id, text, nothing, meta={"sheets": len(numbered)})


def _lines(archive: Archive, sheet: str, shared: list[str]) -> Iterator[str]:
    known = {str(number): text for number, text in enumerate(shared)}
    for row in archive.elements(sheet, ("row",)):
        cells = []
        for cell in row:
            value = _text(cell, ("v", "t")).strip()
            cells.append(" ".join((known.get(value, "") if cell.get("t") == "s" else value).split()))
        if line := "\t".join(filter(None, cells)):
            yield line


def _text(element: Element, names: tuple[str, ...]) -> str:
    return "".join(part.text or "" for part in element.iter() if part.tag in names)
