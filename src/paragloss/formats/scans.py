"""Pages that are pictures: read by Tesseract, and Chinese and Japanese ones by RapidOCR if that is more confident.

Knows nothing of limits: `sandbox` requests one page at a time, and limits the time of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from paragloss.errors import InputError
from paragloss.formats.cjk_recognition import RecognizedText, is_rapidocr_installed, measure_cjk_share, recognize_cjk
from paragloss.formats.page_images import DPI, count_tiff_pages, draw_pdf_page, enlarge_jpeg
from paragloss.formats.tesseract import (
    CLEAR_CONFIDENCE,
    PageImage,
    detect_orientation,
    is_tesseract_installed,
    join_recognized_words,
    measure_confidence,
    recognize_page,
)
from paragloss.formats.text import PathLike, read_bytes
from paragloss.types import Document

IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
#: Called after each page of a scan: the file, the number of pages read, and the number of pages to read.
ScanProgress = Callable[[PathLike, int, int], None]
#: Ink is told from paper near each pixel (Sauvola), not for the whole page: paper is darker at its edges.
_THRESHOLDING = ("-c", "thresholding_method=2")
#: A reading of lower confidence is no text: stains and lines were taken for letters.
_MIN_CONFIDENCE = 30.0
#: So is one with fewer letters, unless it is a page of numbers.
_MIN_LETTERS, _MIN_CHARACTERS_WITHOUT_LETTERS = 2, 20
#: Codes of the scripts that RapidOCR reads.
_CJK_SCRIPTS = ("Hani", "Kana")
#: A page that Tesseract reads with a larger share of Chinese and Japanese characters is read by RapidOCR, too.
_MIN_CJK_SHARE = 0.1
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uff00-\uffef\u0e00-\u0e7f"
_SPACE_IN_IDEOGRAPHS = re.compile(rf"(?<=[{_IDEOGRAPHS}]) (?=[{_IDEOGRAPHS}])")
_HYPHEN_AT_LINE_END = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[^\W\d_])")


def can_read_scans() -> bool:
    """Say whether a program that reads pictures of text is installed."""
    return is_tesseract_installed() or is_rapidocr_installed()


def read_image(path: PathLike, *, id: str = "") -> Document:
    """Return the document of a picture, with all of its pages still to be read (`meta["unread"]`)."""
    is_tiff = Path(path).suffix.lower().startswith(".tif")
    n_pages = count_tiff_pages(read_bytes(path)) if is_tiff else 1
    return Document(id or Path(path).name, "", "", "", {}, {"pages": n_pages, "unread": list(range(n_pages))})


def complete_scanned_pages(
    document: Document, path: PathLike, read_scanned_page: Callable[[int], Document], on_scanned_page: ScanProgress
) -> Document:
    """Read the pages of a document that are pictures, and return the document with their text.

    :param document: as the reader of its format made it: `meta["unread"]` are the numbers of such pages, from 0,
        `meta["pages"]` is the number of all pages, which are separated by form feeds
    :param path: its file
    :param read_scanned_page: returns the document of one page, by its number from 0
    :param on_scanned_page: called after each page
    :return: the document with `meta["scanned"]`, the number of pages with text, and `meta["confidence"]`, from 0 to 1;
        as it is without `meta["unread"]` if no program that reads pictures is installed
    :raises InputError: if there is no text and no program to read the pictures, or no word on them
    """
    meta = dict(document.meta)
    unread_numbers: Sequence[int] = meta.pop("unread", ())
    if not unread_numbers:
        return document
    if not can_read_scans():
        _check_has_text(document, path)
        return document._replace(meta=meta)
    scanned_pages: dict[int, Document] = {}
    for number in unread_numbers:
        scanned_pages[number] = read_scanned_page(number)
        on_scanned_page(path, len(scanned_pages), len(unread_numbers))
    text = _insert_scanned_texts(document.text, meta["pages"], scanned_pages)
    if not text:
        raise InputError(f"no words were found on the pictures of its {meta['pages']} pages", location=path)
    return document._replace(text=text, meta={**meta, **_summarize_scans(list(scanned_pages.values()))})


def _insert_scanned_texts(text: str, n_pages: int, scanned_pages: Mapping[int, Document]) -> str:
    """Return the text of a document with the texts of its scanned pages.

    :param text: the text of the other pages, separated by form feeds; "" if all pages are scanned
    :param n_pages: the number of all pages
    :param scanned_pages: the documents of the scanned pages by their numbers, from 0
    """
    page_texts = text.split("\f") if text else [""] * n_pages
    for number, page in scanned_pages.items():
        page_texts[number] = page.text + "\n\n"
    return "\f".join(page_texts).rstrip()


def _check_has_text(document: Document, path: PathLike) -> None:
    """Raise InputError if no page of a document has a text."""
    if not document.text.strip():
        problem = f"no text in {document.meta['pages']} pages, it is a scan"
        remedy = "install Tesseract (Debian: apt install tesseract-ocr, and tesseract-ocr-deu for German ...)"
        raise InputError(f"{problem}; {remedy} and index it again", location=path)


def _summarize_scans(pages: Sequence[Document]) -> dict[str, Any]:
    """Count the scanned pages that have text, and average their confidence by letters; nothing if none has text."""
    n_letters = sum(len(page.text) for page in pages)
    if not n_letters:
        return {}
    confidence = sum(len(page.text) * page.meta["confidence"] for page in pages) / n_letters
    return {"scanned": sum(bool(page.text) for page in pages), "confidence": round(confidence, 2)}


def read_page(kind: str, path: PathLike, number: int) -> Document:
    """Return a document with the text of one page, counted from 0; `meta["confidence"]` is from 0 to 1."""
    drawn = draw_pdf_page(path, number) if kind == ".pdf" else None
    reading = _recognize(_ScannedPage(kind, path, number, drawn))
    text = _HYPHEN_AT_LINE_END.sub("", _SPACE_IN_IDEOGRAPHS.sub("", reading.text)).strip()
    has_letters = sum(map(str.isalpha, text)) >= _MIN_LETTERS or len(text) >= _MIN_CHARACTERS_WITHOUT_LETTERS
    is_text = reading.confidence >= _MIN_CONFIDENCE and has_letters
    return Document("", text if is_text else "", "", "", {}, {"confidence": reading.confidence / 100})


class _ScannedPage(NamedTuple):
    """A page that is a picture: one in a file of pictures, or one that was drawn from a PDF file."""

    kind: str  # suffix of the file
    path: PathLike
    number: int  # from 0
    drawn: bytes | None  # the picture of a page of a PDF file

    def make_tesseract_image(self) -> PageImage:
        """Return what Tesseract is given: the picture's file, or the bytes that were drawn."""
        page_option = ("-c", f"tessedit_page_number={self.number}") if self.kind.startswith(".tif") else ()
        source = str(self.path) if self.drawn is None else "stdin"
        return PageImage((source, "stdout", "--dpi", str(DPI), *_THRESHOLDING, *page_option), self.drawn)


