"""Electronic books (.epub): the text of the chapters in reading order."""

from __future__ import annotations

import posixpath
from pathlib import Path
from urllib.parse import unquote

from paragloss.errors import InputError
from paragloss.formats.archive import Archive
from paragloss.formats.html import shown_text
from paragloss.formats.text import WHOLE_LIMIT, PathLike, spoken_lang
from paragloss.formats.xml import START, events, first_texts
from paragloss.types import Document


def read_epub(path: PathLike, *, id: str = "") -> Document:
    """One document, chapters parted by a blank line."""
    archive = Archive(path)
    package = _package(archive)
    listing = archive.part(package)
    if not listing:
        raise InputError("no list of chapters in the file; it is not an EPUB book, or encrypted", place=path)
    chapters, size = list[str](), 0
    for name in _chapters(listing, package, path):
        chapters.append(shown_text(archive.part(name).decode("utf-8", "replace")))
        size += len(chapters[-1])
        if size > WHOLE_LIMIT:
            raise InputError(f"more than {WHOLE_LIMIT:,} characters of text; split the file", place=path)
    text = "\n\n".join(chapter for chapter in chapters if chapter)
    if not text:
        raise InputError(f"no text in {len(chapters)} chapters; the book may be of images only", place=path)
    declared = first_texts(listing, ("title", "language"), path)
    return Document(id or Path(path).name, text, spoken_lang(declared.get("language", "")), declared.get("title", ""))


def _package(archive: Archive) -> str:
    """Where the list of chapters is."""
    container = archive.part("META-INF/container.xml")
    for event, name, attributes in events(container, archive.path) if container else ():
        if event == START and name == "rootfile":
            return attributes.get("full-path", "")
    return next((name for name in archive.names if name.endswith(".opf")), "")


def _chapters(listing: bytes, package: str, path: PathLike) -> list[str]:
    files, order = {}, []
    for event, name, attributes in events(listing, path):
        if event == START and name == "item" and "html" in attributes.get("media-type", ""):
            href = unquote(attributes.get("href", ""))
            files[attributes.get("id", "")] = posixpath.normpath(posixpath.join(posixpath.dirname(package), href))
        elif event == START and name == "itemref":
            order.append(attributes.get("idref", ""))
    return list(dict.fromkeys(files[item] for item in order if item in files))
