"""A lock file that one process holds, and that says which process that is."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from paragloss.errors import InUseError

#: Size of a lock file in bytes. It never changes, so that the file can be rewritten on a full disk.
_LOCK_FILE_SIZE = 512
_RETRY_SECONDS = 0.02


def acquire_lock(path: Path, *, timeout: float = 1.0) -> IO[bytes]:
    """Lock a file until it is closed or the process ends, however it ends.

    :param timeout: seconds to wait for another process; the lock of a killed process takes a moment to be released.
    :return: the open lock file; closing it releases the lock.
    :raises InUseError: another process still holds the lock after `timeout`.
    """
    file = _open_lock_file(path)
    deadline = time.monotonic() + timeout
    while not (_try_lock(file) and _is_current(file, path)):
        if time.monotonic() > deadline:
            file.close()
            raise InUseError(
                f"{path.parent} is in use by another process: close it there, or serve it and ask the server"
            )
        time.sleep(_RETRY_SECONDS)
        if not _is_current(file, path):  # the holder removed the folder, and a new lock file may have been created
            file.close()
            file = _open_lock_file(path)
    return file


def write_lock_holder(file: IO[bytes], **details: str) -> None:
    """Write this process's id and further details into a lock file that this process holds."""
    with suppress(OSError):
        file.seek(0)
        file.write(json.dumps({"pid": os.getpid(), **details}).encode().ljust(_LOCK_FILE_SIZE))
        file.flush()


def read_lock_holder(file: IO[bytes]) -> dict[str, Any]:
    """Read what the current or last holder wrote into a lock file; an empty dictionary if that is unreadable."""
    try:
        file.seek(0)
        holder = json.loads(file.read(_LOCK_FILE_SIZE))
    except (OSError, ValueError):
        return {}
    return holder if isinstance(holder, dict) else {}


def describe_lock_holder(folder: Path) -> str:
    """Describe the process that has a collection's folder open, for an error message."""
    try:
        with (folder / "lock").open("rb") as lock:
            return f"another process ({int(read_lock_holder(lock)['pid'])})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _open_lock_file(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666), "r+b", buffering=0)


def _is_current(file: IO[bytes], path: Path) -> bool:
    """Tell whether an open file is still the one that `path` names."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _try_lock(file: IO[bytes]) -> bool:
    """Lock an open file without waiting; tell whether that succeeded."""
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
