"""Replace files atomically and durably: after a kill a file has its old content or its new content, never a mix.

Every place in the package that writes a file by writing a temporary one and renaming it uses `replace_file`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Names of the temporary files: a dot, the final name, a dash and six random bytes in hexadecimal.
_TEMPORARY_NAME = re.compile(r"\..+-[0-9a-f]{12}")


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Replace a file by what the block writes, as one atomic and durable step.

    Yields the path of a temporary file in the same folder. The block creates that file. When the block ends normally,
    the temporary file is flushed to disk and renamed to `path`, so its content survives a power cut. When the block
    raises, the temporary file is removed and `path` stays as it was.
    """
    temporary = path.with_name(f".{path.name}-{os.urandom(6).hex()}")
    try:
        yield temporary
        sync_file(temporary)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):  # the block may not have created it
            temporary.unlink()
        raise
    sync_folder(path.parent)


def write_file_atomically(path: Path, data: bytes) -> None:
    """Replace the content of a file by `data`, atomically and durably."""
    with replace_file(path) as temporary:
        temporary.write_bytes(data)


def remove_temporary_files(folder: Path) -> None:
    """Remove temporary files that a killed `replace_file` left in a folder. No other process may be writing there."""
    for path in folder.iterdir():
        if _TEMPORARY_NAME.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)


def sync_file(path: Path) -> None:
    """Flush a file's content to disk, including what was written through memory maps."""
    descriptor = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Flush a folder's list of names to disk, so that a rename or a new file in it survives a power cut."""
    if sys.platform != "win32":  # Windows can't open folders, and writes renames through
        sync_file(folder)


def sync_files_in(folder: Path) -> None:
    """Flush all files of a folder, and its list of names, to disk."""
    for path in folder.iterdir():
        try:
            sync_file(path)
        except FileNotFoundError:  # the engine renames the file it prepares for its next log segment
            continue
    sync_folder(folder)
