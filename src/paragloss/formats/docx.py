"""Word documents (.docx): paragraphs and tables in their order, headings and bold words as fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from paragloss.errors import InputError
from paragloss.formats.archive import Archive
from paragloss.formats.text import PathLike, spoken_lang
from paragloss.formats.xml import END, START, TEXT, events, first_texts
from paragloss.types import Document

#: What is not shown, or shown twice: text that was taken out, boxes beside the text, what other programs show instead.
_UNSHOWN = frozenset({"del", "moveFrom", "txbxContent", "Fallback"})
_SPACES = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_STYLE = re.compile(r'<w:style [^>]*?w:styleId="([^"]*)"[^>]*>\s*<w:name [^>]*?w:val="([^"]*)"')
_OFF = frozenset({"0", "false", "off"})


def read_docx(path: PathLike, *, id: str = "") -> Document:
    """One document. Its title is the file's own, or its first title or heading."""
    archive = Archive(path)
    content, core = archive.part("word/document.xml"), archive.part("docProps/core.xml")
    if not content:
        raise InputError("can't be read as .docx (no word/document.xml in it); save it anew", place=path)
    blocks = list(_blocks(content, _styles(archive), path))
    text = "\n".join(text for _, text, _ in blocks if text)
    if not text:
        raise InputError("no text in the document; give one that has some", place=path)
    heads = [text for style, text, _ in blocks if text and style.startswith(("heading", "title"))]
    fields = {"headings": "\n".join(heads), "strong": "\n".join(bold for _, _, bold in blocks if bold)}
    declared = first_texts(core, ("title", "language"), path) if core else {}
    return Document(
        id or Path(path).name,
        text,
        spoken_lang(declared.get("language", "")),
        declared.get("title", "") or (heads[0] if heads else ""),
        {name: value for name, value in fields.items() if value},
    )


def _styles(archive: Archive) -> dict[str, str]:
    """What the styles of paragraphs are called, in small letters; each begins with its name."""
    styles = archive.part("word/styles.xml").decode("utf-8", "replace")
    return {id: name.lower() for id, name in _STYLE.findall(styles)}


def _blocks(content: bytes, styles: Mapping[str, str], path: PathLike) -> Iterator[tuple[str, str, str]]:
    """(style, text, bold text) of every paragraph, and of every row of a table."""
    style, pieces, strong = "", list[str](), list[str]()
    cells, cell = list[str](), list[str]()
    unshown = rows = 0
    inside = bold = False
    for event, name, attributes in events(content, path):
        if event == TEXT:
            if inside and not unshown:
                pieces.append(name)
                if bold:
                    strong.append(name)
        elif name in _UNSHOWN:
            unshown += 1 if event == START else -1
        elif unshown:
            continue
        elif name == "t":
            inside = event == START
        elif event == START:
            if name in _SPACES and pieces:
                pieces.append(_SPACES[name])
            elif name == "pStyle":
                style = styles.get(attributes.get("w:val", ""), "")
            elif name == "r":
                bold = False
            elif name == "b":
                bold = attributes.get("w:val", "") not in _OFF
            elif name == "tr":
                rows += 1
        elif event == END and name == "p":
            paragraph = "".join(pieces).strip()
            if rows:
                cell.append(paragraph)
            else:
                yield style, paragraph, "".join(strong).strip()
            style, bold = "", False
            pieces.clear()
            strong.clear()
        elif name == "tc" and rows == 1:
            cells.append("\n".join(cell).strip())
            cell.clear()
        elif name == "tr":
            rows -= 1
            if not rows:
                yield "", "\t".join(dict.fromkeys(filter(None, cells))), ""
                cells.clear()
