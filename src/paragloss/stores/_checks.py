"""What may be written, and what asked: refused before the engine would refuse it half-way through, or keep it and never
find it. Knows nothing of either engine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from paragloss.errors import StoreError
from paragloss.stores._shape import Shape
from paragloss.types import Document, Floats, Record

_as_json = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode


def checked(records: Sequence[Record], shape: Shape) -> Sequence[Record]:
    for record in records:
        storable(record.document)
        _fitting(record, shape)
    for name in shape.dense:
        _finite(name, [record for record in records if name in record.dense])
    for name in shape.sparse:
        _ascending(name, [record for record in records if name in record.sparse])
    return records


def storable(document: Document) -> None:
    """Refuse what is no text, or nothing that JSON can hold."""
    try:
        for text in (document.id, document.title, document.text, *document.fields.values()):
            text.encode()
    except UnicodeEncodeError:
        raise StoreError(
            f"document {document.id!r} holds half a surrogate pair, which is no Unicode text: decode its source again"
        ) from None
    if document.meta:
        try:
            _as_json(dict(document.meta)).encode()
            for value in document.meta.values():
                for item in value if isinstance(value, list) else [value]:
                    if isinstance(item, int) and not -(2**63) <= item < 2**63:
                        raise ValueError("a whole number of more than 64 bits")
        except (TypeError, ValueError) as error:
            raise StoreError(f"document {document.id!r}: meta takes what JSON can hold ({error})") from None


def _fitting(record: Record, shape: Shape) -> None:
    """Refuse vectors that this collection has no room for."""
    of = f"document {record.document.id!r}"
    for name, row in record.dense.items():
        if not _fits(shape, shape.known(name), row):
            dim = shape.dense.get(name)
            rows = f"(rows, {dim})" if name in shape.several else f"({dim},)"
            want = rows if dim is not None else "a sparse vector there"
            raise StoreError(f"{of}: vector {name!r} has shape {row.shape}, this collection keeps {want}")
    for name, vector in record.sparse.items():
        if shape.known(name) not in shape.sparse or len(vector.indices) != len(vector.values):
            raise StoreError(f"{of}: {name!r} is no sparse vector with an index per value")


def _finite(name: str, records: Sequence[Record]) -> None:
    """All at once, which is quicker."""
    if records and not np.isfinite(np.vstack([record.dense[name] for record in records])).all():
        bad = next(record for record in records if not np.isfinite(record.dense[name]).all())
        raise StoreError(f"document {bad.document.id!r}: vector {name!r} holds values that are not finite")


def _ascending(name: str, records: Sequence[Record]) -> None:
    """All at once: what ascends within every document ascends as a whole with the document's number before it."""
    vectors = [record.sparse[name] for record in records]
    owner = np.repeat(np.arange(len(vectors)), [len(vector.indices) for vector in vectors])
    keys = owner << 32 | np.concatenate([[], *(vector.indices for vector in vectors)]).astype(np.int64)
    values = np.concatenate([[], *(vector.values for vector in vectors)])
    wrong = np.flatnonzero((np.diff(keys, prepend=-1) <= 0) | ~np.isfinite(values))
    if len(wrong):
        bad = records[int(owner[wrong[0]])]
        raise StoreError(f"document {bad.document.id!r}: the indices of {name!r} must ascend and its values be finite")


def _fits(shape: Shape, name: str, row: Floats) -> bool:
    if name in shape.several:
        return row.ndim == 2 and len(row) > 0 and row.shape[1] == shape.dense[name]
    return row.shape == (shape.dense.get(name),)


def written(shape: Shape, name: str, ids: Sequence[str], vectors: Sequence[Floats] | Floats) -> list[Any]:
    """Dense vectors to write, as the engines take them: finite, of the right dimension, one for each document."""
    shape.known(name)
    if len(vectors) != len(ids) or not all(_fits(shape, name, row) and np.isfinite(row).all() for row in vectors):
        got = vectors.shape if isinstance(vectors, np.ndarray) else len(vectors)
        raise StoreError(f"vector {name!r} takes {len(ids)} finite rows of {shape.dense.get(name)}; got {got}")
    return [row.tolist() for row in vectors]


def asked(shape: Shape, name: str, vectors: Floats) -> list[list[float]]:
    """Dense vectors to search with."""
    dim = shape.dense.get(shape.known(name))
    if vectors.ndim != 2 or vectors.shape[1] != dim or not np.isfinite(vectors).all():
        raise StoreError(f"vector {name!r} takes {len(vectors)} finite rows of {dim}; got {vectors.shape}")
    rows: list[list[float]] = vectors.tolist()
    return rows
