"""Excel files (.xlsx): the words and numbers of every sheet, a row a line, cells parted by tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from paragloss.errors import InputError
from paragloss.formats.archive import Archive
from paragloss.formats.text import WHOLE_LIMIT, PathLike, spoken_lang
from paragloss.formats.xml import END, START, TEXT, events, first_texts
from paragloss.types import Document

_SHEET = re.compile(r"xl/worksheets/sheet(\d+)\.xml")


def read_xlsx(path: PathLike, *, id: str = "") -> Document:
    """One document, sheets parted by a blank line. Dates are the numbers Excel keeps them as."""
    archive = Archive(path)
    shared = _shared(archive.part("xl/sharedStrings.xml"), path)
    numbered = sorted((int(found[1][:9]), name) for name in archive.names if (found := _SHEET.fullmatch(name)))
    sheets, size = list[str](), 0
    for _, name in numbered:
        lines = []
        for line in _lines(archive.part(name), shared, path):
            lines.append(line)
            size += len(line)
            # One shared text may stand in any number of cells.
            if size > WHOLE_LIMIT:
                raise InputError(f"more than {WHOLE_LIMIT:,} characters of text; split the file", place=path)
        sheets.append("\n".join(lines))
    text = "\n\n".join(sheet for sheet in sheets if sheet)
    if not text:
        raise InputError(f"no text in {len(numbered)} sheets; give a workbook that has some", place=path)
    core = archive.part("docProps/core.xml")
    declared = first_texts(core, ("title", "language"), path) if core else {}
    lang = spoken_lang(declared.get("language", ""))
    return Document(id or Path(path).name, text, lang, declared.get("title", ""), {}, {"sheets": len(numbered)})


def _shared(data: bytes, path: PathLike) -> list[str]:
    """The texts that cells refer to by number."""
    found: list[str] = []
    pieces: list[str] = []
    inside = False
    for event, name, _ in events(data, path) if data else ():
        if event == TEXT:
            if inside:
                pieces.append(name)
        elif name == "t":
            inside = event == START
        elif name == "si" and event == END:
            found.append("".join(pieces))
            pieces.clear()
    return found


def _lines(sheet: bytes, shared: list[str], path: PathLike) -> Iterator[str]:
    cells: list[str] = []
    pieces: list[str] = []
    kind, inside = "", False
    for event, name, attributes in events(sheet, path) if sheet else ():
        if event == TEXT:
            if inside:
                pieces.append(name)
        elif name in ("v", "t"):
            inside = event == START
        elif name == "c" and event == START:
            kind = attributes.get("t", "")
            pieces.clear()
        elif name == "c":
            value = "".join(pieces).strip()
            if kind == "s":
                value = (
                    shared[int(value)] if value.isascii() and value.isdigit() and int(value[:9]) < len(shared) else ""
                )
            cells.append(" ".join(value.split()))
        elif name == "row" and event == END:
            if line := "\t".join(cell for cell in cells if cell):
                yield line
            cells.clear()
