import numpy as np
import pytest
from scipy import stats

from paragloss.errors import InputError
from paragloss.evaluation import compare, holm
from paragloss.evaluation.report import report


def values(*numbers):
    return {f"q{i}": number for i, number in enumerate(numbers)}


def test_three_queries_worked_by_hand():
    # Gains 0.1, 0.2, 0.3: only the two assignments with all signs alike reach |sum| = 0.6, of 8.
    result = compare(values(0.0, 0.0, 0.0), values(0.1, 0.2, 0.3))
    assert result.p_randomisation == pytest.approx(2 / 8)
    assert result.difference == pytest.approx(0.2)
    # t = 0.2 / (0.1 / sqrt(3)) = 3.4641 with 2 degrees of freedom.
    assert result.p_t == pytest.approx(2 * stats.t.sf(2 * np.sqrt(3), 2))
    assert (result.wins, result.ties, result.losses) == (3, 0, 0)


def test_randomisation_agrees_with_the_t_test_on_many_queries():
    rng = np.random.default_rng(0)
    first = rng.uniform(size=300)
    second = first + rng.normal(0.01, 0.1, 300)
    result = compare(values(*first), values(*second))
    assert result.p_randomisation == pytest.approx(result.p_t, abs=0.01)
    assert result.low < result.difference < result.high


def test_swapping_the_runs_only_turns_the_sign():
    rng = np.random.default_rng(1)
    a, b = values(*rng.uniform(size=40)), values(*rng.uniform(size=40))
    there, back = compare(a, b), compare(b, a)
    assert there.difference == pytest.approx(-back.difference)
    assert there.p_randomisation == back.p_randomisation


def test_the_same_run_twice_is_no_evidence():
    same = values(0.2, 0.4, 0.9)
    result = compare(same, same)
    assert (result.p_t, result.p_randomisation) == (1.0, 1.0)


def test_different_queries_cannot_be_paired():
    with pytest.raises(InputError, match="different queries"):
        compare({"a": 1.0}, {"b": 1.0})


def test_report_names_every_query_and_escapes_what_it_shows():
    first = {"RR": {"q<1>": 0.5, "q2": 1.0}}
    second = {"RR": {"q<1>": 1.0, "q2": 1.0}}
    page = report({"old": first, "new": second}, title="old & new")
    assert "q&lt;1&gt;" in page
    assert "q<1>" not in page
    assert page.count("<svg") == 2
    assert "+0.2500" in page
    assert "http-equiv" not in page


def test_holm_corrects_for_many_comparisons():
    # Three: .01 x 3, .02 x 2, .04 x 1, and none below one before it.
    assert holm({"b": 0.04, "a": 0.01, "c": 0.02}) == pytest.approx({"a": 0.03, "c": 0.04, "b": 0.04})
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
