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

    starts: Ids  # (texts + 1,) where the entries of each text begin
    terms: npt.NDArray[np.int32]  # (entries,)
    weights: npt.NDArray[np.float32]  # (entries,)
    positions: npt.NDArray[np.float32]  # (entries,) from 0, the beginning of the text, to 1
    n_terms: int  # of the language's vocabulary

    def presence(self) -> sp.csr_matrix:
        """Return a matrix (texts, terms) with 1 where a text has a term."""
        ones = np.ones(len(self.terms), np.float32)
        matrix = sp.csr_matrix((ones, self.terms, self.starts), shape=(len(self.starts) - 1, self.n_terms), copy=True)
        matrix.sum_duplicates()  # works in place, hence the copy
        matrix.data[:] = 1
        return matrix


class CandidatePairs(NamedTuple):
    """The (source, target) terms that may translate each other; sorted by source, then target."""

    sources: npt.NDArray[np.int32]  # (pairs,)
    targets: npt.NDArray[np.int32]  # (pairs,)
    keys: Ids  # (pairs,) source * number of target terms + target


class AlignmentCells(NamedTuple):
    """For each occurrence of a target term (a row), the candidate pairs that could have produced it (its cells)."""

    pairs: npt.NDArray[np.int32]  # (cells,)
    priors: npt.NDArray[np.float32]  # (cells,) probability by position; sums to one over a row
    starts: Ids  # (rows,) where a row's cells begin; no row is empty
    targets: npt.NDArray[np.int32]  # (rows,) target terms
    weights: npt.NDArray[np.float32]  # (rows,)


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
    """Estimate P(target term | source term) from texts that translate each other, by expectation maximisation.

    :param source: texts in the language to translate from
    :param target: their translations, in the same order
    :param diagonal: how strongly words at similar positions are preferred; 0 is Model 1
    :param null: the part of every target word that no source word explains
    :param candidates: how many targets a source term may have, the most associated first
    :param prior: counts (source terms, target terms) that are added to those of the texts
    """
    pairs = find_candidate_pairs(source, target, candidates)
    prior_counts = np.zeros(len(pairs.keys))
    if prior is not None:
        pairs, prior_counts = _add_prior_pairs(pairs, prior)
    blocks = list(iterate_cells(source, target, pairs, diagonal))
    estimate = _start_uniformly(pairs, prior_counts, source.n_terms, target.n_terms)
    likelihood = []
    for _ in range(iterations):
        expected = _sum_expected_counts(blocks, estimate, null)
        estimate = _maximize_likelihood(expected, prior_counts, pairs, source.n_terms)
        likelihood.append(expected.log_likelihood)
    shape = (source.n_terms, target.n_terms)
    matrix = sp.csr_matrix((estimate.translation, (pairs.sources, pairs.targets)), shape=shape)
    return TranslationProbabilities(matrix, likelihood)


def _maximize_likelihood(
    expected: _ExpectedCounts, prior_counts: Reals, pairs: CandidatePairs, n_sources: int
) -> _Estimate:
    """Do the maximisation step: turn expected counts into the probabilities that explain them best.

    :param prior_counts: (candidate pairs,) added to the expected counts
    :param n_sources: the number of source terms
    """
    translation = _normalize_by_source(expected.translation + prior_counts, pairs.sources, n_sources)
    null = expected.null / max(expected.null.sum(), _TINY)
    return _Estimate(translation, null)


def _start_uniformly(pairs: CandidatePairs, prior_counts: Reals, n_sources: int, n_targets: int) -> _Estimate:
    """Return the estimate before the first iteration.

    All candidates of a source term have the same probability, changed only by the counts of the prior; all target terms
    are equally likely where no source word explains them.

    :param prior_counts: (candidate pairs,)
    """
    uniform = 1 / np.bincount(pairs.sources, minlength=n_sources)[pairs.sources]
    translation = _normalize_by_source(prior_counts + uniform, pairs.sources, n_sources)
    return _Estimate(translation, np.full(n_targets, 1 / max(n_targets, 1)))


def _sum_by_number(numbers: npt.NDArray[np.int32], values: Reals, n_numbers: int) -> Reals:
    """Add up the values of each number from 0 to n_numbers - 1."""
    return np.asarray(np.bincount(numbers, values, minlength=n_numbers), np.float64)


def _normalize_by_source(counts: Reals, source: npt.NDArray[np.int32], n_terms: int) -> Reals:
    """Divide the counts of pairs by the total of their source term; those of a term without counts stay 0.

    :param counts: (pairs,)
    :param source: (pairs,) the source term of each pair
    :param n_terms: the number of source terms
    """
    totals = _sum_by_number(source, counts, n_terms)[source]
    return np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)


