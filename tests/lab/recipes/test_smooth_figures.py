"""The figures of the paper on smooth learning say what its theory says."""

import pytest

from paragloss.lab.recipes.tables import smooth_figure_1, smooth_figure_2


def test_gradients_stay_below_one_over_epsilon_and_explode_without():
    steepest = {epsilon: smooth_figure_1.steepest(0.001, epsilon) for epsilon in (0.0, 0.25, 0.5, 1.0)}
    assert steepest[0.0] > 100
    for epsilon in (0.25, 0.5, 1.0):
        assert smooth_figure_1.steepest(0.001, epsilon) <= 1 / epsilon
        assert steepest[epsilon] == pytest.approx(1 / (epsilon * (1 + epsilon)), rel=0.02)


def test_a_score_within_its_segment_has_no_loss_and_squared_error_wants_its_middle():
    lost = smooth_figure_2.measure("partly relevant", 0, smoke=False)
    within = [lost["SOSL"][f"r = {score}"] for score in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)]
    assert within == pytest.approx([0] * 6, abs=1e-9)
    assert lost["SOSL"]["r = 0.1"] > 0 < lost["SOSL"]["r = 0.8"]
    assert min(lost["MSE"], key=lost["MSE"].get) in ("r = 0.4", "r = 0.5")
    assert lost["MSE"]["r = 0.2"] > lost["MSE"]["r = 0.4"]
