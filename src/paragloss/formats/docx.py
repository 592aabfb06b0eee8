"""Word documents (.docx): paragraphs and tables in their order, headings and bold words as fields."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paragloss.errors import InputError
from paragloss.formats.text import WHOLE_LIMIT, PathLike, read_bytes
from paragloss.types import Document

#: A .docx is a zip: what it unpacks to is checked before anything is unpacked.
_MAX_UNPACKED = 512 * 2**20
_MAX_RATIO = 200
_SMALL = 8 * 2**20  # below this any ratio will do: XML of repeated rows packs well
_MAX_PARTS = 20_000


def read_docx(path: PathLike, *, id: str = "") -> Document:
    """One document. Its title is the file's own, or its first title or heading."""
    import docx

    data = read_bytes(path, limit=4 * WHOLE_LIMIT)
    _check(data, path)
    try:
        document = docx.Document(io.BytesIO(data))
        blocks = list(_blocks(document))
        properties = document.core_properties
        title, language = str(properties.title or "").strip(), str(properties.language or "")
    except Exception as error:  # a damaged file fails anywhere inside zip, XML or the library
        raise InputError(f"{path}: can't be read as .docx ({_first_line(error)}); save it anew") from error
    text = "\n".join(text for _, text, _ in blocks if text)
    if not text:
        raise InputError(f"{path}: no text in the document; give one that has some")
    heads = [text for style, text, _ in blocks if text and style.startswith(("Heading", "Title"))]
    fields = {"headings": "\n".join(heads), "strong": "\n".join(bold for _, _, bold in blocks if bold)}
    lang = re.match(r"[a-z]{2,3}(?=$|[-_])", language)
    return Document(
        id or Path(path).name,
        text,
        lang[0] if lang else "",
        title or (heads[0] if heads else ""),
        {name: value for name, value in fields.items() if value},
    )


def _check(data: bytes, path: PathLike) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise InputError(f"{path}: can't be read as .docx ({error}); it is damaged or of another format") from error
    unpacked = sum(part.file_size for part in parts)
    if unpacked > _MAX_UNPACKED or len(parts) > _MAX_PARTS or unpacked > max(_SMALL, _MAX_RATIO * len(data)):
        raise InputError(
            f"{path}: {len(data):,} bytes that unpack to {unpacked:,} in {len(parts):,} parts; "
            "no real document does, so it is refused"
        )


def _blocks(document: Any) -> Iterator[tuple[str, str, str]]:
    """(style, text, bold text) of every paragraph, and of every row of a table."""
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            for row in block.rows:
                cells = dict.fromkeys(cell.text.strip() for cell in row.cells)
                yield "", "\t".join(cell for cell in cells if cell), ""
        else:
            bold = "".join(run.text for run in block.runs if run.bold).strip()
            yield str(block.style.name if block.style is not None else ""), block.text.strip(), bold


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]
