"""Copy and exchange the embedded engine's files.

Graphs are built in a copy of the engine's files, in a temporary folder inside the collection's folder, while the
original is searched and written. Then the copy takes the place of the original. Knows nothing of the engine itself.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from paragloss.atomic_files import sync_folder

_SHARD = "shard"
_COPY_PREFIX = ".copy-"
#: Name of the original engine files while they are exchanged.
_REPLACED = "old"
_COPY_BLOCK = 1 << 20
_DISK_BLOCK = 512


def measure_engine_size(collection: Path) -> int:
    """Return the bytes that a copy of a collection's engine files takes, without holes where that is known."""
    stats = [path.stat() for path in (collection / _SHARD).rglob("*") if path.is_file()]
    return sum(getattr(stat, "st_blocks", stat.st_size // _DISK_BLOCK) * _DISK_BLOCK for stat in stats)


def copy_engine_files(collection: Path) -> Path:
    """Copy a collection's engine files, which nobody may write meanwhile; return the folder that holds the copy.

    The folder is new and lies inside the collection's. `recover_engine_files` removes it, also when copying fails.
    """
    copy = collection / f"{_COPY_PREFIX}{os.urandom(6).hex()}"
    copy.mkdir()
    copy_sparse_files(collection / _SHARD, copy / _SHARD)
    return copy


def exchange_engine_files(collection: Path, copy: Path) -> None:
    """Put the engine files of a copy in the place of the collection's own; no process may have either open.

    `recover_engine_files` completes an exchange that was interrupted between the two renames.
    """
    os.rename(collection / _SHARD, copy / _REPLACED)
    os.rename(copy / _SHARD, collection / _SHARD)
    sync_folder(collection)


def recover_engine_files(collection: Path) -> None:
    """Undo an exchange that failed or was killed between its two renames, then remove all copies."""
    for copy in collection.glob(f"{_COPY_PREFIX}*"):
        if not (collection / _SHARD).exists() and (copy / _REPLACED).is_dir():
            os.rename(copy / _REPLACED, collection / _SHARD)
        shutil.rmtree(copy, ignore_errors=True)


def has_engine_files(collection: Path) -> bool:
    """Tell whether a folder has engine files, or will have them after `recover_engine_files`."""
    return (collection / _SHARD).is_dir() or any(collection.glob(f"{_COPY_PREFIX}*/{_REPLACED}"))


def copy_sparse_files(source: Path, target: Path) -> None:
    """Copy a folder with its subfolders; holes in its files stay holes."""
    for folder, _, file_names in os.walk(source):
        target_folder = target / Path(folder).relative_to(source)
        target_folder.mkdir(parents=True)
        for file_name in file_names:
            _copy_sparse_file(Path(folder, file_name), target_folder / file_name)


def _copy_sparse_file(source: Path, target: Path) -> None:
    """Copy a file; blocks of zeros become holes."""
    with source.open("rb") as reader, target.open("wb") as writer:
        block = reader.read(_COPY_BLOCK)
        while block:
            if block != bytes(len(block)):
                writer.write(block)
            else:
                writer.seek(len(block), os.SEEK_CUR)
            block = reader.read(_COPY_BLOCK)
        writer.truncate(reader.tell())
