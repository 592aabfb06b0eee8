"""Moving house: everything a collection holds into another place, folder or server, checked when it is there.

The statistics are written last: a place without them is an unfinished copy, which nobody can search and which the same
command goes on with. Every document there is read again and held against what was read here. A place that holds all of
it already, and nothing else, was copied before: it is checked, and left as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paragloss.bm25 import Layout
from paragloss.collection import model_records
from paragloss.collection.embeddings import rows_of, storing
from paragloss.collection.models import foreign, load, name_of
from paragloss.collection.opening import COPYING
from paragloss.encoders import published
from paragloss.errors import ClosedError, InputError, ModelError, StoreError
from paragloss.search.terms import STATISTICS, vectors_of
from paragloss.statistics import Statistics
from paragloss.stores import AnyStore, Placement, create_store, exists, model_files, open_store
from paragloss.types import Encoder, Record

#: Blobs that belong to a place and not to what it holds.
_OWN = ("lease", "collection", STATISTICS, "graph", COPYING)
#: How those are called that belong to others: files of models, and what was counted of batches.
_PARTS = ("model-", "file-", "batch-", f"{STATISTICS}-")
Told = Callable[[int], None] | None


class Contents(NamedTuple):
    """All that a collection holds: the vectors it keeps, how terms are laid out, its models' folders, whatever else is
    kept by name, and its documents."""

    shape: Mapping[str, Any]
    layout: Layout
    models: Mapping[str, Path]
    blobs: Mapping[str, bytes]
    pages: Iterable[list[Record]]


def contents(store: AnyStore, location: str) -> Contents:
    """What an open collection holds."""
    data = store.read_blob(STATISTICS)
    if data is None:
        raise StoreError(f"{location} was never finished: index into it, or copy into it again")
    names = [name for name in store.blobs() if name not in _OWN and not name.startswith(_PARTS)]
    found = {name: blob for name in names if (blob := store.read_blob(name)) is not None}
    models = {name: model_files.kept(store, name) for name in model_records.read_model_records(store)}
    return Contents(store.shape, Statistics.from_bytes(data)[0].layout, models, found, store.scroll(vectors=True))


def copy(
    source: str,
    target: str,
    *,
    models: Sequence[str] = (),
    placement: Placement | None = None,
    progress: Told = None,
) -> int:
    """Copy a collection, encoded anew with some models; how many documents it has. Stopped half-way, the same command
    goes on."""
    with closing(open_store(source)) as old:
        whole = encoded_anew(contents(old, source), models, model_records.read_model_records(old))
        return fill(target, whole, placement=placement, progress=progress)


def encoded_anew(whole: Contents, paths: Sequence[str], known: Mapping[str, model_records.ModelRecord]) -> Contents:
    """The same with some models more, or in place of those of their names, and every document encoded with them."""
    if not paths:
        return whole
    for path in paths:
        if foreign(path) or published.files(path):
            raise InputError(f"{path} is no model trained here: copy first, then `paragloss models NEW --add {path}`")
    loaded = {name_of(path): load(path) for path in paths}
    encoders = {name: model for name, model in loaded.items() if isinstance(model, Encoder)}
    shape = {
        **whole.shape,
        "dense": {**whole.shape["dense"], **{name: storing(model).dim for name, model in encoders.items()}},
        "several": [name for name in whole.shape["several"] if name not in loaded],
        "precision": {name: kept for name, kept in whole.shape["precision"].items() if name not in loaded},
    }
    noted = {
        **known,
        **{name_of(path): model_records.ModelRecord(model_records.compute_digest(path), True) for path in paths},
    }
    return whole._replace(
        shape=shape,
        models={**whole.models, **{name_of(path): Path(path) for path in paths}},
        blobs={**whole.blobs, model_records.BLOB: model_records.serialize_model_records(noted)},
        pages=(_encoded(records, encoders) for records in whole.pages),
    )


def _encoded(records: Sequence[Record], encoders: Mapping[str, Encoder]) -> list[Record]:
    documents = [record.document for record in records]
    made = {name: rows_of(model, documents) for name, model in encoders.items()}
    return [
        record._replace(
            dense={name: row for name, row in record.dense.items() if name not in made}
            | {name: row for name, rows in made.items() if (row := rows[i]) is not None and row.any()}
        )
        for i, record in enumerate(records)
    ]


def fill(target: str, whole: Contents, *, placement: Placement | None = None, progress: Told = None) -> int:
    """Put contents into a new collection, or one that was begun and never finished; how many documents.

    If the contents turn out to be unusable, a collection that was created for them is removed again. Any other
    interruption leaves it unfinished, and the same call goes on with it.
    """
    is_new = not exists(target)
    store = _begun(target, whole.shape, placement)
    try:
        with store.writing():
            if store.read_blob(STATISTICS) is not None:
                return _already(store, whole, target, progress)
            return _fill_store(store, whole, target, progress)
    except (InputError, ModelError):
        if is_new:
            store.remove_created()
        raise
    finally:
        with suppress(ClosedError):
            store.close()


def _fill_store(store: AnyStore, whole: Contents, target: str, progress: Told) -> int:
    """Write models, blobs and documents, check that they are there, and write the statistics last."""
    store.claim()
    store.write_blob(COPYING, b"unfinished")
    for name, folder in whole.models.items():
        model_files.keep(store, name, folder)
    for name, blob in whole.blobs.items():
        store.write_blob(name, blob)
    digest_sum, count, has_documents = 0, 0, store.count() > 0
    for records in whole.pages:
        digests = [digest(record) for record in records]
        store.add(_missing(store, records, digests) if has_documents else records)
        digest_sum, count = (digest_sum + sum(digests)) % 2**128, count + len(records)
        if progress:
            progress(count)
    statistics = _verified(store, whole.layout, digest_sum, count, target)
    store.write_blob(STATISTICS, statistics.to_bytes(records=count))
    store.sure()
    return count


def _already(store: AnyStore, whole: Contents, target: str, progress: Told) -> int:
    """How many documents a finished place has, if they are these, with these models; it is changed in nothing."""
    read, count = 0, 0
    for records in whole.pages:
        read, count = (read + sum(map(digest, records))) % 2**128, count + len(records)
        if progress:
            progress(count)
    same = all(store.read_blob(name) == blob for name, blob in whole.blobs.items())  # its models' digests among them
    if not same or _found(store) != (read, count):
        raise StoreError(f"{target} already holds a collection, and another than this: choose another place")
    return count


def _found(store: AnyStore) -> tuple[int, int]:
    """A digest of all documents that are there, and their number."""
    found, seen = 0, 0
    for records in store.scroll(vectors=True):
        found, seen = (found + sum(map(digest, records))) % 2**128, seen + len(records)
    return found, seen


def digest(record: Record) -> int:
    """Two records with the same digest are the same, in every letter and every bit of their vectors."""
    document = record.document
    plain = [*document[:4], dict(document.fields), dict(document.meta)]
    seen = hashlib.blake2b(json.dumps(plain, sort_keys=True).encode(), digest_size=16)
    for name, row in sorted(record.dense.items()):
        seen.update(f"{name}{row.shape}".encode() + np.ascontiguousarray(row, "<f4").tobytes())
    for name, vector in sorted(record.sparse.items()):
        seen.update(f"{name}{len(vector.indices)}".encode() + vector.indices.astype("<u4").tobytes())
        seen.update(vector.values.astype("<f4").tobytes())
    return int.from_bytes(seen.digest(), "little")


def _missing(store: AnyStore, records: Sequence[Record], digests: Sequence[int]) -> list[Record]:
    """Those that are not there yet, or not as they are here."""
    there = store.get([record.document.id for record in records], vectors=True)
    found = zip(records, digests, there, strict=True)
    return [record for record, known, old in found if old is None or digest(old) != known]


def _begun(target: str, shape: Mapping[str, Any], placement: Placement | None) -> Any:
    """The place to fill: new, or left unfinished by a copy of the same shape."""
    if not exists(target):
        kept = {key: shape[key] for key in ("dense", "sparse", "several", "precision")}
        return create_store(target, **kept, placement=placement)
    store = open_store(target)
    try:
        begun = store.read_blob(COPYING) is not None or not store.count()  # killed before it could note what it does
        if not begun or (store.read_blob(STATISTICS) is not None and store.shape != shape):
            raise StoreError(f"{target} already holds a collection, and another than this: choose another place")
        if store.shape != shape:
            raise StoreError(f"{target} was left unfinished by a copy of something else: remove it first")
    except BaseException:
        store.close()
        raise
    return store


def _verified(store: AnyStore, layout: Layout, read: int, count: int, target: str) -> Statistics:
    """The statistics of what is there, if that is what was read."""
    statistics, found, seen = Statistics(layout), 0, 0
    for records in store.scroll(vectors=True):
        statistics.count([record.document.lang for record in records], vectors_of(records))
        found, seen = (found + sum(map(digest, records))) % 2**128, seen + len(records)
    if (found, seen) != (read, count):
        raise StoreError(
            f"{target} has {seen} documents of {count}, or others than were read: the collection was changed while it "
            "was copied; remove the copy and copy again"
        )
    return statistics
