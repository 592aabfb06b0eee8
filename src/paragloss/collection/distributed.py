"""Index files with workers on other machines, through Dask.

A worker reads and prepares a file, wherever `fsspec` reads it from; this process writes it, as the one writer of the
collection, and records it. An interrupted run that is started again skips recorded files, and a file
whose worker was killed is prepared by another.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from paragloss.bm25 import CountedTerms, Layout
from paragloss.collection.backfill import read_unchanged_vectors
from paragloss.collection.collection import Collection
from paragloss.collection.embeddings import select_quick_encoders
from paragloss.collection.language_corrections import apply_corrections
from paragloss.collection.models import load
from paragloss.collection.preparation import PreparationSettings, PreparedDocuments, prepare_batches
from paragloss.collection.sources import open_indexed_folders
from paragloss.errors import InputError, MissingExtraError
from paragloss.formats.documents import read_documents
from paragloss.formats.file_ids import IndexedFolders
from paragloss.index.terms import CountedDocuments
from paragloss.stores import AnyStore, messages, model_files, open_store
from paragloss.types import Document

_RECORD_PREFIX = "part-"
#: How often a file is given to another worker when the one that had it is lost.
_MAX_RETRIES = 5
#: Documents written at once, and files that are under way for each worker.
_BATCH_SIZE, _FILES_PER_WORKER = 1000, 2


class IndexedFile(NamedTuple):
    """A file: its address, the name its documents' ids begin with, and the blob that records it when it is written."""

    url: str
    name: str
    record: str


class PreparedFile(NamedTuple):
    """What a worker sends back: the name of the file's record, its documents as a message, and an error or ""."""

    record: str
    message: bytes
    error: str


class DistributedReport(NamedTuple):
    """Documents written, files that had been written before, and errors of files that could not be read."""

    read: int
    unchanged: int
    failed: tuple[str, ...]


def list_files_to_index(paths: Sequence[str], roots: IndexedFolders) -> list[IndexedFile]:
    """Return the files at paths and addresses (`s3://bucket/folder`, a shared folder), each once.

    :param paths: files and folders.
    :param roots: the indexed folders, which give files their names; the folders of the paths are added to them.
    """
    locations = [_locate(path) for path in paths]
    roots.add_folders([location.folder_name for location in locations])
    files_by_url: dict[str, IndexedFile] = {}
    for location in locations:
        for file_path in sorted(location.system.find(location.path)):
            url = location.system.unstrip_protocol(file_path)
            relative_path = os.path.relpath(file_path, location.folder)
            name = roots.make_id(location.folder_name, relative_path)
            record = _RECORD_PREFIX + _compute_state_digest(location.system, file_path, url)
            files_by_url.setdefault(url, IndexedFile(url, name, record))
    return list(files_by_url.values())


class _Location(NamedTuple):
    """A file or a folder in a storage."""

    system: Any  # the fsspec file system
    path: str
    folder: str  # the folder itself, or the one of the file
    folder_name: str  # that is the same on every machine


def _locate(path: str) -> _Location:
    """Find a file or a folder, given by its path or address."""
    system, system_path = _open_storage(path)
    folder = system_path if system.isdir(system_path) else os.path.dirname(system_path)
    return _Location(system, system_path, folder, _name_folder(system, folder))


def _compute_state_digest(system: Any, file: str, url: str) -> str:
    """Return a digest of a file's address, size and time of change."""
    state = system.info(file)
    changed = state.get("ETag") or state.get("mtime") or state.get("LastModified") or ""
    return hashlib.blake2b(f"{url}\0{state.get('size')}\0{changed}".encode(), digest_size=16).hexdigest()


