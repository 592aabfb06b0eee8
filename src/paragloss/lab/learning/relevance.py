"""Find for each text of a corpus the other text that matches it best, as a substitute for a relevant document.

XCNN paper: by BM25 in section 4.1; section 5.1 says TF-IDF, so both are here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.groups import list_groups
from paragloss.types import Integers
from paragloss.vocabulary import weigh

RELEVANCE = ("bm25", "tfidf")
_K1, _B = 1.2, 0.75
#: Candidates for each text that are scored with all terms where the search had to leave frequent terms out.
MAX_CANDIDATES = 8


def find_best_matches(
    counts: sp.csr_matrix, *, relevance: str = "bm25", budget: int = 1_000_000_000, block: int = 1_000_000
) -> tuple[Integers, Integers]:
    """Find for each row the other row with the highest score; ties go to the lower row.

    Of rows with the same terms only the first is used. Rows that share no term with another one are left out.
    Comparing all rows costs the sum of df x df multiplications. Where that exceeds `budget`, candidates come from the
    rarer terms alone, as many as the budget allows, and the best few are then scored with all terms.

    :param counts: (texts, terms)
    :param relevance: one of RELEVANCE
    :param block: number of scores computed at a time
    :return: row numbers of the texts, and of their best matches
    """
    distinct_rows = _find_distinct_rows(counts)
    texts = counts[distinct_rows]
    weights = bm25(texts) if relevance == "bm25" else _tfidf(texts)
    df = np.bincount(texts.indices, minlength=texts.shape[1]).astype(np.float64)
    is_rare = _select_rare_terms(df, budget)
    if is_rare.all():
        blocks = list(_search_in_blocks(weights, block, depth=1))
    else:
        blocks = list(_search_by_rare_terms(weights, is_rare, block))
    queries = np.concatenate([pairs.queries for pairs in blocks])
    documents = np.concatenate([pairs.documents for pairs in blocks])
    return distinct_rows[queries], distinct_rows[documents]


class TermWeights(NamedTuple):
    """The weights of texts as queries and as documents, (texts, terms) each; a dot product of rows is a score."""

    queries: sp.csr_matrix
    documents: sp.csr_matrix


class _ScoredPairs(NamedTuple):
    """Pairs of texts, given by their numbers, with their scores."""

    queries: Integers
    documents: Integers
    scores: npt.NDArray[np.float32]

    def select_first(self, depth: int) -> _ScoredPairs:
        """Return the `depth` best pairs of every query, ordered by query, the best first, ties by document."""
        order = np.lexsort((self.documents, -self.scores, self.queries))
        queries = self.queries[order]
        is_first = np.diff(queries, prepend=-1) > 0
        first_position = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]  # of the query of each pair
        is_selected = np.arange(len(queries)) - first_position < depth
        return _ScoredPairs(*(column[order][is_selected] for column in self))


def _find_distinct_rows(counts: sp.csr_matrix) -> Integers:
    """Return the first row of every set of equal rows, without empty rows."""
    first_row: dict[bytes, int] = {}
    for row, (start, stop) in enumerate(pairwise(counts.indptr.tolist())):
        if start < stop:
            content = counts.indices[start:stop].tobytes() + counts.data[start:stop].tobytes()
            first_row.setdefault(content, row)
    return np.fromiter(first_row.values(), np.int64, len(first_row))


def bm25(counts: sp.csr_matrix) -> TermWeights:
    """Compute query and document weights whose dot product is BM25 (k1 = 1.2, b = 0.75, idf above zero).

    :param counts: (texts, terms)
    """
    n_texts, n_terms = counts.shape
    df = np.bincount(counts.indices, minlength=n_terms)
    idf = np.log1p((n_texts - df + 0.5) / (df + 0.5)).astype(np.float32)
    lengths = np.asarray(counts.sum(axis=1), np.float32).ravel()
    saturation = lengths  # (texts,)
    if n_texts:
        saturation = _K1 * (1 - _B + _B * lengths / lengths.mean())
    row_of_entry = list_groups(np.diff(counts.indptr))  # (stored counts,) and so are the next two
    tf = counts.data
    weights = idf[counts.indices] * tf * (_K1 + 1) / (tf + saturation[row_of_entry])
    documents = sp.csr_matrix((weights.astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)
    return TermWeights(queries=counts, documents=documents)


def _tfidf(counts: sp.csr_matrix) -> TermWeights:
    """Compute tf-idf weights in rows of unit length, whose dot product is the cosine; idf = ln(n / df) + 1.

    The cosine is symmetric, so a text has the same weights as a query and as a document.

    :param counts: (texts, terms)
    """
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = (np.log(counts.shape[0] / np.maximum(df, 1)) + 1).astype(np.float32)
    weights = weigh(counts, idf, "tfidf")
    return TermWeights(queries=weights, documents=weights)


def _select_rare_terms(df: npt.NDArray[np.float64], budget: int) -> npt.NDArray[np.bool_]:
    """Select the rarest terms whose squared document frequencies add up to at most `budget`.

    Of terms with the same frequency all are selected or none.

    :param df: (terms,)
    :return: (terms,) whether a term is selected
    """
    ascending = np.sort(df)
    is_affordable = np.cumsum(ascending**2) <= budget
    if is_affordable.all():
        return np.ones(len(df), bool)
    lowest_unaffordable = ascending[int(np.argmin(is_affordable))]
    return np.asarray(df < lowest_unaffordable)


def _search_in_blocks(weights: TermWeights, block: int, depth: int) -> Iterator[_ScoredPairs]:
    """Yield for each text the `depth` other texts with the highest scores, for about `block` scores at a time."""
    postings = weights.documents.T.tocsr()  # (terms, texts)
    df = np.diff(postings.indptr).astype(np.float64)
    n_scores = np.asarray(weights.queries.astype(bool) @ df).ravel()  # of each text, at most
    for start, stop in _split_rows(n_scores, block):
        yield _find_best_pairs(weights.queries[start:stop] @ postings, start, depth)


def _search_by_rare_terms(weights: TermWeights, is_rare: npt.NDArray[np.bool_], block: int) -> Iterator[_ScoredPairs]:
    """Yield for each text the best of the few texts that are most similar to it by the rare terms.

    :param is_rare: (terms,) the terms that candidates are found by; all terms decide which one is best
    :param block: number of scores computed at a time
    """
    rare_weights = TermWeights(weights.queries[:, is_rare], weights.documents[:, is_rare])
    for candidates in _search_in_blocks(rare_weights, block, depth=MAX_CANDIDATES):
        yield _score_with_all_terms(candidates, weights).select_first(1)


def _score_with_all_terms(pairs: _ScoredPairs, weights: TermWeights) -> _ScoredPairs:
    """Return the pairs with scores that frequent terms count in as well."""
    products = weights.queries[pairs.queries].multiply(weights.documents[pairs.documents])
    return pairs._replace(scores=np.asarray(products.sum(axis=1)).ravel())


def _split_rows(sizes: npt.NDArray[np.float64], block: int) -> list[tuple[int, int]]:
    """Split rows into ranges (start, stop) of about `block` entries each.

    :param sizes: (rows,) entries of each row
    """
    block_of_row = np.cumsum(sizes) // block
    starts = np.flatnonzero(np.diff(block_of_row, prepend=-1)).tolist()
    return list(pairwise([*starts, len(sizes)]))


def _find_best_pairs(scores: sp.csr_matrix, start: int, depth: int) -> _ScoredPairs:
    """Find the `depth` best positive scores of every row, apart from that of the row itself.

    :param scores: (rows, texts); changed in place
    :param start: the text that the first row belongs to
    """
    lengths = np.diff(scores.indptr)
    # The steps up to `is_candidate` run over all scores and dominate the time: their types stay narrow.
    row_texts = np.arange(start, start + len(lengths), dtype=scores.indices.dtype)
    queries = np.repeat(row_texts, lengths)
    scores.data[scores.indices == queries] = 0
    best = _find_row_maxima(scores)
    # Only scores close to the best are sorted. Half of the best score by rare terms may still win with all terms.
    lowest = best if depth == 1 else best / 2
    threshold = np.maximum(lowest, np.finfo(np.float32).tiny)
    is_candidate = scores.data >= np.repeat(threshold, lengths)
    candidates = _ScoredPairs(
        queries[is_candidate].astype(np.int64),
        scores.indices[is_candidate].astype(np.int64),
        scores.data[is_candidate],
    )
    return candidates.select_first(depth)


def _find_row_maxima(matrix: sp.csr_matrix) -> npt.NDArray[np.float32]:
    """Return the greatest stored value of every row, 0 for a row without any: (rows,)."""
    maxima = np.zeros(matrix.shape[0], np.float32)
    nonempty_rows = np.flatnonzero(np.diff(matrix.indptr))
    if len(nonempty_rows):
        maxima[nonempty_rows] = np.maximum.reduceat(matrix.data, matrix.indptr[nonempty_rows])
    return maxima
