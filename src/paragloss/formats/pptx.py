"""PowerPoint files (.pptx): the text of every slide, in the order of the slides."""

from __future__ import annotations

import posixpath
import re
from xml.etree.ElementTree import Element

from paragloss.formats.archive import DocumentArchive
from paragloss.formats.text import PathLike
from paragloss.types import Document

_SLIDE_PART = re.compile(r"ppt/slides/slide(\d+)\.xml")
_MAX_DIGITS = 9
#: A slide in the presentation's list of slides.
_SLIDE_REFERENCE = re.compile(r"<[^<>]*\bsldId\b[^<>]*\br:id=[\"']([^\"']*)")


def read_pptx(path: PathLike, *, id: str = "") -> Document:
    """Read a presentation, with a blank line between slides. Its title is the declared one, else its first line."""
    archive = DocumentArchive(path)
    slide_parts = _list_slides(archive)
    slide_texts = [_read_slide(archive, part) for part in slide_parts]
    text = "\n\n".join(slide_text for slide_text in slide_texts if slide_text)
    if_empty = f"no text in {len(slide_parts)} slides; give a presentation that has some"
    title = text.split("\n", 1)[0]
    return archive.make_document(id, text, if_empty, title=title, meta={"slides": len(slide_parts)})


def _list_slides(archive: DocumentArchive) -> list[str]:
    """Return the parts of the slides in the order of the presentation, else in that of their numbers."""
    targets = _read_link_targets(archive)
    presentation = archive.read_part("ppt/presentation.xml").decode("utf-8", "replace")
    links = _SLIDE_REFERENCE.findall(presentation)
    parts = dict.fromkeys(targets.get(link, "") for link in links)  # each once
    return [part for part in parts if part in archive.names] or _list_numbered_slides(archive)


def _read_link_targets(archive: DocumentArchive) -> dict[str, str]:
    """Return the parts that the presentation refers to, by the ids of the links."""
    targets = {}
    for link in archive.read_part_elements("ppt/_rels/presentation.xml.rels", ("Relationship",)):
        relative_path = link.get("Target", "").lstrip("/")
        targets[link.get("Id", "")] = posixpath.normpath(posixpath.join("ppt", relative_path))
    return targets


def _list_numbered_slides(archive: DocumentArchive) -> list[str]:
    """Return all parts that are named as slides, in the order of their numbers."""
    numbered_parts = []
    for name in archive.names:
        match = _SLIDE_PART.fullmatch(name)
        if match:
            number = int(match[1][:_MAX_DIGITS])
            numbered_parts.append((number, name))
    return [name for _, name in sorted(numbered_parts)]


def _read_slide(archive: DocumentArchive, part: str) -> str:
    lines = [_read_paragraph(paragraph).strip() for paragraph in archive.read_part_elements(part, ("p",))]
    return "\n".join(filter(None, lines))


def _read_paragraph(paragraph: Element) -> str:
    """Return the text of the runs of a paragraph; line breaks become spaces."""
    runs = [element for element in paragraph.iter() if element.tag in ("t", "br")]
    return "".join(" " if run.tag == "br" else run.text or "" for run in runs)
