"""PowerPoint files (.pptx): the text of every slide in the order of the slides, and of its notes."""

from __future__ import annotations

import posixpath
import re

from paragloss.formats.archive import Archive
from paragloss.formats.text import PathLike
from paragloss.types import Document

_SLIDE = re.compile(r"ppt/slides/slide(\d+)\.xml")
#: A slide in the list of those that are shown.
_SHOWN = re.compile(r"<[^<>]*\bsldId\b[^<>]*\br:id=[\"']([^\"']*)")


def read_pptx(path: PathLike, *, id: str = "") -> Document:
    """One document, slides parted by a blank line. Its title is the file's own, or its first line."""
    archive = Archive(path)
    names = _in_order(archive)
    slides = [text for name in names if (text := _text(archive, name))]
    text, nothing = "\n\n".join(slides), f"no text in {len(names)} slides; give a presentation that has some"
    return archive.document(id, text, nothing, title=text.split("\n", 1)[0], meta={"slides": len(names)})


def _in_order(archive: Archive) -> list[str]:
    """The slides as the presentation orders them; by their numbers where it does not say."""
    targets = {
        link.get("Id", ""): posixpath.normpath(posixpath.join("ppt", link.get("Target", "").lstrip("/")))
        for link in archive.elements("ppt/_rels/presentation.xml.rels", ("Relationship",))
    }
    shown = _SHOWN.findall(archive.part("ppt/presentation.xml").decode("utf-8", "replace"))
    slides = [name for name in dict.fromkeys(targets.get(link, "") for link in shown) if name in archive.names]
    numbered = ((int(found[1][:9]), name) for name in archive.names if (found := _SLIDE.fullmatch(name)))
    return slides or [name for _, name in sorted(numbered)]


def _text(archive: Archive, slide: str) -> str:
    """The paragraphs of a slide; only what stands in text runs is shown."""
    lines = (
        "".join(" " if part.tag == "br" else part.text or "" for part in paragraph.iter() if part.tag in ("t", "br"))
        for paragraph in archive.elements(slide, ("p",))
    )
    return "\n".join(line.strip() for line in lines if line.strip())
