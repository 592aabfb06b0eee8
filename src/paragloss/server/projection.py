"""Documents as points in a plane, near each other where they say similar things, in whatever language.

Vectors are those a model gave most of them, else their words as English ones. A few directions are kept (subspace
iteration, Halko, Martinsson and Tropp, 2011), each document's nearest are found, and points are drawn towards their
nearest and pushed away from others (as in UMAP, McInnes, Healy and Melville, 2018). Knows nothing of HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.types import Document, Floats, Record

Bridge = Callable[[Sequence[Document]], sp.csr_matrix]

_STEPS, _SPARE, _DIRECTIONS = 4, 10, 30
_NEAREST, _OTHERS, _ROUNDS, _PUSHES = 10, 15, 120, 30


class Plane(NamedTuple):
    """Where documents lie, from 0 to 1 in both directions, and by which vectors."""

    by: str
    documents: list[Document]
    places: npt.NDArray[np.float64]  # (documents, 2)


def project(records: Sequence[Record], bridged: Bridge) -> Plane:
    """The dense vectors most documents have, else their words; `bridged` says them in one language."""
    counts: dict[str, int] = {}
    for record in records:
        for name in record.dense:
            counts[name] = counts.get(name, 0) + 1
    if counts:
        by = max(counts, key=lambda name: counts[name])
        some = [record for record in records if by in record.dense]
        return Plane(by, [r.document for r in some], _placed(np.stack([_whole(r.dense[by]) for r in some])))
    documents = [record.document for record in records]
    return Plane("words", documents, _placed(_telling(bridged(documents))) if documents else np.zeros((0, 2)))


def _whole(vector: Floats) -> Floats:
    """One vector of a document, also where it has one for each passage."""
    return vector if vector.ndim == 1 else np.asarray(vector.mean(axis=0))


def _telling(rows: sp.csr_matrix) -> sp.csr_matrix:
    """Words by how rare they are; those of one document say nothing of others."""
    counts = np.bincount(rows.indices, minlength=rows.shape[1])
    weights = np.where(counts > 1, np.log(rows.shape[0] / np.maximum(counts, 1)).clip(0), 0)
    rows = rows.sqrt() @ sp.diags(weights.astype(np.float32))
    return sp.csr_matrix(rows)


def _placed(rows: Any) -> npt.NDArray[np.float64]:
    if rows.shape[0] < 4:
        return np.linspace(0.2, 0.8, rows.shape[0])[:, None].repeat(2, axis=1)
    few = _directions(rows)
    return _apart(_spread(_arranged(_neighbours(few), few)))


def _directions(rows: Any) -> Floats:
    """Rows by the directions in which they differ most, of unit length; documents with no words are nowhere."""
    rng = np.random.default_rng(0)
    basis = rng.standard_normal((rows.shape[1], min(_DIRECTIONS + _SPARE, rows.shape[1]))).astype(np.float32)
    for _ in range(_STEPS):
        basis = rows.T @ np.linalg.qr(rows @ basis)[0]
    best = np.linalg.svd(basis, full_matrices=False)[0][:, :_DIRECTIONS]
    found = np.asarray(rows @ best, np.float32)
    if found.shape[1] < 2:
        found = np.hstack([found, np.zeros_like(found)])
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9), np.float32)


def _neighbours(rows: Floats) -> npt.NDArray[np.int64]:
    likeness = rows @ rows.T
    np.fill_diagonal(likeness, -2)
    count = min(_NEAREST, len(rows) - 1)
    return np.asarray(np.argpartition(-likeness, count - 1, axis=1)[:, :count])


def _arranged(nearest: npt.NDArray[np.int64], rows: Floats) -> Floats:
    """Places for which neighbours are near: each round draws them together, and pushes away some others."""
    count, each = nearest.shape
    rng = np.random.default_rng(0)
    places = rows[:, :2] - rows[:, :2].mean(axis=0)
    places = 10 * places / np.maximum(places.std(axis=0), 1e-9) + rng.normal(0, 0.01, places.shape)
    ours, theirs = np.repeat(np.arange(count), each), nearest.ravel()
    for round_ in range(_ROUNDS):
        step = 0.5 * (1 - round_ / _ROUNDS)
        apart = places[ours] - places[theirs]
        pull = np.clip(-2 * apart / (1 + (apart**2).sum(axis=1, keepdims=True)), -4, 4)
        moved = np.stack([np.bincount(ours, p, count) - np.bincount(theirs, p, count) for p in pull.T], axis=1)
        apart = places[:, None] - places[rng.integers(0, count, (count, _OTHERS))]  # (documents, others, 2)
        square = (apart**2).sum(axis=2, keepdims=True)
        moved += np.clip(2 * apart / ((0.01 + square) * (1 + square)), -4, 4).sum(axis=1)
        places = places + np.clip(step * moved, -4, 4)
    return np.asarray(places, np.float32)


def _spread(places: Floats) -> npt.NDArray[np.float64]:
    """Within 0 and 1: half by place, so that one stray document does not push the others together, half by rank, so
    that a dense heap opens up."""
    low, high = np.percentile(places, [1, 99], axis=0)
    linear = np.clip((places - low) / np.maximum(high - low, 1e-9), 0, 1)
    ranks = np.argsort(np.argsort(places, axis=0), axis=0) / (len(places) - 1)
    return np.asarray(0.5 * linear + 0.5 * ranks, np.float64)


def _apart(places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Nobody hides behind another: those too near are pushed apart, a little each time."""
    from scipy.spatial import cKDTree

    least = min(0.02, 0.5 / np.sqrt(len(places)))
    places = places + np.random.default_rng(0).uniform(-1e-4, 1e-4, places.shape)
    for _ in range(_PUSHES):
        pairs = cKDTree(places).query_pairs(least, output_type="ndarray")
        if not len(pairs):
            break
        apart = places[pairs[:, 0]] - places[pairs[:, 1]]
        long = np.linalg.norm(apart, axis=1, keepdims=True)
        push = 0.25 * (least - long) * apart / np.maximum(long, 1e-9)
        np.add.at(places, pairs[:, 0], push)
        np.add.at(places, pairs[:, 1], -push)
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray((places - low) / np.maximum(high - low, 1e-9), np.float64)
