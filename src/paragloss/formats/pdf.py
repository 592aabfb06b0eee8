"""PDF files: the text of all pages, and the title where the file has one. Reads no images: a scan has no text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paragloss.errors import InputError
from paragloss.formats.text import WHOLE_LIMIT, PathLike, read_bytes
from paragloss.types import Document


def read_pdf(path: PathLike, *, id: str = "") -> Document:
    """One document; pages are parted by a blank line."""
    import pypdfium2

    data = read_bytes(path, limit=4 * WHOLE_LIMIT)
    try:
        pdf = pypdfium2.PdfDocument(data)
        try:
            title = str(pdf.get_metadata_dict().get("Title", "")).strip()
            pages, size = list[str](), 0
            for number in range(len(pdf)):
                pages.append(_page(pdf, number))
                size += len(pages[-1])
                if size > WHOLE_LIMIT:
                    raise InputError(f"{path}: more than {WHOLE_LIMIT:,} characters of text; split the file")
        finally:
            pdf.close()
    except pypdfium2.PdfiumError as error:
        remedy = "it is damaged or needs a password; save it anew without one"
        raise InputError(f"{path}: can't be read as PDF ({error}); {remedy}") from error
    text = "\n\n".join(page for page in pages if page)
    if not text:
        raise InputError(
            f"{path}: no text in {len(pages)} pages; it may be a scan, run a text recogniser (OCR) on it first"
        )
    return Document(id or Path(path).name, text, "", title, {}, {"pages": len(pages)})


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
    return found.replace("\r\n", "\n").replace("\ufffe", "").replace("\0", "").strip()
