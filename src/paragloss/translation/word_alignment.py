"""Estimate which words translate each other from parallel texts: IBM Model 1 by expectation maximisation.

A prior that favours words at the same relative position makes it the reparameterised Model 2 of Dyer, Chahuneau and
Smith, "A simple, fast, and effective reparameterization of IBM Model 2", NAACL 2013. Model 1: Brown et al., "The
mathematics of statistical machine translation", Computational Linguistics 19(2), 1993.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.groups import list_groups, list_positions

Ids = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

#: Cells computed at a time; bounds the memory beside the cells that are kept (about 60 bytes each).
CELLS_PER_BLOCK = 4_000_000
#: Size of the table of hashed candidate pairs, as a power of two.
HASH_BITS = 26
#: Numbers of texts are raised to this one before they are divided.
_MIN_COUNT = 1e-12
_TINY = np.finfo(float).tiny


class TermBags(NamedTuple):
    """Texts of one language as entries of (term, weight, position), text after text."""

    start: Ids  # (texts + 1,)
    term: npt.NDArray[np.int32]  # (entries,)
    weight: npt.NDArray[np.float32]  # (entries,)
    position: npt.NDArray[np.float32]  # (entries,) from 0, the beginning of the text, to 1
    n_terms: int  # of the language's vocabulary

    def presence(self) -> sp.csr_matrix:
        """Return a matrix (texts, terms) with 1 where a text has a term."""
        ones = np.ones(len(self.term), np.float32)
        matrix = sp.csr_matrix((ones, self.term, self.start), shape=(len(self.start) - 1, self.n_terms), copy=True)
        matrix.sum_duplicates()  # works in place, hence the copy
        matrix.data[:] = 1
        return matrix


class CandidatePairs(NamedTuple):
    """The (source, target) terms that may translate each other; sorted by source, then target."""

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    key: Ids  # source * number of target terms + target


class AlignmentCells(NamedTuple):
    """For each occurrence of a target term (a row), the candidate pairs that could have produced it (its cells)."""

    pair: npt.NDArray[np.int32]  # (cells,)
    prior: npt.NDArray[np.float32]  # (cells,) probability by position; sums to one over a row
    start: Ids  # (rows,) where a row's cells begin; no row is empty
    target: npt.NDArray[np.int32]  # (rows,)
    weight: npt.NDArray[np.float32]  # (rows,)


class TranslationProbabilities(NamedTuple):
    """P(target | source), (source terms, target terms), and the log-likelihood before each iteration."""

    probability: sp.csr_matrix
    likelihood: list[float]


def align_terms(
    source: TermBags,
    target: TermBags,
    *,
    iterations: int = 5,
    diagonal: float = 4.0,
    null: float = 0.08,
    candidates: int = 100,
    prior: sp.csr_matrix | None = None,
) -> TranslationProbabilities:
    """Estimate P(target | source) over texts that translate each other.

    :param diagonal: how strongly similar positions are preferred; 0 is Model 1
    :param null: the part of every target word that no source word explains
    :param candidates: how many targets a source term may have, the most associated first
    :param prior: counts (source terms, target terms) that are added to those of the texts
    """
    pairs = find_candidate_pairs(source, target, candidates)
    prior_counts = np.zeros(len(pairs.key))
    if prior is not None:
        pairs, prior_counts = _add_prior_pairs(pairs, prior)
    blocks = list(iterate_cells(source, target, pairs, diagonal))
    uniform = 1 / np.bincount(pairs.source, minlength=source.n_terms)[pairs.source]
    probability = _normalize_by_source(prior_counts + uniform, pairs.source, source.n_terms)
    null_probability = np.full(target.n_terms, 1 / max(target.n_terms, 1))
    likelihood = []
    for _ in range(iterations):
        expected, unexplained, total = np.zeros(len(probability)), np.zeros(target.n_terms), 0.0
        for block in blocks:
            total += _add_expected_counts(block, probability, null_probability, null, expected, unexplained)
        likelihood.append(total)
        probability = _normalize_by_source(expected + prior_counts, pairs.source, source.n_terms)
        null_probability = unexplained / max(unexplained.sum(), _TINY)
    matrix = sp.csr_matrix((probability, (pairs.source, pairs.target)), shape=(source.n_terms, target.n_terms))
    return TranslationProbabilities(matrix, likelihood)


def _normalize_by_source(counts: Reals, source: npt.NDArray[np.int32], n_terms: int) -> Reals:
    """Divide the counts of pairs by the total of their source term."""
    totals = np.bincount(source, counts, minlength=n_terms)[source]
    return np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)


def _add_prior_pairs(pairs: CandidatePairs, prior: sp.csr_matrix) -> tuple[CandidatePairs, Reals]:
    """Return the union of the candidates and the pairs of the prior, and the prior's counts of each."""
    cells = prior.tocoo()
    prior_keys = cells.row.astype(np.int64) * prior.shape[1] + cells.col
    key = np.union1d(pairs.key, prior_keys)
    counts = np.zeros(len(key))
    np.add.at(counts, np.searchsorted(key, prior_keys), cells.data)
    source, target = np.divmod(key, prior.shape[1])
    return CandidatePairs(source.astype(np.int32), target.astype(np.int32), key), counts


