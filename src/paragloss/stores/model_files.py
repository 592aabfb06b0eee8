"""Trained models kept with a collection, so that opening it is all a search needs.

A collection in a folder holds copies of the models' folders. A server holds their files as blobs; this machine keeps
a copy of what it has fetched, named by its contents.
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


def keep(store: AnyStore, name: str, folder: str | Path) -> None:
    """Put a copy of a model's folder with the collection; it is there whole or not at all."""
    folder = Path(folder)
    if linked := next((path for path in folder.rglob("*") if path.is_symlink()), None):
        raise StoreError(f"{linked} is a link, which may lead anywhere: put the file itself there")
    if store.path is not None:
        _copy(folder, store.path / "models" / name)
        return
    contents = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = file.read_bytes()
        contents[file.relative_to(folder).as_posix()] = digest = hashlib.blake2b(data, digest_size=16).hexdigest()
        store.write_blob(f"file-{digest}", data)
    store.write_blob(f"model-{name}", json.dumps(contents).encode())  # last: what it names is there


def discard(store: AnyStore, name: str) -> None:
    """Remove a model's folder from the collection; on a server its files stay until nothing names them."""
    if store.path is not None:
        shutil.rmtree(store.path / "models" / name, ignore_errors=True)


def kept(store: AnyStore, name: str) -> Path:
    """Where the model's folder is on this machine, fetched if need be."""
    if store.path is not None:
        return store.path / "models" / name
    listing = store.read_blob(f"model-{name}")
    if listing is None:
        raise StoreError(f"the collection has lost its model {name!r}: add it again")
    place = artefacts.cache() / "models" / hashlib.blake2b(listing, digest_size=16).hexdigest()
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".fetching-", dir=place.parent))
        try:
            for file, digest in json.loads(listing).items():
                _fetch(store, digest, fresh, file)
            fresh.rename(place)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            if not place.is_dir():  # another process may have been quicker
                raise
    return place


def _fetch(store: AnyStore, digest: str, folder: Path, file: str) -> None:
    to = (folder / file).resolve()
    if not to.is_relative_to(folder.resolve()):
        raise StoreError(f"the collection names a file {file!r} outside its model: don't trust it")
    data = store.read_blob(f"file-{digest}")
    if data is None or hashlib.blake2b(data, digest_size=16).hexdigest() != digest:
        raise StoreError(f"{file} of the collection's model is damaged: add the model again")
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(data)


def _copy(folder: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    fresh = to.with_name(f".{to.name}.copying")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    for path in sorted(folder.rglob("*")):  # modes follow the umask, whatever they were
        place = fresh / path.relative_to(folder)
        place.mkdir() if path.is_dir() else shutil.copyfile(path, place)
    artefacts.swap(fresh, to)
