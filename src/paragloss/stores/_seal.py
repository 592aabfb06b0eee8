"""What the files of a closed folder hold, in short, so that opening it tells when something else has changed them.

Written last when a folder is closed and taken off before anything is written again: a folder whose process was killed
has none, and is believed as it is.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

from paragloss.errors import StoreError
from paragloss.stores._files import write_whole

_NAME = "seal.json"
_SEALED = ("meta.json", "blobs", "models", "shard")
#: Bytes of a file that are looked at, half of them at its end; holes are passed over.
_MOST, _BLOCK = 1 << 20, 1 << 16


def seal(home: Path) -> None:
    """Note what is there now."""
    write_whole(home / _NAME, json.dumps({name: _sum(home / name) for name in _files(home)}).encode())


def unseal(home: Path) -> bool:
    """Take the note off; whether there was one."""
    there = (home / _NAME).exists()
    (home / _NAME).unlink(missing_ok=True)
    return there


def broken(home: Path) -> str:
    """The first file that is not what it was when the folder was closed; "" where all are, or nothing is known."""
    try:
        noted = json.loads((home / _NAME).read_bytes())
        sealed = {str(name): int(value) for name, value in noted.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return ""
    return next((name for name, value in sealed.items() if _sum(home / name) != value), "")


def check_seal(path: Path, anyway: bool) -> None:
    """Refuse a folder that something else has changed, unless it is to be opened `anyway`."""
    if not anyway and (changed := broken(path)):
        raise StoreError(
            f"{path} is damaged: {changed} is not what it was when the collection was closed; restore a copy, or "
            "`paragloss repair` keeps what can be read"
        )


def _files(home: Path) -> list[str]:
    paths = [path for part in _SEALED for path in (home / part, *sorted((home / part).rglob("*")))]
    return [path.relative_to(home).as_posix() for path in paths if path.is_file() and not path.name.startswith(".")]


def _sum(path: Path) -> int:
    """A checksum of a file's size and of what it holds, wherever its holes are; -1 where there is none."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError:
        return -1
    try:
        size = os.fstat(file).st_size
        total = zlib.crc32(str(size).encode())
        for start, end in ((0, min(size, _MOST // 2)), (max(_MOST // 2, size - _MOST // 2), size)):
            total = _summed(file, start, end, total)
        return total
    finally:
        os.close(file)


def _summed(file: int, start: int, end: int, total: int) -> int:
    while (start := _data(file, start)) < end:
        start -= start % _BLOCK  # so that blocks are the same whatever the disk keeps as holes
        os.lseek(file, start, os.SEEK_SET)
        block = os.read(file, min(_BLOCK, end - start))
        if block != bytes(len(block)):
            total = zlib.crc32(block, zlib.crc32(str(start).encode(), total))
        start += _BLOCK
    return total


def _data(file: int, start: int) -> int:
    """Where the next bytes are that are no hole, as far as the disk can tell."""
    try:
        return os.lseek(file, start, os.SEEK_DATA) if hasattr(os, "SEEK_DATA") else start
    except OSError:
        return 1 << 62
