"""Which word of one text gave which word of its translation: IBM Model 1 by expectation-maximisation, on arrays.

A prior that favours words at the same relative place makes it the reparameterised Model 2 of Dyer, Chahuneau and
Smith, "A simple, fast, and effective reparameterization of IBM Model 2", NAACL 2013. Model 1: Brown et al., "The
mathematics of statistical machine translation", Computational Linguistics 19(2), 1993. Knows only term ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import scipy.sparse as sp

Ids = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

#: Cells made in one go: bounds what is held beside the cells that are kept (about 60 bytes each).
_BLOCK = 4_000_000
_BITS = 26


class Bags(NamedTuple):
    """Texts of one language as entries of (term, weight, place), text after text."""

    start: Ids  # (texts + 1,)
    term: npt.NDArray[np.int32]  # (entries,)
    weight: npt.NDArray[np.float32]  # (entries,)
    place: npt.NDArray[np.float32]  # (entries,) from 0, the beginning of the text, to 1
    width: int  # how many terms the language has

    def presence(self) -> sp.csr_matrix:
        """(texts, terms): 1 where a text has a term."""
        import scipy.sparse as sp

        ones = np.ones(len(self.term), np.float32)
        matrix = sp.csr_matrix((ones, self.term, self.start), shape=(len(self.start) - 1, self.width), copy=True)
        matrix.sum_duplicates()  # works in place, hence the copy
        matrix.data[:] = 1
        return matrix


class Pairs(NamedTuple):
    """The (source, target) terms that may translate each other; sorted by source, then target."""

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    key: Ids  # source * width of the target + target


class Cells(NamedTuple):
    """For each occurrence of a target term (a row), the pairs that could have produced it (its cells)."""

    pair: npt.NDArray[np.int32]  # (cells,)
    prior: npt.NDArray[np.float32]  # (cells,) how likely its place makes it; sums to one over a row
    start: Ids  # (rows,) where a row's cells begin; no row is empty
    target: npt.NDArray[np.int32]  # (rows,)
    weight: npt.NDArray[np.float32]  # (rows,)


class Learned(NamedTuple):
    """P(target | source), (source terms, target terms), and the log-likelihood before each iteration."""

    probability: sp.csr_matrix
    likelihood: list[float]


def learn(
    source: Bags,
    target: Bags,
    *,
    iterations: int = 5,
    diagonal: float = 4.0,
    null: float = 0.08,
    candidates: int = 100,
    prior: sp.csr_matrix | None = None,
) -> Learned:
    """Estimate P(target | source) over texts that translate each other.

    `diagonal`: 0 is Model 1; higher trusts the order of words more. `null`: the part of every target word that no
    source word explains. `candidates`: how many targets a source term may have, the most associated first. `prior`:
    counts (source terms, target terms) that stand beside those of the texts, as if met before.
    """
    import scipy.sparse as sp

    pairs = candidate_pairs(source, target, candidates)
    before = np.zeros(len(pairs.key))
    if prior is not None:
        pairs, before = _beside(pairs, prior)
    blocks = list(cells(source, target, pairs, diagonal))
    share = 1 / np.bincount(pairs.source, minlength=source.width)[pairs.source]
    probability = _normal(before + share, pairs.source, source.width)
    nothing = np.full(target.width, 1 / max(target.width, 1))
    likelihood = []
    for _ in range(iterations):
        expected, unexplained, total = np.zeros(len(probability)), np.zeros(target.width), 0.0
        for block in blocks:
            total += _expect(block, probability, nothing, null, expected, unexplained)
        likelihood.append(total)
        probability = _normal(expected + before, pairs.source, source.width)
        nothing = unexplained / max(unexplained.sum(), np.finfo(float).tiny)
    shape = (source.width, target.width)
    return Learned(sp.csr_matrix((probability, (pairs.source, pairs.target)), shape=shape), likelihood)


def _normal(counts: Reals, source: npt.NDArray[np.int32], width: int) -> Reals:
    """Counts as shares of all that their source has."""
    mass = np.bincount(source, counts, minlength=width)[source]
    return np.divide(counts, mass, out=np.zeros_like(counts), where=mass > 0)


def _beside(pairs: Pairs, prior: sp.csr_matrix) -> tuple[Pairs, Reals]:
    """The candidates and those of the prior, with the prior's counts."""
    cells = prior.tocoo()
    known = cells.row.astype(np.int64) * prior.shape[1] + cells.col
    key = np.union1d(pairs.key, known)
    counts = np.zeros(len(key))
    np.add.at(counts, np.searchsorted(key, known), cells.data)
    source, target = np.divmod(key, prior.shape[1])
    return Pairs(source.astype(np.int32), target.astype(np.int32), key), counts


def _expect(
    block: Cells, probability: Reals, nothing: Reals, null: float, expected: Reals, unexplained: Reals
) -> float:
    """Add a block's expected counts; return its log-likelihood."""
    joint = probability[block.pair]
    joint *= block.prior
    joint *= 1 - null
    from_nothing = null * nothing[block.target]
    row = np.add.reduceat(joint, block.start) + from_nothing
    share = block.weight / np.maximum(row, np.finfo(float).tiny)
    joint *= np.repeat(share, np.diff(block.start, append=len(joint)))
    expected += np.bincount(block.pair, joint, minlength=len(expected))
    unexplained += np.bincount(block.target, from_nothing * share, minlength=len(unexplained))
    return float(block.weight @ np.log(np.maximum(row, np.finfo(float).tiny)))