def _add_prior_pairs(pairs: CandidatePairs, prior: sp.csr_matrix) -> tuple[CandidatePairs, Reals]:
    """Return the union of the candidates and the pairs of the prior, and the prior's count of each, (pairs,).

    :param prior: counts (source terms, target terms)
    """
    cells = prior.tocoo()
    prior_keys = cells.row.astype(np.int64) * prior.shape[1] + cells.col
    keys = np.union1d(pairs.keys, prior_keys)
    counts = np.zeros(len(keys))
    np.add.at(counts, np.searchsorted(keys, prior_keys), cells.data)
    return _make_pairs(keys, prior.shape[1]), counts


def _sum_expected_counts(blocks: Iterable[AlignmentCells], estimate: _Estimate, null: float) -> _ExpectedCounts:
    """Do the expectation step for all texts, block by block.

    :param blocks: the target words of the texts, and for each the pairs that could have produced it
    :param estimate: the probabilities so far
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

    Arrays of cells are large, so they are computed in place.

    :param block: the target words (rows), and for each the pairs that could have produced it (cells)
    :param null: the share of target words that no source word explains
    """
    cell_values = estimate.translation[block.pairs]  # (cells,) the probability that the cell produced its row
    cell_values *= block.priors
    cell_values *= 1 - null
    from_null = null * estimate.null[block.targets]  # (rows,) the probability that no cell produced the row
    from_cells = np.add.reduceat(cell_values, block.starts)  # (rows,)
    probability = np.maximum(from_cells + from_null, _TINY)  # (rows,)
    scale = block.weights / probability
    row_sizes = np.diff(block.starts, append=len(cell_values))
    cell_values *= np.repeat(scale, row_sizes)  # now the expected count of each cell
    return _ExpectedCounts(
        translation=_sum_by_number(block.pairs, cell_values, len(estimate.translation)),
        null=_sum_by_number(block.targets, from_null * scale, len(estimate.null)),
        log_likelihood=float(block.weights @ np.log(probability)),
    )


def find_candidate_pairs(source: TermBags, target: TermBags, max_targets: int) -> CandidatePairs:
    """Find for each source term the target terms that may translate it, since they share texts with it.

    If a source term shares texts with more than `max_targets` terms, those are taken that share more texts with it than
    by chance, the most associated first (Dunning's log-likelihood ratio).

    :param source: texts in the language to translate from
    :param target: their translations, in the same order
    :param max_targets: how many target terms a source term may have
    :return: the pairs, sorted by source term, then target term
    """
    source_presence, target_presence = source.presence(), target.presence()  # (texts, terms) each
    source_df, target_df = _count_texts_of_terms(source_presence), _count_texts_of_terms(target_presence)
    texts_of_terms = source_presence.T.tocsr()  # (source terms, texts)
    n_texts = texts_of_terms.shape[1]
    keys_by_block = [np.zeros(0, np.int64)]
    n_operations = _count_operations(texts_of_terms, target_presence)
    for terms in _split_by_work(n_operations, 4 * CELLS_PER_BLOCK):  # blocks bound the memory that is needed
        shared_counts = (texts_of_terms[terms] @ target_presence).tocsr()  # (source terms of the block, target terms)
        rows, columns = _select_associated(shared_counts, source_df[terms], target_df, n_texts, max_targets)
        keys_by_block.append((terms.start + rows) * target.n_terms + columns)
    return _make_pairs(np.sort(np.concatenate(keys_by_block)), target.n_terms)


def _select_associated(
    shared_counts: sp.csr_matrix, source_df: Reals, target_df: Reals, n_texts: int, max_targets: int
) -> tuple[Ids, Ids]:
    """Select for each source term the target terms that are most associated with it.

    :param shared_counts: (source terms, target terms) in how many texts both terms of a pair are
    :param source_df: (source terms,) in how many texts each source term is
    :param target_df: (target terms,) in how many texts each target term is
    :param n_texts: the number of all texts
    :param max_targets: how many target terms of a source term are selected at most
    :return: (pairs,) the source terms and (pairs,) the target terms of the selected pairs
    """
    rows = list_groups(np.diff(shared_counts.indptr))  # (cells,) the source term of each cell
    columns = shared_counts.indices  # (cells,) its target term
    cell_counts = shared_counts.data.astype(float)
    scores = log_likelihood_ratio(cell_counts, source_df[rows], target_df[columns], n_texts)
    best = _select_best_cells(rows, columns, scores, max_targets)
    return rows[best], columns[best]


def _make_pairs(keys: Ids, n_targets: int) -> CandidatePairs:
    """Make pairs of their sorted keys, source * number of target terms + target."""
    source, target = np.divmod(keys, n_targets)
    return CandidatePairs(source.astype(np.int32), target.astype(np.int32), keys)


