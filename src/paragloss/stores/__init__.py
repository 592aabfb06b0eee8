"""Stores for documents and their vectors: a folder on this machine, or a collection on a Qdrant server."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from paragloss.errors import InUseError, StoreError
from paragloss.stores._schema import Placement, VectorSchema

if TYPE_CHECKING:
    from paragloss.stores.cluster import ClusterStore
    from paragloss.stores.embedded import EmbeddedStore
    from paragloss.stores.shared import SharedStore

    AnyStore: TypeAlias = EmbeddedStore | SharedStore | ClusterStore
else:
    AnyStore = object  # neither engine is imported before it is used

__all__ = [
    "Placement",
    "collection_exists",
    "create_store",
    "delete_collection",
    "find_changed_file",
    "get_repair_path",
    "open_store",
]

#: Prefix of the address of a collection on a Qdrant server; an address without it is one of a Paragloss server.
_QDRANT_PREFIX = "qdrant+"


def open_store(location: str | Path, *, allow_changed_files: bool = False) -> AnyStore:
    """Open a collection. If another process has its folder open, it is read through that process.

    :param location: a folder, or qdrant+http(s)://host:port/collection.
    :param allow_changed_files: whether to open a folder whose files another program has changed since it was closed.
    :raises StoreError: there is no such collection, or it is damaged.
    """
    if _is_url(location):
        from paragloss.stores.cluster import ClusterStore

        return ClusterStore.open(*_split_address(str(location)))
    from paragloss.stores.embedded import EmbeddedStore
    from paragloss.stores.shared import SharedStore

    _finish_repair(Path(location))
    try:
        return EmbeddedStore.open(location, timeout=0.0, allow_changed_files=allow_changed_files)
    except InUseError:
        return SharedStore(Path(location), partial(EmbeddedStore.open, timeout=0.0))


def create_store(
    location: str | Path,
    *,
    dense: Mapping[str, int],
    sparse: Sequence[str],
    multivectors: Sequence[str] = (),
    precision: Mapping[str, str] = MappingProxyType({}),
    placement: Placement | None = None,
) -> AnyStore:
    """Create an empty collection.

    :param location: a folder, or qdrant+http(s)://host:port/collection.
    :param dense: dimensions of the dense vectors, by name.
    :param sparse: names of the sparse vectors.
    :param multivectors: names of those dense vectors of which a document may have any number.
    :param precision: float32, float16 or int8 for dense vectors, by name.
    :param placement: how a server stores the collection.
    :raises StoreError: the collection exists already, or can't be created.
    """
    schema = VectorSchema.build(dense, sparse, multivectors, precision)
    if _is_url(location):
        from paragloss.stores.cluster import ClusterStore

        url, name = _split_address(str(location))
        return ClusterStore.create(url, name, schema, placement or Placement())
    from paragloss.stores.embedded import EmbeddedStore

    if placement is not None and placement != Placement():
        raise StoreError(f"{location} is a folder: shards, replicas and vectors on disk are for a server's collections")
    return EmbeddedStore.create(Path(location), schema)


def collection_exists(location: str | Path) -> bool:
    """Tell whether there is a collection at a location."""
    if _is_url(location):
        from paragloss.stores.cluster import ClusterStore

        return ClusterStore.exists(*_split_address(str(location)))
    from paragloss.stores._engine_files import has_engine_files

    _finish_repair(Path(location))
    return has_engine_files(Path(location)) and Path(location, "meta.json").is_file()


def delete_collection(location: str | Path) -> None:
    """Delete a collection with everything in it; other files in its folder stay.

    :raises StoreError: there is no collection, or another process has its folder open.
    """
    if _is_url(location):
        from paragloss.stores.cluster import ClusterStore

        ClusterStore.delete_collection(*_split_address(str(location)))
    else:
        from paragloss.stores._folder_layout import delete_collection_folder

        delete_collection_folder(Path(location))


def find_changed_file(location: str | Path) -> str:
    """Return the first file of a folder that another program has changed since it was closed; "" if none is known."""
    from paragloss.stores import _seal

    return "" if _is_url(location) else _seal.find_file_changed_since_seal(Path(location))


def get_repair_path(path: Path) -> Path:
    """Return the folder into which a repair writes, until it takes the place of the damaged one."""
    return path.with_name(f".{path.name}.repaired")


def _finish_repair(path: Path) -> None:
    """Finish a repair that was killed after it had moved the damaged folder away."""
    if path.name and not path.exists() and get_repair_path(path).is_dir():
        get_repair_path(path).rename(path)


def _is_url(location: str | Path) -> bool:
    """Tell whether a location is a collection on a Qdrant server: `qdrant+http://`, or the deprecated `http://`."""
    return isinstance(location, str) and location.removeprefix(_QDRANT_PREFIX).startswith(("http://", "https://"))


def _split_address(location: str) -> tuple[str, str]:
    """Return the server's URL and the collection's name."""
    if not location.startswith(_QDRANT_PREFIX):
        message = f"{location}: write {_QDRANT_PREFIX}{location} for a collection on a Qdrant server"
        warnings.warn(message, FutureWarning, stacklevel=4)
    parts = urlsplit(location.removeprefix(_QDRANT_PREFIX))
    parent_path, _, name = parts.path.rstrip("/").rpartition("/")
    if not parts.netloc or not name:
        raise StoreError(f"{location!r} names no collection: expected qdrant+http(s)://host:port/collection")
    return f"{parts.scheme}://{parts.netloc}{parent_path}", name
