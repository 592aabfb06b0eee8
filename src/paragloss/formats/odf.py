"""OpenDocument files (.odt, .ods, .odp): paragraphs, headings and cells in their order."""

from __future__ import annotations

from pathlib import Path

from paragloss.errors import InputError
from paragloss.formats.archive import Archive
from paragloss.formats.text import PathLike, spoken_lang
from paragloss.formats.xml import END, START, TEXT, events, first_texts
from paragloss.types import Document

#: What is not shown: notes of changes, comments, and names of things.
_UNSHOWN = frozenset({"tracked-changes", "annotation", "desc", "title", "sequence-decls", "forms"})
_SPACES = {"tab": "\t", "s": " ", "line-break": "\n"}


def read_odf(path: PathLike, *, id: str = "") -> Document:
    """One document. Its title is the file's own, or its first heading."""
    archive = Archive(path)
    content, meta = archive.part("content.xml"), archive.part("meta.xml")
    if not content:
        raise InputError("no content.xml in the file; it is not an OpenDocument file, or encrypted", place=path)
    blocks = _blocks(content, path)
    text = "\n".join(block for _, block in blocks)
    if not text:
        raise InputError("no text in the document; give one that has some", place=path)
    headings = [block for kind, block in blocks if kind == "h"]
    declared = first_texts(meta, ("title", "language"), path) if meta else {}
    return Document(
        id or Path(path).name,
        text,
        spoken_lang(declared.get("language", "")),
        declared.get("title", "") or (headings[0] if headings else ""),
        {"headings": "\n".join(headings)} if headings else {},
    )


def _blocks(content: bytes, path: PathLike) -> list[tuple[str, str]]:
    """(p or h, its text) of every paragraph that says something."""
    blocks: list[tuple[str, str]] = []
    pieces: list[str] = []
    unshown = 0
    for event, name, _ in events(content, path):
        if event == TEXT:
            if not unshown:
                pieces.append(name)
        elif name in _UNSHOWN:
            unshown += 1 if event == START else -1
        elif event == START and name in _SPACES:
            pieces.append(_SPACES[name])
        elif name in ("p", "h"):
            if event == END and (text := "".join(pieces).strip()):
                blocks.append((name, text))
            pieces.clear()
    return blocks
