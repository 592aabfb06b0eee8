"""Check for free disk space before the engine writes.

The engine writes through memory maps, and a full disk then crashes the process.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from paragloss.errors import StoreError
from paragloss.stores import _limits


def check_free_space(path: Path, *, needed_bytes: int | None = None) -> None:
    """Raise StoreError, which says how much to free, if the disk of a folder is too full to write safely.

    :param needed_bytes: bytes that must be free; FREE_BYTES_TO_WRITE by default.
    """
    free_bytes = shutil.disk_usage(path).free
    if needed_bytes is None:
        needed_bytes = _limits.FREE_BYTES_TO_WRITE
    if free_bytes < needed_bytes:
        raise StoreError(
            f"the disk of {path} has {free_bytes / 1e6:.0f} MB left, and {needed_bytes / 1e6:.0f} MB are needed to "
            f"write safely: free {(needed_bytes - free_bytes) / 1e6:.0f} MB there; everything that was reported as "
            "done is kept"
        )


def is_disk_full(path: Path) -> bool:
    """Tell whether the disk of a folder has too little space to open the engine, which writes even to read."""
    return shutil.disk_usage(path).free < _limits.FREE_BYTES_TO_OPEN


def find_copy_folder(size: int) -> Path:
    """Return a folder with space for a temporary copy of `size` bytes: the temporary folder, or one in memory.

    :raises StoreError: neither has enough space.
    """
    needed_bytes = size + _limits.FREE_BYTES_TO_OPEN
    for folder in (Path(tempfile.gettempdir()), Path("/dev/shm")):
        if folder.is_dir() and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > needed_bytes:
            return folder
    raise StoreError(
        f"the disk is full, and no other has room for the {needed_bytes / 1e6:.0f} MB by which the collection could be "
        f"read: free {_limits.FREE_BYTES_TO_OPEN / 1e6:.0f} MB on its disk, or set TMPDIR to a folder on a disk with "
        "room; nothing is lost"
    )
