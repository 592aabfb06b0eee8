"""Where documents and their vectors are kept: a folder on this machine, or a collection on a server."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from paragloss.errors import InUseError, StoreError
from paragloss.stores._shape import Placement

if TYPE_CHECKING:
    from paragloss.stores._sharing import SharedStore
    from paragloss.stores.cluster import ClusterStore
    from paragloss.stores.embedded import EmbeddedStore

    AnyStore: TypeAlias = EmbeddedStore | SharedStore | ClusterStore
else:
    AnyStore = object  # neither engine is loaded before it is used

__all__ = [
    "Placement",
    "changed_since",
    "create_store",
    "discard",
    "exists",
    "open_store",
    "repaired",
]

#: Begins the address of a collection on a Qdrant server; a plain address is one of a Paragloss server.
_QDRANT_PREFIX = "qdrant+"


def open_store(location: str | Path, *, anyway: bool = False) -> AnyStore:
    """Open a collection: a folder, or http(s)://host:port/collection; `anyway` also a folder whose files were changed
    since it was closed."""
    if _is_url(location):
        from paragloss.stores.cluster import ClusterStore

        return ClusterStore.open(*_address(str(location)))
    from paragloss.stores._sharing import SharedStore
    from paragloss.stores.embedded import EmbeddedStore

    _recover(Path(location))
    try:
        return EmbeddedStore.open(location, patience=0.0, anyway=anyway)
    except InUseError:
        return SharedStore(Path(location), partial(EmbeddedStore.open, patience=0.0))


def changed_since(location: str | Path) -> str:
    """The first file of a folder that something else has changed since it was closed; "" where none is known of."""
    from paragloss.stores._seal import broken

    return "" if _is_url(location) else broken(Path(location))


def exists(location: str | Path) -> bool:
    """Whether there is a collection to open."""
    if _is_url(location):
        from paragloss.stores.cluster import ClusterStore

        return ClusterStore.exists(*_address(str(location)))
    from paragloss.stores._snapshots import whole

    _recover(Path(location))
    return whole(Path(location)) and Path(location, "meta.json").is_file()


def repaired(path: Path) -> Path:
    """Where a folder's documents are put when it is repaired, until they take its place."""
    return path.with_name(f".{path.name}.repaired")


def _recover(path: Path) -> None:
    """Finish a repair that was killed when the damaged folder had been put aside and the new one not yet in place."""
    if path.name and not path.exists() and (fresh := repaired(path)).is_dir():
        fresh.rename(path)


def discard(location: str | Path) -> None:
    """Take a collection away, with everything in it."""
    if _is_url(location):
        from paragloss.stores.cluster import ClusterStore

        ClusterStore.discard(*_address(str(location)))
    else:
        shutil.rmtree(location)


def create_store(
    location: str | Path,
    *,
    dense: Mapping[str, int],
    sparse: Sequence[str],
    several: Sequence[str] = (),
    precision: Mapping[str, str] = MappingProxyType({}),
    placement: Placement | None = None,
) -> AnyStore:
    """Start an empty collection. `dense` maps the names of dense vectors to their dimensions; of those in `several` a
    document may have any number, and `precision` says how finely some are kept (float32, float16, int8);
    `placement` is for servers."""
    kept: dict[str, Any] = {"dense": dense, "sparse": sparse, "several": several, "precision": precision}
    if _is_url(location):
        from paragloss.stores.cluster import ClusterStore

        return ClusterStore.create(*_address(str(location)), **kept, placement=placement)
    from paragloss.stores.embedded import EmbeddedStore

    if placement is not None and placement != Placement():
        raise StoreError(f"{location} is a folder: shards, replicas and vectors on disk are for a server's collections")
    return EmbeddedStore.create(location, **kept)


def _is_url(location: str | Path) -> bool:
    """Tell whether a location is a collection on a Qdrant server, `qdrant+http://` or, as before, `http://`."""
    return isinstance(location, str) and location.removeprefix(_QDRANT_PREFIX).startswith(("http://", "https://"))


def _address(location: str) -> tuple[str, str]:
    """The server's address and the collection's name."""
    if not location.startswith(_QDRANT_PREFIX):
        message = f"{location}: write {_QDRANT_PREFIX}{location} for a collection on a Qdrant server"
        warnings.warn(message, FutureWarning, stacklevel=4)
    parts = urlsplit(location.removeprefix(_QDRANT_PREFIX))
    before, _, name = parts.path.rstrip("/").rpartition("/")
    if not parts.netloc or not name:
        raise StoreError(f"{location!r} names no collection: expected qdrant+http(s)://host:port/collection")
    return f"{parts.scheme}://{parts.netloc}{before}", name
