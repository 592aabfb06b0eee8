"""A collection in a folder on this machine: Qdrant Edge, in this process. Knows nothing of terms or models.

meta.json   format and the names and sizes of the vectors; written last, so a folder with it is whole
lock        held while the collection is open; the process that holds it answers the others (see `_sharing`)
shard/      the engine's own files: documents, vectors, indexes and a write-ahead log
seal.json   what all of these held when the collection was closed (see `_seal`)
blobs/      whatever else belongs to the collection
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, chain, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import numpy as np
import qdrant_edge as edge

from paragloss import __version__
from paragloss.bm25 import Ids
from paragloss.errors import InUseError, StoreError, unread_format
from paragloss.ranking import best, ranked
from paragloss.stores import _checks, _files, _points, _shard, _snapshots
from paragloss.stores._base import BaseStore
from paragloss.stores._blob_files import BlobFiles
from paragloss.stores._guards import OPEN_ROOM, enough_room, find_copy_folder, is_disk_full, loaded, survives, told
from paragloss.stores._point_ids import apart
from paragloss.stores._points import BATCH
from paragloss.stores._postings import Postings
from paragloss.stores._seal import check_seal, seal, unseal
from paragloss.stores._shape import Shape
from paragloss.stores._shard import Shard, condition
from paragloss.stores._sharing import Host
from paragloss.stores._snapshots import copy_sparse
from paragloss.stores._vector_repair import mended, settle, vectors_of
from paragloss.types import CandidateRows, Floats, Ranking, Record, SparseRows, SparseVector, Where

_UNFINISHED = ".creating"
#: Points are called by numbers.
FORMAT = 2


class EmbeddedStore(BaseStore):
    """See `types.Store`. Opened with `open` or `create`; close it, or use it in a `with` block."""

    path: Path

    def __init__(self, path: Path, shape: Shape, shard: Shard, lock: Any) -> None:
        self.path = path
        self._shape = shape
        self._shard = shard
        self._lock = lock
        self._indexed = shard.indexed
        self._postings = Postings(shard)
        self.blob_files = BlobFiles(path / "blobs")
        self._host = _start_host(self, lock)
        self._made_folder = False

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        dense: Mapping[str, int],
        sparse: Sequence[str],
        several: Sequence[str] = (),
        precision: Mapping[str, str] = MappingProxyType({}),
    ) -> EmbeddedStore:
        """Start an empty collection in a folder that is new or empty. `dense` maps names to dimensions; the rest is
        as in `Shape`."""
        path, shape = Path(path), Shape.of(dense, sparse, several, precision)
        if (path / "meta.json").exists():
            raise StoreError(f"{path} already holds a collection: open it, or choose another folder")
        if path.exists() and (not path.is_dir() or (any(path.iterdir()) and not (path / _UNFINISHED).exists())):
            raise StoreError(f"{path} exists and is not an empty folder: choose another place for the collection")
        made_folder = not path.exists()
        lock = cls._begin_creation(path)
        try:
            for part in ("shard", "blobs"):  # of a creation that was killed
                shutil.rmtree(path / part, ignore_errors=True)
                (path / part).mkdir()
            enough_room(path)
            store = cls(path, shape, Shard(path, _shard.create(path, shape)), lock)
        except BaseException:
            cls._remove_contents(path, made_folder)
            lock.close()
            raise
        store._made_folder = made_folder
        store._write_meta()
        (path / _UNFINISHED).unlink(missing_ok=True)
        return store

    @staticmethod
    def _begin_creation(path: Path) -> IO[bytes]:
        """Make the folder and take its lock; InUseError where another process has made a collection of it meanwhile."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            (path / _UNFINISHED).touch()
            lock = _files.lock(path / "lock")
            (path / _UNFINISHED).touch()  # whoever held the lock before may have removed it
        except OSError as error:
            raise StoreError(f"{path} can't be made ({error.strerror}): choose another place") from None
        if (path / "meta.json").exists():
            (path / _UNFINISHED).unlink(missing_ok=True)
            lock.close()
            raise InUseError(f"{path} was made by another process meanwhile: open it")
        return lock

    def remove_created(self) -> None:
        """Remove the collection, which this process has created and holds, and close it."""
        with self._shard.turn:
            if self._host is not None:
                self._host.stop()
            self._remove_contents(self.path, self._made_folder)
            with suppress(Exception):  # the engine's files are gone
                self._shard.close()
            self._lock.close()

    def remove_if_empty(self) -> bool:
        """Remove the collection, which this process has created and holds, if it has no documents; whether it did."""
        with self._shard.writing:
            if self.count():
                return False
            self.remove_created()
            return True

    @staticmethod
    def _remove_contents(path: Path, made_folder: bool) -> None:
        """Remove what a creation has put into a folder whose lock is held, the lock last, and the folder if it was
        made. A kill in between leaves a creation that was killed, which the next one finishes."""
        with suppress(OSError):
            (path / _UNFINISHED).touch()
            (path / "meta.json").unlink(missing_ok=True)
            for part in ("shard", "blobs", "models"):
                shutil.rmtree(path / part, ignore_errors=True)
            for name in ("skipped.tsv", _UNFINISHED, "lock"):
                (path / name).unlink(missing_ok=True)
            if made_folder:
                path.rmdir()

    @classmethod
    def open(cls, path: str | Path, *, patience: float = 1.0, anyway: bool = False) -> EmbeddedStore:
        """`anyway` opens a folder that something else has changed since it was closed."""
        path = Path(path)
        try:
            meta = json.loads((path / "meta.json").read_text(encoding="utf-8"))
            version, shape = meta["format"], Shape.from_json(meta)
        except (FileNotFoundError, NotADirectoryError):
            raise StoreError(f"{path} is not a collection: it has no meta.json (paragloss index makes one)") from None
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{path / 'meta.json'} is damaged ({error}): restore it or index again") from None
        if version != FORMAT:
            raise StoreError(unread_format(path, meta, str(FORMAT)))
        if not os.access(path, os.W_OK):
            check_seal(path, anyway)
            return cls._open_copy(path, shape, "it is on a read-only disk, or belongs to someone else")
        lock = _files.lock(path / "lock", patience=patience)
        try:
            check_seal(path, anyway)
            if is_disk_full(path):
                remedy = f"free {OPEN_ROOM / 1e6:.0f} MB there and open it again; everything that was written is kept"
                return cls._open_copy(path, shape, f"its disk is full, {remedy}", lock)
            mended(path, vouched=not anyway and unseal(path))
            store = cls(path, shape, Shard(path, loaded(path / "shard")), lock)
        except BaseException:
            lock.close()
            raise
        try:
            store._agree()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def _open_copy(cls, path: Path, shape: Shape, reason: str, lock: IO[bytes] | None = None) -> EmbeddedStore:
        """Open a folder that can't be written, on a read-only or full disk: the engine, which writes even to read, gets
        a copy of its files; nothing can be added.

        :param reason: why nothing can be written, and what to do about it.
        :param lock: the folder's lock, where it could be taken.
        """
        home = Path(tempfile.mkdtemp(prefix="paragloss-reading-", dir=find_copy_folder(_snapshots.size(path))))
        try:
            copy_sparse(path / "shard", home / "shard")
            settle(home / "shard")
            survives(home / "shard")
            shard = Shard(path, loaded(home / "shard"), read_only=reason)
            store = cls(home, shape, shard, lock or _files.lock(home / "lock"))
        except OSError as error:
            shutil.rmtree(home, ignore_errors=True)
            raise StoreError(f"{path} can't be read ({error.strerror})") from None
        except BaseException:
            shutil.rmtree(home, ignore_errors=True)
            raise
        store.path, store.blob_files = path, BlobFiles(path / "blobs")
        weakref.finalize(store, shutil.rmtree, home, True)
        return store

    def add(self, records: Sequence[Record]) -> None:
        _checks.checked(records, self._shape)
        for start in range(0, len(records), BATCH):
            some = records[start : start + BATCH]
            weight = sum(1 + len(record.document.text) // 5000 for record in some)
            ids = [record.document.id for record in some]
            keys = [self._point_id(id) for id in ids]
            points = [
                edge.Point(point, self._vectors(record), _points.payload(record))
                for point, record in zip(keys, some, strict=True)
            ]
            with self._shard.writing, self._shard.turn:
                self._unshared(keys, ids)
                self._postings.forget(keys)
                self._shard.update(edge.UpdateOperation.upsert_points(points), keys, weight=weight)
                if self._shard.engine.info().points_count > _points.SCANNED:
                    self._index_fields(some)

    def delete(self, ids: Sequence[str]) -> int:
        wanted = {self._point_id(id): id for id in ids}
        there: list[Any] = [key for key, id in self._shard.payloads(list(wanted), "id") if wanted[key] == id]
        if there:
            with self._shard.writing, self._shard.turn:
                self._postings.forget(there)
                self._shard.update(edge.UpdateOperation.delete_points(there), there, needed_room=OPEN_ROOM)
        return len(there)

    def get(
        self, ids: Sequence[str], *, vectors: bool | Sequence[str] = False, text: bool = True
    ) -> list[Record | None]:
        names, payload = self._shape.names(vectors), True if text else list(_points.BARE)
        keys = [self._point_id(id) for id in ids]
        if not names and not text:
            pairs = zip(map(self._postings.bare(keys).get, keys), ids, strict=True)
            return [_points.record(one, {}, {}) if one is not None and one["id"] == id else None for one, id in pairs]
        points = self._shard.ask("retrieve", keys, payload, names or False)
        read = [(point, point.payload) for point in points]
        found = {(point.id, payload["id"]): (point, payload) for point, payload in read}
        return [self._record(*found[at]) if at in found else None for at in zip(keys, ids, strict=True)]

    def read_sparse(self, name: str, ids: Sequence[str]) -> tuple[list[str], SparseRows]:
        self._shape.known(name)
        return self._postings.rows(name, [self._point_id(id) for id in ids])

    def preload_sparse(self, name: str) -> Iterator[int]:
        """See `Postings.ahead`."""
        return self._postings.ahead(self._shape.known(name))

    def count(self, where: Where | None = None, *, without_vector: str | None = None) -> int:
        matching = self._filter(where, without_vector)
        if matching is _points.NOTHING:
            return 0
        return int(self._shard.ask("count", edge.CountRequest(exact=True, filter=matching)))

    def _page(self, matching: Any, offset: Any, batch: int, payload: Any, names: Any) -> tuple[Sequence[Any], Any]:
        request = edge.ScrollRequest(
            offset=offset, limit=batch, filter=matching, with_payload=payload, with_vector=names
        )
        found: tuple[Sequence[Any], Any] = self._shard.ask("scroll", request)
        return found

    def salvage_records(self) -> Iterator[tuple[list[Record], int]]:
        """Every record that can be read, a batch at a time with how many can't: of a batch with one that is damaged the
        others are asked for one by one."""
        offset = None
        while True:
            request = edge.ScrollRequest(offset=offset, limit=BATCH, with_payload=False, with_vector=False)
            points, offset = self._shard.ask("scroll", request)
            keys = [point.id for point in points]
            try:
                records = self._records(keys)
            except StoreError:
                records = []
                for key in keys:
                    with suppress(StoreError):
                        records += self._records([key])
            yield records, len(keys) - len(records)
            if offset is None:
                return

    def _records(self, keys: Sequence[Any]) -> list[Record]:
        with told(f"{self.path} could not be read"):  # what a payload lacks is damage, too
            return [self._record(point) for point in self._shard.ask("retrieve", keys, True, True)]

    def search_dense(
        self,
        name: str,
        vectors: Floats,
        k: int,
        where: Where | None = None,
        *,
        exact: bool = False,
        among: Sequence[str] | None = None,
    ) -> list[Ranking]:
        """`exact` compares with every document, or with those it is `among`, instead of walking the graph."""
        queries = _checks.asked(self._shape, name, vectors)
        breadth = _points.BREADTH_FILTERED if where else _points.BREADTH
        coarse = edge.QuantizationSearchParams(ignore=exact, rescore=True, oversampling=_points.OVERSAMPLING)
        params = edge.SearchParams(exact=exact, hnsw_ef=breadth, quantization=coarse)
        nearest = [edge.Query.Nearest(row, using=name) for row in queries]
        return self._search(nearest, k, self._filter(where, among=among), params)

    def search_and_read(
        self, name: str, vectors: Sequence[SparseVector], k: int, where: Where | None = None, among: Ids | None = None
    ) -> CandidateRows:
        self._shape.known(name)
        answer, names = self._answering(self._nearest(name, vectors), self._filter(where), None), self._postings.names

        def choose(points: list[int], scores: list[float], k: int) -> list[int]:
            """In any order: what they are called is asked where equals stand on both sides of the edge."""
            if len(points) <= k or scores[k - 1] != scores[k]:
                return points[:k]
            known = names.known(set(points))
            return [point for point, _ in best(zip(points, scores, strict=True), k, called=lambda one: known[one[0]])]

        with self._shard.turn:  # nothing is written between finding, reading and remembering
            found = _points.settle(lambda *some: map(apart, answer(*some)), len(vectors), k, choose=choose)
            place = {point: i for i, point in enumerate(dict.fromkeys(chain.from_iterable(found)))}
            langs, rows = self._postings.rows(name, list(place), among)
            known, where_of = names.known(place.keys()), place.__getitem__
            there = np.array([*map(where_of, chain.from_iterable(found))], np.int64)
            edges = pairwise(accumulate(map(len, found), initial=0))
            return CandidateRows(
                [*map(known.__getitem__, place)], langs, rows, [there[start:end] for start, end in edges]
            )

    def search_sparse(
        self, name: str, vectors: Sequence[SparseVector], k: int, where: Where | None = None
    ) -> list[Ranking]:
        self._shape.known(name)
        return self._search(self._nearest(name, vectors), k, self._filter(where), None)

    def read_blob(self, name: str) -> bytes | None:
        return self.blob_files.read(name)

    def write_blob(self, name: str, data: bytes) -> None:
        self._shard.writable(OPEN_ROOM + len(data))
        self.blob_files.write(name, data)

    def blob_versions(self) -> dict[str, str]:
        return self.blob_files.versions()

    def publish_blob(self, name: str, version: Callable[[], str], data: Callable[[], bytes]) -> None:
        """While this process has the folder, others that read this blob get what `data` says now."""
        self.blob_files.publish(name, version, data)

    def blob_state(self, blob: str) -> tuple[str, str]:
        return self.blob_files.state(blob)

    def optimize(self) -> None:
        """See `Shard.optimize`."""
        self._shard.optimize(lambda: self._shape)
        self._indexed = self._shard.indexed

    def close(self) -> None:
        with self._shard.turn:
            if self._host is not None:
                self._host.stop()
            if self._shard.close():
                if not self._shard.read_only:
                    with suppress(OSError):
                        seal(self.path)
                self._lock.close()

    def _point_id(self, document: str) -> int:
        return _points.point_number(document)

    def _unshared(self, keys: Sequence[int], ids: Sequence[str]) -> None:
        """None of the points that are about to be written may be another document's."""
        wanted = dict(zip(keys, ids, strict=True))
        there = [*self._shard.payloads(list(wanted), "id"), *zip(keys, ids, strict=True)]
        for key, id in there:
            if wanted[key] != id:
                raise StoreError(
                    f"{self.path}: documents {id!r} and {wanted[key]!r} fall on one number: rename one of them"
                )

    def _write_meta(self) -> None:
        meta = {**self._shape.as_json(), "format": FORMAT, "paragloss": __version__}
        _files.write_whole(self.path / "meta.json", json.dumps(meta, indent=1).encode())

    def _agree(self) -> None:
        """Make the shape and the engine name the same dense vectors, those that both have: a kill came between."""
        with told(f"{self.path / 'shard'} can't be opened"):
            there = vectors_of(self.path / "shard")
        for name in there - set(self._shape.dense):
            self._drop_vector(name)
        for name in set(self._shape.dense) - there:
            self._shape = self._shape.without(name)
            self._write_meta()

    def _drop_vector(self, name: str) -> None:
        self._shard.update(edge.UpdateOperation.delete_vector_name(name))

    def _add_vector(self, name: str, shape: Shape) -> None:
        self._shard.add_vector(name, shape)

    def _write_vectors(self, vectors: Sequence[tuple[Any, dict[str, Any]]]) -> None:
        points = [edge.PointVectors(id, named) for id, named in vectors]
        keys = [id for id, _ in vectors]
        with self._shard.writing, self._shard.turn:
            self._postings.forget(keys)
            self._shard.update(edge.UpdateOperation.update_vectors(points), keys, weight=len(points))

    @staticmethod
    def _sparse(vector: SparseVector) -> Any:
        return edge.SparseVector(vector.indices.tolist(), vector.values.tolist())

    def _nearest(self, name: str, vectors: Sequence[SparseVector]) -> list[Any]:
        return [edge.Query.Nearest(self._sparse(vector), using=name) for vector in vectors]

    def _search(self, queries: Sequence[Any], k: int, matching: Any, params: Any) -> list[Ranking]:
        answer = self._answering(queries, matching, params)
        return _points.settle(
            lambda which, limit: self._postings.names.named(answer(which, limit)), len(queries), k, choose=ranked
        )

    def _answering(
        self, queries: Sequence[Any], matching: Any, params: Any
    ) -> Callable[[Sequence[int], int], list[Any]]:
        """Puts some of the questions to the engine, for so many points each."""
        if matching is _points.NOTHING:
            return lambda which, limit: [[] for _ in which]

        def answer(which: Sequence[int], limit: int) -> list[Any]:
            requests = [edge.QueryRequest(limit=limit, query=queries[i], filter=matching, params=params) for i in which]
            if len(requests) == 1:
                return [self._shard.ask("query", requests[0])]
            found: list[Any] = self._shard.ask("query_batch", edge.QueryBatchRequest(requests))
            return found

        return answer

    def _index(self, key: str, kind: str) -> None:
        self._shard.update(edge.UpdateOperation.create_field_index(key, getattr(edge.PayloadSchemaType, kind.title())))

    def _filter(
        self, where: Where | None, without_vector: str | None = None, *, among: Sequence[str] | None = None
    ) -> Any:
        """The engine's filter: None where all may be found, `NOTHING` where none can be."""
        groups = _points.conditions(where, self._indexed)
        if groups is None:
            return _points.NOTHING
        without: list[Any] | None = (
            [edge.HasVectorCondition(self._shape.known(without_vector))] if without_vector else None
        )
        must: list[Any] = [edge.Filter(should=[condition(match) for match in group]) for group in groups]
        if among is not None:
            must.append(edge.HasIdCondition({self._point_id(id) for id in among}))
        return edge.Filter(must=must, must_not=without) if must or without else None  # one without conditions is slow


def _start_host(store: EmbeddedStore, lock: IO[bytes]) -> Host | None:
    """Answer other processes, where this system and the disk of its temporary folder allow it."""
    if hasattr(socket, "AF_UNIX"):
        with suppress(OSError):
            return Host(store, lock)
    _files.write_holder(lock)
    return None
