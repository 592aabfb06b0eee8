"""Files as documents of a collection: each is called what it was called the first time; what comes twice is said."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import PureWindowsPath
from typing import Any

from paragloss.formats.file_ids import IndexedFolders, is_inside
from paragloss.formats.irds import IRDS_PREFIX
from paragloss.formats.text import OnError
from paragloss.stores import AnyStore
from paragloss.types import Document, Where

_BLOB = "roots"
#: Up to so many ids of one run are remembered to tell which come twice.
_REMEMBERED = 1_000_000


def documents_of(
    store: AnyStore, paths: Sequence[str], on_error: OnError, *, readers: int = 1, **asked: Callable[..., Any]
) -> Iterator[Document]:
    """The documents of files, folders and `irds:DATASET`, with ids that stay (`formats.file_ids`); `asked` is who is
    asked before a file is read and told when it was, `readers` how many read ahead (`read_documents`)."""
    with roots_of(store) as roots:
        roots.add([path for path in paths if not path.startswith(IRDS_PREFIX) and os.path.exists(path)])
    return _told(_read(paths, roots, on_error, {**asked, "readers": readers}))


@contextmanager
def roots_of(store: AnyStore) -> Iterator[IndexedFolders]:
    """The folders a collection remembers; those that are taken in within are remembered too."""
    known = known_roots(store)
    roots = IndexedFolders(known)
    yield roots
    if roots.prefixes != known:
        store.write_blob(_BLOB, json.dumps(roots.prefixes).encode())


def known_roots(store: AnyStore) -> dict[str, str]:
    """The folders that were indexed, each with what the ids of its files begin with."""
    found: dict[str, str] = json.loads(store.read_blob(_BLOB) or b"{}")
    return found


def without_folders(meta: Mapping[str, Any], roots: Mapping[str, str]) -> dict[str, Any]:
    """`path` as it is below the folder it was indexed with; of a file from elsewhere its name."""
    path = meta.get("path")
    if not isinstance(path, str) or not (path.startswith("/") or PureWindowsPath(path).is_absolute()):
        return dict(meta)
    below = [(root, path) for root in roots if is_inside(path, root)]
    if not below or len(roots) > 1:  # behind a link it may lie elsewhere
        real = os.path.realpath(path)
        below += [(root, real) for root in roots if is_inside(real, root)]
    root, each = max(below, key=lambda found: len(found[0]), default=("", ""))
    return {**meta, "path": roots[root] + os.path.relpath(each, root) if below else PureWindowsPath(path).name}


def with_folders(where: Where, roots: Mapping[str, str]) -> Where:
    """A condition on folders as they are shown, `without_folders`, as one on folders of this machine as well."""
    folders = [f"{folder}/" for folder in where.get("meta.folder", ()) if isinstance(folder, str)]
    full = [os.path.normpath(os.path.join(root, folder.removeprefix(name))) for folder in folders
            for root, name in roots.items() if folder.startswith(name)]  # fmt: skip
    return {**where, "meta.folder": [*where["meta.folder"], *full]} if folders else where


def _read(paths: Sequence[str], roots: IndexedFolders, on_error: OnError, asked: dict[str, Any]) -> Iterator[Document]:
    from paragloss.formats.documents import read_documents  # which imports every format

    folders = [os.path.realpath(path) + os.sep for path in paths if os.path.isdir(path)]
    for path in dict.fromkeys(paths):
        if not any((os.path.realpath(path) + os.sep).startswith(other) for other in folders if not _is(path, other)):
            yield from read_documents(path, make_id=partial(roots.make_id, path), on_error=on_error, **asked)


def _is(path: str, folder: str) -> bool:
    return os.path.realpath(path) + os.sep == folder


def _told(documents: Iterator[Document]) -> Iterator[Document]:
    seen: set[int] = set()
    repeated, example = 0, ""
    for document in documents:
        place = hash(document.id)
        if place in seen:
            repeated, example = repeated + 1, example or document.id
        elif len(seen) < _REMEMBERED:
            seen.add(place)
        yield document
    if repeated:
        message = f"{repeated} documents had the id of an earlier one and took its place, the first being {example!r}"
        warnings.warn(f"{message}: give each its own id", stacklevel=2)