def candidate_pairs(source: Bags, target: Bags, most: int) -> Pairs:
    """For each source term the `most` targets it shares texts with beyond chance (Dunning's likelihood ratio)."""
    left, right = source.presence(), target.presence()
    texts = left.shape[0]
    source_df, target_df = _document_frequency(left), _document_frequency(right)
    sources, targets = [], []
    left = left.T.tocsr()
    for start, stop in _row_blocks(left, right):
        shared = (left[start:stop] @ right).tocsr()
        row = np.repeat(np.arange(start, stop), np.diff(shared.indptr))
        score = association(shared.data.astype(float), source_df[row], target_df[shared.indices], texts)
        # Sorting is what costs: rows that fit stay whole, and what avoids its source is no candidate elsewhere.
        fits = np.diff(shared.indptr)[row - start] <= most
        worth = np.flatnonzero(~fits & (score > 0))
        order = worth[np.lexsort((shared.indices[worth], -score[worth], row[worth]))]
        sizes = np.bincount(row[worth] - start, minlength=stop - start)
        rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        kept = np.concatenate([np.flatnonzero(fits), order[rank < most]])
        sources.append(row[kept])
        targets.append(shared.indices[kept])
    s = np.concatenate(sources) if sources else np.zeros(0, np.int64)
    t = np.concatenate(targets) if targets else np.zeros(0, np.int64)
    key = s.astype(np.int64) * target.width + t
    order = np.argsort(key, kind="stable")
    return Pairs(s[order].astype(np.int32), t[order].astype(np.int32), key[order])


def association(shared: Reals, source: Reals, target: Reals, texts: int) -> Reals:
    """Dunning's log-likelihood ratio of two terms in the same texts, negative where they avoid each other."""

    def part(seen: Reals, row: Reals, column: Reals) -> Reals:
        return np.where(seen > 0, seen * np.log(np.maximum(seen, 1e-12) * texts / np.maximum(row * column, 1e-12)), 0)

    ratio = (
        part(shared, source, target)
        + part(source - shared, source, texts - target)
        + part(target - shared, texts - source, target)
        + part(texts - source - target + shared, texts - source, texts - target)
    )
    return np.where(shared * texts >= source * target, ratio, -ratio)


def cells(source: Bags, target: Bags, pairs: Pairs, diagonal: float) -> Iterator[Cells]:
    """Every target entry against the source entries of its text, where the two are a candidate pair."""
    known = np.zeros(1 << _BITS, bool)  # a sieve: most cells are no candidates, and a look here is cheap
    known[_slot(pairs.key)] = True
    many, few = np.diff(target.start), np.diff(source.start)
    edges = np.concatenate([[0], np.cumsum(many * few)])
    first = 0
    while first < len(many):
        last = max(int(np.searchsorted(edges, edges[first] + _BLOCK, "right")) - 1, first + 1)
        block = _cells_of(source, target, first, last, pairs, known, diagonal)
        if len(block.start):
            yield block
        first = last


def _cells_of(
    source: Bags, target: Bags, first: int, last: int, pairs: Pairs, known: npt.NDArray[np.bool_], diagonal: float
) -> Cells:
    entries = np.arange(target.start[first], target.start[last])
    text = np.repeat(np.arange(first, last), np.diff(target.start[first : last + 1]))
    size = np.diff(source.start)[text]
    begin = np.cumsum(size) - size
    s = np.arange(int(size.sum())) + np.repeat(source.start[text] - begin, size)
    t = np.repeat(entries, size)
    key = source.term[s].astype(np.int64) * target.width + target.term[t]
    sieved = np.flatnonzero(known[_slot(key)])
    key = key[sieved]
    pair = np.searchsorted(pairs.key, key)
    pair[pair == len(pairs.key)] = 0
    found = pairs.key[pair] == key if len(pairs.key) else np.zeros(len(key), bool)
    sieved, pair = sieved[found], pair[found]
    s, t = s[sieved], t[sieved]
    start = np.flatnonzero(np.diff(t, prepend=-1))
    prior = source.weight[s] * np.exp(-diagonal * np.abs(source.place[s] - target.place[t]))
    if len(start):
        prior /= np.repeat(np.add.reduceat(prior, start), np.diff(start, append=len(t)))
    rows = t[start]
    return Cells(pair.astype(np.int32), prior.astype(np.float32), start, target.term[rows], target.weight[rows])


def _slot(key: Ids) -> Ids:
    """Fibonacci hashing: the high bits of a product with 2^64 / golden ratio."""
    return (key.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(64 - _BITS)).astype(np.int64)


def _document_frequency(presence: sp.csr_matrix) -> Reals:
    return np.bincount(presence.indices, minlength=presence.shape[1]).astype(float)


def _row_blocks(left: sp.csr_matrix, right: sp.csr_matrix) -> Iterator[tuple[int, int]]:
    """Ranges of rows of `left` whose product with `right` takes about a block of operations each."""
    work = np.concatenate([[0], np.cumsum(np.diff(right.indptr)[left.indices])])[left.indptr]
    first = 0
    while first < left.shape[0]:
        last = max(int(np.searchsorted(work, work[first] + 4 * _BLOCK, "right")) - 1, first + 1)
        yield first, last
        first = last
