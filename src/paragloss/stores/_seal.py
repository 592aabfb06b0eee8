"""Checksums of the files of a closed collection, which show when another program has changed them.

`seal.json` is written last when a collection is closed and removed before anything is written again. A folder whose
process was killed has none, and is not checked.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import IO

from paragloss.atomic_files import write_file_atomically
from paragloss.errors import StoreError

_SEAL_FILE = "seal.json"
_SEALED_PARTS = ("meta.json", "blobs", "models", "shard")
#: Bytes of a file that enter its checksum, at most: half of them from its start, half from its end.
_MAX_CHECKED_BYTES = 1 << 20
_BLOCK_SIZE = 1 << 16
_NO_FILE = -1


def write_seal(folder: Path) -> None:
    """Write the checksums of a collection's files."""
    checksums = {name: _checksum_file(f"{folder}/{name}") for name in _list_sealed_files(folder)}
    write_file_atomically(folder / _SEAL_FILE, json.dumps(checksums).encode())


def remove_seal(folder: Path) -> bool:
    """Remove the checksums; tell whether there were any."""
    had_seal = (folder / _SEAL_FILE).exists()
    (folder / _SEAL_FILE).unlink(missing_ok=True)
    return had_seal


def find_file_changed_since_seal(folder: Path) -> str:
    """Return the first file that has changed since the collection was closed; "" if none has, or it has no seal."""
    try:
        content = json.loads((folder / _SEAL_FILE).read_bytes())
        checksums = {str(name): int(checksum) for name, checksum in content.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return ""
    changed = (name for name, checksum in checksums.items() if _checksum_file(f"{folder}/{name}") != checksum)
    return next(changed, "")


def check_seal(folder: Path) -> None:
    """Raise StoreError if another program has changed a file since the collection was closed."""
    changed = find_file_changed_since_seal(folder)
    if changed:
        raise StoreError(
            f"{folder} is damaged: {changed} is not what it was when the collection was closed; restore a copy, or "
            "`paragloss repair` keeps what can be read"
        )


def _list_sealed_files(folder: Path) -> list[str]:
    """Return the relative paths of all files whose checksums are written, without temporary ones."""
    names = [part for part in _SEALED_PARTS if (folder / part).is_file()]
    for part in _SEALED_PARTS:
        for subfolder, _, file_names in os.walk(folder / part):
            relative_folder = Path(subfolder).relative_to(folder).as_posix()
            names += [f"{relative_folder}/{name}" for name in sorted(file_names) if not name.startswith(".")]
    return names


def _checksum_file(path: str) -> int:
    """Return a checksum of a file's size, start and end, independent of its holes; -1 if it can't be opened."""
    half = _MAX_CHECKED_BYTES // 2
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            checksum = zlib.crc32(str(size).encode())
            checksum = _extend_checksum(file, 0, min(size, half), checksum)
            return _extend_checksum(file, max(half, size - half), size, checksum)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return _NO_FILE


def _extend_checksum(file: IO[bytes], start: int, end: int, checksum: int) -> int:
    """Add the blocks of a file between two offsets to a checksum.

    Blocks of zeros are skipped, so that a copy in which holes became zeros, or the reverse, has the same checksum.
    """
    for offset in range(start - start % _BLOCK_SIZE, end, _BLOCK_SIZE):
        file.seek(offset)
        block = file.read(min(_BLOCK_SIZE, end - offset))
        if block != bytes(len(block)):
            checksum = zlib.crc32(block, zlib.crc32(str(offset).encode(), checksum))
    return checksum
