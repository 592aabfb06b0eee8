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
import subprocess
import sys
import tempfile
import threading
import uuid
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import qdrant_edge as edge

from paragloss import __version__
from paragloss.errors import ClosedError, StoreError, unread_format
from paragloss.ranking import rank
from paragloss.stores import _files, _points, _snapshots
from paragloss.stores._base import KeptVectors
from paragloss.stores._guards import TOGETHER, enough_room, loaded, survives, told
from paragloss.stores._point_ids import Names
from paragloss.stores._points import BATCH, Between, Match, Shape
from paragloss.stores._recent import Packed, Recent
from paragloss.stores._seal import broken, seal, unseal
from paragloss.stores._sharing import Host
from paragloss.stores._snapshots import copy_sparse
from paragloss.stores._vector_repair import settle, vectors_of
from paragloss.types import Floats, Looked, Ranking, Record, SparseRows, SparseVector, Where

_OPTIMIZE = f"""{TOGETHER}
shard.optimize()
shard.flush()
shard.close()
"""
_ID, _SCORE = attrgetter("id"), attrgetter("score")
_UNFINISHED = ".creating"
#: Points are called by numbers.
FORMAT = 2
#: Documents written between two syncs of everything; a long one counts as several.
FLUSH = 10_000
#: Documents read ahead in one step, for which searches wait.
_AHEAD = 50


