"""Top-k with ties broken by id, and CSLS. Plain numpy; knows nothing of stores.

CSLS: Conneau et al., "Word translation without parallel data", ICLR 2018, eq. 7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from paragloss.types import Floats, Hit, Ranking


def rank(hits: Iterable[Hit], k: int) -> Ranking:
    """The best k hits, highest score first, equal scores by id."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k]


def top(scores: Floats, ids: Sequence[str], k: int) -> Ranking:
    """The best k of one row of scores. Ties at the edge are settled by id, so the order of `ids` never matters."""
    k = min(k, len(ids))
    if k <= 0:
        return []
    if k == len(ids):
        chosen = np.arange(len(ids))
    else:
        edge = np.partition(scores, len(ids) - k)[len(ids) - k]
        chosen = np.flatnonzero(scores >= edge)
    return rank((Hit(ids[i], float(scores[i])) for i in chosen), k)


def neighbourhood(rows: Floats, others: Floats, *, k: int = 10, block: int = 1024) -> Floats:
    """For each of `rows`, the mean dot product with its k nearest among `others`: how much of a hub it is."""
    k = min(k, len(others))
    if k == 0:
        return np.zeros(len(rows), np.float32)
    means = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), block):
        similarity = rows[start : start + block] @ others.T  # (block, others)
        nearest = np.partition(similarity, similarity.shape[1] - k, axis=1)[:, -k:]
        means[start : start + block] = nearest.mean(axis=1)
    return means


def csls_documents(documents: Floats, hubness: Floats) -> Floats:
    """Prepare unit document rows so that a dot product with `csls_queries` is CSLS: [2d, -r(d)].

    The query's own term, -r(q), is the same for every document and left out: it never changes a ranking.
    """
    return np.hstack([2 * documents, -hubness[:, None]]).astype(np.float32)


def csls_queries(queries: Floats) -> Floats:
    """[q, 1]: the other half of `csls_documents`."""
    return np.hstack([queries, np.ones((len(queries), 1), np.float32)]).astype(np.float32)
