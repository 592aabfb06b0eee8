"""Read files and folders as documents of a collection: each file keeps the id it was given the first time."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PureWindowsPath
from typing import Any

from paragloss.collection.file_records import FileTracker
from paragloss.formats.file_ids import IndexedFolders, is_inside
from paragloss.formats.irds import IRDS_PREFIX
from paragloss.formats.text import OnError
from paragloss.search.document_cache import DocumentCache
from paragloss.stores import AnyStore
from paragloss.types import Document, Where

_ROOTS_BLOB = "roots"
#: Ids of one run that are compared to notice repeated ones.
_MAX_COMPARED_IDS = 1_000_000


def read_sources(
    store: AnyStore,
    paths: Sequence[str],
    on_error: OnError,
    *,
    tracker: FileTracker | None = None,
    readers: int = 1,
    scanning: Callable[..., None] = lambda *_: None,
) -> Iterator[Document]:
    """Read the documents of files, folders and `irds:DATASET`; a file read before keeps the id it was given.

    The paths are recorded among the folders that the collection was read from. Documents are read as they are iterated
    over; if several have one id, a warning is given at the end.

    :param paths: files, folders, and `irds:DATASET`.
    :param on_error: is told what can't be read; without it the first error is raised.
    :param tracker: decides which files are read and records what they gave; without one all are read.
    :param readers: how many files are read ahead at the same time.
    :param scanning: is told of every page that is read from a scan.
    """
    recorded_files = tracker or FileTracker(store)
    existing_paths = [path for path in paths if not path.startswith(IRDS_PREFIX) and os.path.exists(path)]
    with open_indexed_folders(store, recorded_files) as folders:
        folders.add_folders(existing_paths)
    read_path = _make_path_reader(tracker, on_error, readers, scanning)
    return _warn_about_repeated_ids(_read_paths(paths, folders, recorded_files, read_path))


def _make_path_reader(
    tracker: FileTracker | None, on_error: OnError, readers: int, scanning: Callable[..., None]
) -> Callable[..., Iterator[Document]]:
    """Return `read_documents` with these settings; a tracker decides which files it reads, and is told of their end."""
    from paragloss.formats.documents import read_documents  # which imports every format

    read_path = partial(read_documents, on_error=on_error, readers=readers, on_scanned_page=scanning)
    if tracker is None:
        return read_path
    return partial(read_path, should_read=tracker.register_file, on_file_end=tracker.finish_reading)


@contextmanager
def open_indexed_folders(store: AnyStore, tracker: FileTracker | None = None) -> Iterator[IndexedFolders]:
    """Load the folders a collection was read from; folders added inside the block are saved after it.

    :param tracker: the records of the collection's files, by which a folder that was moved is recognised and keeps its
        ids; None takes such a folder for a new one.
    """
    prefixes = read_folder_prefixes(store)
    folders = IndexedFolders(prefixes)
    if tracker is not None:
        folders = IndexedFolders(prefixes, is_moved=tracker.has_moved)
    yield folders
    if tracker is not None and folders.moves:
        for old_folder, new_folder in folders.moves.items():
            tracker.move_folder(old_folder, new_folder)
        tracker.save()
    if folders.prefixes != prefixes:
        store.write_blob(_ROOTS_BLOB, json.dumps(folders.prefixes).encode())


def read_folder_prefixes(store: AnyStore) -> dict[str, str]:
    """Return the folders a collection was read from, each with what the ids of its files begin with."""
    prefixes: dict[str, str] = json.loads(store.read_blob(_ROOTS_BLOB) or b"{}")
    return prefixes


class SourceFiles:
    """The files and folders that the documents of a collection were read from; `Collection.sources` makes it.

    The server shows paths relative to the folders that were indexed, not those of this machine.
    """

    def __init__(self, store: AnyStore, cache: DocumentCache) -> None:
        """Show the files of a collection.

        :param store: has the documents, and the folders that they were read from.
        :param cache: keeps these folders until a document is written.
        """
        self._store, self._cache = store, cache

    def hide_folders(self, meta: Mapping[str, Any]) -> dict[str, Any]:
        """Return a document's metadata with `path` relative to the indexed folder, or reduced to the file's name."""
        path = meta.get("path")
        if isinstance(path, str) and (path.startswith("/") or PureWindowsPath(path).is_absolute()):
            return {**meta, "path": self._shorten_path(path)}
        return dict(meta)

    def _shorten_path(self, path: str) -> str:
        """Return an absolute path relative to the innermost indexed folder; the name of a file outside all of them."""
        prefixes = self._roots
        paths_by_root = {root: path for root in prefixes if is_inside(path, root)}
        is_link_possible = not paths_by_root or len(prefixes) > 1  # into another indexed folder
        if is_link_possible and "\0" not in path:
            real_path = os.path.realpath(path)
            for root in prefixes:
                if is_inside(real_path, root):
                    paths_by_root.setdefault(root, real_path)
        if not paths_by_root:
            return PureWindowsPath(path).name
        innermost_root = max(paths_by_root, key=len)
        return prefixes[innermost_root] + os.path.relpath(paths_by_root[innermost_root], innermost_root)

    def resolve_folders(self, where: Where) -> Where:
        """Return conditions in which folders as readers are shown them stand for those of this machine, too.

        :param where: conditions, perhaps on `meta.folder`, with folders as `hide_folders` shows them.
        """
        full_paths: list[str] = []
        for folder in where.get("meta.folder", ()):
            if isinstance(folder, str):
                full_paths += self._list_full_paths(f"{folder}/")
        if not full_paths:
            return where
        return {**where, "meta.folder": [*where["meta.folder"], *full_paths]}

    def _list_full_paths(self, shown_folder: str) -> list[str]:
        """Return the folders of this machine that readers see under one name, such as "manual/" for "/home/ada/manual".

        :param shown_folder: the name with a slash at its end, as it stands at the beginning of ids.
        """
        full_paths = []
        for root, prefix in self._roots.items():
            if shown_folder.startswith(prefix):
                path_in_root = shown_folder.removeprefix(prefix)
                full_paths.append(os.path.normpath(os.path.join(root, path_in_root)))
        return full_paths

    def find_original(self, meta: Mapping[str, Any]) -> Path | None:
        """Return the file a document was read from; None if it is gone, of a kind that is not read, or not indexed.

        :param meta: the metadata of the document, with the path of the file.
        """
        from paragloss.formats.documents import SUPPORTED_SUFFIXES  # which imports every format

        recorded_path = str(meta.get("path", ""))
        if not os.path.isabs(recorded_path) or "\0" in recorded_path:
            return None
        path = Path(os.path.realpath(recorded_path))
        is_indexed = any(is_inside(str(path), os.path.realpath(root)) for root in self._roots)
        is_supported = path.suffix.lower() in SUPPORTED_SUFFIXES
        return path if is_indexed and is_supported and path.is_file() else None

    @property
    def _roots(self) -> dict[str, str]:
        return self._cache.get("roots", lambda: read_folder_prefixes(self._store))


def _read_paths(
    paths: Sequence[str],
    indexed_folders: IndexedFolders,
    recorded_files: FileTracker,
    read_path: Callable[..., Iterator[Document]],
) -> Iterator[Document]:
    """Read the documents of each path once; one that lies inside another folder of the list is read with that folder.

    :param indexed_folders: give files their ids.
    :param recorded_files: keep the ids that files have.
    :param read_path: reads the documents of a path, see `read_documents`.
    """
    folders = {os.path.realpath(path) for path in paths if os.path.isdir(path)}
    for path in dict.fromkeys(paths):
        real_path = os.path.realpath(path)
        if not any(is_inside(real_path, folder) for folder in folders - {real_path}):
            yield from read_path(path, make_id=_make_namer(path, indexed_folders, recorded_files))


def _make_namer(path: str, folders: IndexedFolders, recorded_files: FileTracker) -> Callable[[str], str]:
    """Return a function that makes the id of a file from its path below `path`; a recorded file keeps its id."""

    def assign_name(relative_path: str) -> str:
        file_path = os.path.join(path, relative_path) if os.path.isdir(path) else path
        return recorded_files.assign_name(file_path, folders.make_id(path, relative_path))

    return assign_name


def _warn_about_repeated_ids(documents: Iterator[Document]) -> Iterator[Document]:
    """Yield the documents, and warn at the end if several had one id."""
    id_hashes: set[int] = set()
    repeated_count = 0
    first_repeated = ""
    for document in documents:
        id_hash = hash(document.id)
        if id_hash in id_hashes:
            repeated_count += 1
            first_repeated = first_repeated or document.id
        elif len(id_hashes) < _MAX_COMPARED_IDS:
            id_hashes.add(id_hash)
        yield document
    if repeated_count:
        warnings.warn(
            f"{repeated_count} documents had the id of an earlier one and took its place, the first being "
            f"{first_repeated!r}: give each its own id",
            stacklevel=2,
        )
