"""Pseudo-relevance: for each text of a corpus, the other text that matches it best. Knows nothing of models.

The best match by BM25 stands in for a relevant document where nobody has clicked (XCNN paper, section 4.1; its
section 5.1 says TF-IDF, so both are here).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

RELEVANCE = ("bm25", "tfidf")
_K1, _B = 1.2, 0.75
#: Candidates that are scored again in full where the search had to leave common terms out.
_CANDIDATES = 8

Ids = npt.NDArray[np.int64]


def best_matches(
    counts: sp.csr_matrix, *, relevance: str = "bm25", budget: int = 1_000_000_000, block: int = 1_000_000
) -> tuple[Ids, Ids]:
    """Find for each row the other row with the highest score; ties go to the lower row.

    Rows with the same terms are one row here: a text is no news to its copy. A row that shares no term with another
    is left out. Comparing all rows costs the sum of df x df multiplications. Where that is more than `budget`,
    candidates come from the rarer terms alone, as many of them as the budget allows, and the best few are then
    scored with all terms.
    """
    distinct_rows = _distinct(counts)
    texts = counts[distinct_rows]
    query_weights, answers = bm25(texts) if relevance == "bm25" else _tfidf(texts)
    rare = _affordable(np.bincount(texts.indices, minlength=texts.shape[1]).astype(np.float64), budget)
    pruned = not rare.all()
    narrow, wide = (query_weights[:, rare], answers[:, rare]) if pruned else (query_weights, answers)
    turned = wide.T.tocsr()  # (terms, texts)
    fan = np.asarray(narrow.astype(bool) @ np.diff(turned.indptr).astype(np.float64)).ravel()
    match_blocks = []
    for start, stop in _blocks(fan, block):
        rows, columns, scores = _matches(narrow[start:stop] @ turned, start, _CANDIDATES if pruned else 1)
        if pruned:
            scores = np.asarray(query_weights[rows].multiply(answers[columns]).sum(axis=1)).ravel()
        order = np.lexsort((columns, -scores, rows))
        rows, columns = rows[order], columns[order]
        first = np.flatnonzero(np.diff(rows, prepend=-1))
        match_blocks.append((rows[first], columns[first]))
    queries = np.concatenate([rows for rows, _ in match_blocks])
    answered = np.concatenate([columns for _, columns in match_blocks])
    return distinct_rows[queries], distinct_rows[answered]


def _distinct(counts: sp.csr_matrix) -> Ids:
    """Return the first row of every set of equal rows, empty ones left out."""
    first_row: dict[bytes, int] = {}
    bounds, ids, data = counts.indptr, counts.indices, counts.data
    for i in range(counts.shape[0]):
        cut = slice(bounds[i], bounds[i + 1])
        if cut.start < cut.stop:
            first_row.setdefault(ids[cut].tobytes() + data[cut].tobytes(), i)
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


def _affordable(df: npt.NDArray[np.float64], budget: int) -> npt.NDArray[np.bool_]:
    """Select the rarest terms, all of one frequency or none, whose squared frequencies add up to `budget` at most."""
    order = np.argsort(df, kind="stable")
    is_affordable = np.cumsum(df[order] ** 2) <= budget
    if is_affordable.all():
        return np.ones(len(df), bool)
    return np.asarray(df < df[order[int(np.argmin(is_affordable))]])


def _blocks(fan: npt.NDArray[np.float64], block: int) -> list[tuple[int, int]]:
    """Split rows into runs whose products have about `block` entries together."""
    number = np.cumsum(fan) // block
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(fan)], strict=True))


def _matches(scores: sp.csr_matrix, start: int, depth: int) -> tuple[Ids, Ids, npt.NDArray[np.float32]]:
    """Find the `depth` best entries of every row, apart from the row itself and from scores of zero."""
    lengths, values = np.diff(scores.indptr), scores.data
    # These few passes over all the scores are the cost of the search, next to the product: they stay narrow.
    own_row = np.repeat(np.arange(start, start + len(lengths), dtype=scores.indices.dtype), lengths)
    values[scores.indices == own_row] = 0
    threshold = np.zeros(len(lengths), np.float32)
    nonempty_rows = np.flatnonzero(lengths)
    threshold[nonempty_rows] = np.maximum.reduceat(values, scores.indptr[nonempty_rows]) if len(nonempty_rows) else 0
    # Few entries come near the best: only they need sorting. Half of it by rare terms may still win with all terms.
    threshold = np.maximum(threshold if depth == 1 else threshold / 2, np.finfo(np.float32).tiny)
    candidate_entries = np.flatnonzero(values >= np.repeat(threshold, lengths))
    rows, columns, values = (
        own_row[candidate_entries].astype(np.int64),
        scores.indices[candidate_entries].astype(np.int64),
        values[candidate_entries],
    )
    order = np.lexsort((columns, -values, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    is_first_of_row = np.diff(rows, prepend=-1) > 0
    rank_in_row = np.arange(len(rows)) - np.flatnonzero(is_first_of_row)[np.cumsum(is_first_of_row) - 1]
    return rows[rank_in_row < depth], columns[rank_in_row < depth], values[rank_in_row < depth]
