"""The figures of the paper on smooth learning say what its theory says."""

import pytest

from paragloss.lab.recipes.tables import smooth_figure_1, smooth_figure_2


def test_gradients_stay_below_one_over_epsilon_and_explode_without():
    steepest = {epsilon: smooth_figure_1.steepest(0.001, epsilon) for epsilon in (0.0, 0.25, 0.5, 1.0)}
    assert steepest[0.0] > 100
    for epsilon in (0.25, 0.5, 1.0):
        assert smooth_figure_1.steepest(0.001, epsilon) <= 1 / epsilon
        assert steepest[epsilon] == pytest.approx(1 / (epsilon * (1 + epsilon)), rel=0.02)


def test_each_row_is_a_curve_of_its_epsilon():
    rows = smooth_figure_1.measure("gradient", 0, smoke=False)
    for row, columns in rows.items():
        epsilon = float(row.split()[1])
        if epsilon:
            assert columns["bound"] == pytest.approx(1 / epsilon)
            # Steepest across z: 1 over (|x| + e)(1 + e).
            expected = [1 / ((x + epsilon) * (1 + epsilon)) for x in (0.001, 0.1, 3.0)]
            assert [columns[f"length {x}"] for x in (0.001, 0.1, 3.0)] == pytest.approx(expected, rel=1e-3)
    assert list(rows) == [f"epsilon {e}" for e in (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)]


def test_a_score_within_its_segment_has_no_loss_and_squared_error_wants_its_middle():
    lost = smooth_figure_2.measure("partly relevant", 0, smoke=False)
    within = [lost["SOSL"][f"r = {score}"] for score in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)]
    assert within == pytest.approx([0] * 6, abs=1e-9)
    assert (lost["SOSL"]["r = -0.1"], lost["SOSL"]["r = 0.8"]) == pytest.approx((0.1**2, 0.3**2)), (
        "the paper's (0, 0.5)"
    )
    assert lost["MSE"]["r = 0.0"] == pytest.approx(0.25**2), "the middle of 0 and 0.5 is 0.25"
    first, last = (smooth_figure_2.measure(part, 0, smoke=False) for part in ("irrelevant", "relevant"))
    assert first["SOSL"]["r = 0.4"] == pytest.approx(0.4**2)
    assert last["SOSL"]["r = 0.4"] == pytest.approx(0.1**2)
    assert last["MSE"]["r = 1.0"] == pytest.approx(0.25**2), "the middle of 0.5 and 1"