class EmbeddedStore(KeptVectors):
    """See `types.Store`. Opened with `open` or `create`; close it, or use it in a `with` block."""

    def __init__(self, path: Path, shape: Shape, shard: Any, lock: Any) -> None:
        self.path = path
        self._shape = shape
        self._shard = shard
        self._lock = lock
        self._turn = threading.RLock()  # the engine holds the interpreter while it works: turns cost nothing
        self._writing = threading.RLock()  # held before a turn, by who wants others to read but not to write
        self._building = threading.Lock()  # one graph at a time: what was written since is noted for one
        self._since: set[int] | None = None  # points written since a copy was made
        self._unflushed = 0
        self._indexed = set(shard.info().payload_schema)
        self._names = Names(lambda points: self._payloads(points, "id"))
        self._recent = Recent()  # whatever is written is left out
        self.token = uuid.uuid4().hex
        self._changes: Counter[str] = Counter()
        self._live: dict[str, tuple[Callable[[], str], Callable[[], bytes]]] = {}
        self._read_only = False
        self._host = Host(self, path) if hasattr(socket, "AF_UNIX") else None

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
        try:
            path.mkdir(parents=True, exist_ok=True)
            (path / _UNFINISHED).touch()
        except OSError as error:
            raise StoreError(f"{path} can't be made ({error.strerror}): choose another place") from None
        lock = _files.lock(path / "lock")
        for part in ("shard", "blobs"):  # of a creation that was killed
            shutil.rmtree(path / part, ignore_errors=True)
            (path / part).mkdir()
        enough_room(path)
        shard = edge.EdgeShard.create(str(path / "shard"), _config(shape))
        for key in ("lang", "flags"):
            shard.update(edge.UpdateOperation.create_field_index(key, edge.PayloadSchemaType.Keyword))
        shard.flush()
        store = cls(path, shape, shard, lock)
        store._write_meta()
        (path / _UNFINISHED).unlink(missing_ok=True)
        return store

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
            _unchanged(path, anyway)
            return cls._borrowed(path, shape)
        lock = _files.lock(path / "lock", patience=patience)
        try:
            _unchanged(path, anyway)
            vouched = not anyway and unseal(path)
            _snapshots.mend(path)
            _files.sweep(path)
            _files.sweep(path / "blobs")
            settle(path / "shard")
            if not vouched:
                survives(path / "shard")
            store = cls(path, shape, loaded(path / "shard"), lock)
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
    def _borrowed(cls, path: Path, shape: Shape) -> EmbeddedStore:
        """A folder that can't be written, such as on a read-only disk: the engine, which writes even to read, gets a
        copy of its files; nothing can be added."""
        home = Path(tempfile.mkdtemp(prefix="paragloss-reading-"))
        try:
            copy_sparse(path / "shard", home / "shard")
            settle(home / "shard")
            store = cls(home, shape, loaded(home / "shard"), _files.lock(home / "lock"))
        except OSError as error:
            shutil.rmtree(home, ignore_errors=True)
            raise StoreError(f"{path} can't be read ({error.strerror})") from None
        store.path, store._read_only = path, True
        weakref.finalize(store, shutil.rmtree, home, True)
        return store

    def add(self, records: Sequence[Record]) -> None:
        _points.checked(records, self._shape)
        for start in range(0, len(records), BATCH):
            some = records[start : start + BATCH]
            weight = sum(1 + len(record.document.text) // 5000 for record in some)
            ids = [record.document.id for record in some]
            keys = [self._point_id(id) for id in ids]
            points = [
                edge.Point(point, self._vectors(record), _points.payload(record))
                for point, record in zip(keys, some, strict=True)
            ]
            with self._writing, self._turn:
                self._unshared(keys, ids)
                self._changed(keys)
                self._update(edge.UpdateOperation.upsert_points(points), weight)
                if self._open.info().points_count > _points.SCANNED:
                    self._index_fields(some)

    def delete(self, ids: Sequence[str]) -> int:
        wanted = {self._point_id(id): id for id in ids}
        there = [key for key, id in self._payloads(list(wanted), "id") if wanted[key] == id]
        if there:
            with self._writing, self._turn:
                self._changed(there)
                self._update(edge.UpdateOperation.delete_points([*there]))
        return len(there)

    def get(
        self, ids: Sequence[str], *, vectors: bool | Sequence[str] = False, text: bool = True
    ) -> list[Record | None]:
        names, payload = self._shape.names(vectors), True if text else list(_points.BARE)
        keys = [self._point_id(id) for id in ids]
        found = {p.id: p for p in self._ask("retrieve", keys, payload, names or False)}
        points = [found.get(key) for key in keys]
        mine = [point is not None and point.payload["id"] == id for point, id in zip(points, ids, strict=True)]
        return [self._record(point) if own else None for point, own in zip(points, mine, strict=True)]

    def read_sparse(self, name: str, ids: Sequence[str]) -> tuple[list[str], SparseRows]:
        self._shape.known(name)
        with self._turn:  # nothing is written between reading and remembering
            points = [self._point_id(id) for id in ids]
            return self._recent.rows(name, points, lambda some: self._packed(name, some))

    def _packed(self, name: str, points: Sequence[int]) -> Iterator[tuple[int, Packed]]:
        found = self._ask("retrieve", points, ["lang"], [name])
        return ((point.id, _vector_of(point, name)) for point in found)

    def read_ahead(self, name: str) -> Iterator[int]:
        """What searches would read bit by bit: how documents are called, and one sparse vector of each; as many as are
        remembered. Gives back how many were read after each step, so that searches have their turn between."""
        self._shape.known(name)
        offset, read = None, 0
        while True:
            request = edge.ScrollRequest(
                offset=offset, limit=_AHEAD, with_payload=["id", "lang"], with_vector=[name], filter=edge.Filter()
            )
            with self._turn:
                points, offset = self._ask("scroll", request)
                self._names.know((point.id, point.payload["id"]) for point in points)
                if not self._recent.remember(name, [(point.id, _vector_of(point, name)) for point in points]):
                    return
            read += len(points)
            yield read
            if offset is None:
                return

    def count(self, where: Where | None = None, *, lacking: str | None = None) -> int:
        matching = self._filter(where, lacking)
        if matching is None:
            return 0
        return int(self._ask("count", edge.CountRequest(exact=True, filter=matching)))

    def page(
        self,
        where: Where | None,
        offset: Any,
        batch: int,
        vectors: bool | Sequence[str],
        lacking: str | None = None,
        text: bool = True,
    ) -> tuple[list[Record], Any]:
        matching, names = self._filter(where, lacking), self._shape.names(vectors)
        if matching is None:
            return [], None
        request = edge.ScrollRequest(
            offset=offset,
            limit=batch,
            filter=matching,
            with_payload=True if text else list(_points.BARE),
            with_vector=names or False,
        )
        points, after = self._ask("scroll", request)
        return [self._record(point) for point in points], after

    def salvage(self) -> Iterator[tuple[list[Record], int]]:
        """Every record that can be read, a batch at a time with how many can't: of a batch with one that is damaged the
        others are asked for one by one."""
        offset = None
        while True:
            request = edge.ScrollRequest(offset=offset, limit=BATCH, with_payload=False, with_vector=False)
            points, offset = self._ask("scroll", request)
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
            return [self._record(point) for point in self._ask("retrieve", keys, True, True)]

    def search_dense(
        self, name: str, vectors: Floats, k: int, where: Where | None = None, *, exact: bool = False
    ) -> list[Ranking]:
        """`exact` compares with every document instead of walking the graph."""
        queries = _points.asked(self._shape, name, vectors)
        breadth = _points.BREADTH_FILTERED if where else _points.BREADTH
        coarse = edge.QuantizationSearchParams(ignore=exact, rescore=True, oversampling=_points.OVERSAMPLING)
        params = edge.SearchParams(exact=exact, hnsw_ef=breadth, quantization=coarse)
        return self._search([edge.Query.Nearest(row, using=name) for row in queries], k, where, params)

    def look(self, name: str, vectors: Sequence[SparseVector], k: int, where: Where | None = None) -> Looked:
        self._shape.known(name)
        names: dict[int, str] = {}
        answer = self._answering(
            [edge.Query.Nearest(self._sparse(vector), using=name) for vector in vectors], where, None
        )

        def fetch(which: list[int], limit: int) -> list[list[tuple[int, float]]]:
            answers = answer(which, limit)
            found = [list(zip(map(_ID, points), map(_SCORE, points), strict=True)) for points in answers]
            keys = {key for points in found for key, _ in points}
            known = self._names.known(keys)
            names.update((key, known[key]) for key in keys)
            return found

        choose = _points.chosen(lambda point: names[point[0]])
        with self._turn:  # nothing is written between finding, reading and remembering
            settled = _points.settle(fetch, len(vectors), k, choose=choose)
            place = {key: i for i, key in enumerate(dict.fromkeys(key for points in settled for key, _ in points))}
            langs, rows = self._recent.rows(name, list(place), lambda some: self._packed(name, some))
            found = [np.array([place[key] for key, _ in points], np.int64) for points in settled]
            return Looked([names[key] for key in place], langs, rows, found)

    def search_sparse(
        self, name: str, vectors: Sequence[SparseVector], k: int, where: Where | None = None
    ) -> list[Ranking]:
        self._shape.known(name)
        return self._search(
            [edge.Query.Nearest(self._sparse(vector), using=name) for vector in vectors], k, where, None
        )

    def read_blob(self, name: str) -> bytes | None:
        try:
            return (self.path / "blobs" / _points.named(name, "blob")).read_bytes()
        except FileNotFoundError:
            return None

    def write_blob(self, name: str, data: bytes) -> None:
        self._writable()
        try:
            _files.write_whole(self.path / "blobs" / _points.named(name, "blob"), data)
        except OSError as error:
            raise StoreError(f"{self.path} could not be written ({error.strerror}); nothing is harmed") from None
        self._changes[name] += 1

    def blobs(self) -> dict[str, str]:
        names = sorted(path.name for path in (self.path / "blobs").iterdir() if not path.name.startswith("."))
        return {name: str(self._changes[name]) for name in names}

    def publish(self, name: str, version: Callable[[], str], data: Callable[[], bytes]) -> None:
        """While this process has the folder, others that read this blob get what `data` says now."""
        self._live[name] = version, data

    def published_version(self, name: str) -> str:
        """For other processes: changes whenever the blob does, or what is published in its place."""
        return f"{self.token}:{self._live[name][0]() if name in self._live else self._changes[name]}"

    def published(self, name: str) -> bytes | None:
        """For other processes: a blob, or what is published in its place."""
        return self._live[name][1]() if name in self._live else self.read_blob(name)

    def state(self, blob: str) -> tuple[str, str]:
        others = sorted((name, count) for name, count in list(self._changes.items()) if name != blob)
        return self.published_version(blob), json.dumps(others)

    def optimize(self) -> None:
        """Build the graphs that dense searches walk, with coarse copies of the vectors to walk by, which takes half the
        time. Searches and writes go on meanwhile.

        The engine would hold the interpreter for all of it (minutes for 100,000 documents; no interrupt, no other
        thread), so another process does it, which dies with this one, on a copy of the engine's files. What was
        written since is brought over before the copy takes the place of the original.
        """
        with self._building:
            try:
                with self._writing:
                    enough_room(self.path, more=2 * _snapshots.size(self.path))
                    shape, self._since = self._shape, set()
                    with told(f"{self.path} could not be copied"):
                        with self._turn:
                            self._open.flush()
                        copy = _snapshots.copied(self.path)
                self._exchange(copy, shape)
            finally:
                self._since = None

    def _exchange(self, copy: Path, shape: Shape) -> None:
        """Build in a copy, and go on with that unless other vectors are kept by then."""
        try:
            with told(f"{self.path} could not be optimized"):
                self._build(copy / "shard", shape)
                with self._writing:
                    if self._shape == shape:
                        self._bring_over(copy / "shard")
                        self._replace(copy)
        finally:
            shutil.rmtree(copy, ignore_errors=True)

    def _build(self, shard: Path, shape: Shape) -> None:
        """Have another process build graphs in a folder of the engine's that nobody has open."""
        loaded(shard, _config(shape, walked=True)).close()
        try:
            subprocess.run([sys.executable, "-c", _OPTIMIZE, shard, str(os.getpid())], check=True, capture_output=True)
        except subprocess.CalledProcessError as error:
            reason = error.stderr.decode(errors="replace").strip()[-300:]
            raise StoreError(f"{self.path} could not be optimized ({reason}); its documents are unharmed") from None

    def _bring_over(self, shard: Path) -> None:
        """Points that were written since the copy was made, as they are now."""
        new, since = loaded(shard), sorted(self._since or ())
        try:
            for start in range(0, len(since), BATCH):
                some = since[start : start + BATCH]
                here = self._ask("retrieve", some, True, True)
                gone = set(some) - {point.id for point in here}
                if here:
                    points = [edge.Point(p.id, p.vector, p.payload) for p in here]
                    new.update(edge.UpdateOperation.upsert_points(points))
                if gone:
                    new.update(edge.UpdateOperation.delete_points(sorted(gone)))
        finally:
            new.flush()
            new.close()

    def _replace(self, copy: Path) -> None:
        """Go on with the copy's engine in place of this one's. A kill in between is mended by opening."""
        with self._turn:
            self._open.flush()
            self._open.close()
            try:
                _snapshots.exchange(self.path, copy)
            finally:
                self._shard = loaded(self.path / "shard")
                self._unflushed, self._indexed = 0, set(self._shard.info().payload_schema)

    def close(self) -> None:
        with self._turn:
            shard, self._shard = self._shard, None
            if self._host is not None:
                self._host.stop()
            if shard is not None:
                shard.flush()
                shard.close()
                if not self._read_only:
                    with suppress(OSError):
                        seal(self.path)
                self._lock.close()

    @property
    def _open(self) -> Any:
        if self._shard is None:
            raise ClosedError(f"{self.path} has been closed: open it again")
        return self._shard

    def _ask(self, method: str, *args: Any) -> Any:
        with self._turn, told(f"{self.path} could not be read"):
            return getattr(self._open, method)(*args)

    def _payloads(self, points: Sequence[int], key: str) -> list[tuple[int, str]]:
        """What some points hold under one key."""
        found = self._ask("retrieve", points, [key], False) if points else []
        return [(point.id, point.payload[key]) for point in found]

    def _point_id(self, document: str) -> int:
        return _points.point_number(document)

    def _changed(self, keys: Sequence[int]) -> None:
        """Points that are about to be written."""
        self._recent.forget(keys)
        if self._since is not None:
            self._since.update(keys)

    def _unshared(self, keys: Sequence[int], ids: Sequence[str]) -> None:
        """None of the points that are about to be written may be another document's."""
        wanted = dict(zip(keys, ids, strict=True))
        there = [*self._payloads(list(wanted), "id"), *zip(keys, ids, strict=True)]
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
        self._update(edge.UpdateOperation.delete_vector_name(name))

    def _add_vector(self, name: str, shape: Shape) -> None:
        kept = _params(shape, name)
        made = edge.UpdateOperation.create_dense_vector(
            name, shape.dense[name], edge.Distance.Dot, kept.multivector_config, kept.datatype
        )
        self._update(made)
        if kept.quantization_config is not None:  # the engine takes coarse copies only when it opens
            with self._turn:
                self._open.flush()
                self._open.close()
                self._shard = loaded(self.path / "shard", _config(shape))

    def _write_vectors(self, vectors: Sequence[tuple[Any, dict[str, Any]]]) -> None:
        points = [edge.PointVectors(id, named) for id, named in vectors]
        with self._writing, self._turn:
            self._changed([id for id, _ in vectors])
            self._update(edge.UpdateOperation.update_vectors(points), len(points))

    @staticmethod
    def _sparse(vector: SparseVector) -> Any:
        return edge.SparseVector(vector.indices.tolist(), vector.values.tolist())

    def _update(self, operation: Any, weight: int = 1) -> None:
        """Apply and make durable: the engine has written its log when it returns, which survives a kill of this
        process, and the log is synced to disk, which survives a power cut. Syncing everything else costs ten
        times as much and is done when the log has grown, so that opening never has much of it to read."""
        self._writable()
        with self._writing, self._turn, told(f"{self.path} could not be written"):
            self._open.update(operation)
            self._unflushed += weight
            if self._unflushed >= FLUSH or sys.platform == "win32":
                self._open.flush()
                self._unflushed = 0
            else:
                _files.sync_contents(self.path / "shard" / "wal")

    def _writable(self) -> None:
        if self._read_only:
            raise StoreError(f"{self.path} can't be written: it is on a read-only disk, or belongs to someone else")
        enough_room(self.path)

    def _search(self, queries: Sequence[Any], k: int, where: Where | None, params: Any) -> list[Ranking]:
        answer = self._answering(queries, where, params)
        return _points.settle(
            lambda which, limit: self._names.rankings(answer(which, limit)), len(queries), k, choose=rank
        )

    def _answering(
        self, queries: Sequence[Any], where: Where | None, params: Any
    ) -> Callable[[Sequence[int], int], list[Any]]:
        """Puts some of the questions to the engine, for so many points each."""
        matching = self._filter(where) if where else None
        if where and matching is None:
            return lambda which, limit: [[] for _ in which]

        def answer(which: Sequence[int], limit: int) -> list[Any]:
            requests = [edge.QueryRequest(limit=limit, query=queries[i], filter=matching, params=params) for i in which]
            if len(requests) == 1:
                return [self._ask("query", requests[0])]
            found: list[Any] = self._ask("query_batch", edge.QueryBatchRequest(requests))
            return found

        return answer

    def _index(self, key: str, kind: str) -> None:
        self._update(edge.UpdateOperation.create_field_index(key, getattr(edge.PayloadSchemaType, kind.title())))

    def _filter(self, where: Where | None, lacking: str | None = None) -> Any:
        """The engine's filter; None when nothing can match."""
        groups = _points.conditions(where, self._indexed)
        if groups is None:
            return None
        without: list[Any] | None = [edge.HasVectorCondition(self._shape.known(lacking))] if lacking else None
        must: list[Any] = [edge.Filter(should=[_condition(match) for match in group]) for group in groups]
        return edge.Filter(must=must, must_not=without)


def _vector_of(point: Any, name: str) -> Packed:
    vector = point.vector.get(name)
    entries = (vector.indices, vector.values) if vector else ((), ())
    return Packed(point.payload["lang"], _points.sparse(*entries))


def _unchanged(path: Path, anyway: bool) -> None:
    if not anyway and (changed := broken(path)):
        raise StoreError(
            f"{path} is damaged: {changed} is not what it was when the collection was closed; restore a copy, or "
            "`paragloss repair` keeps what can be read"
        )


def _config(shape: Shape, *, walked: bool = False) -> Any:
    return edge.EdgeConfig(
        vectors={name: _params(shape, name, walked=walked) for name in shape.dense},
        sparse_vectors={name: edge.EdgeSparseVectorParams() for name in shape.sparse},
    )


def _params(shape: Shape, name: str, *, walked: bool = False) -> Any:
    """How the engine keeps a dense vector. Coarse copies stay in memory, what they stand for on disk; those by which a
    graph is `walked` are there beside whole ones."""
    int8 = edge.ScalarQuantizationConfig(edge.ScalarType.Int8, quantile=0.99, always_ram=True)
    coarse = shape.precision.get(name) == "int8"
    return edge.EdgeVectorParams(
        size=shape.dense[name],
        distance=edge.Distance.Dot,
        on_disk=True if coarse else None,
        multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim) if name in shape.several else None,
        datatype=edge.VectorStorageDatatype.Float16 if shape.precision.get(name) == "float16" else None,
        quantization_config=int8 if coarse or walked else None,
    )


def _condition(match: Match | Between) -> Any:
    if isinstance(match, Between):
        return edge.FieldCondition(match.key, range=edge.RangeFloat(**_points.limits(match.range)))
    return edge.FieldCondition(match.key, match=edge.MatchAny(match.values))
