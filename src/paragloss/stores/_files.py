"""Files that appear whole or not at all, and a lock that one process holds. Knows nothing of collections."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from paragloss.errors import InUseError

#: Bytes of a lock file.
_HOLDER_SIZE = 512
_LEFT = re.compile(r"\..+-[0-9a-f]{12}")


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file durably: on return the new content survives a power cut; a kill before leaves the old one."""
    temporary = path.with_name(f".{path.name}-{os.urandom(6).hex()}")
    try:
        with temporary.open("xb") as file:  # with the mode the umask gives, unlike tempfile's
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sweep(folder: Path) -> None:
    """Remove what a killed `write_whole` left; nobody else may be writing."""
    for path in folder.iterdir():
        if _LEFT.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)


def sync_folder(path: Path) -> None:
    """Make a rename or a new name inside a folder durable."""
    if sys.platform != "win32":  # where folders can't be opened and renames are written through
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def sync_contents(folder: Path) -> None:
    """Make the files of a folder durable, also what was written to them through memory maps."""
    for path in folder.iterdir():
        try:
            file = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
        except FileNotFoundError:  # the engine makes its next file under another name
            continue
        try:
            os.fsync(file)
        finally:
            os.close(file)
    sync_folder(folder)


def lock(path: Path, *, patience: float = 1.0) -> IO[bytes]:
    """Hold a lock file until it is closed or the process ends, however it ends.

    One that was just killed may take a moment to be gone: `patience` is how many seconds that may be.
    """
    file = _open_lock(path)
    until = time.monotonic() + patience
    while not (_locked(file) and _is_current(file, path)):
        if time.monotonic() > until:
            file.close()
            raise InUseError(
                f"{path.parent} is in use by another process: close it there, or serve it and ask the server"
            )
        time.sleep(0.02)
        if not _is_current(file, path):  # whoever held the lock has removed the folder: wait for the new one's
            file.close()
            file = _open_lock(path)
    return file


def write_holder(file: IO[bytes], **details: str) -> None:
    """Write into a lock file that is held who holds it: always as many bytes, which a full disk has room for too."""
    with suppress(OSError):
        file.seek(0)
        file.write(json.dumps({"pid": os.getpid(), **details}).encode().ljust(_HOLDER_SIZE))
        file.flush()


def read_holder(file: IO[bytes]) -> dict[str, Any]:
    """Read from a lock file who holds it, or held it last; nothing where it doesn't say."""
    try:
        file.seek(0)
        holder = json.loads(file.read(_HOLDER_SIZE))
    except (OSError, ValueError):
        return {}
    return holder if isinstance(holder, dict) else {}


def _open_lock(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666), "r+b", buffering=0)


def _is_current(file: IO[bytes], path: Path) -> bool:
    """Decide whether an open file is still the one at its path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _locked(file: IO[bytes]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
