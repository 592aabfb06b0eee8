"""PowerPoint files (.pptx): the text of every slide in the order of the slides, and of its notes."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from paragloss.errors import InputError
from paragloss.formats.archive import Archive
from paragloss.formats.text import PathLike, spoken_lang
from paragloss.formats.xml import END, START, TEXT, events, first_texts
from paragloss.types import Document

_SLIDE = re.compile(r"ppt/slides/slide(\d+)\.xml")


def read_pptx(path: PathLike, *, id: str = "") -> Document:
    """One document, slides parted by a blank line. Its title is the file's own, or its first line."""
    archive = Archive(path)
    names = _in_order(archive)
    slides = [text for name in names if (text := _text(archive.part(name), path))]
    if not slides:
        raise InputError(f"no text in {len(names)} slides; give a presentation that has some", place=path)
    core = archive.part("docProps/core.xml")
    declared = first_texts(core, ("title", "language"), path) if core else {}
    title = declared.get("title", "") or slides[0].split("\n", 1)[0]
    lang = spoken_lang(declared.get("language", ""))
    return Document(id or Path(path).name, "\n\n".join(slides), lang, title, {}, {"slides": len(names)})


def _in_order(archive: Archive) -> list[str]:
    """The slides as the presentation orders them; by their numbers where it does not say."""
    targets = {}
    for event, name, attributes in _events(archive, "ppt/_rels/presentation.xml.rels"):
        if event == START and name == "Relationship" and {"Id", "Target"} <= attributes.keys():
            targets[attributes["Id"]] = posixpath.normpath(posixpath.join("ppt", attributes["Target"].lstrip("/")))
    shown = [
        targets.get(attributes.get("r:id", ""), "")
        for event, name, attributes in _events(archive, "ppt/presentation.xml")
        if event == START and name == "sldId"
    ]
    slides = [name for name in dict.fromkeys(shown) if name in archive.names]
    numbered = ((int(found[1][:9]), name) for name in archive.names if (found := _SLIDE.fullmatch(name)))
    return slides or [name for _, name in sorted(numbered)]


def _events(archive: Archive, part: str) -> list[tuple[str, str, dict[str, str]]]:
    data = archive.part(part)
    return list(events(data, archive.path)) if data else []


def _text(slide: bytes, path: PathLike) -> str:
    """The paragraphs of a slide; only what stands in text runs is shown."""
    lines: list[str] = []
    pieces: list[str] = []
    inside = False
    for event, name, _ in events(slide, path):
        if event == TEXT:
            if inside:
                pieces.append(name)
        elif name == "t":
            inside = event == START
        elif name == "br" and event == START:
            pieces.append(" ")
        elif name == "p" and event == END:
            lines.append("".join(pieces).strip())
            pieces.clear()
    return "\n".join(line for line in lines if line)
