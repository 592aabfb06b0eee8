"""PDF files: the text of all pages, and the title where the file has one. Pages that are pictures are named for `scans`
to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paragloss.errors import InputError
from paragloss.formats.text import MAX_DOCUMENT_BYTES, PathLike, read_bytes
from paragloss.types import Document

#: What PDFium calls a picture on a page.
_PICTURE = 3


def read_pdf(path: PathLike, *, id: str = "") -> Document:
    """One document; every page but the first begins with a form feed."""
    import pypdfium2

    data = read_bytes(path, limit=4 * MAX_DOCUMENT_BYTES)
    try:
        pdf = pypdfium2.PdfDocument(data)
        try:
            title = str(pdf.get_metadata_dict().get("Title", "")).strip()
            pages, unread, size = list[str](), list[int](), 0
            for number in range(len(pdf)):
                pages.append(_page(pdf, number))
                size += len(pages[-1])
                if not pages[-1] and _has_picture(pdf, number):
                    unread.append(number)
                if size > MAX_DOCUMENT_BYTES:
                    raise InputError(f"more than {MAX_DOCUMENT_BYTES:,} characters of text; split the file", place=path)
        finally:
            pdf.close()
    except pypdfium2.PdfiumError as error:
        remedy = "it is damaged or needs a password; save it anew without one"
        raise InputError(f"can't be read as PDF ({error}); {remedy}", place=path) from error
    if not any(pages) and not unread:
        raise InputError(f"no text in {len(pages)} pages, and no picture of one; give a file that has some", place=path)
    meta = {"pages": len(pages)} | ({"unread": unread} if unread else {})
    return Document(id or Path(path).name, "\n\n\f".join(pages), "", title, {}, meta)


def _has_picture(pdf: Any, number: int) -> bool:
    page = pdf[number]
    try:
        return any(page.get_objects(filter=[_PICTURE], max_depth=3))
    finally:
        page.close()


def _page(pdf: Any, number: int) -> str:
    page = pdf[number]
    try:
        text = page.get_textpage()
        try:
            found = str(text.get_text_range())
        finally:
            text.close()
    finally:
        page.close()
    # PDFium ends lines with \r\n and marks a hyphen at a line's end with U+FFFE.
    return found.replace("\r\n", "\n").replace("\ufffe", "").replace("\0", "").replace("\f", "\n").strip()
