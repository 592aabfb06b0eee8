"""Checksums of the files of a closed collection, which show when another program has changed them.

`seal.json` is written last when a collection is closed and removed before anything is written again. A folder whose
process was killed has none, and is not checked.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

from paragloss.atomic_files import write_file_atomically
from paragloss.errors import StoreError

_SEAL_FILE = "seal.json"
_SEALED_PARTS = ("meta.json", "blobs", "models", "shard")
#: Bytes of a file that enter its checksum, at most: half of them from its start, half from its end.
_MAX_CHECKED_BYTES = 1 << 20
_BLOCK_SIZE = 1 << 16
_BEYOND_ANY_FILE = 1 << 62
_MISSING_FILE = -1


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
    """Return a checksum of a file's size, start and end, independent of its holes; -1 if there is no such file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError:
        return _MISSING_FILE
    try:
        size = os.fstat(descriptor).st_size
        half = _MAX_CHECKED_BYTES // 2
        start_of_end = max(half, size - half)
        checksum = zlib.crc32(str(size).encode())
        checksum = _extend_checksum(descriptor, 0, min(size, half), checksum)
        return _extend_checksum(descriptor, start_of_end, size, checksum)
    finally:
        os.close(descriptor)


def _extend_checksum(descriptor: int, start: int, end: int, checksum: int) -> int:
    """Add the blocks of a file between two offsets to a checksum; blocks of zeros are skipped."""
    offset = _find_data(descriptor, start)
    while offset < end:
        offset -= offset % _BLOCK_SIZE  # so that blocks are the same wherever the file system has holes
        os.lseek(descriptor, offset, os.SEEK_SET)
        block = os.read(descriptor, min(_BLOCK_SIZE, end - offset))
        if block != bytes(len(block)):
            checksum = zlib.crc32(block, zlib.crc32(str(offset).encode(), checksum))
        offset = _find_data(descriptor, offset + _BLOCK_SIZE)
    return checksum


def _find_data(descriptor: int, offset: int) -> int:
    """Return the first offset from `offset` on that is not in a hole, as far as the file system knows."""
    try:
        return os.lseek(descriptor, offset, os.SEEK_DATA) if hasattr(os, "SEEK_DATA") else offset
    except OSError:  # there are only holes up to the end
        return _BEYOND_ANY_FILE
