"""A collection in a folder on this machine: Qdrant Edge, in this process. Knows nothing of terms or models.

meta.json   format, names and dimensions of the vectors; written last, so a folder that has it is complete
lock        held while the collection is open; its holder answers other processes (see `_owner_server`)
shard/      the engine's own files: documents, vectors, indexes and a write-ahead log
seal.json   checksums of all of these from when the collection was closed (see `_seal`)
blobs/      whatever else belongs to the collection
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import qdrant_edge as edge

from paragloss.bm25 import Ids
from paragloss.errors import StoreError
from paragloss.ranking import rank_sorted, select_best
from paragloss.stores import _folder_layout, _limits
from paragloss.stores._base import BaseStore
from paragloss.stores._blob_files import BlobFiles
from paragloss.stores._disk_space import check_free_space, find_copy_folder, is_disk_full
from paragloss.stores._document_ids import split_scored_points
from paragloss.stores._engine_files import copy_sparse_files, measure_engine_size
from paragloss.stores._engine_jobs import check_readable
from paragloss.stores._engine_loading import engine_errors_as_store_error, load_engine
from paragloss.stores._filters import MATCHES_NOTHING, Condition
from paragloss.stores._lock_file import acquire_lock
from paragloss.stores._owner_server import start_owner_server
from paragloss.stores._payload import build_payload, hash_to_uint64, parse_record, select_payload_keys
from paragloss.stores._point_cache import PointCache
from paragloss.stores._schema import VectorSchema
from paragloss.stores._seal import check_seal, remove_seal, write_seal
from paragloss.stores._shard import Shard, create_engine, make_engine_condition
from paragloss.stores._top_k import fetch_top_k, number_distinct_keys
from paragloss.stores._validation import validate_records
from paragloss.stores._vector_repair import read_vector_names, recover_collection, remove_partial_vectors
from paragloss.types import CandidateRows, Ranking, Record, SparseRows, SparseVector, Where

#: Characters of text for which a document counts once more towards the next flush of all files.
_CHARACTERS_PER_FLUSH_UNIT = 5000


class EmbeddedStore(BaseStore):
    """See `types.Store`. Opened with `open` or `create`; close it, or use it in a `with` block.

    :param path: the collection's folder.
    :param lock: the folder's lock file, which this process holds.
    :param created_folder: whether this process made the folder, and may remove it with the collection.
    """

    path: Path

    def __init__(
        self, path: Path, schema: VectorSchema, shard: Shard, lock: IO[bytes], *, created_folder: bool = False
    ) -> None:
        """Take an opened engine and the lock of its folder, and answer requests of other processes from now on."""
        self.path = path
        self.blob_files = BlobFiles(path / "blobs")
        self._schema = schema
        self._shard = shard
        self._lock = lock
        self._indexed_keys = shard.list_indexed_keys()
        self._cache = PointCache(shard)
        self._created_folder = created_folder
        self._owner_server = start_owner_server(self, self.blob_files, lock)

    # Opening and closing

    @classmethod
    def create(cls, path: Path, schema: VectorSchema) -> EmbeddedStore:
        """Create an empty collection in a folder that is new or empty.

        :raises StoreError: the folder has other files, or no room; what this process put there is removed.
        """
        _folder_layout.check_creatable(path)
        creates_folder = not path.exists()
        lock = _folder_layout.begin_creation(path)
        try:
            _folder_layout.make_subfolders(path)
            check_free_space(path)
            store = cls(path, schema, Shard(path, create_engine(path, schema)), lock, created_folder=creates_folder)
        except BaseException:
            _folder_layout.remove_collection_files(path, remove_folder=creates_folder)
            lock.close()
            raise
        store._write_meta()
        _folder_layout.finish_creation(path)
        return store

    @classmethod
    def open(cls, path: str | Path, *, timeout: float = 1.0, allow_changed_files: bool = False) -> EmbeddedStore:
        """Open the collection of a folder.

        :param timeout: seconds to wait for another process that has the folder open.
        :param allow_changed_files: whether to open a folder whose files another program has changed.
        :raises InUseError: another process has the folder open.
        :raises StoreError: the folder is no collection, or is damaged.
        """
        path = Path(path)
        schema = _folder_layout.read_schema(path)
        if not os.access(path, os.W_OK):
            if not allow_changed_files:
                check_seal(path)
            return cls._open_copy(path, schema, "it is on a read-only disk, or belongs to someone else")
        lock = acquire_lock(path / "lock", timeout=timeout)
        try:
            return cls._open_locked(path, schema, lock, allow_changed_files)
        except BaseException:
            lock.close()
            raise

    @classmethod
    def _open_locked(
        cls, path: Path, schema: VectorSchema, lock: IO[bytes], allow_changed_files: bool
    ) -> EmbeddedStore:
        """Open a folder whose lock this process holds, after repairing what a killed process left.

        :param lock: the folder's lock file.
        :param allow_changed_files: whether to open a folder whose files another program has changed.
        """
        if not allow_changed_files:
            check_seal(path)
        if is_disk_full(path):
            megabytes = _limits.FREE_BYTES_TO_OPEN / 1e6
            remedy = f"free {megabytes:.0f} MB there and open it again; everything that was written is kept"
            return cls._open_copy(path, schema, f"its disk is full, {remedy}", lock)
        recover_collection(path, was_closed=not allow_changed_files and remove_seal(path))
        store = cls(path, schema, Shard(path, load_engine(path / "shard")), lock)
        try:
            store._reconcile_schema()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def _open_copy(
        cls, path: Path, schema: VectorSchema, read_only_reason: str, lock: IO[bytes] | None = None
    ) -> EmbeddedStore:
        """Open a folder on a read-only or full disk. The engine, which writes even to read, gets a copy of its files.

        :param read_only_reason: why nothing can be written, and what to do about it.
        :param lock: the folder's lock file, if this process could lock it.
        """
        copy = Path(tempfile.mkdtemp(prefix="paragloss-reading-", dir=find_copy_folder(measure_engine_size(path))))
        try:
            _copy_engine_files(path, copy)
            shard = Shard(path, load_engine(copy / "shard"), read_only_reason=read_only_reason)
            if lock is None:
                lock = acquire_lock(copy / "lock")
            store = cls(path, schema, shard, lock)
        except OSError as error:
            shutil.rmtree(copy, ignore_errors=True)
            raise StoreError(f"{path} can't be read ({error.strerror})") from None
        except BaseException:
            shutil.rmtree(copy, ignore_errors=True)
            raise
        weakref.finalize(store, shutil.rmtree, copy, True)
        return store

    def close(self) -> None:
        """Release all files and locks."""
        with self._shard.lock:
            self._stop_owner_server()
            try:
                if self._shard.close() and not self._shard.read_only_reason:
                    with suppress(OSError):
                        write_seal(self.path)
            finally:
                self._lock.close()

    def remove_created(self) -> None:
        """Close the collection, which this process has created, and remove it."""
        with self._shard.lock:
            self._stop_owner_server()
            _folder_layout.remove_collection_files(self.path, remove_folder=self._created_folder)
            with suppress(Exception):  # the engine's files have been removed
                self._shard.close()
            self._lock.close()

    def remove_if_empty(self) -> bool:
        """Remove the collection if this process has created it and it has no documents; tell whether it was removed."""
        with self._shard.write_lock:
            if self.count():
                return False
            self.remove_created()
            return True

    # Documents

    def add(self, records: Sequence[Record]) -> None:
        """Insert records, or replace those with the same document id."""
        validate_records(records, self._schema)
        for start in range(0, len(records), _limits.WRITE_BATCH):
            self._add_batch(records[start : start + _limits.WRITE_BATCH])

    def delete(self, ids: Sequence[str]) -> int:
        """Remove documents; return how many of them were stored."""
        id_by_point = {self._get_point_id(document_id): document_id for document_id in ids}
        stored = self._shard.read_payload_key(list(id_by_point), "id")
        point_ids: list[Any] = [point for point, document_id in stored if id_by_point[point] == document_id]
        if point_ids:
            operation = edge.UpdateOperation.delete_points(point_ids)
            with self._shard.write_lock, self._shard.lock:
                self._cache.forget(point_ids)
                self._shard.update(operation, point_ids, needed_bytes=_limits.FREE_BYTES_TO_OPEN)
        return len(point_ids)

    def get(
        self, ids: Sequence[str], *, vectors: bool | Sequence[str] = False, text: bool = True
    ) -> list[Record | None]:
        """Return the records of documents, None for one that is not stored.

        :param vectors: whether to read vectors, or the names of those to read.
        :param text: whether to read texts.
        """
        vector_names = self._schema.select_names(vectors)
        if not vector_names and not text:
            return self._get_without_text(ids)
        point_ids = [self._get_point_id(document_id) for document_id in ids]
        payload_keys = select_payload_keys(with_texts=text)
        records: dict[str, Record] = {}
        for point in self._shard.call("retrieve", point_ids, payload_keys, vector_names or False):
            payload = point.payload  # a property that builds the dictionary anew
            records[payload["id"]] = self._make_record(point, payload)
        return [records.get(document_id) for document_id in ids]

    def count(self, where: Where | None = None, *, without_vector: str | None = None) -> int:
        """Count documents; with `without_vector` only those that have no vector of that name."""
        condition = self._make_filter(where, without_vector)
        if condition is MATCHES_NOTHING:
            return 0
        return int(self._shard.call("count", edge.CountRequest(exact=True, filter=condition)))

    def read_sparse(self, name: str, ids: Sequence[str]) -> tuple[list[str], SparseRows]:
        """Return the languages and one sparse vector of documents."""
        self._schema.check_vector(name)
        return self._cache.get_rows(name, [self._get_point_id(document_id) for document_id in ids])

    def preload_sparse(self, name: str) -> Iterator[int]:
        """See `PointCache.preload`."""
        return self._cache.preload(self._schema.check_vector(name))

    def salvage_records(self) -> Iterator[tuple[list[Record], int]]:
        """Yield all records that can be read, a batch at a time, each with the number of records that can't be."""
        offset = None
        while True:
            request = edge.ScrollRequest(
                offset=offset, limit=_limits.WRITE_BATCH, with_payload=False, with_vector=False
            )
            points, offset = self._shard.call("scroll", request)
            records = self._read_undamaged([point.id for point in points])
            yield records, len(points) - len(records)
            if offset is None:
                return

    # Searching

    def search_and_read(
        self,
        name: str,
        vectors: Sequence[SparseVector],
        k: int,
        where: Where | None = None,
        term_ids: Ids | None = None,
    ) -> CandidateRows:
        """Do what `search_sparse` and `read_sparse` do, with one request.

        :param name: the name of the sparse vectors that are searched and read.
        :param vectors: query vectors; the best k documents of each are returned.
        :param where: a filter of languages and metadata.
        :param term_ids: read the entries with these ids, and a few others; None reads all entries.
        """
        search = _VectorSearch(name, self._make_sparse_queries(name, vectors), self._make_filter(where))
        fetch = partial(self._fetch_scored_points, search)
        with self._shard.lock:  # nothing may be written between searching, reading and caching
            points_by_query = fetch_top_k(fetch, len(vectors), k, select=self._select_points)
            point_ids, row_numbers = number_distinct_keys(points_by_query)
            langs, rows = self._cache.get_rows(name, point_ids, term_ids)
            document_ids = self._cache.document_ids.find(set(point_ids))
            return CandidateRows([document_ids[point_id] for point_id in point_ids], langs, rows, row_numbers)

    # Blobs

    def read_blob(self, name: str) -> bytes | None:
        """Return named bytes; None if there are none."""
        return self.blob_files.read(name)

    def write_blob(self, name: str, data: bytes) -> None:
        """Replace named bytes."""
        self._shard.check_writable(_limits.FREE_BYTES_TO_OPEN + len(data))
        self.blob_files.write(name, data)

    def blob_versions(self) -> dict[str, str]:
        """Return the names of all blobs, each with a version that changes when the blob does."""
        return self.blob_files.list_versions()

    def publish_blob(self, name: str, get_version: Callable[[], str], get_data: Callable[[], bytes]) -> None:
        """Let other processes read what `get_data` returns in place of a blob while this process writes."""
        self.blob_files.publish(name, get_version, get_data)

    def get_blob_change_markers(self, name: str) -> tuple[str, str]:
        """Return two texts: one changes when this process writes the named blob, the other when it writes another."""
        return self.blob_files.get_change_markers(name)

    def optimize(self) -> None:
        """See `Shard.optimize`."""
        self._shard.optimize(lambda: self._schema)
        self._indexed_keys = self._shard.list_indexed_keys()

    # Helpers

    def _stop_owner_server(self) -> None:
        if self._owner_server is not None:
            self._owner_server.stop()

    def _get_point_id(self, document_id: str) -> int:
        return hash_to_uint64(document_id)

    def _add_batch(self, records: Sequence[Record]) -> None:
        """Write records with one operation of the engine.

        From MIN_DOCS_FOR_FIELD_INDEX documents on, their metadata fields get an index.

        :raises StoreError: another document has the point id of one of them, or the disk is full.
        """
        document_ids = [record.document.id for record in records]
        point_ids = [self._get_point_id(document_id) for document_id in document_ids]
        points = [
            edge.Point(point_id, self._make_engine_vectors(record), build_payload(record))
            for point_id, record in zip(point_ids, records, strict=True)
        ]
        # A long text counts as several documents towards the next sync of all files.
        n_documents = sum(1 + len(record.document.text) // _CHARACTERS_PER_FLUSH_UNIT for record in records)
        with self._shard.write_lock, self._shard.lock:
            self._check_collisions(point_ids, document_ids)
            self._cache.forget(point_ids)
            self._shard.update(edge.UpdateOperation.upsert_points(points), point_ids, n_documents=n_documents)
            if self._shard.engine.info().points_count > _limits.MIN_DOCS_FOR_FIELD_INDEX:
                self._index_fields(records)

    def _check_collisions(self, point_ids: Sequence[int], ids: Sequence[str]) -> None:
        """Raise StoreError if one of the points to write has the same id as the point of another document."""
        id_by_point = dict(zip(point_ids, ids, strict=True))
        stored = self._shard.read_payload_key(list(id_by_point), "id")
        for point_id, document_id in [*stored, *zip(point_ids, ids, strict=True)]:
            other_id = id_by_point[point_id]
            if other_id != document_id:
                raise StoreError(
                    f"{self.path}: documents {document_id!r} and {other_id!r} fall on one number: rename one of them"
                )

    def _get_without_text(self, ids: Sequence[str]) -> list[Record | None]:
        """Return records without texts and vectors, from the cache where possible."""
        point_ids = [self._get_point_id(document_id) for document_id in ids]
        payloads = self._cache.get_payloads(point_ids)
        records: list[Record | None] = []
        for point_id, document_id in zip(point_ids, ids, strict=True):
            payload = payloads.get(point_id)
            is_stored = payload is not None and payload["id"] == document_id
            records.append(parse_record(payload, {}, {}) if payload is not None and is_stored else None)
        return records

    def _read_undamaged(self, point_ids: Sequence[Any]) -> list[Record]:
        """Read the records that are not damaged: all of them together, or else one by one."""
        with suppress(StoreError):
            return self._read_records(point_ids)
        records = []
        for point_id in point_ids:
            with suppress(StoreError):
                records += self._read_records([point_id])
        return records

    def _read_records(self, point_ids: Sequence[Any]) -> list[Record]:
        """Read complete records; raise StoreError if one is damaged, also if its payload lacks a key."""
        with engine_errors_as_store_error(f"{self.path} could not be read"):
            return [self._make_record(point) for point in self._shard.call("retrieve", point_ids, True, True)]

    def _read_points(
        self, condition: Any, offset: Any, limit: int, payload_keys: Any, vector_names: Any
    ) -> tuple[Sequence[Any], Any]:
        """Return up to `limit` points that match a filter, and the next offset (None at the end)."""
        request = edge.ScrollRequest(
            offset=offset, limit=limit, filter=condition, with_payload=payload_keys, with_vector=vector_names
        )
        page: tuple[Sequence[Any], Any] = self._shard.call("scroll", request)
        return page

    def _write_meta(self) -> None:
        _folder_layout.write_schema(self.path, self._schema)

    def _reconcile_schema(self) -> None:
        """Reduce the schema and the engine to the dense vectors that both have: a kill may have come in between."""
        with engine_errors_as_store_error(f"{self.path / 'shard'} can't be opened"):
            engine_vectors = read_vector_names(self.path / "shard")
        for name in engine_vectors - set(self._schema.dense):
            self._drop_vector(name)
        for name in set(self._schema.dense) - engine_vectors:
            self._schema = self._schema.remove_dense(name)
            self._write_meta()

    def _add_vector(self, name: str, schema: VectorSchema) -> None:
        self._shard.add_vector(name, schema)

    def _drop_vector(self, name: str) -> None:
        self._shard.update(edge.UpdateOperation.delete_vector_name(name))

    def _write_vectors(self, updates: Sequence[tuple[Any, dict[str, Any]]]) -> None:
        points = [edge.PointVectors(point_id, vectors) for point_id, vectors in updates]
        point_ids = [point_id for point_id, _ in updates]
        with self._shard.write_lock, self._shard.lock:
            self._cache.forget(point_ids)
            self._shard.update(edge.UpdateOperation.update_vectors(points), point_ids, n_documents=len(points))

    def _create_index(self, key: str, kind: str) -> None:
        schema_type = getattr(edge.PayloadSchemaType, kind.title())
        self._shard.update(edge.UpdateOperation.create_field_index(key, schema_type))

    @staticmethod
    def _make_engine_vector(vector: SparseVector) -> Any:
        return edge.SparseVector(vector.indices.tolist(), vector.values.tolist())

    def _make_search_params(self, *, exact: bool, hnsw_ef: int) -> Any:
        quantization = edge.QuantizationSearchParams(ignore=exact, rescore=True, oversampling=_limits.OVERSAMPLING)
        return edge.SearchParams(exact=exact, hnsw_ef=hnsw_ef, quantization=quantization)

    def _make_condition(self, condition: Condition) -> Any:
        return make_engine_condition(condition)

    def _make_id_condition(self, point_ids: Sequence[Any]) -> Any:
        return edge.HasIdCondition(set(point_ids))

    def _make_vector_condition(self, name: str) -> Any:
        return edge.HasVectorCondition(name)

    def _combine_conditions(
        self, *, must: list[Any] | None = None, should: list[Any] | None = None, must_not: list[Any] | None = None
    ) -> Any:
        return edge.Filter(must=must, should=should, must_not=must_not)

    def _search(self, name: str, queries: Sequence[Any], k: int, condition: Any, params: Any) -> list[Ranking]:
        search = _VectorSearch(name, queries, condition, params)
        return fetch_top_k(partial(self._fetch_rankings, search), len(queries), k, select=rank_sorted)

    def _fetch_rankings(
        self, search: _VectorSearch, query_numbers: Sequence[int], limit: int
    ) -> list[tuple[list[str], list[float]]]:
        """Return the document ids and the scores that some queries of a search find, best first."""
        return self._cache.document_ids.name_rankings(self._find_points(search, query_numbers, limit))

    def _fetch_scored_points(
        self, search: _VectorSearch, query_numbers: Sequence[int], limit: int
    ) -> list[tuple[list[int], list[float]]]:
        """Return the point ids and the scores that some queries of a search find, best first."""
        return [split_scored_points(points) for points in self._find_points(search, query_numbers, limit)]

    def _find_points(self, search: _VectorSearch, query_numbers: Sequence[int], limit: int) -> list[Any]:
        """Return for each of some queries of a search the engine's scored points, best first, at most `limit`."""
        if search.condition is MATCHES_NOTHING:
            return [[] for _ in query_numbers]
        requests = [search.make_request(number, limit) for number in query_numbers]
        if len(requests) == 1:
            return [self._shard.call("query", requests[0])]
        points: list[Any] = self._shard.call("query_batch", edge.QueryBatchRequest(requests))
        return points

    def _select_points(self, point_ids: list[int], scores: list[float], k: int) -> list[int]:
        """Return the k best points in any order. Document ids are read only if a tie crosses the end of the list."""
        if len(point_ids) <= k or scores[k - 1] != scores[k]:
            return point_ids[:k]
        document_ids = self._cache.document_ids.find(set(point_ids))
        scored_points = select_best(
            zip(point_ids, scores, strict=True), k, name_of=lambda scored_point: document_ids[scored_point[0]]
        )
        return [point_id for point_id, _ in scored_points]


class _VectorSearch(NamedTuple):
    """A search for the points nearest to each of several query vectors."""

    name: str  # of the vectors that are compared
    queries: Sequence[Any]  # the query vectors as the engine takes them
    condition: Any  # a filter of `_make_filter`
    params: Any = None  # the engine's search parameters

    def make_request(self, query_number: int, limit: int) -> Any:
        """Make the engine's request for the best points of one query, `limit` of them at most."""
        query = edge.Query.Nearest(self.queries[query_number], using=self.name)
        return edge.QueryRequest(query=query, filter=self.condition, params=self.params, limit=limit)


def _copy_engine_files(source: Path, target: Path) -> None:
    """Copy the engine's files from one collection's folder to another, repair the copy, and check that it is readable.

    :raises StoreError: the copy is damaged.
    """
    copy_sparse_files(source / "shard", target / "shard")
    remove_partial_vectors(target / "shard")
    check_readable(target / "shard")
