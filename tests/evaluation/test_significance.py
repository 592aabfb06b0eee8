import numpy as np
import pytest
from scipy import stats

from paragloss.errors import InputError
from paragloss.evaluation import compare, holm


def make_values(*numbers):
    return {f"q{i}": number for i, number in enumerate(numbers)}


def test_three_queries_worked_by_hand():
    # Gains 0.1, 0.2, 0.3: only the two assignments with all signs alike reach |sum| = 0.6, of 8.
    result = compare(make_values(0.0, 0.0, 0.0), make_values(0.1, 0.2, 0.3))
    assert result.p_randomisation == pytest.approx(2 / 8)
    assert result.difference == pytest.approx(0.2)
    # t = 0.2 / (0.1 / sqrt(3)) = 3.4641 with 2 degrees of freedom.
    assert result.p_t == pytest.approx(2 * stats.t.sf(2 * np.sqrt(3), 2))
    assert (result.wins, result.ties, result.losses) == (3, 0, 0)
    # The interval: 0.2 -/+ 4.3027 (Student's t of 97.5 % with 2 degrees of freedom) times 0.1 / sqrt(3).
    assert (result.low, result.high) == (pytest.approx(0.2 - 0.24841, abs=1e-5), pytest.approx(0.2 + 0.24841, abs=1e-5))
    assert (result.queries, result.first, result.second) == (3, 0.0, pytest.approx(0.2))


@pytest.mark.parametrize(
    ("first", "second", "wins_ties_losses"),
    [
        ((0.5, 0.5, 0.5, 0.5, 0.0, 0.0), (0.6, 0.5, 0.5, 0.5, 1.0, -0.5), (2, 3, 1)),
        ((0.25,), (1.0,), (1, 0, 0)),  # one query
        ((0.2, 0.4, 0.9), (0.2, 0.4, 0.9), (0, 3, 0)),  # the same run twice
    ],
)
def test_wins_ties_and_losses_are_counted_and_a_gain_on_one_query_or_none_is_no_evidence(
    first, second, wins_ties_losses
):
    result = compare(make_values(*first), make_values(*second))
    assert (result.wins, result.ties, result.losses) == wins_ties_losses
    if len(first) < 6:
        assert (result.p_t, result.p_randomisation) == (1.0, 1.0)
        assert result.low == result.high == result.difference


def test_a_gain_that_is_the_same_everywhere_is_left_to_the_randomisation_test():
    result = compare(make_values(0.0, 0.0, 0.0), make_values(1.0, 1.0, 1.0))
    assert (result.low, result.difference, result.high, result.p_t) == (1.0, 1.0, 1.0, 0.0)
    assert result.p_randomisation == 2 / 8
    assert compare(make_values(0.0, 0.0), make_values(1.0, 1.0)).p_t == 0.0  # two are enough to be the same
    two = compare(make_values(0.0, 0.0), make_values(0.1, 0.3))
    # t = 0.2 / (0.1414 / sqrt(2)) = 2 with one degree of freedom: 1 - 2 arctan(2) / pi.
    assert two.p_t == pytest.approx(1 - 2 * np.arctan(2) / np.pi)


def test_sixteen_queries_are_tried_in_every_way_and_more_by_chance():
    assert compare(make_values(*[0.0] * 16), make_values(*[1.0] * 16)).p_randomisation == 2 / 2**16
    # Seventeen: none of ninety-nine random assignments has all signs alike, and the one seen counts as well.
    seventeen = (make_values(*[0.0] * 17), make_values(*[1.0] * 17))
    assert compare(*seventeen, rounds=99).p_randomisation == 1 / 100
    # Half won and half lost: every assignment is as far from zero.
    assert compare(make_values(*[0.5] * 18), make_values(*[1.0, 0.0] * 9), rounds=99).p_randomisation == 1.0


def test_chance_is_repeatable():
    rng = np.random.default_rng(2)
    first, second = make_values(*rng.uniform(size=30)), make_values(*rng.uniform(size=30))
    by_seed = {seed: compare(first, second, rounds=200, seed=seed).p_randomisation for seed in range(4)}
    assert compare(first, second, rounds=200).p_randomisation == by_seed[0]
    assert len(set(by_seed.values())) > 1


def test_randomisation_agrees_with_the_t_test_on_many_queries():
    rng = np.random.default_rng(0)
    first = rng.uniform(size=300)
    second = first + rng.normal(0.01, 0.1, 300)
    result = compare(make_values(*first), make_values(*second))
    assert result.p_randomisation == pytest.approx(result.p_t, abs=0.01)
    assert result.low < result.difference < result.high


def test_swapping_the_runs_only_turns_the_sign():
    rng = np.random.default_rng(1)
    a, b = make_values(*rng.uniform(size=40)), make_values(*rng.uniform(size=40))
    forward, backward = compare(a, b), compare(b, a)
    assert forward.difference == pytest.approx(-backward.difference)
    assert forward.p_randomisation == backward.p_randomisation


def test_different_queries_cannot_be_paired():
    with pytest.raises(InputError, match="different queries"):
        compare({"a": 1.0}, {"b": 1.0})


def test_holm_corrects_for_many_comparisons():
    # Three: .01 x 3, .02 x 2, .04 x 1, and none below one before it.
    assert holm({"b": 0.04, "a": 0.01, "c": 0.02}) == pytest.approx({"a": 0.03, "c": 0.04, "b": 0.04})
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