def index_distributed(
    into: str,
    paths: Sequence[str],
    *,
    scheduler: str,
    lang: str | None = None,
    progress: Callable[[int], None] | None = None,
    take_over: bool = False,
) -> DistributedReport:
    """Index files into an existing collection on a server, prepared by the workers of a Dask scheduler.

    :param into: the address of the collection.
    :param paths: files and folders, as paths or addresses that workers can read.
    :param scheduler: the address of the scheduler.
    :param lang: the language of documents that do not state theirs.
    :param progress: is told how many documents have been written.
    :param take_over: write although another process has the right to; that process is refused from then on.
    """
    if "://" not in into:
        raise InputError(f"{into} is a folder, whose models workers on other machines can't read: they need a server's")
    distributed = _import_extra("distributed")
    with Collection.open(into) as collection, collection.state.store.write_session():
        store = collection.state.store
        if take_over:
            store.take_over_writing()
        store.claim_writing()
        new_files, written_count = _list_new_files(store, paths)
        settings = _read_settings(collection, into, lang)
        with distributed.Client(scheduler) as client:
            prepared_files = _prepare_files(client, new_files, settings)
            read_count, errors = _write_files(collection, prepared_files, progress)
        collection.index([])  # makes weights exact, and runs deferred encoders
    return DistributedReport(read_count, written_count, tuple(errors))


def _list_new_files(store: AnyStore, paths: Sequence[str]) -> tuple[list[IndexedFile], int]:
    """Return the files at paths and addresses that have not been written completely, and how many others have been.

    The paths are recorded among the folders that the collection was read from.
    """
    with open_indexed_folders(store) as folders:
        files = list_files_to_index(paths, folders)
    written_records = store.blob_versions().keys()
    new_files = [file for file in files if file.record not in written_records]
    return new_files, len(files) - len(new_files)


def _write_files(
    collection: Collection, prepared_files: Iterable[PreparedFile], progress: Callable[[int], None] | None
) -> tuple[int, list[str]]:
    """Write prepared files into a collection, and record those that are complete, so that they are not read again.

    :param prepared_files: what workers have sent back.
    :param progress: is told how many documents have been written.
    :return: the number of documents, and the errors of files that could not be read.
    """
    read_count = 0
    errors = []
    for prepared in prepared_files:
        for batch in _decode_documents(prepared.message):
            _write_documents(collection, batch)
            read_count += len(batch.documents)
            if progress:
                progress(read_count)
        if prepared.error:
            errors.append(prepared.error)
        else:
            collection.state.store.write_blob(prepared.record, b"done")
    return read_count, errors


def _read_settings(collection: Collection, location: str, lang: str | None) -> PreparationSettings:
    """Return what workers need to know of a collection; they load its encoders from its server."""
    layout = collection.state.index.statistics.layout
    models = tuple((name, location) for name in select_quick_encoders(collection.state.models))
    return PreparationSettings(layout.fields, layout.k1, layout.b, models, lang)


def _prepare_files(client: Any, files: Sequence[IndexedFile], settings: PreparationSettings) -> Iterator[PreparedFile]:
    """Let workers prepare files, a few for each worker at a time, and yield them as they are finished.

    When a file comes back, the next one is submitted, so that the memory of workers and of this process is not filled.

    :param client: the client of the Dask scheduler.
    :param settings: what workers need to know of the collection.
    """
    worker_count = max(1, len(client.scheduler_info()["workers"]))
    n_first_files = _FILES_PER_WORKER * worker_count
    first_tasks = [_submit(client, file, settings) for file in files[:n_first_files]]
    remaining_files = iter(files[n_first_files:])
    finished_tasks = _import_extra("distributed").as_completed(first_tasks, with_results=True)
    for task, prepared in finished_tasks:
        task.release()  # its result need not be kept by the scheduler
        next_file = next(remaining_files, None)
        if next_file is not None:
            finished_tasks.add(_submit(client, next_file, settings))
        yield PreparedFile(*prepared)


def _submit(client: Any, file: IndexedFile, settings: PreparationSettings) -> Any:
    """Let a worker prepare a file; return the future result."""
    return client.submit(prepare_file, file, settings, pure=False, retries=_MAX_RETRIES)


def _write_documents(collection: Collection, prepared: PreparedDocuments) -> None:
    """Write documents that a worker has prepared into a collection.

    They are prepared again here if they are to be translated, since the translation engine is here, or if a user has
    corrected the language of one.
    """
    state = collection.state
    corrected = apply_corrections(prepared.documents, state.store)
    if state.engine_settings.to or corrected != prepared.documents:
        collection.index(prepared.documents, encode=False)
        return
    unchanged = read_unchanged_vectors(state.store, state.models, prepared.documents)
    state.index.add(prepared.documents, {**prepared.dense, **unchanged}, counted=prepared.counted)


