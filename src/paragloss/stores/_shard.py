"""The engine in a folder: asked one thing at a time, written durably, its graphs built beside it. Knows points and
vectors, nothing of documents."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from paragloss.errors import ClosedError, StoreError
from paragloss.stores import _files, _snapshots
from paragloss.stores._guards import ROOM, TOGETHER, enough_room, loaded, told
from paragloss.stores._points import BATCH, Between, Match, limits
from paragloss.stores._shape import Shape

_OPTIMIZE = f"""{TOGETHER}
shard.optimize()
shard.flush()
shard.close()
"""
#: Documents written between two syncs of everything; a long one counts as several.
FLUSH = 10_000


class Shard:
    """An engine that is open. Who wants others to read but not to write holds `writing`, then, to have the engine
    alone, a `turn`: it holds the interpreter while it works, so turns cost nothing."""

    def __init__(self, path: Path, engine: Any, *, read_only: str = "") -> None:
        """
        :param read_only: why nothing can be written, and what to do about it; "" where it can.
        """
        self.path = path
        self.read_only = read_only
        self.turn, self.writing = threading.RLock(), threading.RLock()
        self._engine = engine
        self._unflushed = 0
        self._building = threading.Lock()  # one graph at a time: what was written since is noted for one
        self._since: set[int] | None = None  # points written since a copy was made

    @property
    def engine(self) -> Any:
        if self._engine is None:
            raise ClosedError(f"{self.path} has been closed: open it again")
        return self._engine

    @property
    def indexed(self) -> set[str]:
        """The payload keys that filters find quickly."""
        return set(self.engine.info().payload_schema)

    def ask(self, method: str, *args: Any) -> Any:
        with self.turn, told(f"{self.path} could not be read"):
            return getattr(self.engine, method)(*args)

    def payloads(self, points: Sequence[int], key: str) -> list[tuple[int, str]]:
        """What some points hold under one key."""
        found = self.ask("retrieve", points, [key], False) if points else []
        return [(point.id, point.payload[key]) for point in found]

    def update(
        self, operation: Any, points: Sequence[int] = (), *, weight: int = 1, needed_room: int | None = None
    ) -> None:
        """Apply and make durable: the engine has written its log when it returns, which survives a kill of this
        process, and the log is synced to disk, which survives a power cut. Syncing everything else costs ten
        times as much and is done when the log has grown, so that opening never has much of it to read."""
        self.writable(needed_room)
        with self.writing, self.turn, told(f"{self.path} could not be written"):
            if self._since is not None:
                self._since.update(points)
            self.engine.update(operation)
            self._unflushed += weight
            if self._unflushed >= FLUSH or sys.platform == "win32":
                self._flush(self.engine)
            else:
                _files.sync_contents(self.path / "shard" / "wal")

    def writable(self, needed_room: int | None = None) -> None:
        """Raise StoreError where nothing can be written, or the disk has less than the needed room."""
        if self.read_only:
            raise StoreError(f"{self.path} can't be written: {self.read_only}")
        enough_room(self.path, needed=needed_room)

    def add_vector(self, name: str, shape: Shape) -> None:
        kept = _params(shape, name)
        made = edge.UpdateOperation.create_dense_vector(
            name, shape.dense[name], edge.Distance.Dot, kept.multivector_config, kept.datatype
        )
        self.update(made)
        if kept.quantization_config is not None:  # the engine takes coarse copies only when it opens
            with self.turn:
                self.engine.flush()
                self.engine.close()
                self._engine = loaded(self.path / "shard", config(shape))

    def optimize(self, shape: Callable[[], Shape]) -> None:
        """Build the graphs that dense searches walk, with coarse copies of the vectors to walk by, which takes half the
        time. Searches and writes go on meanwhile.

        The engine would hold the interpreter for all of it (minutes for 100,000 documents; no interrupt, no other
        thread), so another process does it, which dies with this one, on a copy of the engine's files. What was
        written since is brought over before the copy takes the place of the original, unless other vectors are kept
        by then.
        """
        with self._building:
            try:
                with self.writing:
                    enough_room(self.path, needed=ROOM + 2 * _snapshots.size(self.path))
                    before, self._since = shape(), set()
                    with told(f"{self.path} could not be copied"):
                        with self.turn:
                            self.engine.flush()
                        copy = _snapshots.copied(self.path)
                try:
                    with told(f"{self.path} could not be optimized"):
                        self._build(copy / "shard", before)
                        with self.writing:
                            if shape() == before:
                                self._bring_over(copy / "shard")
                                self._replace(copy)
                finally:
                    shutil.rmtree(copy, ignore_errors=True)
            finally:
                self._since = None

    def close(self) -> bool:
        """Whether it was open."""
        engine, self._engine = self._engine, None
        if engine is not None:
            if self._unflushed:
                self._flush(engine)
            engine.close()
        return engine is not None

    def _flush(self, engine: Any) -> None:
        """Sync everything. Opening reads the last write again, in vain: so that is one of nothing."""
        engine.update(edge.UpdateOperation.delete_points([]))
        engine.flush()
        self._unflushed = 0

    def _build(self, folder: Path, shape: Shape) -> None:
        """Have another process build graphs in a folder of the engine's that nobody has open."""
        loaded(folder, config(shape, walked=True)).close()
        try:
            subprocess.run([sys.executable, "-c", _OPTIMIZE, folder, str(os.getpid())], check=True, capture_output=True)
        except subprocess.CalledProcessError as error:
            reason = error.stderr.decode(errors="replace").strip()[-300:]
            raise StoreError(f"{self.path} could not be optimized ({reason}); its documents are unharmed") from None

    def _bring_over(self, folder: Path) -> None:
        """Points that were written since the copy was made, as they are now."""
        new, since = loaded(folder), sorted(self._since or ())
        try:
            for start in range(0, len(since), BATCH):
                some = since[start : start + BATCH]
                here = self.ask("retrieve", some, True, True)
                gone = set(some) - {point.id for point in here}
                if here:
                    points = [edge.Point(point.id, point.vector, point.payload) for point in here]
                    new.update(edge.UpdateOperation.upsert_points(points))
                if gone:
                    new.update(edge.UpdateOperation.delete_points(sorted(gone)))
        finally:
            new.flush()
            new.close()

    def _replace(self, copy: Path) -> None:
        """Go on with the copy's engine in place of this one's. A kill in between is mended by opening."""
        with self.turn:
            self.engine.flush()
            self.engine.close()
            try:
                _snapshots.exchange(self.path, copy)
            finally:
                self._engine, self._unflushed = loaded(self.path / "shard"), 0


def create(path: Path, shape: Shape) -> Any:
    """A new engine in a folder."""
    engine = edge.EdgeShard.create(str(path / "shard"), config(shape))
    for key in ("id", "lang", "flags"):
        engine.update(edge.UpdateOperation.create_field_index(key, edge.PayloadSchemaType.Keyword))
    engine.flush()
    return engine


def config(shape: Shape, *, walked: bool = False) -> Any:
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


def condition(match: Match | Between) -> Any:
    """One condition of a filter."""
    if isinstance(match, Between):
        return edge.FieldCondition(match.key, range=edge.RangeFloat(**limits(match.range)))
    return edge.FieldCondition(match.key, match=edge.MatchAny(match.values))