def _add_expected_counts(
    block: AlignmentCells,
    probability: Reals,
    null_probability: Reals,
    null: float,
    expected: Reals,
    unexplained: Reals,
) -> float:
    """Do the expectation step for a block: add its expected counts to the totals; return its log-likelihood.

    :param probability: (pairs,) P(target | source) of each candidate pair
    :param null_probability: (target terms,) distribution of target words that no source word explains
    :param null: the share of such words
    :param expected: (pairs,) totals of expected counts, changed in place
    :param unexplained: (target terms,) totals of unexplained counts, changed in place
    """
    cell = probability[block.pair]  # (cells,) the probability that the cell produced its row
    cell *= block.prior
    cell *= 1 - null
    from_null = null * null_probability[block.target]  # (rows,)
    row = np.add.reduceat(cell, block.start) + from_null  # (rows,) probability of each target word
    scale = block.weight / np.maximum(row, _TINY)
    cell *= np.repeat(scale, np.diff(block.start, append=len(cell)))  # now the expected count of each cell
    expected += np.bincount(block.pair, cell, minlength=len(expected))
    unexplained += np.bincount(block.target, from_null * scale, minlength=len(unexplained))
    return float(block.weight @ np.log(np.maximum(row, _TINY)))


def find_candidate_pairs(source: TermBags, target: TermBags, max_targets: int) -> CandidatePairs:
    """Find for each source term the target terms that share texts with it more often than by chance.

    :param max_targets: targets of a source term at most, those of the highest log-likelihood ratio (Dunning)
    """
    source_presence, target_presence = source.presence(), target.presence()
    texts = source_presence.shape[0]
    source_df, target_df = _document_frequency(source_presence), _document_frequency(target_presence)
    source_parts, target_parts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    texts_of_terms = source_presence.T.tocsr()  # (source terms, texts)
    for start, stop in _row_blocks(texts_of_terms, target_presence):
        shared = (texts_of_terms[start:stop] @ target_presence).tocsr()  # number of texts that two terms share
        row = list_groups(np.diff(shared.indptr))
        source_ids = start + row
        score = log_likelihood_ratio(shared.data.astype(float), source_df[source_ids], target_df[shared.indices], texts)
        best = _select_best_cells(shared, row, score, max_targets)
        source_parts.append(source_ids[best])
        target_parts.append(shared.indices[best])
    source_ids, target_ids = np.concatenate(source_parts), np.concatenate(target_parts)
    key = source_ids.astype(np.int64) * target.n_terms + target_ids
    order = np.argsort(key, kind="stable")
    return CandidatePairs(source_ids[order].astype(np.int32), target_ids[order].astype(np.int32), key[order])


def _select_best_cells(shared: sp.csr_matrix, row: Ids, score: Reals, max_targets: int) -> Ids:
    """Select the best cells of each row of a sparse matrix.

    All cells of a row with at most `max_targets` cells are selected, and of a longer row the best of positive score.
    Only longer rows are sorted, because sorting is the expensive part.

    :param row: (cells,) the row of each cell
    :param score: (cells,)
    :return: positions of the selected cells
    """
    is_in_short_row = np.diff(shared.indptr)[row] <= max_targets
    candidates = np.flatnonzero(~is_in_short_row & (score > 0))
    by_score = candidates[np.lexsort((shared.indices[candidates], -score[candidates], row[candidates]))]
    ranks = list_positions(np.bincount(row[candidates], minlength=shared.shape[0]))
    return np.concatenate([np.flatnonzero(is_in_short_row), by_score[ranks < max_targets]])


def log_likelihood_ratio(shared: Reals, source: Reals, target: Reals, texts: int) -> Reals:
    """Compute Dunning's log-likelihood ratio of two terms in the same texts; negative where they avoid each other.

    :param shared: texts with both terms
    :param source: texts with the source term
    :param target: texts with the target term
    :param texts: all texts
    """
    without_source, without_target = texts - source, texts - target
    ratio = (
        _compute_cell(shared, source, target, texts)
        + _compute_cell(source - shared, source, without_target, texts)
        + _compute_cell(target - shared, without_source, target, texts)
        + _compute_cell(texts - source - target + shared, without_source, without_target, texts)
    )
    return np.where(shared * texts >= source * target, ratio, -ratio)


def _compute_cell(observed: Reals, row_total: Reals, column_total: Reals, total: int) -> Reals:
    """Return observed x log(observed / expected) for one cell of a table of two rows and two columns.

    :param row_total: the sum of the row of the cell, and so is `column_total` of its column
    :param total: the sum of the table; the expected value is row_total x column_total / total
    """
    ratio = np.maximum(observed, _MIN_COUNT) * total / np.maximum(row_total * column_total, _MIN_COUNT)
    return np.where(observed > 0, observed * np.log(ratio), 0)


