"""Compare two runs by a paired t-test and a paired randomisation test.

The randomisation test is Smucker, Allan and Carterette's (CIKM 2007): under the null hypothesis the two systems
could swap their scores on any query.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy import stats

from paragloss.errors import InputError


class Comparison(NamedTuple):
    """Two systems on the same queries; a positive difference means the second is better."""

    queries: int
    first: float
    second: float
    difference: float
    low: float  # 95 % confidence interval of the difference
    high: float
    p_t: float
    p_randomisation: float
    wins: int
    ties: int
    losses: int


#: With more gains than this, random assignments of signs are drawn in blocks instead of trying all.
MAX_GAINS_FOR_EXACT_TEST, MAX_SIGNS_IN_MEMORY = 16, 10_000_000


def compare(
    first: Mapping[str, float], second: Mapping[str, float], *, rounds: int = 100_000, seed: int = 0
) -> Comparison:
    """Compare two systems' scores of one measure, query by query.

    :param first: query id -> score of the first system
    :param second: query id -> score of the second system
    :param rounds: random assignments of the randomisation test
    :param seed: seed of the random assignments
    :return: the mean scores, their difference with its 95 % confidence interval, the p-values of a t-test and of a
        randomisation test, and the numbers of queries that the second system wins and loses
    :raises InputError: if the systems were measured on different queries

    >>> compare({"q1": 0.5, "q2": 0.25}, {"q1": 1.0, "q2": 0.25}).wins
    1
    """
    if first.keys() != second.keys():
        raise InputError("the two runs were measured on different queries: use the same judgments for both")
    queries = sorted(first)
    before = np.array([first[query] for query in queries])
    after = np.array([second[query] for query in queries])
    gains = after - before
    n = len(queries)
    if np.all(gains == gains[:1]):
        # The t-test would divide by a deviation of zero. Equal scores are no evidence; a constant gain is left to the
        # randomisation test.
        margin, p_t = 0.0, 1.0 if n < 2 or gains[0] == 0 else 0.0
    else:
        margin = float(stats.t.ppf(0.975, n - 1) * gains.std(ddof=1) / np.sqrt(n))
        p_t = float(stats.ttest_rel(after, before).pvalue)
    difference = float(gains.mean())
    means = float(before.mean()), float(after.mean()), difference, difference - margin, difference + margin
    counts = int((gains > 0).sum()), int((gains == 0).sum()), int((gains < 0).sum())
    return Comparison(n, *means, p_t, _randomisation(gains, rounds, seed), *counts)


def _randomisation(gains: np.ndarray[tuple[int], np.dtype[np.float64]], rounds: int, seed: int) -> float:
    """Compute the two-sided p-value: how often random signs give a mean at least as far from zero as the observed one.

    It is exact if few enough queries differ to try every assignment of signs.
    """
    gains = gains[gains != 0]
    if len(gains) == 0:
        return 1.0
    observed = abs(gains.sum()) * (1 - 1e-12)  # a little less, because sums are rounded
    if len(gains) <= MAX_GAINS_FOR_EXACT_TEST:
        assignments = np.arange(2 ** len(gains))[:, None]
        signs = 1 - 2 * ((assignments >> np.arange(len(gains))) & 1)  # (assignments, gains) of -1 and 1
        return float((np.abs(signs @ gains) >= observed).mean())
    rng = np.random.default_rng(seed)
    n_extreme = 0
    block = max(1, MAX_SIGNS_IN_MEMORY // len(gains))
    for start in range(0, rounds, block):
        flips = rng.integers(0, 2, (min(block, rounds - start), len(gains)), dtype=np.int8)
        n_extreme += int((np.abs((1 - 2 * flips) @ gains) >= observed).sum())
    return (n_extreme + 1) / (rounds + 1)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Correct the p-values of several comparisons by Holm's method (1979).

    The smallest of n is multiplied by n, the next by n - 1, and none is smaller than the one before it.
    """
    order = sorted(p_values, key=lambda name: (p_values[name], name))
    corrected: dict[str, float] = {}
    previous = 0.0
    for position, name in enumerate(order):
        previous = max(previous, min(1.0, p_values[name] * (len(order) - position)))
        corrected[name] = previous
    return {name: corrected[name] for name in p_values}
