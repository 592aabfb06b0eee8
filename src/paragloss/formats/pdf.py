"""PDF files: the text of all pages and the title, by PDFium. Pages that are pictures are listed for `scans` to read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from paragloss.errors import EmptyFileError, InputError
from paragloss.formats.right_to_left import has_right_to_left, reorder_page
from paragloss.formats.text import MAX_PACKED_FILE_BYTES, PathLike, limit_text, read_bytes
from paragloss.types import Document

#: PDFium's number for page objects that are pictures (FPDF_PAGEOBJ_IMAGE).
_PICTURE_OBJECT = 3
#: PDFium's mark for a hyphen at a line's end, and the character behind it.
_LINE_END_HYPHEN = re.compile("\ufffe(.?)")


def read_pdf(path: PathLike, *, id: str = "") -> Document:
    """Read a PDF file as one document.

    Every page but the first begins with a form feed. `meta["pages"]` is the number of pages, `meta["unread"]` the
    numbers, from 0, of pages without text that have a picture.

    :raises InputError: if the file is damaged or encrypted, or has neither a text nor a picture
    """
    title, pages = _parse_pdf(read_bytes(path, limit=MAX_PACKED_FILE_BYTES), path)
    if not any(page.text or page.is_picture for page in pages):
        message = f"no text in {len(pages)} pages, and no picture of one; give a file that has some"
        raise EmptyFileError(message, location=path)
    text = "\n\n\f".join(limit_text((page.text for page in pages), path))
    meta: dict[str, Any] = {"pages": len(pages)}
    picture_numbers = [number for number, page in enumerate(pages) if page.is_picture]
    if picture_numbers:
        meta["unread"] = picture_numbers
    return Document(id or Path(path).name, text, "", title, {}, meta)


def _parse_pdf(data: bytes, path: PathLike) -> tuple[str, list[_Page]]:
    """Return the declared title and the pages of a PDF file.

    :param data: the bytes of the file
    :param path: its path, which errors name
    :raises InputError: if the file is damaged or encrypted
    """
    import pypdfium2

    try:
        with closing(pypdfium2.PdfDocument(data)) as pdf:
            title = str(pdf.get_metadata_dict().get("Title", "")).strip()
            return title, list(_read_pages(pdf))
    except pypdfium2.PdfiumError as error:
        remedy = "it is damaged or needs a password; save it anew without one"
        raise InputError(f"can't be read as PDF ({error}); {remedy}", location=path) from error


class _Page(NamedTuple):
    """The text of a page, and whether the page has none but a picture, which may show some."""

    text: str
    is_picture: bool


def _read_pages(pdf: Any) -> Iterator[_Page]:
    """Yield the pages of a file (`pypdfium2.PdfDocument`)."""
    for number in range(len(pdf)):
        with closing(pdf[number]) as page:
            text = _read_page_text(page)
            is_picture = not text and any(page.get_objects(filter=[_PICTURE_OBJECT], max_depth=3))
        yield _Page(text, is_picture)


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
