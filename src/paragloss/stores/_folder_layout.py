"""The files of a collection's folder: their names, and how a folder is created, described and removed."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import IO

from paragloss import __version__
from paragloss.atomic_files import write_file_atomically
from paragloss.errors import InUseError, StoreError, describe_unknown_format
from paragloss.stores._lock_file import acquire_lock
from paragloss.stores._schema import VectorSchema

#: Version of the folder's format, in which points have numbers as ids.
FOLDER_FORMAT = 2
#: Marks a folder whose creation is not finished.
_CREATION_MARKER = ".creating"


def check_creatable(path: Path) -> None:
    """Raise StoreError unless a path is free, an empty folder, or left by an unfinished creation."""
    if (path / "meta.json").exists():
        raise StoreError(f"{path} already holds a collection: open it, or choose another folder")
    if path.exists() and not _is_empty_or_unfinished(path):
        raise StoreError(f"{path} exists and is not an empty folder: choose another place for the collection")


def begin_creation(path: Path) -> IO[bytes]:
    """Make the folder of a new collection and take its lock.

    :return: the lock file.
    :raises StoreError: the folder can't be created.
    :raises InUseError: another process has created a collection there meanwhile.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        (path / _CREATION_MARKER).touch()
        lock = acquire_lock(path / "lock")
        (path / _CREATION_MARKER).touch()  # the previous holder of the lock may have removed it
    except OSError as error:
        raise StoreError(f"{path} can't be created ({error.strerror}): choose another place") from None
    if (path / "meta.json").exists():
        (path / _CREATION_MARKER).unlink(missing_ok=True)
        lock.close()
        raise InUseError(f"{path} was made by another process meanwhile: open it")
    return lock


def make_subfolders(path: Path) -> None:
    """Make the subfolders of a new collection, after removing those of a creation that was killed."""
    for name in ("shard", "blobs"):
        shutil.rmtree(path / name, ignore_errors=True)
        (path / name).mkdir()


def finish_creation(path: Path) -> None:
    """Mark a collection's creation as finished, after its schema was written."""
    (path / _CREATION_MARKER).unlink(missing_ok=True)


def remove_collection_files(path: Path, *, remove_folder: bool) -> None:
    """Remove the files of a collection from a folder whose lock this process holds; the lock file goes last.

    If the process is killed meanwhile, the folder looks like that of an unfinished creation, which the next creation
    completes. Files that can't be removed stay, without an error.

    :param remove_folder: whether to remove the folder as well, if nothing else is in it.
    """
    with suppress(OSError):
        (path / _CREATION_MARKER).touch()
        (path / "meta.json").unlink(missing_ok=True)
        for folder_name in ("shard", "blobs", "models"):
            shutil.rmtree(path / folder_name, ignore_errors=True)
        for file_name in ("skipped.tsv", "seal.json", _CREATION_MARKER, "lock"):
            (path / file_name).unlink(missing_ok=True)
        if remove_folder:
            path.rmdir()


def delete_collection_folder(path: Path) -> None:
    """Delete a collection that no process has open, and its folder if nothing else is in it.

    :raises StoreError: the folder is no collection.
    :raises InUseError: another process has it open.
    """
    read_schema(path)
    lock = acquire_lock(path / "lock", timeout=0.0)
    try:
        remove_collection_files(path, remove_folder=True)
    finally:
        lock.close()


def read_schema(path: Path) -> VectorSchema:
    """Read the schema of a collection's folder.

    :raises StoreError: the folder is no collection, is damaged, or has a format that this version can't read.
    """
    try:
        meta = json.loads((path / "meta.json").read_text(encoding="utf-8"))
        folder_format = meta["format"]
        schema = VectorSchema.from_json(meta)
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"{path} is not a collection: it has no meta.json (paragloss index makes one)") from None
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path / 'meta.json'} is damaged ({error}): restore it or index again") from None
    if folder_format != FOLDER_FORMAT:
        raise StoreError(describe_unknown_format(path, meta, str(FOLDER_FORMAT)))
    return schema


def write_schema(path: Path, schema: VectorSchema) -> None:
    """Write the schema of a collection's folder."""
    meta = {**schema.as_json(), "format": FOLDER_FORMAT, "paragloss": __version__}
    write_file_atomically(path / "meta.json", json.dumps(meta, indent=1).encode())


def _is_empty_or_unfinished(path: Path) -> bool:
    """Tell whether a path is a folder that is empty, or that an unfinished creation has left."""
    return path.is_dir() and (not any(path.iterdir()) or (path / _CREATION_MARKER).exists())
