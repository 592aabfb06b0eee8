"""The embedded engine in a folder: one call at a time, durable writes, graphs built in a copy."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from paragloss.atomic_files import sync_files_in
from paragloss.errors import ClosedError, StoreError
from paragloss.stores import _limits
from paragloss.stores._disk_space import check_free_space, is_disk_full
from paragloss.stores._engine_files import (
    copy_engine_files,
    exchange_engine_files,
    measure_engine_size,
    recover_engine_files,
)
from paragloss.stores._engine_jobs import build_graphs
from paragloss.stores._engine_loading import engine_errors_as_store_error, load_engine
from paragloss.stores._filters import Condition, RangeCondition, get_range_bounds
from paragloss.stores._schema import VectorSchema

#: Payload keys that are indexed from the start.
_INDEXED_KEYS = ("id", "lang", "flags")


class Shard:
    """An open engine.

    `lock` allows one call of the engine at a time; it costs nothing, because the engine holds Python's interpreter lock
    while it works. `write_lock` excludes other writers and lets readers continue. Whoever needs both takes
    `write_lock` first.

    :param read_only_reason: why nothing can be written, and what to do about it; "" if it can be written.
    """

    def __init__(self, path: Path, engine: Any, *, read_only_reason: str = "") -> None:
        self.path = path
        self.read_only_reason = read_only_reason
        self.lock, self.write_lock = threading.RLock(), threading.RLock()
        self._engine = engine
        self._unflushed_documents = 0
        self._optimize_lock = threading.Lock()
        self._changed_points: set[int] | None = None  # points written since a copy was made; None if there is no copy

    @property
    def engine(self) -> Any:
        """The engine's object; raises ClosedError after `close`."""
        if self._engine is None:
            raise ClosedError(f"{self.path} has been closed: open it again")
        return self._engine

    def list_indexed_keys(self) -> set[str]:
        """Return the payload keys that have an index."""
        return set(self.engine.info().payload_schema)

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a reading method of the engine by name."""
        with self.lock, engine_errors_as_store_error(f"{self.path} could not be read"):
            return getattr(self.engine, method)(*arguments)

    def read_payload_key(self, point_ids: Sequence[int], key: str) -> list[tuple[int, str]]:
        """Return pairs of point id and the value under one payload key; points that don't exist are left out."""
        points = self.call("retrieve", point_ids, [key], False) if point_ids else []
        return [(point.id, point.payload[key]) for point in points]

    def update(
        self, operation: Any, point_ids: Sequence[int] = (), *, n_documents: int = 1, needed_bytes: int | None = None
    ) -> None:
        """Apply a write operation durably.

        When this returns, the engine has written its log and the log is synced to disk, so the write survives a power
        cut. Syncing all other files takes ten times as long. It is done when the log has grown, so that opening the
        folder never has much of the log to apply.

        :param point_ids: the points that the operation changes.
        :param n_documents: how many documents the operation counts as towards the next sync of all files.
        :param needed_bytes: bytes that must be free on the disk.
        """
        self.check_writable(needed_bytes)
        with self.write_lock, self.lock, engine_errors_as_store_error(f"{self.path} could not be written"):
            if self._changed_points is not None:
                self._changed_points.update(point_ids)
            self.engine.update(operation)
            self._unflushed_documents += n_documents
            if self._unflushed_documents >= _limits.FLUSH_INTERVAL or sys.platform == "win32":
                self._flush(self.engine)
            else:
                sync_files_in(self.path / "shard" / "wal")

    def check_writable(self, needed_bytes: int | None = None) -> None:
        """Raise StoreError if the collection is read-only or the disk has fewer free bytes than needed."""
        if self.read_only_reason:
            raise StoreError(f"{self.path} can't be written: {self.read_only_reason}")
        check_free_space(self.path, needed_bytes=needed_bytes)

    def add_vector(self, name: str, schema: VectorSchema) -> None:
        """Add a dense vector that the given, new schema describes."""
        params = _make_vector_params(schema, name)
        operation = edge.UpdateOperation.create_dense_vector(
            name, schema.dense[name], edge.Distance.Dot, params.multivector_config, params.datatype
        )
        self.update(operation)
        if params.quantization_config is not None:  # the engine accepts quantization only when it is opened
            with self.lock:
                self.engine.flush()
                self.engine.close()
                self._engine = load_engine(self.path / "shard", make_engine_config(schema))

    def optimize(self, get_schema: Callable[[], VectorSchema]) -> None:
        """Build the HNSW graphs for dense searches, while searches and writes go on.

        The engine would hold the interpreter lock for all of it (minutes for 100,000 documents), so a child process
        builds the graphs in a copy of the engine's files. Points that were written since are then copied over, and the
        copy takes the place of the original, unless the collection's vectors have changed meanwhile.

        :param get_schema: returns the collection's vectors as they are when it is called.
        :raises StoreError: the collection is read-only, the disk has no room for a copy, or building fails; documents
            are unharmed in each case.
        """
        self.check_writable(0)  # the space for the copy is checked when it is made
        with self._optimize_lock, engine_errors_as_store_error(f"{self.path} could not be optimized"):
            try:
                with self.write_lock:
                    schema = get_schema()
                    copy = self._copy_files()
                self._build_graphs(copy / "shard", schema)
                with self.write_lock:
                    if get_schema() == schema:
                        self._copy_changed_points(copy / "shard")
                        self._switch_to_copy(copy)
            finally:
                self._changed_points = None
                recover_engine_files(self.path)

    def close(self) -> bool:
        """Close the engine; tell whether it was open.

        :raises StoreError: what was written last could not be synced; the next opening applies the engine's log again.
        """
        if self._engine is None:
            return False
        engine, self._engine = self._engine, None
        try:
            if self._unflushed_documents:
                self._flush_before_closing(engine)
        finally:
            engine.close()
        return True

    def _flush_before_closing(self, engine: Any) -> None:
        """Sync all files; if that fails, raise a StoreError that says what to do."""
        try:
            with engine_errors_as_store_error(f"{self.path} could not be closed"):
                self._flush(engine)
        except StoreError:
            if not is_disk_full(self.path):
                raise
            megabytes = _limits.FREE_BYTES_TO_OPEN / 1e6
            raise StoreError(
                f"{self.path} could not be closed: its disk is full. Free {megabytes:.0f} MB there and open it again; "
                "everything that was reported as done is kept"
            ) from None

    def _flush(self, engine: Any) -> None:
        """Sync all files. Opening applies the last write of the log again, so the last one is made an empty one."""
        engine.update(edge.UpdateOperation.delete_points([]))
        engine.flush()
        self._unflushed_documents = 0

    def _copy_files(self) -> Path:
        """Copy the engine's files and record changed points from now on; return the folder that holds the copy."""
        needed_bytes = _limits.FREE_BYTES_TO_WRITE + 2 * measure_engine_size(self.path)
        check_free_space(self.path, needed_bytes=needed_bytes)
        self._changed_points = set()
        with self.lock:
            self.engine.flush()
        return copy_engine_files(self.path)

    def _build_graphs(self, shard_folder: Path, schema: VectorSchema) -> None:
        """Build graphs over quantized vectors, which takes half the time, in a copy of the engine's files."""
        load_engine(shard_folder, make_engine_config(schema, quantize_all=True)).close()
        try:
            build_graphs(shard_folder)
        except StoreError as error:
            raise StoreError(f"{self.path} could not be optimized ({error}); its documents are unharmed") from None

    def _copy_changed_points(self, shard_folder: Path) -> None:
        """Bring points that changed since the copy was made over to it.

        :param shard_folder: the folder of the copy.
        """
        changed_points = sorted(self._changed_points or ())
        copy_engine = load_engine(shard_folder)
        try:
            for start in range(0, len(changed_points), _limits.WRITE_BATCH):
                self._copy_points(changed_points[start : start + _limits.WRITE_BATCH], copy_engine)
        finally:
            copy_engine.flush()
            copy_engine.close()

    def _copy_points(self, point_ids: Sequence[int], copy_engine: Any) -> None:
        """Write points to another engine as they are in this one; those that were deleted are deleted there, too."""
        existing = self.call("retrieve", point_ids, True, True)
        deleted_ids = set(point_ids) - {point.id for point in existing}
        if existing:
            points = [edge.Point(point.id, point.vector, point.payload) for point in existing]
            copy_engine.update(edge.UpdateOperation.upsert_points(points))
        if deleted_ids:
            copy_engine.update(edge.UpdateOperation.delete_points(sorted(deleted_ids)))

    def _switch_to_copy(self, copy: Path) -> None:
        """Put the copy in the place of the engine's files and open it. If killed meanwhile, opening recovers."""
        with self.lock:
            self.engine.flush()
            self.engine.close()
            try:
                exchange_engine_files(self.path, copy)
            finally:
                recover_engine_files(self.path)
                self._engine, self._unflushed_documents = load_engine(self.path / "shard"), 0


