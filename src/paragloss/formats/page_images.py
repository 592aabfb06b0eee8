"""Pictures of pages, for programs that recognise text: pages of PDF files drawn by PDFium, and enlarged photographs."""

from __future__ import annotations

import struct
from contextlib import closing
from typing import Any

from paragloss.formats.text import PathLike

#: Pixels per inch that pages of PDF files are drawn with.
DPI = 300
_MAX_PIXELS_PER_SIDE = 6000
#: Where a TIFF file has the offset of its first directory.
_TIFF_FIRST_DIRECTORY = 4


def draw_pdf_page(path: PathLike, number: int) -> bytes:
    """Draw a page of a PDF file, counted from 0, as a grey picture (PGM)."""
    import pypdfium2

    with closing(pypdfium2.PdfDocument(str(path))) as pdf:
        return _draw_grey(pdf[number], DPI / 72)


def enlarge_jpeg(path: PathLike) -> bytes:
    """Return a JPEG picture as a grey one (PGM) of twice its size, or less if that is too large.

    PDFium draws the picture as the only content of a page of its size.
    """
    import pypdfium2

    with closing(pypdfium2.PdfDocument.new()) as pdf:
        picture = pypdfium2.PdfImage.new(pdf)
        picture.load_jpeg(str(path))
        size = picture.get_px_size()
        picture.set_matrix(pypdfium2.PdfMatrix().scale(*size))  # pictures have width and height 1
        page = pdf.new_page(*size)
        page.insert_obj(picture)
        page.gen_content()
        return _draw_grey(page, 2.0)


def count_tiff_pages(data: bytes) -> int:
    """Count the pages of a TIFF file, one picture each, by following the chain of its directories.

    A directory is the number of its entries (2 bytes), its entries (12 bytes each) and the offset of the next one.

    :param data: the bytes of the file
    :return: the number of pages; of a truncated file that of those which are left, and at least 1
    """
    byte_order = "<" if data[:2] == b"II" else ">"
    directory_offsets: set[int] = set()  # a damaged chain may be a circle
    try:
        (offset,) = struct.unpack_from(f"{byte_order}I", data, _TIFF_FIRST_DIRECTORY)
        while offset and offset not in directory_offsets:
            directory_offsets.add(offset)
            (n_entries,) = struct.unpack_from(f"{byte_order}H", data, offset)
            end_of_entries = offset + 2 + 12 * n_entries
            (offset,) = struct.unpack_from(f"{byte_order}I", data, end_of_entries)
    except struct.error:  # a truncated file: Tesseract says what is wrong with it
        pass
    return max(1, len(directory_offsets))


def _draw_grey(page: Any, scale: float) -> bytes:
    largest_scale = _MAX_PIXELS_PER_SIDE / max(1.0, *page.get_size())
    bitmap = page.render(scale=min(scale, largest_scale), grayscale=True)
    buffer = memoryview(bitmap.buffer).cast("B")
    rows = [bytes(buffer[row * bitmap.stride :][: bitmap.width]) for row in range(bitmap.height)]
    return f"P5 {bitmap.width} {bitmap.height} 255\n".encode() + b"".join(rows)
