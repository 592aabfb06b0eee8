"""The part of a store that is the same for all engines: validation, paging, and conversion of points to records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from paragloss.bm25 import Ids, filter_entries
from paragloss.stores import _limits
from paragloss.stores._filters import MATCHES_NOTHING, Condition, build_conditions, list_filterable_keys
from paragloss.stores._payload import hash_to_uuid, pack_sparse_rows, parse_record, select_payload_keys
from paragloss.stores._schema import VectorSchema
from paragloss.stores._top_k import number_distinct_keys
from paragloss.stores._validation import validate_dense_rows, validate_document, validate_query_vectors
from paragloss.types import CandidateRows, Document, Floats, Ranking, Record, SparseRows, SparseVector, Store, Where

#: Where a page of records begins, in the words of the engine.
PageStart: TypeAlias = Any


class BaseStore(Store):
    """The half of `types.Store` that engines share.

    A subclass implements the other public methods, and the private ones at the end of this class.
    """

    #: The collection's folder; None if it is on a server.
    path: Path | None = None
    _schema: VectorSchema
    #: Payload keys that have an index.
    _indexed_keys: set[str]

    @property
    def dense(self) -> Mapping[str, int]:
        """The dimensions of the dense vectors, by name."""
        return self._schema.dense

    @property
    def sparse(self) -> tuple[str, ...]:
        """The names of the sparse vectors."""
        return self._schema.sparse

    @property
    def schema(self) -> dict[str, Any]:
        """The description of all vectors, as JSON (see `VectorSchema.as_json`)."""
        return self._schema.as_json()

    # Reading

    def preload_sparse(self, name: str) -> Iterator[int]:
        """Read sparse vectors in advance, and yield how many were read after each step.

        Nothing is read if another process or a server does that.
        """
        yield from ()

    def get_blob_change_markers(self, name: str) -> tuple[str, str]:
        """Return two texts: one changes when this process writes the named blob, the other when it writes another.

        Both are empty if other processes may write, too.
        """
        return "", ""

    def search_dense(
        self,
        name: str,
        vectors: Floats,
        k: int,
        where: Where | None = None,
        *,
        exact: bool = False,
        candidate_ids: Sequence[str] | None = None,
    ) -> list[Ranking]:
        """Find the documents with the largest dot product, k for each query vector.

        :param name: the name of the documents' vectors that are compared.
        :param vectors: query vectors, shape (n_queries, dim).
        :param where: a filter of languages and metadata.
        :param exact: compare with all documents instead of walking through the graph.
        :param candidate_ids: search these documents only.
        :return: a ranking for each query vector, best documents first.
        """
        queries = validate_query_vectors(self._schema, name, vectors)
        hnsw_ef = _limits.HNSW_EF_FILTERED if where else _limits.HNSW_EF
        params = self._make_search_params(exact=exact, hnsw_ef=hnsw_ef)
        return self._search(name, queries, k, self._make_filter(where, candidate_ids=candidate_ids), params)

    def search_sparse(
        self, name: str, vectors: Sequence[SparseVector], k: int, where: Where | None = None
    ) -> list[Ranking]:
        """Find the documents with the largest dot product, k for each sparse query vector."""
        queries = self._make_sparse_queries(name, vectors)
        return self._search(name, queries, k, self._make_filter(where), params=None)

    def search_and_read(
        self,
        name: str,
        vectors: Sequence[SparseVector],
        k: int,
        where: Where | None = None,
        term_ids: Ids | None = None,
    ) -> CandidateRows:
        """Find the k nearest documents of each query vector, and read their languages and sparse vectors.

        :param name: the name of the sparse vectors that are searched and read.
        :param where: a filter of languages and metadata.
        :param term_ids: keep the entries with these ids, and a few others; None keeps all entries.
        """
        rankings = self.search_sparse(name, vectors, k, where)
        ids, row_numbers = number_distinct_keys([hit.id for hit in ranking] for ranking in rankings)
        langs, rows = self.read_sparse(name, ids)
        if term_ids is not None:
            rows = filter_entries(rows, term_ids)
        return CandidateRows(ids, langs, rows, row_numbers)

    def scroll(
        self,
        where: Where | None = None,
        *,
        batch_size: int | None = None,
        vectors: bool | Sequence[str] = False,
        without_vector: str | None = None,
        text: bool = True,
    ) -> Iterator[list[Record]]:
        """Yield all records, a batch at a time.

        :param where: a filter of languages and metadata; None reads all records.
        :param batch_size: how many records a batch has at most; None is the usual number.
        :param vectors: whether to read vectors, or the names of those to read.
        :param without_vector: read only documents that have no vector of this name.
        :param text: whether to read texts; without them ids, languages, titles and metadata are read.
        """
        page_size = batch_size or _limits.READ_BATCH
        page_start = None
        while True:
            records, page_start = self.read_page(where, page_start, page_size, vectors, without_vector, text)
            if records:
                yield records
            if page_start is None:
                return

    def read_page(
        self,
        where: Where | None,
        page_start: PageStart | None,
        page_size: int,
        vectors: bool | Sequence[str],
        without_vector: str | None = None,
        with_texts: bool = True,
    ) -> tuple[list[Record], PageStart | None]:
        """Read one page of the records that match a filter.

        :param where: a filter of languages and metadata; None reads all records.
        :param page_start: where the page begins: None for the first one, else what the page before returned.
        :param page_size: how many records to read at most.
        :param vectors: True reads all vectors, False none; or the names of those to read.
        :param without_vector: read only documents that have no vector of this name.
        :param with_texts: False leaves out the texts: ids, languages, titles and metadata are read.
        :return: the records, and where the next page begins; None if this is the last one.
        """
        condition = self._make_filter(where, without_vector)
        if condition is MATCHES_NOTHING:
            return [], None
        payload_keys = select_payload_keys(with_texts=with_texts)
        vector_names = self._schema.select_names(vectors) or False
        points, next_start = self._read_points(condition, page_start, page_size, payload_keys, vector_names)
        return [self._make_record(point) for point in points], next_start

    def scroll_sparse(self, name: str, where: Where | None = None) -> Iterator[tuple[list[Any], SparseRows]]:
        """Yield the sparse vectors of one name, a batch of documents at a time.

        Reads nothing else, and takes a third of the time of `scroll`.

        :param where: a filter of languages and metadata; None reads all documents.
        :return: pairs of the point ids of a batch, and its vectors in the same order; the vector of a document that has
            none is empty.
        """
        condition = self._make_filter(where)
        vector_names = [self._schema.check_vector(name)]
        if condition is MATCHES_NOTHING:
            return
        page_start = None
        while True:
            points, page_start = self._read_points(
                condition, page_start, _limits.READ_BATCH, payload_keys=False, vector_names=vector_names
            )
            vectors = [(point.vector or {}).get(name) for point in points]
            yield [point.id for point in points], _pack_vectors(vectors)
            if page_start is None:
                return

    def salvage_records(self) -> Iterator[tuple[list[Record], int]]:
        """Yield all records that can be read, a batch at a time, each with the number of records that can't be."""
        for records in self.scroll(vectors=True):
            yield records, 0

    # Writing

    def check_documents(self, documents: Sequence[Document]) -> None:
        """Raise StoreError if one of the documents can't be stored."""
        for document in documents:
            validate_document(document)

    def add_dense_vector(self, name: str, dim: int, *, multivector: bool = False, precision: str = "float32") -> None:
        """Add a named dense vector to the schema; documents get theirs by `update_dense`.

        :param multivector: whether a document may have any number of these vectors.
        :param precision: float32, float16 or int8.
        """
        schema = self._schema.add_dense(name, dim, multivector=multivector, precision=precision)
        self._add_vector(name, schema)
        self._schema = schema
        self._write_meta()

    def drop_dense_vector(self, name: str) -> None:
        """Remove a named dense vector from the schema and from all documents."""
        self._schema.check_vector(name)
        self._drop_vector(name)
        self._schema = self._schema.remove_dense(name)
        self._write_meta()

    def update_dense(self, name: str, ids: Sequence[str], vectors: Sequence[Floats] | Floats) -> None:
        """Replace one dense vector of stored documents."""
        rows = validate_dense_rows(self._schema, name, ids, vectors)
        self._update_vectors(name, [self._get_point_id(document_id) for document_id in ids], rows)

    def update_sparse(self, name: str, point_ids: Sequence[Any], vectors: Sequence[SparseVector]) -> None:
        """Replace one sparse vector of documents, which are given by the point ids of `scroll_sparse`."""
        self._schema.check_vector(name)
        self._update_vectors(name, point_ids, [self._make_engine_vector(vector) for vector in vectors])

    def take_over_writing(self) -> None:
        """Let the next write take over from another writer. A folder needs none: its lock ends with its process."""

    # Closing

    def remove_created(self) -> None:
        """Close the collection and, if this process has created it, remove it."""
        self.close()

    def remove_if_empty(self) -> bool:
        """Remove the collection if this process has created it and it has no documents; tell whether it was removed."""
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Helpers for subclasses

    def _update_vectors(self, name: str, point_ids: Sequence[Any], vectors: Sequence[Any]) -> None:
        """Replace one vector of points, a batch at a time."""
        updates = [(point_id, {name: vector}) for point_id, vector in zip(point_ids, vectors, strict=True)]
        for start in range(0, len(updates), _limits.WRITE_BATCH):
            self._write_vectors(updates[start : start + _limits.WRITE_BATCH])

    def _index_fields(self, records: Sequence[Record]) -> None:
        """Index the metadata fields of written documents, up to the maximal number of indexes."""
        for key, kind in list_filterable_keys(record.document for record in records).items():
            if key not in self._indexed_keys and len(self._indexed_keys) < _limits.MAX_FIELD_INDEXES:
                self._create_index(key, kind)
                self._indexed_keys.add(key)

    def _make_record(self, point: Any, payload: Mapping[str, Any] | None = None) -> Record:
        """Return a point as a record.

        :param payload: the point's payload, if it was read before: engines build it anew at every access.
        """
        vectors = point.vector or {}
        dense = {name: vectors[name] for name in self._schema.dense if name in vectors}
        sparse = {
            name: (vectors[name].indices, vectors[name].values) for name in self._schema.sparse if name in vectors
        }
        return parse_record(point.payload if payload is None else payload, dense, sparse)

    def _make_engine_vectors(self, record: Record) -> dict[str, Any]:
        """Return the vectors of a record as the engine takes them, by name."""
        vectors: dict[str, Any] = {name: row.tolist() for name, row in record.dense.items()}
        for name, vector in record.sparse.items():
            vectors[name] = self._make_engine_vector(vector)
        return vectors

    def _make_sparse_queries(self, name: str, vectors: Sequence[SparseVector]) -> list[Any]:
        """Return sparse query vectors as the engine takes them; StoreError if there is no such kind of vector."""
        self._schema.check_vector(name)
        return [self._make_engine_vector(vector) for vector in vectors]

    def _get_point_id(self, document_id: str) -> Any:
        """Return the engine's id for a document."""
        return hash_to_uuid(document_id)

    def _make_filter(
        self, where: Where | None, without_vector: str | None = None, *, candidate_ids: Sequence[str] | None = None
    ) -> Any:
        """Return the engine's filter: None if all documents match, MATCHES_NOTHING if none can.

        :param where: allowed values by field.
        :param without_vector: match only documents that have no vector of this name.
        :param candidate_ids: match only these documents.
        """
        groups = build_conditions(where, self._indexed_keys)
        if groups is None:
            return MATCHES_NOTHING
        must = []
        for group in groups:
            must.append(self._combine_conditions(should=[self._make_condition(condition) for condition in group]))
        if candidate_ids is not None:
            must.append(self._make_id_condition([self._get_point_id(document_id) for document_id in candidate_ids]))
        must_not = []
        if without_vector:
            must_not.append(self._make_vector_condition(self._schema.check_vector(without_vector)))
        if not must and not must_not:
            return None  # a filter without conditions is slow
        return self._combine_conditions(must=must, must_not=must_not or None)

    # Methods that an engine implements beside the public ones of `types.Store`

    def _search(self, name: str, queries: Sequence[Any], k: int, condition: Any, params: Any) -> list[Ranking]:
        """Return the k best documents of each query vector, best first, ties ordered by document id.

        :param queries: the query vectors as the engine takes them.
        :param condition: a filter of `_make_filter`.
        :param params: search parameters of `_make_search_params`, or None.
        """
        raise NotImplementedError

    def _make_search_params(self, *, exact: bool, hnsw_ef: int) -> Any:
        """Return the engine's parameters for a dense search.

        :param exact: compare with all documents instead of walking through the graph.
        :param hnsw_ef: candidates that a walk through the graph keeps.
        """
        raise NotImplementedError

    def _make_condition(self, condition: Condition) -> Any:
        """Return a condition as the engine takes it."""
        raise NotImplementedError

    def _make_id_condition(self, point_ids: Sequence[Any]) -> Any:
        """Return the engine's condition that a point has one of these ids."""
        raise NotImplementedError

    def _make_vector_condition(self, name: str) -> Any:
        """Return the engine's condition that a point has a vector of this name."""
        raise NotImplementedError

    def _combine_conditions(
        self, *, must: list[Any] | None = None, should: list[Any] | None = None, must_not: list[Any] | None = None
    ) -> Any:
        """Return the engine's filter: all of `must`, one of `should` and none of `must_not` have to be met."""
        raise NotImplementedError

    def _read_points(
        self, condition: Any, offset: Any, limit: int, payload_keys: Any, vector_names: Any
    ) -> tuple[Sequence[Any], Any]:
        """Return up to `limit` points that match a filter, and the next offset (None at the end).

        :param payload_keys: a list of keys, or True for all and False for none; the same for `vector_names`.
        """
        raise NotImplementedError

    def _create_index(self, key: str, kind: str) -> None:
        """Create an index for a payload key; its kind is keyword, integer or float."""
        raise NotImplementedError

    def _add_vector(self, name: str, schema: VectorSchema) -> None:
        """Add a dense vector to the engine; `schema` is the new one, which has it."""
        raise NotImplementedError

    def _drop_vector(self, name: str) -> None:
        """Remove a dense vector from the engine."""
        raise NotImplementedError

    def _write_vectors(self, updates: Sequence[tuple[Any, dict[str, Any]]]) -> None:
        """Replace vectors of points, each given as a point id and vectors by name."""
        raise NotImplementedError

    def _write_meta(self) -> None:
        """Write the schema to the collection."""
        raise NotImplementedError

    @staticmethod
    def _make_engine_vector(vector: SparseVector) -> Any:
        """Return a sparse vector as the engine takes it."""
        raise NotImplementedError


def _pack_vectors(vectors: Sequence[Any]) -> SparseRows:
    """Join an engine's sparse vectors into flat arrays; None stands for an empty one."""
    return pack_sparse_rows([((), ()) if vector is None else (vector.indices, vector.values) for vector in vectors])
