"""Copy everything a collection holds into another folder or server, and verify the copy.

The statistics are written last: a collection without them is an unfinished copy, which can't be searched and which the
same command goes on with. Every document of the copy is read again and compared with what was read from the source. A
target that already holds exactly the same contents was copied before: it is verified and left as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paragloss.bm25 import Layout
from paragloss.collection import model_records
from paragloss.collection.embeddings import encode_rows, make_document_encoder
from paragloss.collection.models import get_model_name, is_own_folder, load
from paragloss.collection.opening import COPYING
from paragloss.errors import ClosedError, InputError, ModelError, StoreError
from paragloss.index.terms import STATISTICS_BLOB, read_term_vectors
from paragloss.statistics import Statistics
from paragloss.stores import AnyStore, Placement, collection_exists, create_store, model_files, open_store
from paragloss.types import Encoder, Record

#: Blobs that belong to one folder or server, and are not copied.
_UNCOPIED_BLOBS = ("lease", "collection", STATISTICS_BLOB, "graph", COPYING)
#: Prefixes of blobs that are copied otherwise or rebuilt: files of models, and what was counted of batches.
_UNCOPIED_PREFIXES = ("model-", "file-", "batch-", f"{STATISTICS_BLOB}-")
#: Is told how many documents have been copied so far.
CopyProgress = Callable[[int], None] | None
_DIGEST_MODULUS = 2**128


class Contents(NamedTuple):
    """Everything that a collection holds."""

    shape: Mapping[str, Any]  # names, sizes and precision of its vectors
    layout: Layout  # how terms are laid out in its sparse vectors
    models: Mapping[str, Path]  # folder of each model
    blobs: Mapping[str, bytes]
    pages: Iterable[list[Record]]  # its documents with their vectors


class ContentsDigest(NamedTuple):
    """A digest of documents that does not depend on their order, and their number."""

    total: int = 0
    n_documents: int = 0

    def add(self, record_digests: Sequence[int]) -> ContentsDigest:
        """Return the digest of these and further records."""
        total = (self.total + sum(record_digests)) % _DIGEST_MODULUS
        return ContentsDigest(total, self.n_documents + len(record_digests))


def read_contents(store: AnyStore, location: str) -> Contents:
    """Return what an open collection holds; its documents are read when they are iterated.

    Blobs that belong to one folder or server are left out.

    :param location: the folder or address of the collection, for the error.
    :raises StoreError: if the collection is unfinished.
    """
    statistics = store.read_blob(STATISTICS_BLOB)
    if statistics is None:
        raise StoreError(f"{location} was never finished: index into it, or copy into it again")
    blobs = {}
    for name in store.blob_versions():
        if name in _UNCOPIED_BLOBS or name.startswith(_UNCOPIED_PREFIXES):
            continue
        blob = store.read_blob(name)
        if blob is not None:
            blobs[name] = blob
    return Contents(
        shape=store.schema,
        layout=Statistics.from_bytes(statistics)[0].layout,
        models={name: model_files.get_model_folder(store, name) for name in model_records.read_model_records(store)},
        blobs=blobs,
        pages=store.scroll(vectors=True),
    )


def copy(
    source: str,
    target: str,
    *,
    models: Sequence[str] = (),
    placement: Placement | None = None,
    progress: CopyProgress = None,
) -> int:
    """Copy a collection. If it is interrupted, the same call goes on.

    :param source: the folder or the address of the collection.
    :param target: the folder or the address of the copy.
    :param models: models that the copy gets as well, or instead of those of the same name.
    :param placement: how a server spreads the copy.
    :param progress: is told how many documents have been copied.
    :return: the number of documents.
    """
    with closing(open_store(source)) as old:
        contents = replace_models(read_contents(old, source), models, model_records.read_model_records(old))
        return fill_collection(target, contents, placement=placement, progress=progress)


def replace_models(
    contents: Contents, paths: Sequence[str], records: Mapping[str, model_records.ModelRecord]
) -> Contents:
    """Return contents with further models, and with the vectors that these give to the documents.

    A model replaces one of the same name.

    :param contents: those of a collection.
    :param paths: folders of trained models.
    :param records: what the collection records of the models it has, by name.
    :raises InputError: if a path is that of a published model.
    """
    if not paths:
        return contents
    for path in paths:
        if not is_own_folder(path):
            raise InputError(f"{path} is no model trained here: copy first, then `paragloss models NEW --add {path}`")
    folders = {get_model_name(path): Path(path) for path in paths}
    encoders = _load_encoders(folders)
    all_records = {**records, **_make_model_records(folders)}
    return contents._replace(
        shape=_replace_vectors(contents.shape, encoders, folders.keys()),
        models={**contents.models, **folders},
        blobs={**contents.blobs, model_records.BLOB: model_records.serialize_model_records(all_records)},
        pages=(_encode_records(page, encoders) for page in contents.pages),
    )


def _load_encoders(folders: Mapping[str, Path]) -> dict[str, Encoder]:
    """Load models, all of which must load, and return the encoders among them by name."""
    models = {name: load(folder) for name, folder in folders.items()}
    return {name: model for name, model in models.items() if isinstance(model, Encoder)}


def _make_model_records(folders: Mapping[str, Path]) -> dict[str, model_records.ModelRecord]:
    """Return what a collection records of complete models in some folders, by name."""
    records = {}
    for name, folder in folders.items():
        records[name] = model_records.ModelRecord(model_records.compute_digest(folder), is_complete=True)
    return records


def _replace_vectors(
    shape: Mapping[str, Any], encoders: Mapping[str, Encoder], replaced_names: Collection[str]
) -> dict[str, Any]:
    """Return the shape of a store whose vectors of some names come from other models, trained here.

    A model that was trained here has one vector for a document, of full precision.

    :param shape: of a store: the sizes of its vectors (`dense`), the names of those of which a document has several
        (`several`), and the precision of those that have less than the full one.
    :param encoders: the new encoders by the name of their vectors.
    :param replaced_names: the names of all new models.
    """
    sizes = {name: make_document_encoder(encoder).dim for name, encoder in encoders.items()}
    several = [name for name in shape["several"] if name not in replaced_names]
    precisions = {name: precision for name, precision in shape["precision"].items() if name not in replaced_names}
    return {**shape, "dense": {**shape["dense"], **sizes}, "several": several, "precision": precisions}


def _encode_records(records: Sequence[Record], encoders: Mapping[str, Encoder]) -> list[Record]:
    """Return records with the vectors of some encoders in place of those they have under the encoders' names.

    A document that an encoder can't encode has no vector of that name.
    """
    documents = [record.document for record in records]
    vectors_by_document = [dict(record.dense) for record in records]  # each by name
    for name, encoder in encoders.items():
        rows = encode_rows(encoder, documents)
        for vectors, row in zip(vectors_by_document, rows, strict=True):
            vectors.pop(name, None)
            if row is not None and row.any():
                vectors[name] = row
    return [record._replace(dense=vectors) for record, vectors in zip(records, vectors_by_document, strict=True)]


def fill_collection(
    target: str, contents: Contents, *, placement: Placement | None = None, progress: CopyProgress = None
) -> int:
    """Write contents into a new or unfinished collection; return the number of documents.

    If the contents turn out to be unusable, a collection that was created for them is removed again. Any other
    interruption leaves it unfinished, and the same call goes on with it.

    :param target: the folder or the address of the collection.
    :param placement: how a server spreads it.
    :param progress: is told how many documents have been written.
    :raises StoreError: if there is a collection with other contents.
    """
    is_new = not collection_exists(target)
    store = _open_target(target, contents.shape, placement)
    try:
        with store.write_session():
            if store.read_blob(STATISTICS_BLOB) is not None:
                return _verify_finished(store, contents, target, progress)
            return _fill_store(store, contents, target, progress)
    except (InputError, ModelError):
        if is_new:
            store.remove_created()
        raise
    finally:
        with suppress(ClosedError):
            store.close()


def _open_target(target: str, shape: Mapping[str, Any], placement: Placement | None) -> AnyStore:
    """Create the collection to fill, or open one that a copy of the same shape has left unfinished or finished.

    :param shape: names, sizes and precision of the vectors of the copy.
    :param placement: how a server stores a new collection.
    """
    if not collection_exists(target):
        return create_store(
            target,
            dense=shape["dense"],
            sparse=shape["sparse"],
            multivectors=shape["several"],
            precision=shape["precision"],
            placement=placement,
        )
    store = open_store(target)
    try:
        _check_target(store, target, shape)
    except BaseException:
        store.close()
        raise
    return store


def _check_target(store: AnyStore, target: str, shape: Mapping[str, Any]) -> None:
    """Raise StoreError unless a collection is a finished or unfinished copy of the same shape."""
    is_copy = store.read_blob(COPYING) is not None or not store.count()  # or killed before it could be marked
    is_finished = store.read_blob(STATISTICS_BLOB) is not None
    if not is_copy or (is_finished and store.schema != shape):
        raise StoreError(f"{target} already holds a collection, and another than this: choose another place")
    if store.schema != shape:
        raise StoreError(f"{target} was left unfinished by a copy of something else: remove it first")


def _fill_store(store: AnyStore, contents: Contents, target: str, progress: CopyProgress) -> int:
    """Write models, blobs and documents into a store, check that they are there, and write the statistics last.

    Without statistics the collection counts as unfinished.

    :param target: the location of the store, for errors.
    :param progress: is told how many documents have been written.
    :return: the number of documents.
    """
    store.claim_writing()
    store.write_blob(COPYING, b"unfinished")
    for name, folder in contents.models.items():
        model_files.save_model_folder(store, name, folder)
    for name, blob in contents.blobs.items():
        store.write_blob(name, blob)
    expected = _write_documents(store, contents.pages, progress)
    statistics = _verify_copy(store, contents.layout, expected, target)
    store.write_blob(STATISTICS_BLOB, statistics.to_bytes(records=expected.n_documents))
    store.mark_statistics_current()
    return expected.n_documents


def _write_documents(store: AnyStore, pages: Iterable[list[Record]], progress: CopyProgress) -> ContentsDigest:
    """Write documents page by page, those that an interrupted copy has not written yet, and return a digest of all.

    :param progress: is told how many documents have been written.
    """
    contents_digest = ContentsDigest()
    is_continued = store.count() > 0
    for records in pages:
        record_digests = [compute_record_digest(record) for record in records]
        new_records = records
        if is_continued:
            new_records = _select_missing(store, records, record_digests)
        store.add(new_records)
        contents_digest = contents_digest.add(record_digests)
        if progress:
            progress(contents_digest.n_documents)
    return contents_digest


def _select_missing(store: AnyStore, records: Sequence[Record], record_digests: Sequence[int]) -> list[Record]:
    """Return the records that a store doesn't have yet, or has otherwise."""
    stored_records = store.get([record.document.id for record in records], vectors=True)
    missing = []
    for record, record_digest, stored in zip(records, record_digests, stored_records, strict=True):
        if stored is None or compute_record_digest(stored) != record_digest:
            missing.append(record)
    return missing


