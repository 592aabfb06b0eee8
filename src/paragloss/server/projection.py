"""Documents as points in a plane: the two directions in which their vectors differ most (principal components).

Where a collection keeps no dense vectors its term vectors are projected by a few steps of subspace iteration (Halko,
Martinsson and Tropp, 2011). Knows nothing of HTTP.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.types import Document, Floats, Record, SparseVector

_STEPS, _SPARE = 6, 8


class Plane(NamedTuple):
    """Where documents lie, from 0 to 1 in both directions, and by which vectors."""

    by: str
    documents: list[Document]
    places: npt.NDArray[np.float64]  # (documents, 2)


def project(records: Sequence[Record]) -> Plane:
    """The dense vectors most documents have, else their terms."""
    counts: dict[str, int] = {}
    for record in records:
        for name in record.dense:
            counts[name] = counts.get(name, 0) + 1
    if counts:
        by = max(counts, key=lambda name: counts[name])
        some = [record for record in records if by in record.dense]
        return Plane(by, [r.document for r in some], _spread(_principal(np.stack([r.dense[by] for r in some]))))
    some = [record for record in records if any(len(vector.indices) for vector in record.sparse.values())]
    vectors = [next(v for v in record.sparse.values() if len(v.indices)) for record in some]
    return Plane("words", [r.document for r in some], _spread(_by_terms(vectors)))


def _principal(rows: Floats) -> Floats:
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    rows = rows - rows.mean(axis=0)
    _, directions = np.linalg.eigh(rows.T @ rows)  # ascending
    return _two(rows @ directions[:, ::-1][:, :2])


def _by_terms(vectors: Sequence[SparseVector]) -> Floats:
    if not vectors:
        return np.zeros((0, 2), np.float32)
    owners = np.repeat(np.arange(len(vectors)), [len(v.indices) for v in vectors])
    ids, columns = np.unique(np.concatenate([v.indices for v in vectors]), return_inverse=True)
    values = np.abs(np.concatenate([v.values for v in vectors]))
    rows: Any = sp.csr_matrix((values, (owners, columns)), shape=(len(vectors), len(ids)), dtype=np.float32)
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1))[:, 0])
    rows = sp.diags(1 / np.maximum(lengths, 1e-9)) @ rows
    mean = np.asarray(rows.mean(axis=0))  # (1, terms); rows are centred without being filled
    basis = np.random.default_rng(0).standard_normal((len(ids), 2 + _SPARE))
    for _ in range(_STEPS):
        left = np.linalg.qr(rows @ basis - mean @ basis)[0]
        basis = rows.T @ left - mean.T @ left.sum(axis=0, keepdims=True)
    best = np.linalg.svd(basis, full_matrices=False)[0][:, :2]
    return _two(rows @ best - mean @ best)


def _two(places: Any) -> Floats:
    """Two columns also where there is only one direction, or none."""
    out = np.zeros((len(places), 2), np.float32)
    out[:, : places.shape[1]] = places
    return out


def _spread(places: Floats) -> npt.NDArray[np.float64]:
    """Within 0 and 1: half by place, so that one stray document does not push the others together, half by rank, so
    that a dense heap opens up."""
    if len(places) < 2:
        return np.full((len(places), 2), 0.5)
    low, high = np.percentile(places, [1, 99], axis=0)
    linear = np.clip((places - low) / np.maximum(high - low, 1e-9), 0, 1)
    ranks = np.argsort(np.argsort(places, axis=0), axis=0) / (len(places) - 1)
    return np.asarray(0.5 * linear + 0.5 * ranks, np.float64)
