"""Pages that are pictures: read by Tesseract, and Chinese and Japanese ones by RapidOCR if that is more confident.

Knows nothing of limits: `sandbox` requests one page at a time, and limits the time of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

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
    """Return a document with the text of those of its pages that are pictures.

    `meta["scanned"]` is the number of pages with text, `meta["confidence"]` the mean confidence from 0 to 1.

    :param read_scanned_page: returns the document of one page, by its number from 0
    :raises InputError: if there is no text and no program to read the pictures, or no word on them
    """
    meta = dict(document.meta)
    unread: Sequence[int] = meta.pop("unread", ())
    if not unread:
        return document
    if not can_read_scans():
        if document.text.strip():
            return document._replace(meta=meta)
        remedy = "install Tesseract (Debian: apt install tesseract-ocr, and tesseract-ocr-deu for German ...)"
        raise InputError(f"no text in {meta['pages']} pages, it is a scan; {remedy} and index it again", location=path)
    texts = document.text.split("\f") if document.text else [""] * meta["pages"]
    scanned_pages: list[Document] = []
    for number in unread:
        scanned_pages.append(read_scanned_page(number))
        texts[number] = scanned_pages[-1].text + "\n\n"
        on_scanned_page(path, len(scanned_pages), len(unread))
    if not any(map(str.strip, texts)):
        raise InputError(f"no words were found on the pictures of its {meta['pages']} pages", location=path)
    return document._replace(text="\f".join(texts).rstrip(), meta={**meta, **_summarize_scans(scanned_pages)})


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
    reading = _recognize(kind, path, number, drawn)
    text = _HYPHEN_AT_LINE_END.sub("", _SPACE_IN_IDEOGRAPHS.sub("", reading.text)).strip()
    has_letters = sum(map(str.isalpha, text)) >= _MIN_LETTERS or len(text) >= _MIN_CHARACTERS_WITHOUT_LETTERS
    is_text = reading.confidence >= _MIN_CONFIDENCE and has_letters
    return Document("", text if is_text else "", "", "", {}, {"confidence": reading.confidence / 100})


def _recognize(kind: str, path: PathLike, number: int, drawn: bytes | None) -> RecognizedText:
    """Read a page by the installed programs; return the reading of the highest confidence.

    :param kind: suffix of the file
    :param number: of the page, from 0
    :param drawn: the page as a picture, if it was drawn from a PDF file
    """
    image = _make_page_image(kind, path, number, drawn)
    has_tesseract = is_tesseract_installed()
    cjk_reading = RecognizedText("", 0.0)
    if is_rapidocr_installed() and (not has_tesseract or detect_orientation(image).script in _CJK_SCRIPTS):
        cjk_reading = recognize_cjk(drawn or read_bytes(path), 0 if drawn else number)
        if cjk_reading.confidence >= CLEAR_CONFIDENCE or not has_tesseract:
            return cjk_reading
    tesseract_error: InputError | None = None
    reading = RecognizedText("", 0.0)
    try:
        reading = _read_with_tesseract(kind, path, image)
    except InputError as error:  # such as a script that is not installed: poor Chinese pages are taken for Arabic
        tesseract_error = error
    may_be_cjk = reading.confidence < CLEAR_CONFIDENCE or measure_cjk_share(reading.text) > 0.1
    if is_rapidocr_installed() and may_be_cjk and not cjk_reading.text:
        cjk_reading = recognize_cjk(drawn or read_bytes(path), 0 if drawn else number)
    if tesseract_error is not None and not cjk_reading.text:
        raise tesseract_error
    return max(reading, cjk_reading, key=lambda candidate: candidate.confidence)


def _make_page_image(kind: str, path: PathLike, number: int, drawn: bytes | None) -> PageImage:
    page_option = ("-c", f"tessedit_page_number={number}") if kind.startswith(".tif") else ()
    source = str(path) if drawn is None else "stdin"
    return PageImage((source, "stdout", "--dpi", str(DPI), *_THRESHOLDING, *page_option), drawn)


def _read_with_tesseract(kind: str, path: PathLike, image: PageImage) -> RecognizedText:
    """Read a page; a photograph that is not clear is read once more at twice its size, for small dense letters."""
    words = recognize_page(image)
    if kind in (".jpg", ".jpeg") and measure_confidence(words) < CLEAR_CONFIDENCE:
        enlarged = recognize_page(PageImage(("stdin", *image.arguments[1:]), enlarge_jpeg(path)))
        words = max(words, enlarged, key=measure_confidence)
    return RecognizedText(join_recognized_words(words), measure_confidence(words))
