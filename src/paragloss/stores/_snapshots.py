"""A second folder of the engine's files, inside the collection's and for a while, in which graphs are built beside the
engine that searches and writes. Knows nothing of engines."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from paragloss.stores._files import sync_folder

_PREFIX, _OLD = ".copy-", "old"


def size(home: Path) -> int:
    """Bytes that a copy takes."""
    files = [path.stat() for path in (home / "shard").rglob("*") if path.is_file()]
    return sum(getattr(file, "st_blocks", file.st_size // 512) * 512 for file in files)  # without holes, where known


def copied(home: Path) -> Path:
    """Where the copy is; nobody may write meanwhile."""
    target = home / f"{_PREFIX}{os.urandom(6).hex()}"
    target.mkdir()
    try:
        copy_sparse(home / "shard", target / "shard")
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return target


def exchange(home: Path, copy: Path) -> None:
    """Put a copy's engine files in the place of the folder's own, which nobody has open."""
    os.rename(home / "shard", copy / _OLD)
    os.rename(copy / "shard", home / "shard")
    sync_folder(home)


def mend(home: Path) -> None:
    """Finish what somebody who was killed left: put the engine's files back in their place, remove copies."""
    for path in home.glob(f"{_PREFIX}*"):
        if not (home / "shard").exists() and (path / _OLD).is_dir():
            os.rename(path / _OLD, home / "shard")
        shutil.rmtree(path, ignore_errors=True)


def whole(home: Path) -> bool:
    """Whether the engine's files are there, or will be once the folder is opened."""
    return (home / "shard").is_dir() or any(home.glob(f"{_PREFIX}*/{_OLD}"))


def copy_sparse(source: Path, target: Path) -> None:
    """Copy a folder whose files are mostly holes, leaving the holes out."""
    for folder, _, files in os.walk(source):
        to = target / Path(folder).relative_to(source)
        to.mkdir(parents=True)
        for name in files:
            with open(Path(folder, name), "rb") as old, open(to / name, "wb") as new:
                while block := old.read(1 << 20):
                    if block != bytes(len(block)):
                        new.write(block)
                    else:
                        new.seek(len(block), 1)
                new.truncate(old.tell())
