"""Compare two runs by a paired t-test and a paired randomisation test.

The randomisation test is Smucker, Allan and Carterette's (CIKM 2007): under the null hypothesis the two systems
could swap their scores on any query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import stats

from paragloss.errors import InputError

ScoreArray: TypeAlias = npt.NDArray[np.float64]  # (queries,)


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
    query_ids = sorted(first)
    first_scores = np.array([first[query_id] for query_id in query_ids])
    second_scores = np.array([second[query_id] for query_id in query_ids])
    gains = second_scores - first_scores
    difference = float(gains.mean())
    margin, p_t = _run_t_test(first_scores, second_scores)
    return Comparison(
        queries=len(query_ids),
        first=float(first_scores.mean()),
        second=float(second_scores.mean()),
        difference=difference,
        low=difference - margin,
        high=difference + margin,
        p_t=p_t,
        p_randomisation=_run_randomisation_test(gains, rounds, seed),
        wins=int((gains > 0).sum()),
        ties=int((gains == 0).sum()),
        losses=int((gains < 0).sum()),
    )


def _run_t_test(first_scores: ScoreArray, second_scores: ScoreArray) -> tuple[float, float]:
    """Return half the width of the 95 % confidence interval of the mean gain, and the two-sided p-value.

    If all gains are equal, the t-test would divide by a deviation of zero. The interval is then a point, and p is 1 for
    equal scores or a single query. For any other constant gain p is 0; how likely that is, is left to the randomisation
    test.

    :param first_scores: (queries,)
    :param second_scores: (queries,) of the same queries
    """
    gains = second_scores - first_scores
    n = len(gains)
    if np.all(gains == gains[:1]):
        is_without_evidence = n < 2 or gains[0] == 0
        return 0.0, float(is_without_evidence)
    margin = float(stats.t.ppf(0.975, n - 1) * gains.std(ddof=1) / np.sqrt(n))
    return margin, float(stats.ttest_rel(second_scores, first_scores).pvalue)


def _run_randomisation_test(gains: ScoreArray, rounds: int, seed: int) -> float:
    """Compute the two-sided p-value: how often random signs give a mean at least as far from zero as the observed one.

    :param gains: (queries,) the difference of the scores of each query; those of 0 have no sign and don't count
    :param rounds: how many assignments of signs are drawn; all are tried if few enough queries differ
    :param seed: seed of the assignments
    """
    gains = gains[gains != 0]
    if len(gains) == 0:
        return 1.0
    if len(gains) <= MAX_GAINS_FOR_EXACT_TEST:
        all_signs = _list_sign_assignments(len(gains))
        return _count_extreme(all_signs, gains) / len(all_signs)
    n_extreme = 0
    for drawn_signs in _draw_sign_assignments(len(gains), rounds, seed):
        n_extreme += _count_extreme(drawn_signs, gains)
    return (n_extreme + 1) / (rounds + 1)  # the observed signs count as one more assignment


def _draw_sign_assignments(n: int, rounds: int, seed: int) -> Iterator[npt.NDArray[np.int8]]:
    """Yield random assignments of -1 and 1 to n gains, a block of them at a time; (assignments, n)."""
    rng = np.random.default_rng(seed)
    rounds_per_block = max(1, MAX_SIGNS_IN_MEMORY // n)
    for start in range(0, rounds, rounds_per_block):
        n_rounds = min(rounds_per_block, rounds - start)
        yield 1 - 2 * rng.integers(0, 2, (n_rounds, n), dtype=np.int8)


def _list_sign_assignments(n: int) -> npt.NDArray[np.int64]:
    """Return all assignments of -1 and 1 to n gains, (2 ** n, n)."""
    assignments = np.arange(2**n)[:, None]
    return 1 - 2 * ((assignments >> np.arange(n)) & 1)


def _count_extreme(signs: npt.NDArray[np.integer[Any]], gains: ScoreArray) -> int:
    """Count the assignments of signs, (assignments, gains), whose sum is as far from zero as that of the gains."""
    observed = abs(gains.sum()) * (1 - 1e-12)  # a little less, because sums are rounded
    return int((np.abs(signs @ gains) >= observed).sum())


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Correct the p-values of several comparisons by Holm's method (1979).

    The smallest of n is multiplied by n, the next by n - 1, and none is smaller than the one before it.

    :param p_values: name of a comparison -> p-value
    :return: the corrected p-values by the same names, in the same order
    """
    names = sorted(p_values, key=lambda name: (p_values[name], name))
    corrected: dict[str, float] = {}
    previous = 0.0
    for position, name in enumerate(names):
        factor = len(names) - position
        previous = max(previous, min(1.0, p_values[name] * factor))
        corrected[name] = previous
    return {name: corrected[name] for name in p_values}