def create_engine(collection: Path, schema: VectorSchema) -> Any:
    """Create an engine in a collection's folder, with indexes for ids, languages and flags."""
    engine = edge.EdgeShard.create(str(collection / "shard"), make_engine_config(schema))
    for key in _INDEXED_KEYS:
        engine.update(edge.UpdateOperation.create_field_index(key, edge.PayloadSchemaType.Keyword))
    engine.flush()
    return engine


def make_engine_config(schema: VectorSchema, *, quantize_all: bool = False) -> Any:
    """Return the engine's configuration for a schema.

    :param quantize_all: whether all dense vectors get quantized copies, by which graphs are built faster.
    """
    return edge.EdgeConfig(
        vectors={name: _make_vector_params(schema, name, quantize=quantize_all) for name in schema.dense},
        sparse_vectors={name: edge.EdgeSparseVectorParams() for name in schema.sparse},
    )


def make_engine_condition(condition: Condition) -> Any:
    """Return a condition of a filter as the engine takes it."""
    if isinstance(condition, RangeCondition):
        return edge.FieldCondition(condition.key, range=edge.RangeFloat(**get_range_bounds(condition.range)))
    return edge.FieldCondition(condition.key, match=edge.MatchAny(condition.values))


def _make_vector_params(schema: VectorSchema, name: str, *, quantize: bool = False) -> Any:
    """Return how the engine stores a dense vector.

    int8 vectors are quantized copies in memory of float32 vectors on disk.

    :param schema: has the vector's dimension and precision, and whether a document may have several.
    :param name: the name of the vector.
    :param quantize: search one-byte copies of the vectors, whatever their precision.
    """
    precision = schema.precision.get(name)
    on_disk = True if precision == "int8" else None
    datatype = edge.VectorStorageDatatype.Float16 if precision == "float16" else None
    quantization = None
    if precision == "int8" or quantize:
        quantization = edge.ScalarQuantizationConfig(edge.ScalarType.Int8, quantile=0.99, always_ram=True)
    multivector_config = None
    if name in schema.multivectors:
        multivector_config = edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim)
    return edge.EdgeVectorParams(
        size=schema.dense[name],
        distance=edge.Distance.Dot,
        on_disk=on_disk,
        multivector_config=multivector_config,
        datatype=datatype,
        quantization_config=quantization,
    )
