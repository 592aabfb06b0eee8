"""Mailboxes: the messages of an mbox file, and the files of a maildir."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from paragloss.errors import InputError
from paragloss.formats.text import MAX_DOCUMENT_BYTES, PathLike, open_bytes


def read_mbox_messages(path: PathLike) -> Iterator[bytes]:
    """Yield each message of an mbox file as it would stand in a `.eml` file.

    A message begins behind a line `From ...` that has a blank line, or nothing, before it. Messages longer than a
    document may be are truncated: attachments are at the end.
    """
    message: list[bytes] = []
    size, has_begun, after_blank = 0, False, True
    with open_bytes(path) as stream:
        for line in stream:
            if after_blank and line.startswith(b"From "):
                if has_begun:
                    yield b"".join(message)
                message, size, has_begun = [], 0, True
            elif has_begun and size < MAX_DOCUMENT_BYTES:
                message.append(_unquote_line(line))
                size += len(line)
            elif not has_begun and line.strip():
                raise InputError("does not begin with a line `From ...`, so it is no mbox; save it anew", location=path)
            after_blank = not line.strip()
    if has_begun:
        yield b"".join(message)


def is_in_maildir(path: Path) -> bool:
    """Say whether a file is a message in a maildir, where names have no suffix."""
    return path.parent.name in ("cur", "new") and (path.parent.parent / "tmp").is_dir()


def _unquote_line(line: bytes) -> bytes:
    """Remove the sign that protects a line `From ...` inside a message."""
    is_quoted = line.startswith(b">") and line.lstrip(b">").startswith(b"From ")
    return line[1:] if is_quoted else line