def _recognize(page: _ScannedPage) -> RecognizedText:
    """Read a page by the installed programs; return the reading of the highest confidence."""
    if not is_rapidocr_installed():
        return _read_with_tesseract(page)
    if not is_tesseract_installed():
        return _read_with_rapidocr(page)
    if detect_orientation(page.make_tesseract_image()).script in _CJK_SCRIPTS:
        return _recognize_likely_cjk(page)
    return _recognize_unlikely_cjk(page)


def _recognize_likely_cjk(page: _ScannedPage) -> RecognizedText:
    """Read a page that Tesseract takes for Chinese or Japanese by RapidOCR, and by Tesseract too if that is unclear.

    :return: the reading of higher confidence
    :raises InputError: that of Tesseract, if RapidOCR finds no text
    """
    cjk_reading = _read_with_rapidocr(page)
    if cjk_reading.confidence >= CLEAR_CONFIDENCE:
        return cjk_reading
    try:
        reading = _read_with_tesseract(page)
    except InputError:  # such as a script that is not installed
        if not cjk_reading.text:
            raise
        return cjk_reading
    return _choose_reading(reading, cjk_reading)


def _recognize_unlikely_cjk(page: _ScannedPage) -> RecognizedText:
    """Read a page that Tesseract does not take for Chinese or Japanese, by RapidOCR too if it may be that all the same.

    :raises InputError: that of Tesseract, if RapidOCR finds no text either
    """
    try:
        reading = _read_with_tesseract(page)
    except InputError:  # such as a script that is not installed: poor Chinese pages are taken for Arabic
        cjk_reading = _read_with_rapidocr(page)
        if not cjk_reading.text:
            raise
        return cjk_reading
    may_be_cjk = reading.confidence < CLEAR_CONFIDENCE or measure_cjk_share(reading.text) > _MIN_CJK_SHARE
    if not may_be_cjk:
        return reading
    return _choose_reading(reading, _read_with_rapidocr(page))


def _choose_reading(reading: RecognizedText, cjk_reading: RecognizedText) -> RecognizedText:
    """Return the reading of the higher confidence, the first of equal ones."""
    return max(reading, cjk_reading, key=lambda candidate: candidate.confidence)


def _read_with_rapidocr(page: _ScannedPage) -> RecognizedText:
    if page.drawn is not None:
        return recognize_cjk(page.drawn)
    return recognize_cjk(read_bytes(page.path), page.number)


def _read_with_tesseract(page: _ScannedPage) -> RecognizedText:
    """Read a page; a photograph that is not clear is read once more at twice its size, for small dense letters."""
    image = page.make_tesseract_image()
    words = recognize_page(image)
    if page.kind in (".jpg", ".jpeg") and measure_confidence(words) < CLEAR_CONFIDENCE:
        enlarged_image = PageImage(("stdin", *image.arguments[1:]), enlarge_jpeg(page.path))
        words = max(words, recognize_page(enlarged_image), key=measure_confidence)
    return RecognizedText(join_recognized_words(words), measure_confidence(words))
