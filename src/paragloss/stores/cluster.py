"""A collection on a Qdrant server or cluster, reached over HTTP. Same records and searches as `embedded`.

Blobs live in a second collection, NAME--blobs. Any number of processes read a collection, and one at a time writes it:
every write goes through the right to (`_fence`), which is taken where it is not held, and given back.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from types import MappingProxyType
from typing import Any, TypeVar

from paragloss import __version__
from paragloss.errors import InUseError, StoreError, unread_format
from paragloss.ranking import ranked
from paragloss.stores import _checks, _points, _server, _shape
from paragloss.stores._base import BaseStore
from paragloss.stores._blobs import Blobs
from paragloss.stores._fence import Fence
from paragloss.stores._point_ids import Names
from paragloss.stores._points import BATCH
from paragloss.stores._shape import Placement, Shape
from paragloss.types import Floats, Ranking, Record, SparseRows, SparseVector, Where

T = TypeVar("T")


class ClusterStore(BaseStore):
    """See `types.Store`. Opened with `open` or `create`. The key of a guarded server is taken from QDRANT_API_KEY."""

    has_journal = True

    def __init__(self, client: Any, name: str, shape: Shape, where: str) -> None:
        self._client = client
        self._name = name
        self._shape = shape
        self._where = where
        self._indexed = {"lang", "flags"}
        self._names = Names(self._ids)
        self._blobs = Blobs(client, f"{name}--blobs", self._ask, self._write)
        self._fence = Fence(client, name, self._ask, where)

    @classmethod
    def create(
        cls,
        url: str,
        name: str,
        *,
        dense: Mapping[str, int],
        sparse: Sequence[str],
        several: Sequence[str] = (),
        precision: Mapping[str, str] = MappingProxyType({}),
        placement: Placement | None = None,
        timeout: int = 60,
    ) -> ClusterStore:
        """Start an empty collection."""
        from qdrant_client import models

        shape = Shape.of(dense, sparse, several, precision)
        store = cls(_server.connect(url, timeout), _shape.named(name, "collection"), shape, f"{url}/{name}")
        if store._ask(store._client.collection_exists, name):
            raise StoreError(f"{store._where} exists already: open it, or choose another name")
        placement = placement or Placement()
        options = {
            "shard_number": placement.shards,
            "replication_factor": (replicas := placement.replicas or min(3, store._nodes())),
            "write_consistency_factor": (replicas + 1) // 2,  # writing goes on while one is away
        }
        store._ask(
            store._client.create_collection,
            name,
            vectors_config={
                vector: models.VectorParams(**_server.params(shape, vector, on_disk=placement.on_disk))
                for vector in dense
            },
            sparse_vectors_config={
                vector: models.SparseVectorParams(index=models.SparseIndexParams(on_disk=placement.on_disk or None))
                for vector in sparse
            },
            on_disk_payload=True,
            **options,
        )
        for key in ("lang", "flags"):
            store._index(key, "keyword")
        if not store._blobs.exist():
            store._blobs.create(**options | {"shard_number": 1})
        store._fence.begin()
        store._write_meta()
        return store

    @classmethod
    def exists(cls, url: str, name: str, *, timeout: int = 60) -> bool:
        """Whether the server has such a collection."""
        client = _server.connect(url, timeout)
        try:
            return bool(cls(client, _server.meant(client, name), Shape({}, ()), f"{url}/{name}")._blobs.exist())
        finally:
            client.close()

    @classmethod
    def discard(cls, url: str, name: str, *, timeout: int = 60) -> None:
        """Take the collection off the server."""
        client = _server.connect(url, timeout)
        try:
            for each in (name, f"{name}--blobs"):
                client.delete_collection(each)
        finally:
            client.close()

    def remove_created(self) -> None:
        """Remove the collection, which this process has created, while it alone has the right to write."""
        with self.write_session():
            self.claim_writing()
            self._delete_collections()
        self._client.close()

    def remove_if_empty(self) -> bool:
        """Remove the collection, which this process has created, if it has no documents; whether it did. Nobody else
        can write between the two."""
        with self.write_session():
            self.claim_writing()
            if self.count():
                return False
            self._delete_collections()
        self._client.close()
        return True

    def _delete_collections(self) -> None:
        for name in (self._name, f"{self._name}--blobs"):
            self._ask(self._client.delete_collection, name)

    @classmethod
    def open(cls, url: str, name: str, *, timeout: int = 60) -> ClusterStore:
        client = _server.connect(url, timeout)
        store = cls(client, _server.meant(client, _shape.named(name, "collection")), Shape({}, ()), f"{url}/{name}")
        if not store._blobs.exist():
            raise StoreError(f"{store._where} is not a collection of ours (paragloss index makes one)")
        data = store.read_blob("collection")
        if data is None:
            raise StoreError(f"{store._where} was never finished: delete it on the server and index again")
        meta = json.loads(data)
        if meta["format"] != _shape.FORMAT:
            raise StoreError(unread_format(store._where, meta, str(_shape.FORMAT)))
        store._shape = Shape.from_json(meta)
        return store

    def add(self, records: Sequence[Record]) -> None:
        for batch in _server.batches(_checks.checked(records, self._shape)):
            self._write(self._client.upsert, self._name, [self._point(record) for record in batch])
            if not self._indexed.issuperset(_points.keys(record.document for record in batch)):
                self._indexed |= set(self._ask(self._client.get_collection, self._name).payload_schema)
                self._index_fields(batch)

    def _nodes(self) -> int:
        """How many the server says it has."""
        with suppress(StoreError):  # a key that may not ask
            about = self._ask(self._client.cluster_status)
            return len(about.peers) if about.status == "enabled" else 1
        return 1

    def delete(self, ids: Sequence[str]) -> int:
        from qdrant_client import models

        points = list(dict.fromkeys(map(_points.point_id, ids)))
        found = self._ask(self._client.retrieve, self._name, points, with_payload=False, with_vectors=False)
        if found:
            selector = models.PointIdsList(points=[point.id for point in found])
            self._write(self._client.delete, self._name, selector)
        return len(found)

    def get(
        self, ids: Sequence[str], *, vectors: bool | Sequence[str] = False, text: bool = True
    ) -> list[Record | None]:
        names, payload = self._shape.names(vectors), True if text else list(_points.BARE)
        points = [_points.point_id(id) for id in ids]
        found = {}
        for start in range(0, len(points), BATCH):
            some = points[start : start + BATCH]
            for point in self._ask(
                self._client.retrieve, self._name, some, with_payload=payload, with_vectors=names or False
            ):
                found[point.id.replace("-", "")] = self._record(point)
        return [found.get(point) for point in points]

    def read_sparse(self, name: str, ids: Sequence[str]) -> tuple[list[str], SparseRows]:
        found = self.get(ids, vectors=[name], text=False)
        vectors = [None if record is None else record.sparse.get(name) for record in found]
        langs = ["" if record is None else record.document.lang for record in found]
        return langs, _points.packed([((), ()) if v is None else (v.indices, v.values) for v in vectors])

    def count(self, where: Where | None = None, *, without_vector: str | None = None) -> int:
        matching = self._filter(where, without_vector)
        if matching is _points.NOTHING:
            return 0
        return int(self._ask(self._client.count, self._name, count_filter=matching, exact=True).count)

    def _page(self, matching: Any, offset: Any, batch: int, payload: Any, names: Any) -> tuple[Sequence[Any], Any]:
        found: tuple[Sequence[Any], Any] = self._ask(
            self._client.scroll,
            self._name,
            scroll_filter=matching,
            limit=batch,
            offset=offset,
            with_payload=payload,
            with_vectors=names,
        )
        return found

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
        return self._search(name, queries, k, self._filter(where, among=among), exact=exact, narrow=bool(where))

    def search_sparse(
        self, name: str, vectors: Sequence[SparseVector], k: int, where: Where | None = None
    ) -> list[Ranking]:
        self._shape.known(name)
        return self._search(name, [self._sparse(vector) for vector in vectors], k, self._filter(where))

    def run_concurrently(self, asks: Sequence[Callable[[], T]]) -> list[T]:
        """Several questions side by side: they take as long as the slowest."""
        if len(asks) < 2:
            return [ask() for ask in asks]
        with ThreadPoolExecutor(len(asks)) as threads:
            return list(threads.map(lambda ask: ask(), asks))

    def read_blob(self, name: str) -> bytes | None:
        return self._blobs.read(_shape.named(name, "blob"))

    def write_blob(self, name: str, data: bytes) -> None:
        self._blobs.write(_shape.named(name, "blob"), data)

    def blob_versions(self) -> dict[str, str]:
        return self._blobs.heads()

    def delete_blob(self, name: str) -> None:
        self._blobs.delete(_shape.named(name, "blob"))

    def blob_version(self, name: str) -> str | None:
        """Changes whenever the blob does, whoever writes it."""
        return self._blobs.version(_shape.named(name, "blob")) or ""

    def claim_writing(self) -> tuple[int, bool]:
        return self._fence.claim_writing()

    def write_session(self) -> AbstractContextManager[None]:
        return self._fence.write_session()

    def mark_statistics_stale(self) -> None:
        self._fence.mark_statistics_stale()

    def mark_statistics_current(self) -> None:
        self._fence.mark_statistics_current()

    def has_no_unfinished_writes(self) -> bool:
        """Whether nobody is writing, and nobody left in the middle of it."""
        return self._fence.free()

    def take_over_writing(self) -> None:
        """Write at the next time whoever else is writing: he is refused from then on."""
        self._fence.take_over = True

    def optimize(self) -> None:
        """The server builds its indexes on its own; wait until it has."""
        from qdrant_client import models

        while self._ask(self._client.get_collection, self._name).status == models.CollectionStatus.YELLOW:
            time.sleep(0.2)

    def close(self) -> None:
        self._fence.give_back()
        self._client.close()

    def _ids(self, points: list[Any]) -> list[tuple[Any, str]]:
        found = self._ask(self._client.retrieve, self._name, points, with_payload=["id"], with_vectors=False)
        return [(point.id, point.payload["id"]) for point in found]

    def _write_meta(self) -> None:
        self.write_blob("collection", json.dumps({**self._shape.as_json(), "paragloss": __version__}).encode())

    def _drop_vector(self, name: str) -> None:
        """Servers before 1.18 can't forget a vector's name: its vectors go, the name stays."""
        try:
            self._client.delete_vector_name(self._name, name)
        except Exception:
            from qdrant_client import models

            everything = models.FilterSelector(filter=models.Filter())
            self._write(self._client.delete_vectors, self._name, [name], points=everything)

    def _add_vector(self, name: str, shape: Shape) -> None:
        from qdrant_client import models

        kept = _server.params(shape, name)
        coarse = {key: kept.pop(key) for key in ("on_disk", "quantization_config")}
        try:
            self._client.create_vector_name(
                self._name,
                name,
                models.DenseVectorNameConfig(dense=models.DenseVectorConfig(**kept)),
            )
        except Exception as error:
            raise StoreError(
                f"{self._where} can't take vectors {name!r} ({error}): servers before 1.18 can't add a vector to a "
                "collection; index into a new one that keeps both models"
            ) from error
        if coarse["quantization_config"] is not None:
            differing = {name: models.VectorParamsDiff(**coarse)}
            self._ask(self._client.update_collection, self._name, vectors_config=differing)

    def _write_vectors(self, vectors: Sequence[tuple[str, dict[str, Any]]]) -> None:
        from qdrant_client import models

        points = [models.PointVectors(id=id, vector=named) for id, named in vectors]
        self._write(self._client.update_vectors, self._name, points)

    @staticmethod
    def _sparse(vector: SparseVector) -> Any:
        from qdrant_client import models

        return models.SparseVector(indices=vector.indices.tolist(), values=vector.values.tolist())

    def _point(self, record: Record) -> Any:
        from qdrant_client import models

        return models.PointStruct(
            id=_points.point_id(record.document.id),
            vector=self._vectors(record),
            payload=_points.payload(record),
        )

    def _ask(self, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        try:
            return call(*args, **options)
        except Exception as error:
            reason = " ".join(str(error).split())[:300]
            raise StoreError(f"{self._where} did not answer as it should ({reason}): is the server running?") from error

    def _write(self, call: Callable[..., Any], collection: str, *args: Any, **options: Any) -> Any:
        """A call that changes points, with the right to; the server refuses it when that is somebody else's."""
        with self._fence.write_session():
            self._fence.claim_writing()
            try:
                return self._ask(call, self._fence.through(collection), *args, wait=True, **options)
            except StoreError:
                if taken := self._fence.lost():
                    raise InUseError(f"{self._where} was taken over by {taken}: nothing more is written here") from None
                raise

    def _search(
        self,
        name: str,
        queries: Sequence[Any],
        k: int,
        matching: Any,
        *,
        exact: bool = False,
        narrow: bool = False,
    ) -> list[Ranking]:
        from qdrant_client import models

        if matching is _points.NOTHING:
            return [[] for _ in queries]
        breadth = _points.BREADTH_FILTERED if narrow else _points.BREADTH
        coarse = models.QuantizationSearchParams(ignore=exact, rescore=True, oversampling=_points.OVERSAMPLING)
        params = models.SearchParams(exact=exact, hnsw_ef=breadth, quantization=coarse)

        def fetch(which: list[int], limit: int) -> list[tuple[list[str], list[float]]]:
            requests = [
                models.QueryRequest(
                    query=queries[i],
                    using=name,
                    limit=limit,
                    filter=matching,
                    params=params,
                    with_payload=False,
                )
                for i in which
            ]
            found = self._ask(self._client.query_batch_points, self._name, requests)
            return self._names.named(answer.points for answer in found)

        return _points.settle(fetch, len(queries), k, choose=ranked)

    def _filter(
        self, where: Where | None, without_vector: str | None = None, *, among: Sequence[str] | None = None
    ) -> Any:
        """The engine's filter: None where all may be found, `NOTHING` where none can be."""
        from qdrant_client import models

        groups = _points.conditions(where, self._indexed)
        if groups is None:
            return _points.NOTHING
        without: list[Any] = (
            [models.HasVectorCondition(has_vector=self._shape.known(without_vector))] if without_vector else []
        )
        must: list[Any] = [models.Filter(should=[_server.condition(match) for match in group]) for group in groups]
        if among is not None:
            must.append(models.HasIdCondition(has_id=[self._point_id(id) for id in among]))
        return models.Filter(must=must, must_not=without) if must or without else None

    def _index(self, key: str, kind: str) -> None:
        self._ask(self._client.create_payload_index, self._name, key, kind, wait=True)