def iterate_cells(
    source: TermBags, target: TermBags, pairs: CandidatePairs, diagonal: float
) -> Iterator[AlignmentCells]:
    """Pair every target entry with the source entries of its text that are candidates, in blocks of texts.

    :param diagonal: how strongly similar positions are preferred
    """
    # Most pairs of entries are no candidates: a table of hashed keys rules them out before an exact search.
    may_be_candidate = np.zeros(1 << HASH_BITS, bool)
    may_be_candidate[_hash_key(pairs.key)] = True
    target_sizes, source_sizes = np.diff(target.start), np.diff(source.start)
    cell_counts = np.concatenate([[0], np.cumsum(target_sizes * source_sizes)])
    first = 0
    while first < len(target_sizes):
        limit = cell_counts[first] + CELLS_PER_BLOCK
        last = max(int(np.searchsorted(cell_counts, limit, "right")) - 1, first + 1)
        block = _make_cells(source, target, slice(first, last), pairs, may_be_candidate, diagonal)
        if len(block.start):
            yield block
        first = last


def _make_cells(
    source: TermBags,
    target: TermBags,
    texts: slice,
    pairs: CandidatePairs,
    may_be_candidate: npt.NDArray[np.bool_],
    diagonal: float,
) -> AlignmentCells:
    """Make the cells of a range of texts.

    :param may_be_candidate: table of hashed keys, see `iterate_cells`
    """
    source_entries, target_entries = _pair_entries(source, target, texts)  # (pairs of entries,)
    keys = source.term[source_entries].astype(np.int64) * target.n_terms + target.term[target_entries]
    likely = np.flatnonzero(may_be_candidate[_hash_key(keys)])
    pair_numbers, is_candidate = _find_pairs(pairs, keys[likely])
    cells = likely[is_candidate]  # positions among the pairs of entries
    source_entries, target_entries = source_entries[cells], target_entries[cells]
    distances = np.abs(source.position[source_entries] - target.position[target_entries])
    prior = source.weight[source_entries] * np.exp(-diagonal * distances)
    row_starts = np.flatnonzero(np.diff(target_entries, prepend=-1))
    if len(row_starts):
        row_sums = np.add.reduceat(prior, row_starts)
        prior /= np.repeat(row_sums, np.diff(row_starts, append=len(cells)))
    rows = target_entries[row_starts]
    return AlignmentCells(
        pair=pair_numbers[is_candidate].astype(np.int32),
        prior=prior.astype(np.float32),
        start=row_starts,
        target=target.term[rows],
        weight=target.weight[rows],
    )


def _find_pairs(pairs: CandidatePairs, key: Ids) -> tuple[Ids, npt.NDArray[np.bool_]]:
    """Return the number of the candidate pair with each key, and whether there is one."""
    if not len(pairs.key):
        return np.zeros(len(key), np.int64), np.zeros(len(key), bool)
    number = np.searchsorted(pairs.key, key)
    number[number == len(pairs.key)] = 0
    return number, pairs.key[number] == key


def _pair_entries(source: TermBags, target: TermBags, texts: slice) -> tuple[Ids, Ids]:
    """Pair every target entry of a range of texts with every source entry of the same text.

    :return: numbers of the source and of the target entries, (pairs,) each, one target entry after the other
    """
    first, last = texts.start, texts.stop
    target_entries = np.arange(target.start[first], target.start[last])
    text_of_target = np.repeat(np.arange(first, last), np.diff(target.start[first : last + 1]))
    sizes = np.diff(source.start)[text_of_target]  # source entries for each target entry
    first_pair = np.cumsum(sizes) - sizes
    source_entries = np.arange(int(sizes.sum())) + np.repeat(source.start[text_of_target] - first_pair, sizes)
    return source_entries, np.repeat(target_entries, sizes)


def _hash_key(key: Ids) -> Ids:
    """Hash by Fibonacci's method: the high bits of a product with 2^64 / golden ratio."""
    return (key.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(64 - HASH_BITS)).astype(np.int64)


def _document_frequency(presence: sp.csr_matrix) -> Reals:
    """Count the texts that have each term: (terms,)."""
    return np.bincount(presence.indices, minlength=presence.shape[1]).astype(float)


def _row_blocks(left: sp.csr_matrix, right: sp.csr_matrix) -> Iterator[tuple[int, int]]:
    """Divide the rows of `left` into ranges whose product with `right` takes about a block of operations each."""
    work = np.concatenate([[0], np.cumsum(np.diff(right.indptr)[left.indices])])[left.indptr]
    first = 0
    while first < left.shape[0]:
        last = max(int(np.searchsorted(work, work[first] + 4 * CELLS_PER_BLOCK, "right")) - 1, first + 1)
        yield first, last
        first = last
