"""Make the candidates from which a reranker learns: rankings of concepts that the first search was not trained on.

A searcher ranks its own training data far too well, and a reranker trained on such rankings would trust it blindly.
So concepts are dealt into folds, and the concepts of each fold are searched with an encoder trained on the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from paragloss.analysis import analyzer
from paragloss.lab.learning.relevance import bm25
from paragloss.types import Floats, Integers
from paragloss.vocabulary import count_all_terms, count_rows

#: Distribution of how many standard deviations a simulated stronger search adds: 3 on average.
GAMMA_SHAPE, GAMMA_SCALE = 2.0, 1.5


class Candidates(NamedTuple):
    """The best documents for one query, best first."""

    query: int
    documents: Integers  # (candidates,)
    scores: Floats  # (candidates,)
    right: int  # position of the query's own document


def split_folds(count: int, *, parts: int, max_items: int, seed: int) -> list[Integers]:
    """Deal items at random into `parts` folds of equal size, and return the first folds: enough for `max_items` items.

    :param count: number of items
    :param parts: number of folds; there are fewer if there are fewer items
    :param max_items: folds are left out once those before them hold so many items
    :return: item numbers of each fold, ascending
    """
    order = np.random.default_rng(seed).permutation(count)
    folds = [np.sort(order[start::parts]) for start in range(min(parts, count))]
    selected = folds[:1]
    n_items = 0  # in the folds after the first, the next one included
    for fold in folds[1:]:
        n_items += len(fold)
        if n_items >= max_items:
            break
        selected.append(fold)
    return selected


def rank_candidates(scores: Floats, depth: int) -> Iterator[Candidates]:
    """Yield the `depth` best documents of each query that finds its own document and another one.

    :param scores: (queries, documents); document i belongs to query i, and scores of 0 or less are not found
    """
    for query, row in enumerate(scores):
        best = np.argsort(-row, kind="stable")[:depth]
        ranked = best[row[best] > 0]
        own_positions = np.flatnonzero(ranked == query)
        if len(own_positions) and len(ranked) > 1:
            yield Candidates(query, ranked, row[ranked], right=int(own_positions[0]))


def simulate_stronger_search(scores: Floats, rng: np.random.Generator) -> Floats:
    """Raise the score of each query's own document by a random number of standard deviations of its row.

    A reranker that was trained on weak searches only would spoil the ranking of a strong one.

    :param scores: (queries, documents); document i belongs to query i
    """
    increases = rng.gamma(GAMMA_SHAPE, GAMMA_SCALE, len(scores)) * scores.std(axis=1)
    return np.asarray(scores + np.diag(increases), np.float32)


def score_shared_words(queries: Sequence[str], source: str, documents: Sequence[str], target: str) -> Floats:
    """Score documents by the words that both languages spell alike: BM25 per query word, (queries, documents).

    :param source: language of the queries
    :param target: language of the documents
    """
    document_terms, document_counts = count_all_terms(documents, target)
    tokenize = analyzer(source).terms
    terms_by_query = [tokenize(query) for query in queries]
    query_counts = _count_known_terms(terms_by_query, document_terms)  # (queries, document terms)
    document_weights = bm25(document_counts).documents  # (documents, terms)
    scores = np.asarray((query_counts @ document_weights.T).todense(), np.float32)
    query_lengths = np.array([len(terms) for terms in terms_by_query], np.float32)  # with terms no document has
    return np.asarray(scores / np.maximum(query_lengths, 1)[:, None], np.float32)


def _count_known_terms(terms_by_query: Sequence[Sequence[str]], known_terms: Sequence[str]) -> sp.csr_matrix:
    """Count how often each query has each known term, (queries, known terms); its other terms are ignored."""
    number_by_term = {term: number for number, term in enumerate(known_terms)}
    numbers_by_query = []
    for terms in terms_by_query:
        numbers_by_query.append([number_by_term[term] for term in terms if term in number_by_term])
    return count_rows(numbers_by_query, len(known_terms))