def _select_best_cells(rows: Ids, columns: Ids, scores: Reals, max_per_row: int) -> Ids:
    """Select the best cells of each row of a sparse matrix.

    All cells of a row with at most `max_per_row` cells are selected, and of a longer row the best of positive score.
    Only longer rows are sorted, because sorting is the expensive part.

    :param rows: (cells,) the row of each cell, ascending
    :param columns: (cells,); of cells with equal scores that of the lower column is the better one
    :param scores: (cells,)
    :return: positions of the selected cells
    """
    row_sizes = np.bincount(rows)
    is_in_short_row = row_sizes[rows] <= max_per_row
    candidates = np.flatnonzero(~is_in_short_row & (scores > 0))
    candidate_rows = rows[candidates]
    best_first = np.lexsort((columns[candidates], -scores[candidates], candidate_rows))  # row by row
    ranks = list_positions(np.bincount(candidate_rows, minlength=len(row_sizes)))  # within a row, in this order
    best_of_long_rows = candidates[best_first[ranks < max_per_row]]
    return np.concatenate([np.flatnonzero(is_in_short_row), best_of_long_rows])


def log_likelihood_ratio(shared: Reals, source_df: Reals, target_df: Reals, n_texts: int) -> Reals:
    """Compute Dunning's log-likelihood ratio of pairs of terms, (pairs,); negative where they avoid each other.

    The ratio compares the observed numbers of texts in the four cells of a contingency table, with and without either
    term, with those to be expected by chance.

    :param shared: (pairs,) the number of texts with both terms
    :param source_df: (pairs,) the number of texts with the source term
    :param target_df: (pairs,) the number of texts with the target term
    :param n_texts: the number of all texts
    """
    without_source, without_target = n_texts - source_df, n_texts - target_df
    ratios = (
        _compute_cell(shared, source_df, target_df, n_texts)
        + _compute_cell(source_df - shared, source_df, without_target, n_texts)
        + _compute_cell(target_df - shared, without_source, target_df, n_texts)
        + _compute_cell(n_texts - source_df - target_df + shared, without_source, without_target, n_texts)
    )
    return np.where(shared * n_texts >= source_df * target_df, ratios, -ratios)


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
    """Pair every target entry with the source entries of its text that may translate it, in blocks of texts.

    Blocks bound the memory that is needed at a time; those without any pair are left out.

    :param source: texts in the language to translate from
    :param target: their translations, in the same order
    :param pairs: which terms may translate each other
    :param diagonal: how strongly similar positions are preferred
    :return: the cells of each block of texts
    """
    index = _PairIndex(pairs.keys)
    target_sizes, source_sizes = np.diff(target.starts), np.diff(source.starts)
    for texts in _split_by_work(target_sizes * source_sizes, CELLS_PER_BLOCK):
        block = _make_cells(source, target, texts, index, diagonal)
        if len(block.starts):
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

    :param texts: the range of texts, which `source` and `target` have in the same order
    :param index: finds the candidate pairs of terms
    :param diagonal: how strongly similar positions are preferred
    """
    all_sources, all_targets = _pair_entries(source, target, texts)  # (pairs of entries,)
    keys = source.terms[all_sources].astype(np.int64) * target.n_terms + target.terms[all_targets]
    cells, pair_numbers = index.find(keys)
    source_entries, target_entries = all_sources[cells], all_targets[cells]  # (cells,)
    distances = np.abs(source.positions[source_entries] - target.positions[target_entries])
    preferences = source.weights[source_entries] * np.exp(-diagonal * distances)
    row_starts = np.flatnonzero(np.diff(target_entries, prepend=-1))  # the cells of a target entry are neighbours
    rows = target_entries[row_starts]
    return AlignmentCells(
        pairs=pair_numbers.astype(np.int32),
        priors=_normalize_groups(preferences, row_starts).astype(np.float32),
        starts=row_starts,
        targets=target.terms[rows],
        weights=target.weights[rows],
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
    target_entries = np.arange(target.starts[texts.start], target.starts[texts.stop])
    text_of_target = np.searchsorted(target.starts, target_entries, "right") - 1
    sizes = np.diff(source.starts)[text_of_target]  # source entries for each target entry
    source_entries = np.repeat(source.starts[text_of_target], sizes) + list_positions(sizes)
    return source_entries, np.repeat(target_entries, sizes)


def _hash_key(key: Ids) -> Ids:
    """Hash by Fibonacci's method: the high bits of a product with 2^64 / golden ratio."""
    return (key.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(64 - HASH_BITS)).astype(np.int64)


def _count_texts_of_terms(presence: sp.csr_matrix) -> Reals:
    """Count the texts that have each term, (terms,), in a matrix (texts, terms) with 1 where a text has a term."""
    return np.bincount(presence.indices, minlength=presence.shape[1]).astype(float)


def _count_operations(left: sp.csr_matrix, right: sp.csr_matrix) -> Ids:
    """Count the multiplications that each row of `left` takes in the product with `right`."""
    operations = np.diff(right.indptr)[left.indices]  # (entries of left,)
    operations_before = np.concatenate([[0], np.cumsum(operations)])
    return np.asarray(np.diff(operations_before[left.indptr]), np.int64)
