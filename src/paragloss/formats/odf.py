"""OpenDocument files (.odt, .ods, .odp): paragraphs, headings and cells in their order."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from paragloss.errors import InputError
from paragloss.formats.archive import Archive
from paragloss.formats.text import PathLike
from paragloss.types import Document

#: What is not shown: notes of changes, comments, and names of things.
_UNSHOWN = frozenset({"tracked-changes", "annotation", "desc", "title", "sequence-decls", "forms"})
_SPACES = {"tab": "\t", "s": " ", "line-break": "\n"}


def read_odf(path: PathLike, *, id: str = "") -> Document:
    """One document. Its title is the file's own, or its first heading."""
    archive = Archive(path)
    if "content.xml" not in archive.names:
        raise InputError("no content.xml in the file; it is not an OpenDocument file, or encrypted", place=path)
    # Within what is not shown there are paragraphs, too.
    shown = (block for block in archive.elements("content.xml", ("p", "h", *_UNSHOWN)) if block.tag in ("p", "h"))
    blocks = [(block.tag, text) for block in shown if (text := "".join(_pieces(block)).strip())]
    text = "\n".join(block for _, block in blocks)
    headings = [block for kind, block in blocks if kind == "h"]
    fields = {"headings": "\n".join(headings)} if headings else {}
    nothing, title = "no text in the document; give one that has some", headings[0] if headings else ""
    return archive.document(id, text, nothing, about="meta.xml", title=title, fields=fields)


def _pieces(element: Element) -> Iterator[str]:
    """What an element shows; a paragraph inside another, such as a note, stands between blanks."""
    edge = " " if element.tag == "p" else ""
    yield edge + (element.text or _SPACES.get(element.tag, ""))
    for child in element:
        if child.tag not in _UNSHOWN:
            yield from _pieces(child)
        yield child.tail or ""
    yield edge
