"""Indexing with workers on other machines, through Dask: a part is a file, wherever `fsspec` reads it from. A worker
reads and prepares it and sends back what it found; whoever called writes it, as the one writer of the collection. A
part that is written is noted: whoever starts again goes on, and one whose worker was killed is prepared by another."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from paragloss.bm25 import Bags, Layout
from paragloss.collection.backfill import read_unchanged_vectors
from paragloss.collection.collection import Collection
from paragloss.collection.embeddings import quick
from paragloss.collection.models import load
from paragloss.collection.preparation import Prepared, Settings, prepared
from paragloss.collection.sources import open_roots
from paragloss.errors import InputError, MissingExtraError
from paragloss.formats.documents import read_documents
from paragloss.formats.file_ids import IndexedFolders
from paragloss.index.terms import CountedDocuments
from paragloss.stores import messages, model_files, open_store

_NOTE = "part-"
#: How often a part is given to another worker when the one that had it is lost, documents that are written at once, and
#: parts that are under way for each worker.
_AGAIN, _BATCH, _AHEAD = 5, 1000, 2


class Part(NamedTuple):
    """A file: where it is, what its documents are called after, and what is noted when it is done."""

    url: str
    name: str
    note: str


class Spread(NamedTuple):
    """What became of the parts: documents written, parts that were done before, and what could not be read."""

    read: int
    unchanged: int
    failed: tuple[str, ...]


def parts(paths: Sequence[str], roots: IndexedFolders) -> list[Part]:
    """The files of paths and addresses (`s3://bucket/folder`, a shared folder), each once, called as `roots` says."""
    found: dict[str, Part] = {}
    listed = [(system, root, system.isdir(root)) for system, root in map(_system, paths)]
    homes = [_home(system, root if folder else os.path.dirname(root)) for system, root, folder in listed]
    roots.add(homes)
    for (system, root, folder), home in zip(listed, homes, strict=True):
        for file in sorted(system.find(root)):
            about = system.info(file)
            url = system.unstrip_protocol(file)
            changed = about.get("ETag") or about.get("mtime") or about.get("LastModified") or ""
            note = hashlib.blake2b(f"{url}\0{about.get('size')}\0{changed}".encode(), digest_size=16).hexdigest()
            name = roots.make_id(home, os.path.relpath(file, root) if folder else os.path.basename(file))
            found.setdefault(url, Part(url, name, _NOTE + note))
    return list(found.values())


def spread(
    into: str,
    paths: Sequence[str],
    *,
    scheduler: str,
    lang: str | None = None,
    progress: Callable[[int], None] | None = None,
    take_over: bool = False,
) -> Spread:
    """Index files, prepared by the workers of a Dask scheduler, into a collection on a server, which is there."""
    if "://" not in into:
        raise InputError(f"{into} is a folder, whose models workers on other machines can't read: they need a server's")
    distributed = _extra("distributed")
    read_, failed = 0, []
    with Collection.open(into) as engine, engine.state.store.write_session(), distributed.Client(scheduler) as client:
        store, layout = engine.state.store, engine.state.index.statistics.layout
        if take_over:
            store.take_over_writing()
        store.claim_writing()
        done = {name for name in store.blob_versions() if name.startswith(_NOTE)}
        with open_roots(store) as roots:
            every = parts(paths, roots)
        wanted = [part for part in every if part.note not in done]
        settings = Settings(
            layout.fields,
            layout.k1,
            layout.b,
            tuple((m, into) for m in quick(engine.state.models)),
            lang,
        )
        ahead = _AHEAD * max(1, len(client.scheduler_info()["workers"]))
        waiting = iter(wanted)

        def send(number: int) -> list[Any]:
            some = list(islice(waiting, number))
            return [client.submit(prepare_part, part, settings, pure=False, retries=_AGAIN) for part in some]

        coming = distributed.as_completed(send(ahead), with_results=True)
        for future, (note, data, wrong) in coming:
            future.release()
            coming.update(send(1))
            failed += [wrong] if wrong else []
            for documents, counted, dense in _unpacked(data):
                unchanged = read_unchanged_vectors(store, engine.state.models, documents)
                engine.state.index.add(documents, {**dense, **unchanged}, counted=counted)
                read_ += len(documents)
                if progress:
                    progress(read_)
            if not wrong:
                store.write_blob(note, b"done")
        engine.index([])  # exact weights, and what slow encoders have to say
    return Spread(read_, len(every) - len(wanted), tuple(failed))


def _write(engine: Collection, ready: Prepared) -> None:
    state, documents = engine.state, ready.documents
    if state.machine.to:  # translating is for whoever has the engine for it
        engine.index(documents)
        return
    unchanged = read_unchanged_vectors(state.store, state.models, documents)
    state.index.add(documents, {**ready.dense, **unchanged}, counted=ready.counted)


def prepare_part(part: Part, settings: Settings) -> tuple[str, bytes, str]:
    """On a worker: the documents of one file, prepared; its note, and what was wrong with it."""
    try:
        layout, models = Layout(settings.fields, k1=settings.k1, b=settings.b), _models(settings.models)
        with _here(part) as path:
            found = (_at_home(document, part) for document in read_documents(path, make_id=lambda _: part.name))
            batches = iter(lambda: list(islice(found, _BATCH)), [])
            each = prepared(batches, layout, models, settings.lang)
            ready = [
                [p.documents, list(p.counted.bags), p.counted.packed_tokens, p.counted.signatures, p.dense]
                for p in each
            ]
        return part.note, messages.encode_message(ready), ""
    except InputError as error:
        return part.note, messages.encode_message([]), f"{part.url}: {error}"


def _unpacked(data: bytes) -> Iterator[Prepared]:
    for documents, bags, packed_tokens, signatures, dense in messages.decode_message(data):
        yield Prepared(documents, CountedDocuments(Bags(*bags), packed_tokens, signatures), dense)


def _at_home(document: Any, part: Part) -> Any:
    """A page says where its file is: not on this worker."""
    return document._replace(meta={**document.meta, "path": part.url}) if "path" in document.meta else document


_loaded: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}


def _models(named: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """The quick encoders of a collection, read once by each worker."""
    if named not in _loaded:
        _loaded.clear()
        _loaded[named] = {}
        for name, place in named:
            with open_store(place) as store:
                _loaded[named][name] = load(model_files.get_model_folder(store, name))
    return _loaded[named]


@contextmanager
def _here(part: Part) -> Iterator[Path]:
    """A copy of the file on this machine, under its own name."""
    with tempfile.TemporaryDirectory(prefix="paragloss-part-") as folder:
        place = Path(folder) / os.path.basename(part.name)
        with _extra("fsspec").open(part.url, "rb") as far, place.open("wb") as near:
            shutil.copyfileobj(far, near, 1 << 20)
        yield place


def _home(system: Any, folder: str) -> str:
    """What a folder is called here: a path of this machine, or an address."""
    return folder if "file" in system.protocol else str(system.unstrip_protocol(folder))


def _system(path: str) -> tuple[Any, str]:
    """The storage of an address, and where in it that is; it answers, and something is there."""
    core = _extra("fsspec").core
    try:
        system, root = core.url_to_fs(path)
        there = system.exists(root)
    except (ImportError, ValueError) as error:  # no package for this kind of storage, or no such kind
        remedy = "pip install 'paragloss[s3]'" if path.startswith("s3:") else "install what fsspec needs for it"
        raise InputError(f"{path} can't be read ({' '.join(str(error).split())[:160]}): {remedy}") from None
    except Exception as error:  # each storage has errors of its own: keys, names, connections
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"{path} can't be read: {reason}") from None
    if not there:
        raise InputError(f"{path} does not exist: give a file, a folder, or an address that fsspec can read")
    return system, root


def _extra(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        raise MissingExtraError("indexing by workers on other machines", "workers") from None
