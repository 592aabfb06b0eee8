"""Excel files (.xlsx): the words and numbers of every sheet, a line for each row, with tabs between cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element

from paragloss.formats.archive import DocumentArchive
from paragloss.formats.text import PathLike, limit_text
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
    # Limited line by line: a shared string may be repeated in any number of cells.
    lines = limit_text(_read_sheets(archive, sheet_parts, shared_strings), path)
    text = "\n".join(lines).rstrip("\n")
    if_empty = f"no text in {len(sheet_parts)} sheets; give a workbook that has some"
    return archive.make_document(id, text, if_empty, meta={"sheets": len(sheet_parts)})


def _list_sheets(archive: DocumentArchive) -> list[str]:
    """Return the names of the parts that are sheets, in the order of their numbers."""
    matches = [match for match in map(_SHEET_PART.fullmatch, archive.names) if match is not None]
    matches.sort(key=lambda match: (int(match[1][:_MAX_DIGITS]), match[0]))
    return [match[0] for match in matches]


def _read_sheets(archive: DocumentArchive, sheet_parts: Sequence[str], shared_strings: Sequence[str]) -> Iterator[str]:
    """Yield a line for each row that is not empty, with tabs between its cells, and an empty one behind each sheet.

    :param sheet_parts: the names of the parts that are sheets; empty ones are left out
    :param shared_strings: the texts that cells refer to by their index
    """
    strings_by_index = {str(index): text for index, text in enumerate(shared_strings)}
    for part in sheet_parts:
        has_text = False
        for row in archive.read_part_elements(part, ("row",)):
            cell_texts = [_read_cell(cell, strings_by_index) for cell in row]
            line = "\t".join(text for text in cell_texts if text)
            if line:
                has_text = True
                yield line
        if has_text:
            yield ""


def _read_cell(cell: Element, strings_by_index: Mapping[str, str]) -> str:
    """Return the text of a cell as one line; a cell of type "s" holds the index of a shared string."""
    value = _join_text(cell, ("v", "t")).strip()
    if cell.get("t") == "s":
        value = strings_by_index.get(value, "")
    return " ".join(value.split())


def _join_text(element: Element, tags: tuple[str, ...]) -> str:
    return "".join(part.text or "" for part in element.iter() if part.tag in tags)
