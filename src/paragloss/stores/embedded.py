"""A collection in a folder on this machine: Qdrant Edge, in this process. Knows nothing of terms or models.

meta.json   format and the names and sizes of the vectors; written last, so a folder with it is whole
lock        held while the collection is open: one process at a time
shard/      the engine's own files: documents, vectors, indexes and a write-ahead log
blobs/      whatever else belongs to the collection
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import qdrant_edge as edge

from paragloss.errors import StoreError
from paragloss.stores import _files, _points
from paragloss.stores._base import KeptVectors
from paragloss.stores._points import BATCH, Between, Match, Shape
from paragloss.types import Floats, Ranking, Record, SparseVector, Where

_OPTIMIZE = """
import ctypes, os, sys, qdrant_edge
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG: be killed when the one who asked is
    if os.getppid() != int(sys.argv[2]):
        sys.exit("the one who asked is gone")
shard = qdrant_edge.EdgeShard.load(sys.argv[1])
shard.optimize()
shard.flush()
shard.close()
"""
#: Documents written between two syncs of everything; a long one counts as several.
FLUSH = 10_000


class EmbeddedStore(KeptVectors):
    """See `types.Store`. Opened with `open` or `create`; close it, or use it in a `with` block."""

    def __init__(self, path: Path, shape: Shape, shard: Any, lock: Any) -> None:
        self.path = path
        self._shape = shape
        self._shard = shard
        self._lock = lock
        self._turn = threading.RLock()  # the engine holds the interpreter while it works: turns cost nothing
        self._unflushed = 0
        self._indexed = set(shard.info().payload_schema)

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
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise StoreError(f"{path} exists and is not an empty folder: choose another place for the collection")
        (path / "shard").mkdir(parents=True)
        (path / "blobs").mkdir()
        lock = _files.lock(path / "lock")
        shard = edge.EdgeShard.create(str(path / "shard"), _config(shape))
        for key in ("lang", "flags"):
            shard.update(edge.UpdateOperation.create_field_index(key, edge.PayloadSchemaType.Keyword))
        shard.flush()
        store = cls(path, shape, shard, lock)
        store._write_meta()
        return store

    @classmethod
    def open(cls, path: str | Path) -> EmbeddedStore:
        path = Path(path)
        try:
            meta = json.loads((path / "meta.json").read_text(encoding="utf-8"))
            version, shape = meta["format"], Shape.from_json(meta)
        except (FileNotFoundError, NotADirectoryError):
            raise StoreError(f"{path} is not a collection: it has no meta.json (paragloss index makes one)") from None
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{path / 'meta.json'} is damaged ({error}): restore it or index again") from None
        if version != _points.FORMAT:
            raise StoreError(f"{path} has format {version}, this version reads {_points.FORMAT}: index again")
        lock = _files.lock(path / "lock")
        try:
            shard = edge.EdgeShard.load(str(path / "shard"))
        except Exception as error:
            lock.close()
            raise StoreError(f"{path / 'shard'} can't be opened ({error}): restore it or index again") from error
        return cls(path, shape, shard, lock)

    def add(self, records: Sequence[Record]) -> None:
        _points.checked(records, self._shape)
        for start in range(0, len(records), BATCH):
            some = records[start : start + BATCH]
            weight = sum(1 + len(record.document.text) // 5000 for record in some)
            self._update(edge.UpdateOperation.upsert_points([self._point(record) for record in some]), weight)

    def delete(self, ids: Sequence[str]) -> int:
        points = list({_points.point_id(id): None for id in ids})
        there = [record.id for record in self._ask("retrieve", points, False, False)]
        if there:
            self._update(edge.UpdateOperation.delete_points(there))
        return len(there)

    def get(self, ids: Sequence[str], *, vectors: bool | Sequence[str] = False) -> list[Record | None]:
        names = self._shape.names(vectors)
        points = [_points.point_id(id) for id in ids]
        found = {point.id.hex: point for point in self._ask("retrieve", points, True, names or False)}
        return [self._record(found[point]) if point in found else None for point in points]

    def count(self, where: Where | None = None, *, lacking: str | None = None) -> int:
        matching = self._filter(where, lacking)
        if matching is None:
            return 0
        return int(self._ask("count", edge.CountRequest(exact=True, filter=matching)))

    def scroll(
        self,
        where: Where | None = None,
        *,
        batch: int = 1000,
        vectors: bool | Sequence[str] = False,
        lacking: str | None = None,
    ) -> Iterator[list[Record]]:
        matching, names = self._filter(where, lacking), self._shape.names(vectors)
        if matching is None:
            return
        offset = None
        while True:
            request = edge.ScrollRequest(
                offset=offset, limit=batch, filter=matching, with_payload=True, with_vector=names or False
            )
            points, offset = self._ask("scroll", request)
            if points:
                yield [self._record(point) for point in points]
            if offset is None:
                return

    def search_dense(
        self, name: str, vectors: Floats, k: int, where: Where | None = None, *, exact: bool = False
    ) -> list[Ranking]:
        """`exact` compares with every document instead of walking the graph."""
        queries = _points.asked(self._shape, name, vectors)
        breadth = _points.BREADTH_FILTERED if where else _points.BREADTH
        again = _points.OVERSAMPLING.get(self._shape.precision.get(name, ""))
        coarse = edge.QuantizationSearchParams(rescore=True, oversampling=again) if again else None
        params = edge.SearchParams(exact=exact, hnsw_ef=breadth, quantization=coarse)
        return self._search([edge.Query.Nearest(row, using=name) for row in queries], k, where, params)

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
        _files.write_whole(self.path / "blobs" / _points.named(name, "blob"), data)

    def optimize(self) -> None:
        """Build the graphs that dense searches walk. Searches wait meanwhile.

        The engine would hold the interpreter for all of it (minutes for 100,000 documents; no interrupt, no other
        thread), so another process does it. It shares the lock, and dies with this one.
        """
        with self._turn:
            self._open.flush()
            self._open.close()
            try:
                subprocess.run(
                    [sys.executable, "-c", _OPTIMIZE, self.path / "shard", str(os.getpid())],
                    check=True,
                    capture_output=True,
                    pass_fds=() if sys.platform == "win32" else [self._lock.fileno()],
                )
            except subprocess.CalledProcessError as error:
                reason = error.stderr.decode(errors="replace").strip()[-300:]
                raise StoreError(f"{self.path} could not be optimized ({reason}); its documents are unharmed") from None
            finally:
                self._shard = edge.EdgeShard.load(str(self.path / "shard"))
                self._unflushed = 0

    def close(self) -> None:
        with self._turn:
            shard, self._shard = self._shard, None
            if shard is not None:
                shard.flush()
                shard.close()
                self._lock.close()

    @property
    def _open(self) -> Any:
        if self._shard is None:
            raise StoreError(f"{self.path} has been closed: open it again")
        return self._shard

    def _ask(self, method: str, *args: Any) -> Any:
        with self._turn:
            return getattr(self._open, method)(*args)

    def _write_meta(self) -> None:
        _files.write_whole(self.path / "meta.json", json.dumps(self._shape.as_json(), indent=1).encode())

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
                self._shard = edge.EdgeShard.load(str(self.path / "shard"), _config(shape))

    def _write_vectors(self, vectors: Sequence[tuple[str, dict[str, Any]]]) -> None:
        points = [edge.PointVectors(id, named) for id, named in vectors]
        self._update(edge.UpdateOperation.update_vectors(points), len(points))

    @staticmethod
    def _sparse(vector: SparseVector) -> Any:
        return edge.SparseVector(vector.indices.tolist(), vector.values.tolist())

    def _point(self, record: Record) -> Any:
        return edge.Point(_points.point_id(record.document.id), self._vectors(record), _points.payload(record.document))

    def _update(self, operation: Any, weight: int = 1) -> None:
        """Apply and make durable: the engine has written its log when it returns, which survives a kill of this
        process, and the log is synced to disk, which survives a power cut. Syncing everything else costs ten
        times as much and is done when the log has grown, so that opening never has much of it to read."""
        with self._turn:
            try:
                self._open.update(operation)
                self._unflushed += weight
                if self._unflushed >= FLUSH or sys.platform == "win32":
                    self._open.flush()
                    self._unflushed = 0
                else:
                    _files.sync_contents(self.path / "shard" / "wal")
            except StoreError:
                raise
            except Exception as error:
                raise StoreError(f"{self.path} could not be written ({error})") from error

    def _search(self, queries: Sequence[Any], k: int, where: Where | None, params: Any) -> list[Ranking]:
        matching = self._filter(where)
        if matching is None:
            return [[] for _ in queries]

        def fetch(which: list[int], limit: int) -> list[Ranking]:
            requests = [
                edge.QueryRequest(limit=limit, query=queries[i], filter=matching, with_payload=["id"], params=params)
                for i in which
            ]
            if len(requests) == 1:
                return [_points.hits(self._ask("query", requests[0]))]
            return [_points.hits(found) for found in self._ask("query_batch", edge.QueryBatchRequest(requests))]

        return _points.settle(fetch, len(queries), k)

    def _filter(self, where: Where | None, lacking: str | None = None) -> Any:
        """The engine's filter; None when nothing can match. A field filtered by for the first time is indexed."""
        groups = _points.conditions(where)
        if groups is None:
            return None
        for match in (match for group in groups for match in group):
            if match.key not in self._indexed:
                self._update(edge.UpdateOperation.create_field_index(match.key, _schema(match)))
                self._indexed.add(match.key)
        without: list[Any] | None = [edge.HasVectorCondition(self._shape.known(lacking))] if lacking else None
        must: list[Any] = [edge.Filter(should=[_condition(match) for match in group]) for group in groups]
        return edge.Filter(must=must, must_not=without)