def prepare_file(file: IndexedFile, settings: PreparationSettings) -> PreparedFile:
    """Read and prepare the documents of one file. Runs on a worker.

    :return: the documents as a message; or an error, and no documents, if the file can't be read.
    """
    layout = Layout(settings.fields, k1=settings.k1, b=settings.b)
    try:
        models = _load_models(settings.models)
        with _download(file) as path:
            prepared_batches = prepare_batches(_read_batches(path, file), layout, models, settings.lang)
            message = messages.encode_message([_list_fields(prepared) for prepared in prepared_batches])
        return PreparedFile(file.record, message, "")
    except InputError as error:
        return PreparedFile(file.record, messages.encode_message([]), f"{file.url}: {error}")


def _read_batches(path: Path, file: IndexedFile) -> Iterator[list[Document]]:
    """Read the documents of a file in batches, with the address of the file.

    :param path: the copy of the file on this machine.
    """
    documents = iter(read_documents(path, make_id=lambda _: file.name))
    while True:
        batch = [_set_address(document, file) for document in islice(documents, _BATCH_SIZE)]
        if not batch:
            return
        yield batch


def _decode_documents(message: bytes) -> Iterator[PreparedDocuments]:
    for documents, bags, packed_tokens, signatures, dense in messages.decode_message(message):
        yield PreparedDocuments(documents, CountedDocuments(CountedTerms(*bags), packed_tokens, signatures), dense)


def _list_fields(prepared: PreparedDocuments) -> list[Any]:
    """Return the fields of prepared documents as a list, which can be sent in a message."""
    counted = prepared.counted
    return [prepared.documents, list(counted.bags), counted.packed_tokens, counted.signatures, prepared.dense]


def _set_address(document: Document, file: IndexedFile) -> Document:
    """Replace the path on this worker by the address of the file."""
    return document._replace(meta={**document.meta, "path": file.url}) if "path" in document.meta else document


_loaded: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}


def _load_models(locations: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Load the quick encoders of a collection, given by name and location; each worker does so once."""
    if locations not in _loaded:
        _loaded.clear()
        _loaded[locations] = {}
        for name, location in locations:
            with open_store(location) as store:
                _loaded[locations][name] = load(model_files.get_model_folder(store, name))
    return _loaded[locations]


@contextmanager
def _download(file: IndexedFile) -> Iterator[Path]:
    """Copy a file to this machine, under its own name."""
    with tempfile.TemporaryDirectory(prefix="paragloss-file-") as folder:
        path = Path(folder) / os.path.basename(file.name)
        with _import_extra("fsspec").open(file.url, "rb") as remote_file, path.open("wb") as local_file:
            shutil.copyfileobj(remote_file, local_file, 1 << 20)
        yield path


def _name_folder(system: Any, folder: str) -> str:
    """Return a folder as a path of this machine, or as an address."""
    return folder if "file" in system.protocol else str(system.unstrip_protocol(folder))


def _open_storage(path: str) -> tuple[Any, str]:
    """Return the `fsspec` file system of an address, and the path in it.

    :raises InputError: if there is nothing, or it can't be read.
    """
    core = _import_extra("fsspec").core
    try:
        system, root = core.url_to_fs(path)
        exists = system.exists(root)
    except (ImportError, ValueError) as error:  # no package for this kind of storage, or no such kind
        reason = " ".join(str(error).split())[:160]
        remedy = "pip install 'paragloss[s3]'" if path.startswith("s3:") else "install what fsspec needs for it"
        raise InputError(f"{path} can't be read ({reason}): {remedy}") from None
    except Exception as error:  # each storage has errors of its own: keys, names, connections
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"{path} can't be read: {reason}") from None
    if not exists:
        raise InputError(f"{path} does not exist: give a file, a folder, or an address that fsspec can read")
    return system, root


def _import_extra(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        raise MissingExtraError("indexing by workers on other machines", "workers") from None
