"""Mailboxes: the messages of an mbox file, and the files of a maildir."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path

from paragloss.errors import InputError
from paragloss.formats.text import MAX_DOCUMENT_BYTES, PathLike, open_bytes


def read_mbox_messages(path: PathLike) -> Iterator[bytes]:
    """Yield each message of an mbox file as it would stand in a `.eml` file.

    A message begins behind a line `From ...` that has a blank line, or nothing, before it. Messages longer than a
    document may be are truncated: attachments are at the end.

    :raises InputError: if there is a text before the first such line
    """
    with open_bytes(path) as stream:
        lines = dropwhile(bytes.isspace, stream)
        first_line = next(lines, b"")
        if not first_line:
            return
        if not first_line.startswith(b"From "):
            raise InputError("does not begin with a line `From ...`, so it is no mbox; save it anew", location=path)
        message = bytearray()
        follows_blank_line = False
        for line in lines:
            if follows_blank_line and line.startswith(b"From "):
                yield bytes(message)
                message = bytearray()
            elif len(message) < MAX_DOCUMENT_BYTES:
                message += _unquote_line(line)
            follows_blank_line = not line.strip()
        yield bytes(message)


def is_in_maildir(path: Path) -> bool:
    """Say whether a file is a message in a maildir, where names have no suffix."""
    return path.parent.name in ("cur", "new") and (path.parent.parent / "tmp").is_dir()


def _unquote_line(line: bytes) -> bytes:
    """Remove the sign that protects a line `From ...` inside a message."""
    is_quoted = line.startswith(b">") and line.lstrip(b">").startswith(b"From ")
    return line[1:] if is_quoted else line