def _config(shape: Shape) -> Any:
    return edge.EdgeConfig(
        vectors={name: _params(shape, name) for name in shape.dense},
        sparse_vectors={name: edge.EdgeSparseVectorParams() for name in shape.sparse},
    )


def _params(shape: Shape, name: str) -> Any:
    """How the engine keeps a dense vector. Coarse copies stay in memory, what they stand for on disk."""
    kinds: dict[str, Any] = {
        "int8": edge.ScalarQuantizationConfig(edge.ScalarType.Int8, quantile=0.99, always_ram=True),
        "binary": edge.BinaryQuantizationConfig(always_ram=True),
    }
    coarse = kinds.get(shape.precision.get(name, ""))
    return edge.EdgeVectorParams(
        size=shape.dense[name],
        distance=edge.Distance.Dot,
        on_disk=True if coarse else None,
        multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim) if name in shape.several else None,
        datatype=edge.VectorStorageDatatype.Float16 if shape.precision.get(name) == "float16" else None,
        quantization_config=coarse,
    )


def _schema(match: Match | Between) -> Any:
    if isinstance(match, Between):
        return edge.PayloadSchemaType.Float
    return edge.PayloadSchemaType.Keyword if isinstance(match.values[0], str) else edge.PayloadSchemaType.Integer


def _condition(match: Match | Between) -> Any:
    if isinstance(match, Between):
        return edge.FieldCondition(match.key, range=edge.RangeFloat(**_points.limits(match.range)))
    return edge.FieldCondition(match.key, match=edge.MatchAny(match.values))
