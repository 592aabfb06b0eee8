"""Triples for pairwise learning: a query, a document that should come first, and one drawn to come after it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from paragloss.errors import InputError
from paragloss.types import Integers

#: Hard negatives are drawn from this many documents most like the relevant one.
NEAREST = 20


class Source(NamedTuple):
    """Where the triples of one set of judgments come from."""

    positives: Integers  # (positives, 2): query, document
    lower: Integers  # documents judged lower than a positive, for one positive after the other
    bounds: Integers  # (positives + 1,): which of `lower` belong to which positive
    judged: Integers  # query x documents + document of every judgment, ascending
    documents: int
    nearest: Integers | None  # (documents, NEAREST), for hard negatives


def source(grades: sp.csr_matrix, alike: sp.csr_matrix | None = None, *, difference: int = 1) -> Source:
    """From grades (queries x documents), and for hard negatives unit rows by which documents are alike. Documents
    are set against each other whose grades differ by `difference` or more."""
    positives, lower = [], []
    for query in range(grades.shape[0]):
        span = slice(grades.indptr[query], grades.indptr[query + 1])
        documents, values = grades.indices[span], grades.data[span]
        for document, grade in zip(documents, values, strict=True):
            if grade > 0:
                positives.append((query, document))
                lower.append(documents[values <= grade - difference])
    if not positives:
        raise InputError("no query has a relevant document: nothing to learn from")
    owner = np.repeat(np.arange(grades.shape[0], dtype=np.int64), np.diff(grades.indptr))
    return Source(
        np.array(positives, np.int64),
        np.concatenate(lower).astype(np.int64),
        np.cumsum([0, *map(len, lower)]),
        owner * grades.shape[1] + grades.indices,
        grades.shape[1],
        None if alike is None else _nearest(alike),
    )


def draw(among: Source, per_positive: int, rng: np.random.Generator) -> Integers:
    """(3, triples): `per_positive` for each positive, less those whose draw turned out to be judged already.

    Every other one is a document judged lower, where there is one; the rest are unjudged, at random or hard.
    """
    which = np.repeat(np.arange(len(among.positives)), per_positive)
    query, better = among.positives[which].T
    if among.nearest is None:
        worse = rng.integers(0, among.documents, len(which))
    else:
        worse = among.nearest[better, rng.integers(0, among.nearest.shape[1], len(which))]
    at = np.searchsorted(among.judged, keys := query * among.documents + worse)
    fair = among.judged[np.minimum(at, len(among.judged) - 1)] != keys
    count = np.diff(among.bounds)[which]
    taught = (count > 0) & (np.arange(len(which)) % 2 == 0)
    pick = among.bounds[which] + (rng.random(len(which)) * count).astype(np.int64)
    worse[taught] = among.lower[pick[taught]]
    return np.stack([query, better, worse])[:, fair | taught]


def _nearest(rows: sp.csr_matrix) -> Integers:
    k = min(NEAREST, rows.shape[0] - 1)
    if k < 1:
        raise InputError("hard negatives need two documents or more")
    nearest_rows = np.empty((rows.shape[0], k), np.int64)
    turned = rows.T.tocsr()
    for start in range(0, rows.shape[0], 512):
        similarities = np.asarray((rows[start : start + 512] @ turned).todense())
        similarities[np.arange(len(similarities)), start + np.arange(len(similarities))] = -1  # not itself
        nearest_rows[start : start + 512] = np.argpartition(similarities, -k, axis=1)[:, -k:]
    return nearest_rows
