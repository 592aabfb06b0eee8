"""Estimate which words translate each other from parallel texts: IBM Model 1 by expectation maximisation.

A prior that favours words at the same relative position makes it the reparameterised Model 2 of Dyer, Chahuneau and
Smith, "A simple, fast, and effective reparameterization of IBM Model 2", NAACL 2013. Model 1: Brown et al., "The
mathematics of statistical machine translation", Computational Linguistics 19(2), 1993.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
#: Numbers of texts are raised to at least this before they are divided.
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


class _Estimate(NamedTuple):
    """The probabilities that one iteration estimates and the next one starts from."""

    translation: Reals  # (candidate pairs,) P(target | source)
    null: Reals  # (target terms,) distribution of the target words that no source word explains


class _ExpectedCounts(NamedTuple):
    """How often each candidate pair, and each unexplained target term, is expected to occur in texts."""

    translation: Reals  # (candidate pairs,)
    null: Reals  # (target terms,)
    log_likelihood: float  # of the texts


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
    """Estimate P(target | source) over texts that translate each other, by expectation maximisation.

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
    estimate = _start_uniformly(pairs, prior_counts, source.n_terms, target.n_terms)
    likelihood = []
    for _ in range(iterations):
        expected = _sum_expected_counts(blocks, estimate, null)
        likelihood.append(expected.log_likelihood)
        estimate = _Estimate(
            _normalize_by_source(expected.translation + prior_counts, pairs.source, source.n_terms),
            expected.null / max(expected.null.sum(), _TINY),
        )
    shape = (source.n_terms, target.n_terms)
    matrix = sp.csr_matrix((estimate.translation, (pairs.source, pairs.target)), shape=shape)
    return TranslationProbabilities(matrix, likelihood)


def _start_uniformly(pairs: CandidatePairs, prior_counts: Reals, n_sources: int, n_targets: int) -> _Estimate:
    """Give all candidates of a source term the same probability, before the prior's counts are added."""
    uniform = 1 / np.bincount(pairs.source, minlength=n_sources)[pairs.source]
    translation = _normalize_by_source(prior_counts + uniform, pairs.source, n_sources)
    return _Estimate(translation, np.full(n_targets, 1 / max(n_targets, 1)))


def _sum_by_number(numbers: npt.NDArray[np.int32], values: Reals, n_numbers: int) -> Reals:
    """Add up the values of each number from 0 to n_numbers - 1."""
    return np.asarray(np.bincount(numbers, values, minlength=n_numbers), np.float64)


def _normalize_by_source(counts: Reals, source: npt.NDArray[np.int32], n_terms: int) -> Reals:
    """Divide the counts of pairs by the total of their source term."""
    totals = _sum_by_number(source, counts, n_terms)[source]
    return np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)


def _add_prior_pairs(pairs: CandidatePairs, prior: sp.csr_matrix) -> tuple[CandidatePairs, Reals]:
    """Return the union of the candidates and the pairs of the prior, and the prior's counts of each."""
    cells = prior.tocoo()
    prior_keys = cells.row.astype(np.int64) * prior.shape[1] + cells.col
    keys = np.union1d(pairs.key, prior_keys)
    counts = np.zeros(len(keys))
    np.add.at(counts, np.searchsorted(keys, prior_keys), cells.data)
    return _make_pairs(keys, prior.shape[1]), counts


def _sum_expected_counts(blocks: Iterable[AlignmentCells], estimate: _Estimate, null: float) -> _ExpectedCounts:
    """Do the expectation step for all texts, block by block.

    :param null: the share of target words that no source word explains
    """
    translation, unexplained = np.zeros(len(estimate.translation)), np.zeros(len(estimate.null))
    log_likelihood = 0.0
    for block in blocks:
        expected = _compute_expected_counts(block, estimate, null)
        translation += expected.translation
        unexplained += expected.null
        log_likelihood += expected.log_likelihood
    return _ExpectedCounts(translation, unexplained, log_likelihood)


def _compute_expected_counts(block: AlignmentCells, estimate: _Estimate, null: float) -> _ExpectedCounts:
    """Divide each target word among the source words of its text, as likely as these are to have produced it.

    :param block: the target words (rows), and for each the pairs that could have produced it (cells)
    :param null: the share of target words that no source word explains
    """
    from_cell = estimate.translation[block.pair]  # (cells,) the probability that the cell produced its row
    from_cell *= block.prior
    from_cell *= 1 - null
    from_null = null * estimate.null[block.target]  # (rows,)
    probability = np.maximum(np.add.reduceat(from_cell, block.start) + from_null, _TINY)  # (rows,)
    scale = block.weight / probability
    count = from_cell  # (cells,) scaled in place: the arrays are large
    count *= np.repeat(scale, np.diff(block.start, append=len(count)))
    return _ExpectedCounts(
        translation=_sum_by_number(block.pair, count, len(estimate.translation)),
        null=_sum_by_number(block.target, from_null * scale, len(estimate.null)),
        log_likelihood=float(block.weight @ np.log(probability)),
    )


