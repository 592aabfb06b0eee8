"""Select the k best, with ties broken by id, and correct for hubs: CSLS, globally corrected ranks, inverted softmax.

A hub is a vector that is near very many others, and would be found for queries it has nothing to do with. CSLS: Conneau
et al., "Word translation without parallel data", ICLR 2018, eq. 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from paragloss.types import Floats, Hit, Ranking

T = TypeVar("T", bound=tuple[Any, float])

_id, _score = itemgetter(0), itemgetter(1)  # of a hit


def rank_hits(hits: Iterable[Hit], k: int) -> Ranking:
    """Return the best k hits, highest score first, equal scores by id."""
    return select_best(hits, k, name_of=_id)


def rank_sorted(ids: Sequence[str], scores: Sequence[float], k: int) -> Ranking:
    """Return the best k of hits that are sorted by score already; equal scores are sorted by id."""
    best_scores = scores[: k + 1]
    if len(set(best_scores)) == len(best_scores):
        return [*map(Hit, ids[:k], best_scores)]
    return rank_hits(map(Hit, ids, scores), k)


def select_best(scored: Iterable[T], k: int, *, name_of: Callable[[T], str]) -> list[T]:
    """Return the best k pairs of an item and its score, highest score first, equal scores by the item's name."""
    ranked = sorted(scored, key=_score, reverse=True)
    if len(set(map(_score, ranked))) < len(ranked):  # sorting is stable, backwards too
        ranked = sorted(sorted(ranked, key=name_of), key=_score, reverse=True)
    return ranked[:k]


def rank_scores(scores: npt.NDArray[np.floating[Any]], ids: Sequence[str], k: int) -> Ranking:
    """Return the best k of one row of scores; ties are settled by id, so the order of `ids` never matters."""
    k = min(k, len(ids))
    if k <= 0:
        return []
    if k == len(ids):
        candidates = np.arange(len(ids))
    else:
        threshold = np.partition(scores, len(ids) - k)[len(ids) - k]
        candidates = np.flatnonzero(scores >= threshold)
    return rank_hits((Hit(ids[i], float(scores[i])) for i in candidates.tolist()), k)


def neighbourhood(rows: Floats, neighbours: Floats, *, k: int = 10, block: int = 1024) -> Floats:
    """Return the mean dot product of each row with its k nearest neighbours: how much of a hub it is; (n_rows,)."""
    k = min(k, len(neighbours))
    if k == 0:
        return np.zeros(len(rows), np.float32)
    means = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), block):
        similarity = rows[start : start + block] @ neighbours.T  # (block, n_neighbours)
        nearest = np.partition(similarity, similarity.shape[1] - k, axis=1)[:, -k:]
        means[start : start + block] = nearest.mean(axis=1)
    return means


def csls_documents(documents: Floats, hubness: Floats) -> Floats:
    """Prepare unit document rows so that a dot product with `csls_queries` is CSLS: [2d, -r(d)].

    The query's own term, -r(q), is the same for every document and left out: it never changes a ranking.
    """
    return np.hstack([2 * documents, -hubness[:, None]]).astype(np.float32)


def csls_queries(queries: Floats) -> Floats:
    """Prepare query rows for a dot product with `csls_documents`: [q, 1]."""
    return np.hstack([queries, np.ones((len(queries), 1), np.float32)]).astype(np.float32)


def find_nearest(
    queries: Floats, documents: Floats, k: int, *, csls: int = 0, neighbours: Floats | None = None, block: int = 1024
) -> npt.NDArray[np.int64]:
    """Return the row numbers of the k best documents for each query, best first; (n_queries, k).

    All documents are compared; those with equal scores are ordered by row number.

    :param queries: vectors of queries, shape (n_queries, dim).
    :param documents: vectors of documents, shape (n_documents, dim); with fewer than k, all are returned.
    :param csls: rank by CSLS over so many neighbours; 0 ranks by the dot product.
    :param neighbours: the rows among which the neighbours of documents are found; the queries if None, as in Cr5's
        evaluation.
    :param block: how many queries are compared at once.
    """
    if csls:
        if neighbours is None:
            neighbours = queries
        hubness = neighbourhood(documents, neighbours, k=csls)
        queries = csls_queries(queries)
        documents = csls_documents(documents, hubness)
    k = min(k, len(documents))
    best = np.empty((len(queries), k), np.int64)
    if k == 0:
        return best
    for start in range(0, len(queries), block):
        scores = queries[start : start + block] @ documents.T  # (block, n_documents)
        best[start : start + block] = _select_columns(scores, k)
    return best


def _select_columns(scores: Floats, k: int) -> npt.NDArray[np.int64]:
    """Return the columns of the k highest scores of each row, highest first, equal scores by column; (n_rows, k)."""
    kth_scores = np.partition(scores, scores.shape[1] - k, axis=1)[:, -k]  # (n_rows,)
    columns = np.empty((len(scores), k), np.int64)
    for i, row in enumerate(scores):
        candidates = np.flatnonzero(row >= kth_scores[i])
        # A stable sort keeps the first of equal scores first, also of those that are cut off.
        columns[i] = candidates[np.argsort(-row[candidates], kind="stable")[:k]]
    return columns


def score_globally_corrected(queries: Floats, targets: Floats) -> Floats:
    """Score queries and targets by their cosine minus the rank of the query for the target.

    Dinu, Lazaridou and Baroni, "Improving zero-shot learning by mitigating the hubness problem", ICLR 2015 workshop,
    eq. 3, negated so that higher is better; of queries with equal cosines the earlier one ranks first.

    :param queries: unit vectors of queries, shape (n_queries, dim).
    :param targets: unit vectors of targets, shape (n_targets, dim).
    :return: scores (n_queries, n_targets).
    """
    similarity = queries @ targets.T  # (n_queries, n_targets), as the arrays below
    queries_by_similarity = np.argsort(-similarity, axis=0, kind="stable")  # a column lists the queries of a target
    ranks = np.empty_like(queries_by_similarity)
    one_to_n = np.arange(1, len(queries) + 1)[:, None]
    np.put_along_axis(ranks, queries_by_similarity, one_to_n, axis=0)
    return np.asarray(similarity - ranks, np.float32)


def inverted_softmax(queries: Floats, targets: Floats, *, beta: float = 30.0) -> Floats:
    """Return log-probabilities (queries, targets) for unit rows that a target, asked backwards, names the query.

    Smith et al., "Offline bilingual word vectors", ICLR 2017, eq. 10, normalised over `queries`. They fit the inverse
    temperature `beta` on the training dictionary; 30 is what Conneau et al. use.
    """
    scores = beta * (queries @ targets.T)
    logits = scores - scores.max(axis=0, initial=-np.inf)  # at most 0, so that nothing overflows
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=0)), np.float32)
