"""Mailboxes: the letters of an mbox file, one after another, and the files of a maildir. Each letter is read apart
(`sandbox`), as a letter in a file of its own is."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from paragloss.errors import InputError
from paragloss.formats import sandbox
from paragloss.formats.text import MAX_DOCUMENT_BYTES, OnError, PathLike, file_stem, open_bytes, raise_or_report
from paragloss.types import Document


def read_mbox(path: PathLike, *, name: str = "", on_error: OnError = None) -> Iterator[Document]:
    """A Document per letter, called after its file, or `name`, and its number: `inbox:12`."""
    with tempfile.TemporaryDirectory() as folder:
        letter = Path(folder, "letter")
        for number, data in enumerate(_letters(path), 1):
            letter.write_bytes(data)
            try:
                yield sandbox.READER.read(".eml", letter, f"{name or file_stem(path)}:{number}")
            except InputError as error:
                raise_or_report(InputError(str(error).removeprefix(f"{letter}: ")), path, number, on_error)


def is_in_maildir(path: Path) -> bool:
    """Whether a file is a letter in a maildir, whose letters have names without a suffix."""
    return path.parent.name in ("cur", "new") and (path.parent.parent / "tmp").is_dir()


def _letters(path: PathLike) -> Iterator[bytes]:
    """Each letter begins behind a line `From ...` that has a blank line, or nothing, before it."""
    letter, size, blank, begun = list[bytes](), 0, True, False
    with open_bytes(path) as stream:
        for line in stream:
            if blank and line.startswith(b"From "):
                if begun:
                    yield b"".join(letter)
                letter, size, begun = [], 0, True
            elif not begun and line.strip():
                raise InputError("does not begin with a line `From ...`, so it is no mbox; save it anew", place=path)
            elif size < MAX_DOCUMENT_BYTES:  # what is longer is cut off: attachments are at the end
                quoted = line.startswith(b">") and line.lstrip(b">").startswith(b"From ")
                letter.append(line[1:] if quoted else line)
                size += len(line)
            blank = not line.strip()
    if begun:
        yield b"".join(letter)
