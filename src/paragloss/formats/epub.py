"""Electronic books (.epub): the text of the chapters in reading order."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from paragloss.errors import InputError
from paragloss.formats.archive import DocumentArchive
from paragloss.formats.html import extract_visible_text
from paragloss.formats.text import PathLike, limit_text
from paragloss.types import Document


def read_epub(path: PathLike, *, id: str = "") -> Document:
    """Read an electronic book as one document, with a blank line between chapters.

    :param path: a `.epub` file
    :param id: the id of the document; by default the file's name
    :raises InputError: if the file is no book, or has no text
    """
    archive = DocumentArchive(path)
    package = _find_package(archive)
    if package not in archive.names:
        raise InputError("no list of chapters in the file; it is not an EPUB book, or encrypted", location=path)
    chapter_parts = _list_chapters(archive, package)
    chapters = limit_text(_read_chapters(archive, chapter_parts), path)
    text = "\n\n".join(chapter for chapter in chapters if chapter)
    if_empty = f"no text in {len(chapter_parts)} chapters; the book may be of images only"
    return archive.make_document(id, text, if_empty, properties_part=package)


def _read_chapters(archive: DocumentArchive, parts: Iterable[str]) -> Iterator[str]:
    """Yield the visible text of each chapter, "" for one that has none."""
    for part in parts:
        markup = archive.read_part(part).decode("utf-8", "replace")
        yield extract_visible_text(markup)


def _find_package(archive: DocumentArchive) -> str:
    """Return the name of the part that lists the chapters; "" if there is none."""
    for root_file in archive.read_part_elements("META-INF/container.xml", ("rootfile",)):
        return root_file.get("full-path", "")
    return next((name for name in archive.names if name.endswith(".opf")), "")


def _list_chapters(archive: DocumentArchive, package: str) -> list[str]:
    """Return the names of the parts with chapters, in the order of the package's spine."""
    part_names: dict[str, str] = {}
    spine: list[str] = []
    for element in archive.read_part_elements(package, ("item", "itemref")):
        if element.tag == "itemref":
            spine.append(element.get("idref", ""))
        elif "html" in element.get("media-type", ""):
            href = posixpath.join(posixpath.dirname(package), unquote(element.get("href", "")))
            part_names[element.get("id", "")] = posixpath.normpath(href)
    return list(dict.fromkeys(part_names[item] for item in spine if item in part_names))
