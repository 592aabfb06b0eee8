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


def source(grades: sp.csr_matrix, similarity_rows: sp.csr_matrix | None = None, *, difference: int = 1) -> Source:
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
        None if similarity_rows is None else _nearest(similarity_rows),
    )


def draw(source: Source, per_positive: int, rng: np.random.Generator) -> Integers:
    """(3, triples): `per_positive` for each positive, less those whose draw turned out to be judged already.

    Every other one is a document judged lower, where there is one; the rest are unjudged, at random or hard.
    """
    positive_numbers = np.repeat(np.arange(len(source.positives)), per_positive)
    query, better = source.positives[positive_numbers].T
    if source.nearest is None:
        worse = rng.integers(0, source.documents, len(positive_numbers))
    else:
        worse = source.nearest[better, rng.integers(0, source.nearest.shape[1], len(positive_numbers))]
    judged_positions = np.searchsorted(source.judged, keys := query * source.documents + worse)
    is_unjudged = source.judged[np.minimum(judged_positions, len(source.judged) - 1)] != keys
    count = np.diff(source.bounds)[positive_numbers]
    is_judged_lower = (count > 0) & (np.arange(len(positive_numbers)) % 2 == 0)
    lower_positions = source.bounds[positive_numbers] + (rng.random(len(positive_numbers)) * count).astype(np.int64)
    worse[is_judged_lower] = source.lower[lower_positions[is_judged_lower]]
    return np.stack([query, better, worse])[:, is_unjudged | is_judged_lower]


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
