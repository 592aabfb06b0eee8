"""Word documents (.docx): paragraphs and tables in their order, headings and bold words as fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from xml.etree.ElementTree import Element

from paragloss.errors import InputError
from paragloss.formats.archive import DocumentArchive
from paragloss.formats.text import PathLike
from paragloss.types import Document

#: Text that is not visible, or visible twice: deletions, boxes beside the text, fallbacks for other programs.
_INVISIBLE_TAGS = frozenset({"del", "moveFrom", "txbxContent", "Fallback"})
_SPACES = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_STYLE = re.compile(r'<w:style [^>]*?w:styleId="([^"]*)"[^>]*>\s*<w:name [^>]*?w:val="([^"]*)"')
_FALSE_VALUES = frozenset({"0", "false", "off"})


class _Block(NamedTuple):
    """A paragraph, or a row of a table."""

    style: str
    text: str
    bold_text: str = ""


def read_docx(path: PathLike, *, id: str = "") -> Document:
    """Read a Word document. Its title is the declared one, else its first title or heading.

    :param id: the id of the document; by default the file's name
    :return: a document with the fields `headings` and `strong`, one heading or bold passage per line, where it has any
    :raises InputError: if the file is not a Word document, or has no text
    """
    archive = DocumentArchive(path)
    if "word/document.xml" not in archive.names:
        raise InputError("can't be read as .docx (no word/document.xml in it); save it anew", location=path)
    blocks = [block for block in _read_blocks(archive, _read_style_names(archive)) if block.text]
    headings = [block.text for block in blocks if block.style.startswith(("heading", "title"))]
    bold_texts = [block.bold_text for block in blocks if block.bold_text]
    fields = {}
    if headings:
        fields["headings"] = "\n".join(headings)
    if bold_texts:
        fields["strong"] = "\n".join(bold_texts)
    return archive.make_document(
        id,
        "\n".join(block.text for block in blocks),
        "no text in the document; give one that has some",
        title=headings[0] if headings else "",
        fields=fields,
    )


def _read_style_names(archive: DocumentArchive) -> dict[str, str]:
    """Return the names of paragraph styles in lower case, by their ids."""
    styles = archive.read_part("word/styles.xml").decode("utf-8", "replace")
    return {style_id: name.lower() for style_id, name in _STYLE.findall(styles)}


def _read_blocks(archive: DocumentArchive, style_names: Mapping[str, str]) -> Iterator[_Block]:
    for element in archive.read_part_elements("word/document.xml", ("p", "tr")):
        if element.tag == "tr":
            cells = ["".join(text for text, _ in _read_runs(cell)).strip() for cell in element if cell.tag == "tc"]
            yield _Block("", "\t".join(dict.fromkeys(filter(None, cells))))
            continue
        style = element.find("pPr/pStyle")
        style_name = "" if style is None else style_names.get(style.get("val", ""), "")
        runs = list(_read_runs(element))
        text = "".join(text for text, _ in runs).strip()
        yield _Block(style_name, text, "".join(text for text, is_bold in runs if is_bold).strip())


def _read_runs(element: Element, is_bold: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of visible text in a paragraph or a cell, each with whether it is bold."""
    for child in element:
        if child.tag == "t":
            yield child.text or "", is_bold
        elif child.tag in _SPACES:
            yield _SPACES[child.tag], False
        elif child.tag == "r":
            bold = child.find("rPr/b")
            yield from _read_runs(child, bold is not None and bold.get("val", "") not in _FALSE_VALUES)
        elif child.tag not in _INVISIBLE_TAGS:
            yield from _read_runs(child, is_bold)
            if child.tag == "p":  # in a cell
                yield "\n", False
