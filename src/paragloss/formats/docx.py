"""Word documents (.docx): paragraphs and tables in their order, headings and bold words as fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from xml.etree.ElementTree import Element

from paragloss.errors import InputError
from paragloss.formats.archive import DocumentArchive
from paragloss.formats.text import PathLike, join_fields
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


class _Run(NamedTuple):
    """A piece of visible text."""

    text: str
    is_bold: bool = False


def read_docx(path: PathLike, *, id: str = "") -> Document:
    """Read a Word document. Its title is the declared one, else its first paragraph in a style for titles or headings.

    :param path: a `.docx` file
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
    return archive.make_document(
        id,
        "\n".join(block.text for block in blocks),
        if_empty="no text in the document; give one that has some",
        title=headings[0] if headings else "",
        fields=join_fields(headings=headings, strong=bold_texts),
    )


def _read_style_names(archive: DocumentArchive) -> dict[str, str]:
    """Return the names of paragraph styles in lower case, by their ids."""
    styles = archive.read_part("word/styles.xml").decode("utf-8", "replace")
    return {style_id: name.lower() for style_id, name in _STYLE.findall(styles)}


def _read_blocks(archive: DocumentArchive, style_names: Mapping[str, str]) -> Iterator[_Block]:
    """Yield the paragraphs and rows of tables; `style_names` has the names of paragraph styles by their ids."""
    for element in archive.read_part_elements("word/document.xml", ("p", "tr")):
        if element.tag == "tr":
            yield _read_row(element)
        else:
            yield _read_paragraph(element, style_names)


def _read_row(row: Element) -> _Block:
    cells = [_join_runs(_read_runs(cell)) for cell in row if cell.tag == "tc"]
    return _Block("", "\t".join(dict.fromkeys(filter(None, cells))))  # a cell that spans several is there several times


def _read_paragraph(paragraph: Element, style_names: Mapping[str, str]) -> _Block:
    style = paragraph.find("pPr/pStyle")
    style_name = "" if style is None else style_names.get(style.get("val", ""), "")
    runs = list(_read_runs(paragraph))
    return _Block(style_name, _join_runs(runs), _join_runs(run for run in runs if run.is_bold))


def _join_runs(runs: Iterable[_Run]) -> str:
    return "".join(run.text for run in runs).strip()


def _is_bold(run: Element) -> bool:
    bold = run.find("rPr/b")
    return bold is not None and bold.get("val", "") not in _FALSE_VALUES


def _read_runs(element: Element, is_bold: bool = False) -> Iterator[_Run]:
    """Yield the pieces of visible text in a paragraph, a cell, or an element inside them, in order.

    Tabs and line breaks are pieces of their own; deleted text and boxes beside the text are left out.

    :param element: an element of Word's XML, without namespaces: `p` is a paragraph, `r` a run, `t` its text
    :param is_bold: whether the element is inside a bold run
    """
    for child in element:
        if child.tag == "t":
            yield _Run(child.text or "", is_bold)
        elif child.tag in _SPACES:
            yield _Run(_SPACES[child.tag])
        elif child.tag not in _INVISIBLE_TAGS:
            is_child_bold = _is_bold(child) if child.tag == "r" else is_bold
            yield from _read_runs(child, is_child_bold)
            if child.tag == "p":  # in a cell
                yield _Run("\n")
