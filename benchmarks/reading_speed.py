"""Pages per second of processor time of reading PDF, Word and EPUB files, with PDFium's own time beside ours.

    python benchmarks/reading_speed.py [--pages 40] [--files 8]

Files are written here, from the demonstration's texts in several languages, one text to a page or chapter. `reader` is
the reader called in this process, `sandboxed` what `index` does: the same reader in a child process with limits, warm.
PDFium's own time is opening the file and extracting the text of every page, without anything of ours.
Needs reportlab and python-docx.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from paragloss import demo
from paragloss.formats import sandbox
from paragloss.formats.docx import read_docx
from paragloss.formats.epub import read_epub
from paragloss.formats.pdf import read_pdf

DEJAVU = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
#: Characters on a line and lines on a page.
LINE_WIDTH, LINES_PER_PAGE = 85, 45


def make_pages(number: int, langs: Sequence[str]) -> list[list[str]]:
    """Return pages of full lines of text."""
    text = " ".join(document.text.replace("\n", " ") for document in demo.documents() if document.lang in langs)
    lines = cycle(text[start : start + LINE_WIDTH] for start in range(0, len(text), LINE_WIDTH))
    return [list(islice(lines, LINES_PER_PAGE)) for _ in range(number)]


def write_pdf(path: Path, pages: Sequence[Sequence[str]]) -> None:
    from reportlab.pdfbase import pdfmetrics, ttfonts
    from reportlab.pdfgen import canvas

    pdfmetrics.registerFont(ttfonts.TTFont("DejaVu", DEJAVU))
    output = canvas.Canvas(str(path))
    for lines in pages:
        output.setFont("DejaVu", 9)
        for number, line in enumerate(lines):
            output.drawString(40, 800 - 16 * number, line)
        output.showPage()
    output.save()


def write_docx(path: Path, pages: Sequence[Sequence[str]]) -> None:
    import docx

    output = docx.Document()
    for lines in pages:
        output.add_heading(lines[0][:40])
        for start in range(0, len(lines), 5):
            output.add_paragraph(" ".join(lines[start : start + 5]))
    output.save(str(path))


def write_epub(path: Path, pages: Sequence[Sequence[str]]) -> None:
    items = "".join(
        f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(pages))
    )
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(pages)))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("p.opf", f"<package><manifest>{items}</manifest><spine>{order}</spine></package>")
        archive.writestr("META-INF/container.xml", '<container><rootfile full-path="p.opf"/></container>')
        for number, lines in enumerate(pages):
            archive.writestr(f"c{number}.xhtml", f"<html><body><p>{' '.join(lines)}</p></body></html>")


def extract_with_pdfium(path: Path) -> int:
    """Extract the text of every page by PDFium's functions alone; return the number of characters."""
    import ctypes

    from pypdfium2 import raw

    data = path.read_bytes()
    n_characters = 0
    pdf = raw.FPDF_LoadMemDocument64(data, len(data), None)
    for number in range(raw.FPDF_GetPageCount(pdf)):
        page = raw.FPDF_LoadPage(pdf, number)
        textpage = raw.FPDFText_LoadPage(page)
        count = raw.FPDFText_CountChars(textpage)
        buffer = ctypes.create_string_buffer(2 * (count + 1))
        raw.FPDFText_GetText(textpage, 0, count, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)))
        n_characters += count
        raw.FPDFText_ClosePage(textpage)
        raw.FPDF_ClosePage(page)
    raw.FPDF_CloseDocument(pdf)
    return n_characters


def time_reading(read: Callable[[Path], Any], paths: Sequence[Path]) -> float:
    """Return the processor time of reading all files, after one of them was read to load the libraries."""
    read(paths[0])
    started = time.process_time()
    for path in paths:
        read(path)
    return time.process_time() - started


def time_sandboxed_reading(kind: str, paths: Sequence[Path]) -> float:
    """Return the processor time of this process and of the child process that reads all files, without its start."""
    return measure_sandbox(kind, [paths[0], *paths]) - measure_sandbox(kind, [paths[0]])


def measure_sandbox(kind: str, paths: Sequence[Path]) -> float:
    """Return the processor time of this process and of a child process, from its start to its end."""
    reader = sandbox.SandboxedReader()
    started = sum(os.times()[:4])
    for path in paths:
        reader.read(kind, path, "x")
    reader.close()
    return sum(os.times()[:4]) - started


def main() -> None:
    """Print a table of pages per second of processor time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=40, help="pages of a file")
    parser.add_argument("--files", type=int, default=8)
    options = parser.parse_args()
    formats = [
        ("PDF, European languages", ".pdf", write_pdf, read_pdf, ["de", "fr", "ru"]),
        ("PDF, Arabic", ".pdf", write_pdf, read_pdf, ["ar"]),
        ("Word", ".docx", write_docx, read_docx, ["de", "fr", "ru"]),
        ("EPUB", ".epub", write_epub, read_epub, ["de", "fr", "ru"]),
    ]
    print("| format | pages | PDFium alone, pages/s | reader, pages/s | sandboxed, pages/s | ms a file |")
    print("|---|---|---|---|---|---|")
    for name, suffix, write, read, langs in formats:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, f"{number}{suffix}") for number in range(options.files)]
            for path in paths:
                write(path, make_pages(options.pages, langs))
            n_pages = options.pages * options.files
            pdfium = f"{n_pages / time_reading(extract_with_pdfium, paths):.0f}" if suffix == ".pdf" else ""
            in_process = time_reading(read, paths)
            sandboxed = time_sandboxed_reading(suffix, paths)
        rates = f"{pdfium} | {n_pages / in_process:.0f} | {n_pages / sandboxed:.0f}"
        print(f"| {name} | {n_pages} | {rates} | {1000 * sandboxed / options.files:.0f} |", flush=True)


if __name__ == "__main__":
    main()
