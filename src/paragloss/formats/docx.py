"""Word documents (.docx): paragraphs and tables in their order, headings and bold words as fields."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paragloss.errors import InputError
from paragloss.formats.archive import Archive
from paragloss.formats.text import PathLike, spoken_lang
from paragloss.types import Document


def read_docx(path: PathLike, *, id: str = "") -> Document:
    """One document. Its title is the file's own, or its first title or heading."""
    import docx

    archive = Archive(path)
    try:
        document = docx.Document(io.BytesIO(archive.data))
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
    return Document(
        id or Path(path).name,
        text,
        spoken_lang(language),
        title or (heads[0] if heads else ""),
        {name: value for name, value in fields.items() if value},
    )


def _blocks(document: Any) -> Iterator[tuple[str, str, str]]:
    """(style, text, bold text) of every paragraph, and of every row of a table."""
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            # The cells as they stand in the file: those of the grid take time with the square of what is merged.
            for row in block.rows:
                cells = ("\n".join(p.text for p in cell.p_lst).strip() for cell in row._tr.tc_lst)
                yield "", "\t".join(dict.fromkeys(cell for cell in cells if cell)), ""
        else:
            bold = "".join(run.text for run in block.runs if run.bold).strip()
            yield str(block.style.name if block.style is not None else ""), block.text.strip(), bold


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]
