"""The figures of the paper on smooth learning are drawn, and say what its theory says."""

import subprocess
import sys
from pathlib import Path

RECIPE = Path(__file__).parents[2] / "recipes" / "smooth_figures.py"


def test_gradients_stay_below_one_over_epsilon_and_explode_without(tmp_path):
    said = subprocess.run(
        [sys.executable, RECIPE, "gradients", "losses", "--out", tmp_path], capture_output=True, text=True, check=True
    ).stdout
    steepest = {float(line.split()[0]): float(line.split()[1]) for line in said.splitlines()[1:5]}
    assert steepest[0.0] > 100
    for epsilon in (0.25, 0.5, 1.0):
        assert 0.5 / epsilon < steepest[epsilon] <= 1 / epsilon
    # SOSL asks nothing of a score within its class's segment; MSE wants its middle.
    assert "SOSL grade 1: no loss from 0.00 to 0.50" in said
    assert "MSE grade 1: no loss from 0.25 to 0.25" in said
    assert {file.name for file in tmp_path.iterdir()} == {"figure-1.svg", "figure-2.svg"}
