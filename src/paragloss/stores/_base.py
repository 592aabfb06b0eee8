"""What a store is whatever engine holds it: the shape of its records, what is checked before anything is written, and
how it is closed. An engine brings `_add_vector`, `_write_vectors`, `_write_meta`, `_sparse` and `close`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np

from paragloss.bm25 import Ids, sieved
from paragloss.stores import _checks, _points
from paragloss.stores._points import BATCH
from paragloss.stores._shape import Shape
from paragloss.types import CandidateRows, Document, Floats, Ranking, Record, SparseRows, SparseVector, Where

T = TypeVar("T")
#: Records read at once where all are.
PAGE = 1000


class BaseStore:
    """The half of `types.Store` that both engines share."""

    #: Others read what is counted of its terms while it is written, see `search.journal`.
    has_journal = False
    #: Where it is on this machine; None on a server.
    path: Path | None = None
    _shape: Shape
    _indexed: set[str]

    @property
    def dense(self) -> Mapping[str, int]:
        """The dense vectors this collection keeps, with their dimensions."""
        return self._shape.dense

    @property
    def sparse(self) -> tuple[str, ...]:
        return self._shape.sparse

    @property
    def schema(self) -> dict[str, Any]:
        """Everything said of the vectors this collection keeps."""
        return self._shape.as_json()

    def preload_sparse(self, name: str) -> Iterator[int]:
        """Nothing, where somebody else does: the process that has the folder, or the server."""
        yield from ()

    def blob_state(self, blob: str) -> tuple[str, str]:
        """What this process has made of a blob, and of all others: both change when they do. Empty where others
        write, too."""
        return "", ""

    def run_concurrently(self, asks: Sequence[Callable[[], T]]) -> list[T]:
        """Several questions: one after the other, where there is nobody to wait for."""
        return [ask() for ask in asks]

    def search_and_read(
        self, name: str, vectors: Sequence[SparseVector], k: int, where: Where | None = None, among: Ids | None = None
    ) -> CandidateRows:
        """The documents nearest to each vector, and what they hold of it."""
        answers = self.search_sparse(name, vectors, k, where)
        place = {id: i for i, id in enumerate(dict.fromkeys(hit.id for ranking in answers for hit in ranking))}
        found = [np.array([place[hit.id] for hit in ranking], np.int64) for ranking in answers]
        langs, rows = self.read_sparse(name, list(place))
        return CandidateRows(list(place), langs, rows if among is None else sieved(rows, among), found)

    def add_dense_vector(self, name: str, dim: int, *, several: bool = False, precision: str = "float32") -> None:
        """Make room for the vectors of one more model; documents get them by `update_dense`."""
        shape = self._shape.with_dense(name, dim, several=several, precision=precision)
        self._add_vector(name, shape)
        self._shape = shape
        self._write_meta()

    def drop_dense_vector(self, name: str) -> None:
        """Forget a model's vectors."""
        self._shape.known(name)
        self._drop_vector(name)
        self._shape = self._shape.without(name)
        self._write_meta()

    def check_documents(self, documents: Sequence[Document]) -> None:
        """Refuse documents that can't be kept, before the first is written."""
        for document in documents:
            _checks.storable(document)

    def scroll(
        self,
        where: Where | None = None,
        *,
        batch: int | None = None,
        vectors: bool | Sequence[str] = False,
        without_vector: str | None = None,
        text: bool = True,
    ) -> Iterator[list[Record]]:
        """Every record, a batch at a time; only those that lack a vector, where one is named."""
        offset = None
        while True:
            records, offset = self.page(where, offset, batch or PAGE, vectors, without_vector, text)
            if records:
                yield records
            if offset is None:
                return

    def page(
        self,
        where: Where | None,
        offset: Any,
        batch: int,
        vectors: bool | Sequence[str],
        without_vector: str | None = None,
        text: bool = True,
    ) -> tuple[list[Record], Any]:
        """Some records, and where the next ones begin (None at the end)."""
        matching, payload = self._filter(where, without_vector), True if text else list(_points.BARE)
        if matching is _points.NOTHING:
            return [], None
        points, after = self._page(matching, offset, batch, payload, self._shape.names(vectors) or False)
        return [self._record(point) for point in points], after

    def scroll_sparse(self, name: str, where: Where | None = None) -> Iterator[tuple[list[Any], SparseRows]]:
        """Unlike `scroll` reads nothing else of documents, which takes a third of the time."""
        matching, offset = self._filter(where), None
        while matching is not _points.NOTHING:
            points, offset = self._page(matching, offset, PAGE, False, [self._shape.known(name)])
            vectors = [(point.vector or {}).get(name) for point in points]
            rows = _points.packed(
                [((), ()) if vector is None else (vector.indices, vector.values) for vector in vectors]
            )
            yield [point.id for point in points], rows
            if offset is None:
                return

    def salvage_records(self) -> Iterator[tuple[list[Record], int]]:
        """Every record that can be read, a batch at a time with how many can't."""
        yield from ((records, 0) for records in self.scroll(vectors=True))

    def blob_version(self, name: str) -> str | None:
        """Changes whenever a blob does; None where nobody else can change it."""
        return None

    def publish_blob(self, name: str, version: Callable[[], str], data: Callable[[], bytes]) -> None:
        """Say what others are to read in place of a blob while this process writes; nobody reads here."""

    def claim_writing(self) -> tuple[int, bool]:
        """Become the one who writes, or say who does. A number that changes whenever another may have written, and
        whether the statistics in the store are known to be those of its documents."""
        return 0, True

    def write_session(self) -> AbstractContextManager[None]:
        """Within, nobody else comes to write between two writes."""
        return nullcontext()

    def mark_statistics_stale(self) -> None:
        """What was written last may have failed, or not yet: the statistics in the store are to be counted again."""

    def mark_statistics_current(self) -> None:
        """The statistics in the store are those of its documents."""

    def take_over_writing(self) -> None:
        """Write whoever else does: a folder's lock goes with the process that has it."""

    def update_dense(self, name: str, ids: Sequence[str], vectors: Sequence[Floats] | Floats) -> None:
        self._update_points(name, [*map(self._point_id, ids)], _checks.written(self._shape, name, ids, vectors))

    def update_sparse(self, name: str, points: Sequence[Any], vectors: Sequence[SparseVector]) -> None:
        self._update_points(self._shape.known(name), points, [self._sparse(vector) for vector in vectors])

    def close(self) -> None:
        raise NotImplementedError

    def remove_created(self) -> None:
        """Close the collection and, if this process has created it, remove it."""
        self.close()

    def remove_if_empty(self) -> bool:
        """Remove the collection if this process has created it and it has no documents; whether it was removed."""
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _update_points(self, name: str, points: Sequence[Any], vectors: Sequence[Any]) -> None:
        named = [(point, {name: vector}) for point, vector in zip(points, vectors, strict=True)]
        for start in range(0, len(named), BATCH):
            self._write_vectors(named[start : start + BATCH])

    def _index_fields(self, records: Sequence[Record]) -> None:
        """Index the fields of documents that were written, as long as those of a collection are few."""
        for key, kind in _points.keys(record.document for record in records).items():
            if key not in self._indexed and len(self._indexed) < _points.INDEXED:
                self._index(key, kind)
                self._indexed.add(key)

    def _record(self, point: Any, payload: Mapping[str, Any] | None = None) -> Record:
        """A point as it is kept; an engine makes its payload anew each time it is asked for."""
        found = point.vector or {}
        dense = {name: found[name] for name in self._shape.dense if name in found}
        sparse = {name: (found[name].indices, found[name].values) for name in self._shape.sparse if name in found}
        return _points.record(point.payload if payload is None else payload, dense, sparse)

    def _vectors(self, record: Record) -> dict[str, Any]:
        """A record's vectors as the engine takes them."""
        vectors: dict[str, Any] = {name: row.tolist() for name, row in record.dense.items()}
        vectors.update((name, self._sparse(vector)) for name, vector in record.sparse.items())
        return vectors

    # What an engine brings

    def search_sparse(
        self, name: str, vectors: Sequence[SparseVector], k: int, where: Where | None = None
    ) -> list[Ranking]:
        raise NotImplementedError

    def read_sparse(self, name: str, ids: Sequence[str]) -> tuple[list[str], SparseRows]:
        raise NotImplementedError

    def _point_id(self, document: str) -> Any:
        """What the engine knows a document by."""
        return _points.point_id(document)

    def _filter(
        self, where: Where | None, without_vector: str | None = None, *, among: Sequence[str] | None = None
    ) -> Any:
        """The engine's filter: None where all may be found, `NOTHING` where none can be."""
        raise NotImplementedError

    def _page(self, matching: Any, offset: Any, batch: int, payload: Any, names: Any) -> tuple[Sequence[Any], Any]:
        """Some points, and where the next ones begin (None at the end)."""
        raise NotImplementedError

    def _index(self, key: str, kind: str) -> None:
        """Make filters by a payload key quick."""
        raise NotImplementedError

    def _drop_vector(self, name: str) -> None:
        raise NotImplementedError

    def _add_vector(self, name: str, shape: Shape) -> None:
        """Make room for a vector of the shape the collection is about to have."""
        raise NotImplementedError

    def _write_vectors(self, vectors: Sequence[tuple[Any, dict[str, Any]]]) -> None:
        """Replace vectors of documents, each given as the id of its point and what to put there."""
        raise NotImplementedError

    def _write_meta(self) -> None:
        raise NotImplementedError

    @staticmethod
    def _sparse(vector: SparseVector) -> Any:
        raise NotImplementedError
