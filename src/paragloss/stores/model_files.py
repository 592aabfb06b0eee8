"""Store trained models with a collection, so that opening the collection is all a search needs.

A collection in a folder holds copies of the models' folders. A server holds the models' files as blobs; this machine
caches the files that it has fetched, under a name that is a hash of their contents.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from paragloss import artefacts
from paragloss.errors import StoreError

if TYPE_CHECKING:
    from paragloss.stores import AnyStore


def save_model_folder(store: AnyStore, name: str, folder: str | Path) -> None:
    """Store a copy of a model's folder with a collection, as one atomic step.

    :raises StoreError: the folder holds a symbolic link.
    """
    folder = Path(folder)
    link = next((path for path in folder.rglob("*") if path.is_symlink()), None)
    if link is not None:
        raise StoreError(f"{link} is a link, which may lead anywhere: put the file itself there")
    if store.path is not None:
        _copy_folder(folder, store.path / "models" / name)
    else:
        _upload_folder(store, name, folder)


def delete_model_folder(store: AnyStore, name: str) -> None:
    """Remove a model's folder from a collection in a folder. On a server, its blobs stay."""
    if store.path is not None:
        shutil.rmtree(store.path / "models" / name, ignore_errors=True)


def get_model_folder(store: AnyStore, name: str) -> Path:
    """Return the path of a stored model's folder on this machine; a server's model is fetched if necessary."""
    if store.path is not None:
        return store.path / "models" / name
    listing = store.read_blob(f"model-{name}")
    if listing is None:
        raise StoreError(f"the collection has lost its model {name!r}: add it again")
    cached_folder = artefacts.cache_folder() / "models" / _hash(listing)
    if not cached_folder.is_dir():
        _fetch_folder(store, listing, cached_folder)
    return cached_folder


def _upload_folder(store: AnyStore, name: str, folder: Path) -> None:
    """Write the files of a model as blobs, then the list of its files, so that everything in the list exists."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            digest = _hash(data)
            digests[path.relative_to(folder).as_posix()] = digest
            store.write_blob(f"file-{digest}", data)
    store.write_blob(f"model-{name}", json.dumps(digests).encode())


def _fetch_folder(store: AnyStore, listing: bytes, target: Path) -> None:
    """Fetch all files of a listing into a temporary folder, then rename it.

    :param listing: the names of the files with their digests, as JSON.
    :param target: the folder that appears when it is complete.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".fetching-", dir=target.parent))
    try:
        for file_name, digest in json.loads(listing).items():
            _fetch_file(store, digest, temporary, file_name)
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        if not target.is_dir():  # another process may have been faster
            raise


def _fetch_file(store: AnyStore, digest: str, folder: Path, file_name: str) -> None:
    """Fetch a model's file from a server into a folder; raise StoreError if it is damaged or would lie elsewhere."""
    path = (folder / file_name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise StoreError(f"the collection names a file {file_name!r} outside its model: don't trust it")
    data = store.read_blob(f"file-{digest}")
    if data is None or _hash(data) != digest:
        raise StoreError(f"{file_name} of the collection's model is damaged: add the model again")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _copy_folder(source: Path, target: Path) -> None:
    """Copy a folder to a temporary one, then swap it in; file modes follow the umask."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.copying")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    for path in sorted(source.rglob("*")):
        copy = temporary / path.relative_to(source)
        if path.is_dir():
            copy.mkdir()
        else:
            shutil.copyfile(path, copy)
    artefacts.replace_folder(temporary, target)


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
