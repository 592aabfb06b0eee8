"""Validate records and query vectors before an engine gets them, which might fail half-way or store useless data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from paragloss.errors import StoreError
from paragloss.groups import list_groups
from paragloss.stores._schema import VectorSchema
from paragloss.types import Document, Floats, Record

_encode_json = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode


def validate_records(records: Sequence[Record], schema: VectorSchema) -> Sequence[Record]:
    """Return the records if all of them can be stored; raise StoreError that names the first that can't."""
    for record in records:
        validate_document(record.document)
        _validate_vector_shapes(record, schema)
    for name in schema.dense:
        _validate_dense_values(name, [record for record in records if name in record.dense])
    for name in schema.sparse:
        _validate_sparse_values(name, [record for record in records if name in record.sparse])
    return records


def validate_document(document: Document) -> None:
    """Raise StoreError if a text is not valid Unicode or the metadata can't be written as JSON."""
    _validate_texts(document)
    _validate_meta(document)


def _validate_texts(document: Document) -> None:
    """Raise StoreError if a text is not valid Unicode."""
    try:
        for text in (document.id, document.title, document.text, *document.fields.values()):
            text.encode()
    except UnicodeEncodeError:
        raise StoreError(
            f"document {document.id!r} holds half a surrogate pair, which is no Unicode text: decode its source again"
        ) from None


def _validate_meta(document: Document) -> None:
    """Raise StoreError if the metadata can't be written as JSON, or has an integer of more than 64 bits."""
    try:
        _encode_json(dict(document.meta)).encode()
        _validate_integers(document)
    except (TypeError, ValueError) as error:
        raise StoreError(f"document {document.id!r}: meta takes what JSON can hold ({error})") from None


def validate_dense_rows(
    schema: VectorSchema, name: str, ids: Sequence[str], vectors: Sequence[Floats] | Floats
) -> list[Any]:
    """Return dense vectors to write, one per document id, as nested lists; raise StoreError if any is invalid."""
    schema.check_vector(name)
    valid = all(_has_schema_shape(schema, name, row) and np.isfinite(row).all() for row in vectors)
    if len(vectors) != len(ids) or not valid:
        actual = vectors.shape if isinstance(vectors, np.ndarray) else len(vectors)
        raise StoreError(f"vector {name!r} takes {len(ids)} finite rows of {schema.dense.get(name)}; got {actual}")
    return [row.tolist() for row in vectors]


def validate_query_vectors(schema: VectorSchema, name: str, vectors: Floats) -> list[list[float]]:
    """Return dense query vectors, shape (n_queries, dim), as lists; raise StoreError if they are invalid."""
    dim = schema.dense.get(schema.check_vector(name))
    if vectors.ndim != 2 or vectors.shape[1] != dim or not np.isfinite(vectors).all():
        raise StoreError(f"vector {name!r} takes {len(vectors)} finite rows of {dim}; got {vectors.shape}")
    rows: list[list[float]] = vectors.tolist()
    return rows


def _validate_integers(document: Document) -> None:
    """Raise ValueError if a metadata value is an integer that does not fit into 64 bits."""
    for value in document.meta.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, int) and not -(2**63) <= item < 2**63:
                raise ValueError("a whole number of more than 64 bits")


def _validate_vector_shapes(record: Record, schema: VectorSchema) -> None:
    """Raise StoreError if a vector of the record has a name or a shape that the schema does not have."""
    label = f"document {record.document.id!r}"
    for name, row in record.dense.items():
        if not _has_schema_shape(schema, schema.check_vector(name), row):
            expected = _describe_expected_shape(schema, name)
            raise StoreError(f"{label}: vector {name!r} has shape {row.shape}, this collection keeps {expected}")
    for name, vector in record.sparse.items():
        if schema.check_vector(name) not in schema.sparse or len(vector.indices) != len(vector.values):
            raise StoreError(f"{label}: {name!r} is no sparse vector with an index per value")


def _has_schema_shape(schema: VectorSchema, name: str, row: Floats) -> bool:
    if name in schema.multivectors:
        return row.ndim == 2 and len(row) > 0 and row.shape[1] == schema.dense[name]
    return row.shape == (schema.dense.get(name),)


def _describe_expected_shape(schema: VectorSchema, name: str) -> str:
    dim = schema.dense.get(name)
    if dim is None:
        return "a sparse vector there"
    return f"(rows, {dim})" if name in schema.multivectors else f"({dim},)"


def _validate_dense_values(name: str, records: Sequence[Record]) -> None:
    """Raise StoreError if a dense vector holds NaN or infinity. One call tests all vectors, which is faster."""
    if records and not np.isfinite(np.vstack([record.dense[name] for record in records])).all():
        invalid = next(record for record in records if not np.isfinite(record.dense[name]).all())
        raise StoreError(f"document {invalid.document.id!r}: vector {name!r} holds values that are not finite")


def _validate_sparse_values(name: str, records: Sequence[Record]) -> None:
    """Raise StoreError unless the indices of every sparse vector ascend and its values are finite.

    All vectors are tested at once: indices ascend in each document exactly if the keys (document number, index) ascend.
    """
    vectors = [record.sparse[name] for record in records]
    document_numbers = list_groups([len(vector.indices) for vector in vectors])  # (n_entries,)
    indices = np.concatenate([[], *(vector.indices for vector in vectors)]).astype(np.int64)  # (n_entries,)
    values = np.concatenate([[], *(vector.values for vector in vectors)])  # (n_entries,)
    keys = document_numbers << 32 | indices
    is_valid = (np.diff(keys, prepend=-1) > 0) & np.isfinite(values)
    if not is_valid.all():
        first_invalid = int(document_numbers[is_valid.argmin()])
        document = records[first_invalid].document
        raise StoreError(f"document {document.id!r}: the indices of {name!r} must ascend and its values be finite")