def _verify_finished(store: AnyStore, contents: Contents, target: str, progress: CopyProgress) -> int:
    """Return how many documents a finished copy has, or raise StoreError if it holds something else. Writes nothing.

    :param contents: what the copy should hold.
    :param progress: is told how many documents have been read.
    """
    expected = _digest_pages(contents.pages, progress)
    # Among the blobs are the digests of the models, which are thereby compared, too.
    is_same = all(store.read_blob(name) == blob for name, blob in contents.blobs.items())
    if is_same:
        is_same = _digest_pages(store.scroll(vectors=True), None) == expected
    if not is_same:
        raise StoreError(f"{target} already holds a collection, and another than this: choose another place")
    return expected.n_documents


def _digest_pages(pages: Iterable[Sequence[Record]], progress: CopyProgress) -> ContentsDigest:
    """Read documents page by page, and return their digest.

    :param progress: is told how many documents have been read.
    """
    contents_digest = ContentsDigest()
    for records in pages:
        contents_digest = contents_digest.add([compute_record_digest(record) for record in records])
        if progress:
            progress(contents_digest.n_documents)
    return contents_digest


def _verify_copy(store: AnyStore, layout: Layout, expected: ContentsDigest, target: str) -> Statistics:
    """Return the statistics of the documents in a store; StoreError if they are not those that were read.

    :param expected: a digest of the documents that were read.
    :param target: the location of the copy, for the error.
    """
    statistics = Statistics(layout)
    actual = ContentsDigest()
    for records in store.scroll(vectors=True):
        statistics.count([record.document.lang for record in records], read_term_vectors(records))
        actual = actual.add([compute_record_digest(record) for record in records])
    if actual != expected:
        raise StoreError(
            f"{target} has {actual.n_documents} documents of {expected.n_documents}, or others than were read: the "
            "collection was changed while it was copied; remove the copy and copy again"
        )
    return statistics


def compute_record_digest(record: Record) -> int:
    """Return a number that is the same for two records only if they agree in every letter and every bit of a vector."""
    document = record.document
    values = [*document[:4], dict(document.fields), dict(document.meta)]  # the first four are texts
    hasher = hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=16)
    for name, row in sorted(record.dense.items()):
        hasher.update(f"{name}{row.shape}".encode() + np.ascontiguousarray(row, "<f4").tobytes())
    for name, vector in sorted(record.sparse.items()):
        hasher.update(f"{name}{len(vector.indices)}".encode())
        hasher.update(vector.indices.astype("<u4").tobytes() + vector.values.astype("<f4").tobytes())
    return int.from_bytes(hasher.digest(), "little")
