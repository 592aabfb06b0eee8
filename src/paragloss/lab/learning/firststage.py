"""What a first search would have found for concepts it was not taught: candidates to learn reranking from.

A searcher finds what it was taught far too well, so that a reranker taught on the same concepts learns to trust it
blindly. Here concepts are dealt into folds; an encoder learned from the others searches each. Knows no model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from paragloss.analysis import analyzer
from paragloss.lab.learning.relevance import bm25
from paragloss.types import Floats, Integers
from paragloss.vocabulary import grow


class Candidates(NamedTuple):
    """The best documents for one query, best first; the one at `right` is what was looked for."""

    query: int
    documents: Integers
    scores: Floats
    right: int


def folds(count: int, *, parts: int, max_items: int, seed: int) -> list[Integers]:
    """Deal items into folds: `parts` folds of equal size, and no more of them than `max_items` items take."""
    order = np.random.default_rng(seed).permutation(count)
    dealt = [np.sort(order[start::parts]) for start in range(min(parts, count))]
    cumulative_sizes = np.cumsum([len(part) for part in dealt])
    return [part for part, before in zip(dealt, cumulative_sizes - len(dealt[0]), strict=True) if before < max_items]


def best(scores: Floats, depth: int) -> Iterator[Candidates]:
    """For each row of scores (queries x documents) what a search would give, where it holds the query's own document,
    which has the query's number. What scores 0 or less was not found."""
    for query, row in enumerate(scores):
        ranked = np.argsort(-row, kind="stable")[:depth]
        ranked = ranked[row[ranked] > 0]
        positions = np.flatnonzero(ranked == query)
        if len(positions) and len(ranked) > 1:
            yield Candidates(query, ranked, row[ranked], int(positions[0]))


def surer(scores: Floats, rng: np.random.Generator) -> Floats:
    """The scores of a better search: every query's own document, which has the query's number, is raised by a few
    deviations of its row, sometimes more and sometimes less. A reranker that has met only weak searches spoils what a
    strong one found."""
    raised = rng.gamma(2.0, 1.5, len(scores)) * scores.std(axis=1)
    return np.asarray(scores + np.diag(raised), np.float32)


def as_they_stand(queries: Sequence[str], source: str, documents: Sequence[str], target: str) -> Floats:
    """Score words that two languages spell alike by BM25, as a share of the best possible: (queries, documents)."""
    terms, counts = grow(documents, target)
    index = {term: i for i, term in enumerate(terms)}
    cut = analyzer(source).terms
    query_ids = [[index[term] for term in cut(query) if term in index] for query in queries]
    columns = np.fromiter((i for row in query_ids for i in row), np.int64)
    cells = (np.ones(len(columns), np.float32), columns, np.cumsum([0, *map(len, query_ids)]))
    rows = sp.csr_matrix(cells, shape=(len(queries), len(terms)))
    _, weights = bm25(counts)
    query_lengths = np.array([len(cut(query)) for query in queries], np.float32)
    scores = np.asarray((rows @ weights.T).todense(), np.float32)
    return np.asarray(scores / np.maximum(query_lengths, 1)[:, None], np.float32)
