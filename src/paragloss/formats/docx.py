"""Word documents (.docx): paragraphs and tables in their order, headings and bold words as fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from paragloss.errors import InputError
from paragloss.formats.archive import Archive
from paragloss.formats.text import PathLike
from paragloss.types import Document

#: What is not shown, or shown twice: text that was taken out, boxes beside the text, what other programs show instead.
_UNSHOWN = frozenset({"del", "moveFrom", "txbxContent", "Fallback"})
_SPACES = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_STYLE = re.compile(r'<w:style [^>]*?w:styleId="([^"]*)"[^>]*>\s*<w:name [^>]*?w:val="([^"]*)"')
_OFF = frozenset({"0", "false", "off"})


def read_docx(path: PathLike, *, id: str = "") -> Document:
    """One document. Its title is the file's own, or its first title or heading."""
    archive = Archive(path)
    if "word/document.xml" not in archive.names:
        raise InputError("can't be read as .docx (no word/document.xml in it); save it anew", place=path)
    blocks = list(_blocks(archive, _styles(archive)))
    text = "\n".join(text for _, text, _ in blocks if text)
    heads = [text for style, text, _ in blocks if text and style.startswith(("heading", "title"))]
    fields = {"headings": "\n".join(heads), "strong": "\n".join(bold for _, _, bold in blocks if bold)}
    shown = {name: value for name, value in fields.items() if value}
    nothing = "no text in the document; give one that has some"
    return archive.document(id, text, nothing, title=heads[0] if heads else "", fields=shown)


def _styles(archive: Archive) -> dict[str, str]:
    """What the styles of paragraphs are called, in small letters; each begins with its name."""
    styles = archive.part("word/styles.xml").decode("utf-8", "replace")
    return {id: name.lower() for id, name in _STYLE.findall(styles)}


def _blocks(archive: Archive, styles: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """(style, text, bold text) of every paragraph, and of every row of a table."""
    for block in archive.elements("word/document.xml", ("p", "tr")):
        if block.tag == "tr":
            cells = ("".join(text for text, _ in _pieces(cell)).strip() for cell in block if cell.tag == "tc")
            yield "", "\t".join(dict.fromkeys(filter(None, cells))), ""
        else:
            style = block.find("pPr/pStyle")
            named = "" if style is None else styles.get(style.get("val", ""), "")
            pieces = list(_pieces(block))
            bold = (text for text, bold in pieces if bold)
            yield named, "".join(text for text, _ in pieces).strip(), "".join(bold).strip()


def _pieces(element: Element, bold: bool = False) -> Iterator[tuple[str, bool]]:
    """What a paragraph or a cell shows, each piece with whether it is bold."""
    for child in element:
        if child.tag == "t":
            yield child.text or "", bold
        elif child.tag in _SPACES:
            yield _SPACES[child.tag], False
        elif child.tag == "r":
            mark = child.find("rPr/b")
            yield from _pieces(child, mark is not None and mark.get("val", "") not in _OFF)
        elif child.tag not in _UNSHOWN:
            yield from _pieces(child, bold)
            if child.tag == "p":  # in a cell
                yield "\n", False
