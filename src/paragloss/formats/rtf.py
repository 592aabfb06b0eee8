"""Rich Text files (.rtf): their text without its marks, by striprtf."""

from __future__ import annotations

import re
from pathlib import Path

from paragloss.errors import EmptyFileError, InputError
from paragloss.formats.text import PathLike, read_bytes
from paragloss.types import Document

_TITLE = re.compile(r"\{\\title ([^{}\\]{1,300})\}")


def read_rtf(path: PathLike, *, id: str = "") -> Document:
    """One document. Letters are decoded with the code page the file or the font names."""
    from striprtf.striprtf import rtf_to_text

    source = read_bytes(path).decode("latin-1")
    if not source.lstrip().startswith("{\\rtf"):
        raise InputError("does not begin with {\\rtf; it is damaged or of another format", location=path)
    try:
        text = str(rtf_to_text(source, errors="replace"))  # type: ignore[no-untyped-call]
    except Exception as error:  # a damaged file fails anywhere inside the library
        raise InputError(
            f"can't be read as .rtf ({error or type(error).__name__}); save it anew", location=path
        ) from error
    # Characters outside the first plane are written as two halves.
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "").strip()
    if not text:
        raise EmptyFileError("no text in the document; give one that has some", location=path)
    title = _TITLE.search(source[:100_000])
    return Document(id or Path(path).name, text, "", title[1].strip() if title else "")
