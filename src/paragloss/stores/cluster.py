"""A collection on a Qdrant server or cluster, over HTTP. Same records and searches as `embedded`.

Blobs are in a second collection, NAME--blobs. Any number of processes read a collection, and one at a time writes it:
every write needs the fencing token (`_writer_fence`), which is taken if it is not held, and released afterwards.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, suppress
from functools import partial
from typing import Any, TypeVar

from paragloss import __version__
from paragloss.errors import InUseError, StoreError, describe_unknown_format
from paragloss.ranking import rank_sorted
from paragloss.stores import _limits
from paragloss.stores._base import BaseStore
from paragloss.stores._document_ids import DocumentIds
from paragloss.stores._filters import MATCHES_NOTHING, Condition, list_filterable_keys
from paragloss.stores._payload import build_payload, hash_to_uuid, pack_sparse_rows, select_payload_keys
from paragloss.stores._qdrant_server import (
    call_until_received,
    connect,
    make_server_condition,
    make_vector_params,
    resolve_alias,
    split_into_requests,
)
from paragloss.stores._schema import FORMAT, Placement, VectorSchema, check_name
from paragloss.stores._server_blobs import ServerBlobs
from paragloss.stores._top_k import fetch_top_k
from paragloss.stores._validation import validate_records
from paragloss.stores._writer_fence import WriterFence, get_blob_collection
from paragloss.types import Ranking, Record, SparseRows, SparseVector, Where

T = TypeVar("T")

#: Blob that holds the collection's schema.
_META_BLOB = "collection"
_INDEXED_KEYS = ("lang", "flags")
_DEFAULT_REPLICAS = 3
_POLL_SECONDS = 0.2
_MAX_REASON_LENGTH = 300


class ClusterStore(BaseStore):
    """See `types.Store`. Opened with `open` or `create`; the API key of the server comes from QDRANT_API_KEY.

    :param location: the collection's address, for error messages.
    """

    has_journal = True

    def __init__(self, client: Any, name: str, schema: VectorSchema, location: str) -> None:
        self._client = client
        self._name = name
        self._schema = schema
        self._location = location
        self._indexed_keys = set(_INDEXED_KEYS)
        self._document_ids = DocumentIds(self._read_document_ids)
        self._blobs = ServerBlobs(client, get_blob_collection(name), self._call, self._write)
        self._fence = WriterFence(client, name, self._call, location)

    # Opening and closing

    @classmethod
    def create(
        cls, url: str, name: str, schema: VectorSchema, placement: Placement, *, timeout: int = 60
    ) -> ClusterStore:
        """Create an empty collection on a server.

        :param timeout: seconds after which a request fails.
        :raises StoreError: there is a collection of this name, or the server can't create one.
        """
        store = cls(connect(url, timeout), check_name(name, "collection"), schema, f"{url}/{name}")
        if store._call(store._client.collection_exists, name):
            raise StoreError(f"{store._location} exists already: open it, or choose another name")
        store._create_collections(placement)
        for key in _INDEXED_KEYS:
            store._create_index(key, "keyword")
        store._fence.create()
        store._write_meta()
        return store

    @classmethod
    def open(cls, url: str, name: str, *, timeout: int = 60) -> ClusterStore:
        """Open a collection of a server; raise StoreError if it is not one of ours, or can't be read."""
        client = connect(url, timeout)
        collection = resolve_alias(client, check_name(name, "collection"))
        no_schema = VectorSchema({}, ())  # reading the stored schema takes a store
        store = cls(client, collection, no_schema, f"{url}/{name}")
        store._schema = store._read_schema()
        return store

    def _read_schema(self) -> VectorSchema:
        """Read the schema that is stored with the collection.

        :raises StoreError: the collection is not one of ours, is unfinished, or has a format that is unknown here.
        """
        if not self._blobs.exists():
            raise StoreError(f"{self._location} is not a collection of ours (paragloss index makes one)")
        data = self.read_blob(_META_BLOB)
        if data is None:
            raise StoreError(f"{self._location} was never finished: delete it on the server and index again")
        meta = json.loads(data)
        if meta["format"] != FORMAT:
            raise StoreError(describe_unknown_format(self._location, meta, str(FORMAT)))
        return VectorSchema.from_json(meta)

    @classmethod
    def exists(cls, url: str, name: str, *, timeout: int = 60) -> bool:
        """Tell whether a server has a collection of ours with this name."""
        with closing(connect(url, timeout)) as client:
            store = cls(client, resolve_alias(client, name), VectorSchema({}, ()), f"{url}/{name}")
            return store._blobs.exists()

    @classmethod
    def delete_collection(cls, url: str, name: str, *, timeout: int = 60) -> None:
        """Delete a collection from a server."""
        with closing(connect(url, timeout)) as client:
            for collection in (name, get_blob_collection(name)):
                client.delete_collection(collection)

    def close(self) -> None:
        """Release all files and locks."""
        self._fence.release()
        self._client.close()

    def remove_created(self) -> None:
        """Delete the collection, which this process has created, while no other process can write, and close it."""
        with self.write_session():
            self.claim_writing()
            self._delete_collections()
        self._client.close()

    def remove_if_empty(self) -> bool:
        """Delete the collection, which this process has created, if it has no documents; tell whether it was deleted.

        No other process can write between the count and the deletion.
        """
        with self.write_session():
            self.claim_writing()
            if self.count():
                return False
            self._delete_collections()
        self._client.close()
        return True

    # Documents

    def add(self, records: Sequence[Record]) -> None:
        """Insert records, or replace those with the same document id."""
        for batch in split_into_requests(validate_records(records, self._schema)):
            self._write(self._client.upsert, self._name, [self._make_point(record) for record in batch])
            if not self._indexed_keys.issuperset(list_filterable_keys(record.document for record in batch)):
                self._indexed_keys |= set(self._call(self._client.get_collection, self._name).payload_schema)
                self._index_fields(batch)

    def delete(self, ids: Sequence[str]) -> int:
        """Remove documents; return how many of them were stored."""
        from qdrant_client import models

        point_ids = list(dict.fromkeys(map(hash_to_uuid, ids)))
        points = self._call(self._client.retrieve, self._name, point_ids, with_payload=False, with_vectors=False)
        if points:
            selector = models.PointIdsList(points=[point.id for point in points])
            self._write(self._client.delete, self._name, selector)
        return len(points)

    def get(
        self, ids: Sequence[str], *, vectors: bool | Sequence[str] = False, text: bool = True
    ) -> list[Record | None]:
        """Return the records of documents, None for one that is not stored."""
        point_ids = [hash_to_uuid(document_id) for document_id in ids]
        payload_keys = select_payload_keys(with_texts=text)
        vector_names = self._schema.select_names(vectors) or False
        records: dict[str, Record] = {}  # by point id
        for start in range(0, len(point_ids), _limits.READ_BATCH):
            batch = point_ids[start : start + _limits.READ_BATCH]
            points = self._call(
                self._client.retrieve, self._name, batch, with_payload=payload_keys, with_vectors=vector_names
            )
            records |= {point.id.replace("-", ""): self._make_record(point) for point in points}
        return [records.get(point_id) for point_id in point_ids]

    def count(self, where: Where | None = None, *, without_vector: str | None = None) -> int:
        """Count documents; with `without_vector` only those that have no vector of that name."""
        condition = self._make_filter(where, without_vector)
        if condition is MATCHES_NOTHING:
            return 0
        return int(self._call(self._client.count, self._name, count_filter=condition, exact=True).count)

    def read_sparse(self, name: str, ids: Sequence[str]) -> tuple[list[str], SparseRows]:
        """Return the languages and one sparse vector of documents."""
        records = self.get(ids, vectors=[name], text=False)
        langs = ["" if record is None else record.document.lang for record in records]
        vectors = [None if record is None else record.sparse.get(name) for record in records]
        return langs, pack_sparse_rows([((), ()) if v is None else (v.indices, v.values) for v in vectors])

    # Searching

    def run_concurrently(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """Return the results of several calls, in order; they run in threads and take as long as the slowest."""
        if len(calls) < 2:
            return [call() for call in calls]
        with ThreadPoolExecutor(len(calls)) as threads:
            return list(threads.map(lambda call: call(), calls))

    def optimize(self) -> None:
        """Wait until the server has built its indexes, which it does on its own."""
        from qdrant_client import models

        while self._call(self._client.get_collection, self._name).status == models.CollectionStatus.YELLOW:
            time.sleep(_POLL_SECONDS)

    # Blobs

    def read_blob(self, name: str) -> bytes | None:
        """Return named bytes; None if there are none."""
        return self._blobs.read(check_name(name, "blob"))

    def write_blob(self, name: str, data: bytes) -> None:
        """Replace named bytes."""
        self._blobs.write(check_name(name, "blob"), data)

    def delete_blob(self, name: str) -> None:
        """Remove a blob."""
        self._blobs.delete(check_name(name, "blob"))

    def blob_versions(self) -> dict[str, str]:
        """Return the names of all blobs, each with a version that changes when the blob does."""
        return self._blobs.list_versions()

    def blob_version(self, name: str) -> str | None:
        """Return a version that changes whenever the blob does, whoever writes it."""
        return self._blobs.get_version(check_name(name, "blob")) or ""

    # The right to write

    def claim_writing(self) -> tuple[int, bool]:
        """Become the only writer, or raise InUseError."""
        return self._fence.claim()

    def write_session(self) -> AbstractContextManager[None]:
        """Return a context within which no other process can write; at its end a claim is released."""
        return self._fence.session()

    def mark_statistics_stale(self) -> None:
        """Note that the last write may have failed: the stored statistics must be counted again."""
        self._fence.mark_statistics_stale()

    def mark_statistics_current(self) -> None:
        """Note that the stored statistics are those of the documents."""
        self._fence.mark_statistics_current()

    def has_unfinished_writes(self) -> bool:
        """Tell whether a process is writing, or the last one that did has not finished."""
        return not self._fence.is_free()

    def take_over_writing(self) -> None:
        """Let the next write take over from another writer, which is refused from then on."""
        self._fence.take_over = True

    # Helpers

    def _create_collections(self, placement: Placement) -> None:
        """Create the collection and, unless it exists, the collection of its blobs."""
        from qdrant_client import models

        n_replicas = placement.replicas or min(_DEFAULT_REPLICAS, self._count_nodes())
        replication = {
            "replication_factor": n_replicas,
            "write_consistency_factor": (n_replicas + 1) // 2,  # writing goes on while a replica is unavailable
        }
        dense = {
            name: models.VectorParams(**make_vector_params(self._schema, name, on_disk=placement.on_disk))
            for name in self._schema.dense
        }
        sparse_params = models.SparseVectorParams(index=models.SparseIndexParams(on_disk=placement.on_disk or None))
        self._call(
            self._client.create_collection,
            self._name,
            vectors_config=dense,
            sparse_vectors_config=dict.fromkeys(self._schema.sparse, sparse_params),
            on_disk_payload=True,
            shard_number=placement.shards,
            **replication,
        )
        if not self._blobs.exists():
            self._blobs.create(shard_number=1, **replication)

    def _delete_collections(self) -> None:
        for name in (self._name, get_blob_collection(self._name)):
            self._call(self._client.delete_collection, name)

    def _count_nodes(self) -> int:
        """Return the number of nodes of the cluster; 1 if the server does not tell."""
        with suppress(StoreError):  # the API key may not allow the question
            status = self._call(self._client.cluster_status)
            return len(status.peers) if status.status == "enabled" else 1
        return 1

    def _read_document_ids(self, point_ids: list[Any]) -> list[tuple[Any, str]]:
        """Return pairs of point id and document id."""
        points = self._call(self._client.retrieve, self._name, point_ids, with_payload=["id"], with_vectors=False)
        return [(point.id, point.payload["id"]) for point in points]

    def _read_points(
        self, condition: Any, offset: Any, limit: int, payload_keys: Any, vector_names: Any
    ) -> tuple[Sequence[Any], Any]:
        """Return up to `limit` points that match a filter, and the next offset (None at the end)."""
        page: tuple[Sequence[Any], Any] = self._call(
            self._client.scroll,
            self._name,
            scroll_filter=condition,
            limit=limit,
            offset=offset,
            with_payload=payload_keys,
            with_vectors=vector_names,
        )
        return page

    def _write_meta(self) -> None:
        self.write_blob(_META_BLOB, json.dumps({**self._schema.as_json(), "paragloss": __version__}).encode())

    def _add_vector(self, name: str, schema: VectorSchema) -> None:
        """Add a dense vector to the server's collection; raise StoreError if the server is too old for that."""
        from qdrant_client import models

        params = make_vector_params(schema, name)
        # A new vector has no place for these two; they are set by an update.
        storage_params = {key: params.pop(key) for key in ("on_disk", "quantization_config")}
        config = models.DenseVectorNameConfig(dense=models.DenseVectorConfig(**params))
        try:
            self._client.create_vector_name(self._name, name, config)
        except Exception as error:
            raise StoreError(
                f"{self._location} can't take vectors {name!r} ({error}): servers before 1.18 can't add a vector to a "
                "collection; index into a new one that keeps both models"
            ) from error
        if storage_params["quantization_config"] is not None:
            changes = {name: models.VectorParamsDiff(**storage_params)}
            self._call(self._client.update_collection, self._name, vectors_config=changes)

    def _drop_vector(self, name: str) -> None:
        """Remove a vector. Servers before 1.18 can't remove its name, so there the documents' vectors are removed."""
        try:
            self._client.delete_vector_name(self._name, name)
        except Exception:
            from qdrant_client import models

            all_points = models.FilterSelector(filter=models.Filter())
            self._write(self._client.delete_vectors, self._name, [name], points=all_points)

    def _write_vectors(self, updates: Sequence[tuple[str, dict[str, Any]]]) -> None:
        from qdrant_client import models

        points = [models.PointVectors(id=point_id, vector=vectors) for point_id, vectors in updates]
        self._write(self._client.update_vectors, self._name, points)

    def _create_index(self, key: str, kind: str) -> None:
        self._call(self._client.create_payload_index, self._name, key, kind, wait=True)

    @staticmethod
    def _make_engine_vector(vector: SparseVector) -> Any:
        from qdrant_client import models

        return models.SparseVector(indices=vector.indices.tolist(), values=vector.values.tolist())

    def _make_point(self, record: Record) -> Any:
        from qdrant_client import models

        return models.PointStruct(
            id=hash_to_uuid(record.document.id),
            vector=self._make_engine_vectors(record),
            payload=build_payload(record),
        )

    def _make_search_params(self, *, exact: bool, hnsw_ef: int) -> Any:
        from qdrant_client import models

        quantization = models.QuantizationSearchParams(ignore=exact, rescore=True, oversampling=_limits.OVERSAMPLING)
        return models.SearchParams(exact=exact, hnsw_ef=hnsw_ef, quantization=quantization)

    def _make_condition(self, condition: Condition) -> Any:
        return make_server_condition(condition)

    def _make_id_condition(self, point_ids: Sequence[Any]) -> Any:
        from qdrant_client import models

        return models.HasIdCondition(has_id=list(point_ids))

    def _make_vector_condition(self, name: str) -> Any:
        from qdrant_client import models

        return models.HasVectorCondition(has_vector=name)

    def _combine_conditions(
        self, *, must: list[Any] | None = None, should: list[Any] | None = None, must_not: list[Any] | None = None
    ) -> Any:
        from qdrant_client import models

        return models.Filter(must=must, should=should, must_not=must_not)

    def _search(self, name: str, queries: Sequence[Any], k: int, condition: Any, params: Any) -> list[Ranking]:
        """Return the k best documents of each query, best first, ties ordered by document id."""
        from qdrant_client import models

        if condition is MATCHES_NOTHING:
            return [[] for _ in queries]
        make_request = partial(models.QueryRequest, using=name, filter=condition, params=params, with_payload=False)
        requests = [make_request(query=query) for query in queries]
        return fetch_top_k(partial(self._fetch_rankings, requests), len(queries), k, select=rank_sorted)

    def _fetch_rankings(
        self, requests: Sequence[Any], request_numbers: Sequence[int], limit: int
    ) -> list[tuple[list[str], list[float]]]:
        """Send some of several requests, each for at most `limit` points.

        :return: the document ids and the scores that each request finds, best first.
        """
        limited = [requests[number].model_copy(update={"limit": limit}) for number in request_numbers]
        responses = self._call(self._client.query_batch_points, self._name, limited)
        return self._document_ids.name_rankings(response.points for response in responses)

    def _call(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call a method of the client; turn any error into StoreError."""
        try:
            return call_until_received(method, *arguments, **options)
        except Exception as error:
            reason = " ".join(str(error).split())[:_MAX_REASON_LENGTH]
            raise StoreError(
                f"{self._location} did not answer as it should ({reason}): is the server running?"
            ) from error

    def _write(self, method: Callable[..., Any], collection: str, *arguments: Any, **options: Any) -> Any:
        """Call a method of the client that changes points, while this process holds the fencing token.

        :param method: a method of the client whose first argument is the name of a collection.
        :param collection: the collection that is written to, by an alias that has the token's number in its name.
        :param arguments: the other arguments of the method.
        :raises InUseError: another process has taken the token over, and the server refused the write.
        """
        with self._fence.session():
            self._fence.claim()
            try:
                return self._call(method, self._fence.get_write_alias(collection), *arguments, wait=True, **options)
            except StoreError:
                new_holder = self._fence.find_new_holder()
                if new_holder:
                    raise InUseError(
                        f"{self._location} was taken over by {new_holder}: nothing more is written here"
                    ) from None
                raise
