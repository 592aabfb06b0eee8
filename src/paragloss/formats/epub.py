"""Electronic books (.epub): the text of the chapters in reading order."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from paragloss.errors import InputError
from paragloss.formats.archive import Archive
from paragloss.formats.html import extract_visible_text
from paragloss.formats.text import MAX_DOCUMENT_BYTES, PathLike
from paragloss.types import Document


def read_epub(path: PathLike, *, id: str = "") -> Document:
    """One document, chapters parted by a blank line."""
    archive = Archive(path)
    package = _package(archive)
    if package not in archive.names:
        raise InputError("no list of chapters in the file; it is not an EPUB book, or encrypted", place=path)
    chapters, size = list[str](), 0
    for name in _chapters(archive, package):
        chapters.append(extract_visible_text(archive.part(name).decode("utf-8", "replace")))
        size += len(chapters[-1])
        if size > MAX_DOCUMENT_BYTES:
            raise InputError(f"more than {MAX_DOCUMENT_BYTES:,} characters of text; split the file", place=path)
    text = "\n\n".join(chapter for chapter in chapters if chapter)
    nothing = f"no text in {len(chapters)} chapters; the book may be of images only"
    return archive.document(id, text, nothing, about=package)


def _package(archive: Archive) -> str:
    """Where the list of chapters is."""
    said = [root.get("full-path", "") for root in archive.elements("META-INF/container.xml", ("rootfile",))]
    return next(iter([*said, *(name for name in archive.names if name.endswith(".opf"))]), "")


def _chapters(archive: Archive, package: str) -> list[str]:
    files, order = {}, []
    for element in archive.elements(package, ("item", "itemref")):
        if element.tag == "itemref":
            order.append(element.get("idref", ""))
        elif "html" in element.get("media-type", ""):
            href = posixpath.join(posixpath.dirname(package), unquote(element.get("href", "")))
            files[element.get("id", "")] = posixpath.normpath(href)
    return list(dict.fromkeys(files[item] for item in order if item in files))
