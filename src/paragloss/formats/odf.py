"""OpenDocument files (.odt, .ods, .odp): paragraphs, headings and cells in their order."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from paragloss.errors import InputError
from paragloss.formats.archive import DocumentArchive
from paragloss.formats.text import PathLike, join_fields
from paragloss.types import Document

#: Elements that are not visible: tracked changes, comments, and names of objects.
_INVISIBLE_TAGS = frozenset({"tracked-changes", "annotation", "desc", "title", "sequence-decls", "forms"})
_SPACES = {"tab": "\t", "s": " ", "line-break": "\n"}


def read_odf(path: PathLike, *, id: str = "") -> Document:
    """Read an OpenDocument file. Its title is the declared one, else its first heading.

    :param path: a `.odt`, `.ods` or `.odp` file
    :param id: the id of the document; by default the file's name
    :return: a document with the field `headings`, if it has any
    :raises InputError: if the file is not an OpenDocument file, or has no text
    """
    archive = DocumentArchive(path)
    if "content.xml" not in archive.names:
        raise InputError("no content.xml in the file; it is not an OpenDocument file, or encrypted", location=path)
    lines: list[str] = []
    headings: list[str] = []
    # Invisible elements are listed as well, so that paragraphs inside them are not taken for outermost ones.
    for block in archive.read_part_elements("content.xml", ("p", "h", *_INVISIBLE_TAGS)):
        text = "".join(_read_text(block)).strip()
        if not text or block.tag in _INVISIBLE_TAGS:
            continue
        lines.append(text)
        if block.tag == "h":
            headings.append(text)
    return archive.make_document(
        id,
        "\n".join(lines),
        if_empty="no text in the document; give one that has some",
        properties_part="meta.xml",
        title=headings[0] if headings else "",
        fields=join_fields(headings=headings),
    )


def _read_text(element: Element) -> Iterator[str]:
    """Yield the visible text of an element; a paragraph inside another, such as a note, is set off by spaces."""
    edge = " " if element.tag == "p" else ""
    yield edge + (element.text or _SPACES.get(element.tag, ""))
    for child in element:
        if child.tag not in _INVISIBLE_TAGS:
            yield from _read_text(child)
        yield child.tail or ""
    yield edge