def find_candidate_pairs(source: TermBags, target: TermBags, max_targets: int) -> CandidatePairs:
    """Find for each source term the target terms that share texts with it more often than by chance.

    :param max_targets: targets of a source term at most, those of the highest log-likelihood ratio (Dunning)
    """
    source_presence, target_presence = source.presence(), target.presence()
    source_df, target_df = _document_frequency(source_presence), _document_frequency(target_presence)
    texts_of_terms = source_presence.T.tocsr()  # (source terms, texts)
    keys = [np.zeros(0, np.int64)]
    for terms in _split_by_work(_count_operations(texts_of_terms, target_presence), 4 * CELLS_PER_BLOCK):
        shared = (texts_of_terms[terms] @ target_presence).tocsr()  # number of texts that two terms share
        rows = list_groups(np.diff(shared.indptr))  # (cells,)
        df_of_cells = source_df[terms][rows], target_df[shared.indices]
        score = log_likelihood_ratio(shared.data.astype(float), *df_of_cells, texts=texts_of_terms.shape[1])
        best = _select_best_cells(shared, rows, score, max_targets)
        keys.append((terms.start + rows[best]) * target.n_terms + shared.indices[best])
    return _make_pairs(np.sort(np.concatenate(keys)), target.n_terms)


def _make_pairs(keys: Ids, n_targets: int) -> CandidatePairs:
    """Make pairs of their sorted keys, source * number of target terms + target."""
    source, target = np.divmod(keys, n_targets)
    return CandidatePairs(source.astype(np.int32), target.astype(np.int32), keys)


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
    index = _PairIndex(pairs.key)
    target_sizes, source_sizes = np.diff(target.start), np.diff(source.start)
    for texts in _split_by_work(target_sizes * source_sizes, CELLS_PER_BLOCK):
        block = _make_cells(source, target, texts, index, diagonal)
        if len(block.start):
            yield block


def _split_by_work(work: Ids, limit: int) -> Iterator[slice]:
    """Divide items into ranges, each of as many items as `limit` allows for their work together, but at least one.

    :param work: (items,)
    """
    work_before = np.concatenate([[0], np.cumsum(work)])
    first = 0
    while first < len(work):
        last = max(int(np.searchsorted(work_before, work_before[first] + limit, "right")) - 1, first + 1)
        yield slice(first, last)
        first = last


class _PairIndex:
    """Finds candidate pairs by their keys. Most keys have no pair: hashes rule them out before an exact search."""

    def __init__(self, sorted_keys: Ids) -> None:
        self._keys = sorted_keys
        self._may_exist = np.zeros(1 << HASH_BITS, bool)
        self._may_exist[_hash_key(sorted_keys)] = True

    def find(self, keys: Ids) -> tuple[Ids, Ids]:
        """Return the positions of those keys that have a pair, and the numbers of their pairs."""
        likely = np.flatnonzero(self._may_exist[_hash_key(keys)])
        numbers = np.searchsorted(self._keys, keys[likely])
        numbers = np.minimum(numbers, len(self._keys) - 1)
        has_pair = self._keys[numbers] == keys[likely]
        return likely[has_pair], numbers[has_pair]


def _make_cells(source: TermBags, target: TermBags, texts: slice, index: _PairIndex, diagonal: float) -> AlignmentCells:
    """Make the cells of a range of texts: pairs of a source and a target entry whose terms are a candidate pair.

    :param diagonal: how strongly similar positions are preferred
    """
    source_entries, target_entries = _pair_entries(source, target, texts)
    keys = source.term[source_entries].astype(np.int64) * target.n_terms + target.term[target_entries]
    cells, pair_numbers = index.find(keys)
    source_entries, target_entries = source_entries[cells], target_entries[cells]
    distances = np.abs(source.position[source_entries] - target.position[target_entries])
    preference = source.weight[source_entries] * np.exp(-diagonal * distances)
    row_starts = np.flatnonzero(np.diff(target_entries, prepend=-1))
    rows = target_entries[row_starts]
    return AlignmentCells(
        pair=pair_numbers.astype(np.int32),
        prior=_normalize_groups(preference, row_starts).astype(np.float32),
        start=row_starts,
        target=target.term[rows],
        weight=target.weight[rows],
    )


def _normalize_groups(values: npt.NDArray[np.float32], starts: Ids) -> npt.NDArray[np.float32]:
    """Scale the values of each group, given where the groups begin, to sum to one."""
    if not len(starts):
        return values
    sums = np.add.reduceat(values, starts)
    return np.asarray(values / np.repeat(sums, np.diff(starts, append=len(values))), np.float32)


def _pair_entries(source: TermBags, target: TermBags, texts: slice) -> tuple[Ids, Ids]:
    """Pair every target entry of a range of texts with every source entry of the same text.

    :return: numbers of the source and of the target entries, (pairs,) each, one target entry after the other
    """
    target_entries = np.arange(target.start[texts.start], target.start[texts.stop])
    text_of_target = np.searchsorted(target.start, target_entries, "right") - 1
    sizes = np.diff(source.start)[text_of_target]  # source entries for each target entry
    source_entries = np.repeat(source.start[text_of_target], sizes) + list_positions(sizes)
    return source_entries, np.repeat(target_entries, sizes)


def _hash_key(key: Ids) -> Ids:
    """Hash by Fibonacci's method: the high bits of a product with 2^64 / golden ratio."""
    return (key.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(64 - HASH_BITS)).astype(np.int64)


def _document_frequency(presence: sp.csr_matrix) -> Reals:
    """Count the texts that have each term: (terms,)."""
    return np.bincount(presence.indices, minlength=presence.shape[1]).astype(float)


def _count_operations(left: sp.csr_matrix, right: sp.csr_matrix) -> Ids:
    """Count the multiplications that each row of `left` takes in the product with `right`."""
    operations = np.diff(right.indptr)[left.indices]  # (entries of left,)
    operations_before = np.concatenate([[0], np.cumsum(operations)])
    return np.asarray(np.diff(operations_before[left.indptr]), np.int64)
