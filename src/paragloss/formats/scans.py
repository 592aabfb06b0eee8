"""Pages that are pictures, read by Tesseract where that program is installed: by the languages of the page's script
first, then once more by the languages its text turned out to be in.

Knows nothing of limits: `sandbox` asks for one page at a time, and counts the time of each.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from paragloss.errors import InputError, LanguageError
from paragloss.formats.text import PathLike, read_bytes
from paragloss.languages import identify, name, normalise, scripts
from paragloss.types import Document

IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
#: Pixels per inch that pages are drawn with, and the most on a side.
_DPI, _MOST_PIXELS = 300, 6000
#: What is ink is decided near each pixel (Sauvola), not for the whole page: paper is darker at its edges.
_THRESHOLD = ("-c", "thresholding_method=2")
#: Fewer words are no text: stains and lines are taken for letters.
_LEAST_CONFIDENCE, _LEAST_SCRIPT = 30.0, 1.0
#: A page that is read less surely than this may be in another script than it seems: so many are tried.
_CLEAR_CONFIDENCE, _MOST_SCRIPTS = 70.0, 8
#: A language of less of the page than this is not read for itself.
_LEAST_SHARE = 0.1
#: Tesseract's scripts that our languages call otherwise.
_SCRIPTS = {
    "Latin": "Latn", "Cyrillic": "Cyrl", "Greek": "Grek", "Arabic": "Arab", "Hebrew": "Hebr", "Devanagari": "Deva",
    "Bengali": "Beng", "Gurmukhi": "Guru", "Gujarati": "Gujr", "Oriya": "Orya", "Tamil": "Taml", "Telugu": "Telu",
    "Kannada": "Knda", "Malayalam": "Mlym", "Sinhala": "Sinh", "Thai": "Thai", "Lao": "Laoo", "Khmer": "Khmr",
    "Myanmar": "Mymr", "Tibetan": "Tibt", "Georgian": "Geor", "Armenian": "Armn", "Ethiopic": "Ethi",
    "Han": "Hani", "Japanese": "Kana", "Katakana": "Kana", "Hiragana": "Kana", "Korean": "Hang", "Hangul": "Hang",
}  # fmt: skip
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uff00-\uffef\u0e00-\u0e7f"
_GAP = re.compile(rf"(?<=[{_IDEOGRAPHS}]) (?=[{_IDEOGRAPHS}])")
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[^\W\d_])")


class _Word(NamedTuple):
    text: str
    confidence: float
    line: tuple[str, str, str]  # block, paragraph, line


def can_read_scans() -> bool:
    """Whether Tesseract is installed."""
    return shutil.which("tesseract") is not None


def read_image(path: PathLike, *, id: str = "") -> Document:
    """A picture, whose pages are all still to be read."""
    pages = _tiff_pages(read_bytes(path)) if Path(path).suffix.lower().startswith(".tif") else 1
    return Document(id or Path(path).name, "", "", "", {}, {"pages": pages, "unread": list(range(pages))})


#: Told after each page that was read from a scan: the file, how many pages were, and how many will be.
ScanProgress = Callable[[PathLike, int, int], None]


def complete_scanned_pages(
    document: Document, path: PathLike, read_page: Callable[[int], Document], scanning: ScanProgress
) -> Document:
    """The document with those of its pages that are pictures read one by one; how many, and how surely, is in its
    `meta`: `scanned` and `confidence`."""
    meta = dict(document.meta)
    unread: Sequence[int] = meta.pop("unread", ())
    if not unread:
        return document
    if not can_read_scans():
        if document.text.strip():
            return document._replace(meta=meta)
        remedy = "install Tesseract (Debian: apt install tesseract-ocr, and tesseract-ocr-deu for German ...)"
        raise InputError(f"no text in {meta['pages']} pages, it is a scan; {remedy} and index it again", place=path)
    pages = document.text.split("\f") if document.text else [""] * meta["pages"]
    found: dict[int, Document] = {}
    for number in unread:
        found[number] = read_page(number)
        pages[number] = found[number].text + "\n\n"
        scanning(path, len(found), len(unread))
    letters = sum(len(page.text) for page in found.values())
    if not any(map(str.strip, pages)):
        raise InputError(f"no words were found on the pictures of its {meta['pages']} pages", place=path)
    if letters:
        meta["scanned"] = sum(bool(page.text) for page in found.values())
        sure = sum(len(page.text) * page.meta["confidence"] for page in found.values())
        meta["confidence"] = round(sure / letters, 2)
    return document._replace(text="\f".join(pages).rstrip(), meta=meta)


def read_page(kind: str, path: PathLike, number: int) -> Document:
    """The text of one page, counted from 0, and how surely it was read."""
    drawn = _drawn(path, number) if kind == ".pdf" else None
    page = ["-c", f"tessedit_page_number={number}"] if Path(path).suffix.lower().startswith(".tif") else []
    source = [str(path) if drawn is None else "stdin", "stdout", "--dpi", str(_DPI), *_THRESHOLD, *page]
    words = _words(source, drawn)
    if kind in (".jpg", ".jpeg") and _confidence(words) < _CLEAR_CONFIDENCE:  # small letters of dense scripts
        words = max(words, _words(["stdin", *source[1:]], _enlarged(path)), key=_confidence)
    text = _HYPHEN.sub("", _GAP.sub("", _text(words))).strip()
    confidence = _confidence(words)
    sure = confidence >= _LEAST_CONFIDENCE
    return Document("", text if sure else "", "", "", {}, {"confidence": confidence / 100})


def _words(source: list[str], drawn: bytes | None) -> list[_Word]:
    """What is on a page, read by the languages of its script, then by those its paragraphs are in."""
    models, (script, sure, upright) = _installed(), _orientation(source, drawn)
    source = [*source, "--psm", "3" if upright else "1"]
    fitting = [lang for lang in models if script in scripts(lang)]
    first = [lang for lang in ("en", *fitting) if lang in fitting][: 1 if script == "Latn" else 3]
    words = _twice(source, drawn, first, fitting) if sure and fitting else []
    if _confidence(words) >= _CLEAR_CONFIDENCE:
        return words
    # Not clear, or perhaps taken for another script: read by one language of each, that of the likeliest first.
    one_each: dict[str, str] = {}
    for lang in (*first, "en", *models):
        if lang in models:
            one_each.setdefault(scripts(lang)[0], lang)
    for lang in list(one_each.values())[:_MOST_SCRIPTS]:
        same = [other for other in models if scripts(other)[0] == scripts(lang)[0]]
        words = max(words, _twice(source, drawn, [lang], same), key=_confidence)
        if _confidence(words) >= _CLEAR_CONFIDENCE:
            return words
    if sure and not fitting:
        raise InputError(
            f"{source[0]}: written in letters ({script}) of a language that Tesseract does not have; install it "
            f"(Debian: apt install tesseract-ocr-..., has {', '.join(map(name, models)) or 'none'})"
        )
    return words


def _twice(source: list[str], drawn: bytes | None, first: Sequence[str], among: Sequence[str]) -> list[_Word]:
    """Read by some languages; where it turns out to be in others of those it may be in, by them."""
    words = _recognised(source, drawn, first)
    there = _languages(words, among)
    return words if not there or set(there) <= set(first) else _recognised(source, drawn, there)


def _confidence(words: Sequence[_Word]) -> float:
    """From 0 to 100: long words count more."""
    letters = sum(len(word.text) for word in words) or 1
    return sum(len(word.text) * word.confidence for word in words) / letters


def _languages(words: Sequence[_Word], among: Sequence[str]) -> list[str]:
    """The languages of the paragraphs, those of most letters first."""
    paragraphs = _text(words).split("\n\n")
    counts = Counter[str]()
    for paragraph, lang in zip(paragraphs, identify(paragraphs, among), strict=True):
        if lang is not None:
            counts[lang] += len(paragraph)
    return [lang for lang, count in counts.most_common(3) if count >= _LEAST_SHARE * counts.total()]


def _recognised(source: list[str], drawn: bytes | None, langs: Sequence[str]) -> list[_Word]:
    names = "+".join(name for lang in langs for name in _installed()[lang])
    out = _tesseract([*source, "-l", names, "tsv"], drawn)
    rows = csv.DictReader(out.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        _Word(row["text"], float(row["conf"]), (row["block_num"], row["par_num"], row["line_num"]))
        for row in rows
        if (row["text"] or "").strip() and float(row["conf"]) >= 0
    ]


def _text(words: Sequence[_Word]) -> str:
    """Words in lines, lines in paragraphs with a blank line between them."""

    def lines(paragraph: Iterator[_Word]) -> Iterator[str]:
        for _, line in groupby(paragraph, key=lambda word: word.line):
            yield " ".join(word.text for word in line)

    return "\n\n".join("\n".join(lines(some)) for _, some in groupby(words, key=lambda word: word.line[:2]))


def _orientation(source: list[str], drawn: bytes | None) -> tuple[str, bool, bool]:
    """The script that a page is most like, whether that is clear, and whether it stands upright."""
    if "osd" not in _tesseract(["--list-langs"]).split():  # Debian has it with the program
        return "", False, True
    lines = _tesseract([*source, "--psm", "0"], drawn, strict=False).splitlines()
    said = dict(line.split(": ", 1) for line in lines if ": " in line)
    script = _SCRIPTS.get(said.get("Script", ""), "")
    sure = bool(script) and float(said.get("Script confidence", 0)) >= _LEAST_SCRIPT
    return script, sure, said.get("Rotate", "0") == "0"


@cache
def _installed() -> dict[str, list[str]]:
    """Which languages Tesseract has, and what it calls them: Chinese is both `chi_sim` and `chi_tra`."""
    found: dict[str, list[str]] = {}
    for model in _tesseract(["--list-langs"]).splitlines()[1:]:
        if not re.fullmatch(r"[a-z]{3}(_[a-z]+)?", model) or model in ("osd", "equ") or model.endswith("_vert"):
            continue
        try:
            found.setdefault(normalise({"chi": "zho"}.get(model[:3], model[:3])), []).append(model)
        except LanguageError:  # a language of Tesseract's that we have no code for
            continue
    if not found:
        raise InputError("Tesseract has no language installed; install one (Debian: apt install tesseract-ocr-eng)")
    return found


def _tesseract(arguments: Sequence[str], data: bytes | None = None, *, strict: bool = True) -> str:
    alone = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    done = subprocess.run(["tesseract", *arguments], input=data, capture_output=True, env=alone)
    if done.returncode and strict:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InputError(f"{arguments[0]}: can't be read by Tesseract ({lines[-1] if lines else done.returncode})")
    return done.stdout.decode("utf-8", "replace")


def _drawn(path: PathLike, number: int) -> bytes:
    """A page of a PDF as a grey picture (PGM)."""
    import pypdfium2

    pdf: Any = pypdfium2.PdfDocument(str(path))
    try:
        page = pdf[number]
        return _grey(page, _DPI / 72)
    finally:
        pdf.close()


def _enlarged(path: PathLike) -> bytes:
    """A JPEG picture, twice as large where that is not too large."""
    import pypdfium2

    pdf: Any = pypdfium2.PdfDocument.new()
    try:
        picture = pypdfium2.PdfImage.new(pdf)
        picture.load_jpeg(str(path))
        size = picture.get_px_size()
        picture.set_matrix(pypdfium2.PdfMatrix().scale(*size))
        page = pdf.new_page(*size)
        page.insert_obj(picture)
        page.gen_content()
        return _grey(page, 2.0)
    finally:
        pdf.close()


def _grey(page: Any, scale: float) -> bytes:
    bitmap = page.render(scale=min(scale, _MOST_PIXELS / max(1.0, *page.get_size())), grayscale=True)
    rows = memoryview(bitmap.buffer).cast("B")
    grey = b"".join(bytes(rows[at * bitmap.stride :][: bitmap.width]) for at in range(bitmap.height))
    return f"P5 {bitmap.width} {bitmap.height} 255\n".encode() + grey


def _tiff_pages(data: bytes) -> int:
    """How many pictures a TIFF file holds: its directories are a chain."""
    order = "<" if data[:2] == b"II" else ">"
    seen = set[int]()
    try:
        (at,) = struct.unpack_from(f"{order}I", data, 4)
        while at and at not in seen:
            seen.add(at)
            (entries,) = struct.unpack_from(f"{order}H", data, at)
            (at,) = struct.unpack_from(f"{order}I", data, at + 2 + 12 * entries)
    except struct.error:  # a file cut off: Tesseract says what is wrong with it
        pass
    return max(1, len(seen))
