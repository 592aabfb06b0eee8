"""PDF files: the text of all pages and the title, by PDFium. Pages that are pictures are listed for `scans` to read."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

from paragloss.errors import EmptyFileError, InputError
from paragloss.formats.right_to_left import has_right_to_left, reorder_page
from paragloss.formats.text import MAX_DOCUMENT_BYTES, PathLike, read_bytes
from paragloss.types import Document

#: PDFium's number for page objects that are pictures (FPDF_PAGEOBJ_IMAGE).
_PICTURE_OBJECT = 3
#: PDFium's mark for a hyphen at a line's end, and the character behind it.
_LINE_END_HYPHEN = re.compile("\ufffe(.?)")


def read_pdf(path: PathLike, *, id: str = "") -> Document:
    """Read a PDF file as one document.

    Every page but the first begins with a form feed. `meta["pages"]` is the number of pages, `meta["unread"]` the
    numbers, from 0, of pages without text that have a picture.
    """
    import pypdfium2

    data = read_bytes(path, limit=4 * MAX_DOCUMENT_BYTES)
    try:
        with closing(pypdfium2.PdfDocument(data)) as pdf:
            title = str(pdf.get_metadata_dict().get("Title", "")).strip()
            pages, picture_pages = _read_pages(pdf, path)
    except pypdfium2.PdfiumError as error:
        remedy = "it is damaged or needs a password; save it anew without one"
        raise InputError(f"can't be read as PDF ({error}); {remedy}", location=path) from error
    if not any(pages) and not picture_pages:
        nothing = f"no text in {len(pages)} pages, and no picture of one; give a file that has some"
        raise EmptyFileError(nothing, location=path)
    meta: dict[str, Any] = {"pages": len(pages)}
    if picture_pages:
        meta["unread"] = picture_pages
    return Document(id or Path(path).name, "\n\n\f".join(pages), "", title, {}, meta)


def _read_pages(pdf: Any, path: PathLike) -> tuple[list[str], list[int]]:
    """Return the text of each page, and the numbers of pages that have a picture and no text."""
    pages: list[str] = []
    picture_pages: list[int] = []
    size = 0
    for number in range(len(pdf)):
        with closing(pdf[number]) as page:
            text = _read_page_text(page)
            if not text and any(page.get_objects(filter=[_PICTURE_OBJECT], max_depth=3)):
                picture_pages.append(number)
        pages.append(text)
        size += len(text)
        if size > MAX_DOCUMENT_BYTES:
            raise InputError(f"more than {MAX_DOCUMENT_BYTES:,} characters of text; split the file", location=path)
    return pages, picture_pages


def _read_page_text(page: Any) -> str:
    with closing(page.get_textpage()) as textpage:
        text = str(textpage.get_text_range())
        if has_right_to_left(text):
            text = reorder_page(text, textpage)
    # PDFium ends lines with \r\n.
    return _join_hyphenated(text.replace("\r\n", "\n")).replace("\0", "").replace("\f", "\n").strip()


def _join_hyphenated(text: str) -> str:
    """Join words divided at a line's end; a hyphen before a capital or a digit belongs to the word: Saint-Laurent."""

    def join(match: re.Match[str]) -> str:
        next_character = match[1]
        return "-" + next_character if next_character.isupper() or next_character.isdigit() else next_character

    return _LINE_END_HYPHEN.sub(join, text)
