"""PowerPoint files (.pptx): the text of every slide, in the order of the slides."""

from __future__ import annotations

import posixpath
import re
from xml.etree.ElementTree import Element

from paragloss.formats.archive import DocumentArchive
from paragloss.formats.text import PathLike
from paragloss.types import Document

_SLIDE_PART = re.compile(r"ppt/slides/slide(\d+)\.xml")
#: A slide in the presentation's list of slides.
_SLIDE_REFERENCE = re.compile(r"<[^<>]*\bsldId\b[^<>]*\br:id=[\"']([^\"']*)")


def read_pptx(path: PathLike, *, id: str = "") -> Document:
    """Read a presentation, with a blank line between slides. Its title is the declared one, else its first line."""
    archive = DocumentArchive(path)
    slide_parts = _list_slides(archive)
    text = "\n\n".join(filter(None, (_read_slide(archive, part) for part in slide_parts)))
    if_empty = f"no text in {len(slide_parts)} slides; give a presentation that has some"
    title = text.split("\n", 1)[0]
    return archive.make_document(id, text, if_empty, title=title, meta={"slides": len(slide_parts)})


def _list_slides(archive: DocumentArchive) -> list[str]:
    """Return the parts of the slides in the order of the presentation, else in that of their numbers."""
    targets = {
        link.get("Id", ""): posixpath.normpath(posixpath.join("ppt", link.get("Target", "").lstrip("/")))
        for link in archive.read_part_elements("ppt/_rels/presentation.xml.rels", ("Relationship",))
    }
    presentation = archive.read_part("ppt/presentation.xml").decode("utf-8", "replace")
    ordered = dict.fromkeys(targets.get(link, "") for link in _SLIDE_REFERENCE.findall(presentation))
    slides = [part for part in ordered if part in archive.names]
    if slides:
        return slides
    matches = [match for match in map(_SLIDE_PART.fullmatch, archive.names) if match is not None]
    return [match[0] for match in sorted(matches, key=lambda match: (int(match[1][:9]), match[0]))]


def _read_slide(archive: DocumentArchive, part: str) -> str:
    lines = [_read_paragraph(paragraph).strip() for paragraph in archive.read_part_elements(part, ("p",))]
    return "\n".join(filter(None, lines))


def _read_paragraph(paragraph: Element) -> str:
    """Return the text of the runs of a paragraph; line breaks become spaces."""
    runs = [element for element in paragraph.iter() if element.tag in ("t", "br")]
    return "".join(" " if run.tag == "br" else run.text or "" for run in runs)
