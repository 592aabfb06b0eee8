"""Readers of formats that other programs define. A hostile file may exploit them, so they run in `sandbox`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from paragloss.formats import docx, eml, epub, html, odf, old_office, outlook, pdf, pptx, rtf, scans, xlsx
from paragloss.types import Document

READERS: dict[str, Callable[..., Document]] = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), html.read_html),
    ".pdf": pdf.read_pdf,
    **dict.fromkeys((".docx", ".docm", ".dotx"), docx.read_docx),
    **dict.fromkeys((".odt", ".ods", ".odp"), odf.read_odf),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx"), pptx.read_pptx),
    **dict.fromkeys((".xlsx", ".xlsm"), xlsx.read_xlsx),
    **{kind: partial(old_office.read_old_office, kind) for kind in (".doc", ".xls", ".ppt")},
    ".epub": epub.read_epub,
    ".eml": eml.read_eml,
    ".msg": outlook.read_msg,
    ".rtf": rtf.read_rtf,
    **dict.fromkeys(scans.IMAGES, scans.read_image),
}
