"""Find for each text of a corpus the other text that matches it best, as a substitute for a relevant document.

XCNN paper: by BM25 in section 4.1; section 5.1 says TF-IDF, so both are here.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

RELEVANCE = ("bm25", "tfidf")
_K1, _B = 1.2, 0.75
#: Candidates for each text that are scored with all terms where the search had to leave frequent terms out.
MAX_CANDIDATES = 8

Ids = npt.NDArray[np.int64]


def best_matches(
    counts: sp.csr_matrix, *, relevance: str = "bm25", budget: int = 1_000_000_000, block: int = 1_000_000
) -> tuple[Ids, Ids]:
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
    query_weights, document_weights = bm25(texts) if relevance == "bm25" else _tfidf(texts)
    is_rare = _select_rare_terms(np.bincount(texts.indices, minlength=texts.shape[1]).astype(np.float64), budget)
    is_pruned = not is_rare.all()
    rare_query_weights = query_weights[:, is_rare] if is_pruned else query_weights
    postings = (document_weights[:, is_rare] if is_pruned else document_weights).T.tocsr()  # (terms, texts)
    scores_per_row = np.asarray(rare_query_weights.astype(bool) @ np.diff(postings.indptr).astype(np.float64)).ravel()
    query_parts, match_parts = [], []
    for start, stop in _split_rows(scores_per_row, block):
        scores = rare_query_weights[start:stop] @ postings
        rows, columns, values = _find_best_entries(scores, start, MAX_CANDIDATES if is_pruned else 1)
        if is_pruned:
            values = np.asarray(query_weights[rows].multiply(document_weights[columns]).sum(axis=1)).ravel()
        order = np.lexsort((columns, -values, rows))
        rows, columns = rows[order], columns[order]
        first_of_row = np.flatnonzero(np.diff(rows, prepend=-1))
        query_parts.append(rows[first_of_row])
        match_parts.append(columns[first_of_row])
    return distinct_rows[np.concatenate(query_parts)], distinct_rows[np.concatenate(match_parts)]


def _find_distinct_rows(counts: sp.csr_matrix) -> Ids:
    """Return the first row of every set of equal rows, without empty rows."""
    first_row: dict[bytes, int] = {}
    for row, (start, stop) in enumerate(pairwise(counts.indptr.tolist())):
        if start < stop:
            content = counts.indices[start:stop].tobytes() + counts.data[start:stop].tobytes()
            first_row.setdefault(content, row)
    return np.fromiter(first_row.values(), np.int64, len(first_row))


def bm25(counts: sp.csr_matrix) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Compute query and document weights whose dot product is BM25 (k1 = 1.2, b = 0.75, idf above zero)."""
    documents = counts.shape[0]
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log1p((documents - df + 0.5) / (df + 0.5)).astype(np.float32)
    lengths = np.asarray(counts.sum(axis=1), np.float32).ravel()
    saturation = _K1 * (1 - _B + _B * lengths / lengths.mean()) if documents else lengths
    owner = np.repeat(np.arange(documents), np.diff(counts.indptr))
    weights = idf[counts.indices] * counts.data * (_K1 + 1) / (counts.data + saturation[owner])
    return counts, sp.csr_matrix((weights.astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)


def _tfidf(counts: sp.csr_matrix) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Compute rows of unit length, whose dot product is the cosine; idf = ln(n / df) + 1."""
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = (np.log(counts.shape[0] / np.maximum(df, 1)) + 1).astype(np.float32)
    weights = counts.copy()
    weights.data = counts.data * idf[counts.indices]
    norms = np.sqrt(np.asarray(weights.multiply(weights).sum(axis=1))).ravel()
    weights.data /= np.repeat(norms, np.diff(weights.indptr)).astype(np.float32)
    return weights, weights


def _select_rare_terms(df: npt.NDArray[np.float64], budget: int) -> npt.NDArray[np.bool_]:
    """Select the rarest terms whose squared document frequencies add up to at most `budget`: (terms,).

    Of terms with the same frequency all are selected or none.
    """
    order = np.argsort(df, kind="stable")
    is_affordable = np.cumsum(df[order] ** 2) <= budget
    if is_affordable.all():
        return np.ones(len(df), bool)
    first_too_frequent = order[int(np.argmin(is_affordable))]
    return np.asarray(df < df[first_too_frequent])


def _split_rows(sizes: npt.NDArray[np.float64], block: int) -> list[tuple[int, int]]:
    """Split rows of these sizes into ranges (start, stop) of about `block` entries each."""
    number = np.cumsum(sizes) // block
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(sizes)], strict=True))


def _find_best_entries(scores: sp.csr_matrix, start: int, depth: int) -> tuple[Ids, Ids, npt.NDArray[np.float32]]:
    """Find the `depth` best positive scores of every row, apart from that of the row itself.

    :param scores: (rows, texts); changed in place
    :param start: the text that the first row belongs to
    :return: row (as text number), column and score of each entry, ordered by row, the best first
    """
    lengths, values = np.diff(scores.indptr), scores.data
    # The steps up to `is_candidate` run over all scores and dominate the time: their types stay narrow.
    own_row = np.repeat(np.arange(start, start + len(lengths), dtype=scores.indices.dtype), lengths)
    values[scores.indices == own_row] = 0
    threshold = np.zeros(len(lengths), np.float32)
    nonempty_rows = np.flatnonzero(lengths)
    threshold[nonempty_rows] = np.maximum.reduceat(values, scores.indptr[nonempty_rows]) if len(nonempty_rows) else 0
    # Only entries close to the best are sorted. Half of the best score by rare terms may still win with all terms.
    threshold = np.maximum(threshold if depth == 1 else threshold / 2, np.finfo(np.float32).tiny)
    is_candidate = values >= np.repeat(threshold, lengths)
    rows, columns = own_row[is_candidate].astype(np.int64), scores.indices[is_candidate].astype(np.int64)
    values = values[is_candidate]
    order = np.lexsort((columns, -values, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    is_first_of_row = np.diff(rows, prepend=-1) > 0
    rank_in_row = np.arange(len(rows)) - np.flatnonzero(is_first_of_row)[np.cumsum(is_first_of_row) - 1]
    return rows[rank_in_row < depth], columns[rank_in_row < depth], values[rank_in_row < depth]
