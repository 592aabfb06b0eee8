"""Files in formats of others. A hostile file may lead their readers astray: they run in a process apart (`sandbox`)."""

from __future__ import annotations

from collections.abc import Callable

from paragloss.formats import docx, eml, epub, html, odf, pdf, pptx, rtf, scans, xlsx
from paragloss.types import Document

READERS: dict[str, Callable[..., Document]] = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), html.read_html),
    ".pdf": pdf.read_pdf,
    ".docx": docx.read_docx,
    **dict.fromkeys((".odt", ".ods", ".odp"), odf.read_odf),
    ".pptx": pptx.read_pptx,
    ".xlsx": xlsx.read_xlsx,
    ".epub": epub.read_epub,
    ".eml": eml.read_eml,
    ".rtf": rtf.read_rtf,
    **dict.fromkeys(scans.IMAGES, scans.read_image),
}
