"""What stands between us and the engine: its panics become sentences, and nothing is written where there is no room."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from paragloss.errors import ParaglossError, StoreError

#: Bytes that must be free for a write: the engine writes through memory maps, which a full disk turns into a crash.
ROOM = 300_000_000
#: Bytes that must be free to open a folder for writing, and to delete: opening it writes to sparse files, too.
OPEN_ROOM = 64_000_000
_turn = threading.Lock()
#: Begins what is done with the engine in another process: it is killed when the one who asked is.
TOGETHER = """
import ctypes, os, sys, qdrant_edge
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG
    if os.getppid() != int(sys.argv[2]):
        sys.exit("the one who asked is gone")
shard = qdrant_edge.EdgeShard.load(sys.argv[1])
"""
_READ = f"""{TOGETHER}
offset = None
while True:
    wanted = qdrant_edge.ScrollRequest(offset=offset, limit=200, with_payload=True, with_vector=True)
    points, offset = shard.scroll(wanted)
    if offset is None:
        break
shard.flush()
shard.close()
"""


def enough_room(path: Path, *, needed: int | None = None) -> None:
    """Raise StoreError where the disk is too full to write safely; it says how much to free.

    :param needed: bytes that must be free; `ROOM` by default.
    """
    free, needed = shutil.disk_usage(path).free, ROOM if needed is None else needed
    if free < needed:
        raise StoreError(
            f"the disk of {path} has {free / 1e6:.0f} MB left, and {needed / 1e6:.0f} MB are needed to write safely: "
            f"free {(needed - free) / 1e6:.0f} MB there; everything that was reported as done is kept"
        )


def is_disk_full(path: Path) -> bool:
    """Decide whether a folder's disk has too little room for the engine, which writes even to read."""
    return shutil.disk_usage(path).free < OPEN_ROOM


def find_copy_folder(size: int) -> Path:
    """Return a folder on another disk with room for a temporary copy of so many bytes: the temporary one, or memory."""
    candidates = [Path(tempfile.gettempdir()), Path("/dev/shm")]
    for folder in candidates:
        if folder.is_dir() and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > size + OPEN_ROOM:
            return folder
    needed = (size + OPEN_ROOM) / 1e6
    raise StoreError(
        f"the disk is full, and no other has room for the {needed:.0f} MB by which the collection could be read: free "
        f"{OPEN_ROOM / 1e6:.0f} MB on its disk, or set TMPDIR to a folder on a disk with room; nothing is lost"
    )


@contextmanager
def told(what: str) -> Iterator[None]:
    """The engine's errors and panics as one line."""
    try:
        yield
    except ParaglossError:
        raise
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            reason = " ".join(str(error).split())[:300]
            raise StoreError(f"{what} ({reason}): `paragloss check` tells what is whole") from error
        raise


def loaded(shard: Path, config: Any = None) -> Any:
    """Open the engine's folder, perhaps to be kept otherwise; what it prints when it panics stays off the terminal."""
    with told(f"{shard} can't be opened"), _quiet():
        return edge.EdgeShard.load(str(shard), config)


def survives(shard: Path) -> None:
    """Have another process open the engine's folder and read all of it. Files that nobody vouches for, such as a kill
    leaves, may hold what ends the process that maps them into memory; it should not be this one."""
    done = subprocess.run([sys.executable, "-c", _READ, shard, str(os.getpid())], check=False, capture_output=True)
    if done.returncode < 0:
        by = signal.Signals(-done.returncode).name
        raise StoreError(
            f"{shard.parent} is damaged: reading it ends the process ({by}); restore a copy, or index again"
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Standard error is the whole process's: one at a time sets it aside, and what others wrote meanwhile is given back
    unless the engine panicked."""
    sys.stderr.flush()
    with _turn, tempfile.TemporaryFile() as aside:
        kept = os.dup(2)
        os.dup2(aside.fileno(), 2)
        try:
            yield
            os.lseek(aside.fileno(), 0, os.SEEK_SET)
            while part := os.read(aside.fileno(), 1 << 16):
                os.write(kept, part)
        finally:
            os.dup2(kept, 2)
            os.close(kept)
