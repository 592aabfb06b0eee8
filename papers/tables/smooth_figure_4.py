"""Smooth learning's Figure 4: SOSL with epsilon from 0 (nearly) to 2, thresholds chosen anew for each epsilon.

Thresholds are chosen on the validation queries from a grid; the paper's curve rises from 0 and falls after 1.
"clipped": gradients longer than 5 are shortened, which the paper found not to be enough without smoothing.
"""

from __future__ import annotations

from typing import Any

from papers import graded_sets
from papers.corpora import Rows
from papers.plots import plot_columns
from papers.runner import Results

DATA, COLUMNS, PARTS = graded_sets.MDN_DATA, graded_sets.COLUMNS, ("en-fr",)
#: Epsilon must be above 0: a millionth stands for the cosine itself.
EPSILONS = {"0": 1e-6, "0.25": 0.25, "0.5": 0.5, "1": 1.0, "1.5": 1.5, "2": 2.0, "0, clipped": 1e-6, "1, clipped": 1.0}
CLIPPING = 5.0  # of the authors' code
THRESHOLDS = ((0.2, 0.7), (0.1, 0.4), (0.05, 0.25), (0.3, 0.85))


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    splits = graded_sets.split_judgments("fr", pages=90 if smoke else 1500, smoke=smoke)
    settings = graded_sets.training_settings(splits[1], seed, smoke=smoke, smoke_epochs=1)
    grids: dict[str, list[dict[str, Any]]] = {}
    for label, epsilon in list(EPSILONS.items())[:: 5 if smoke else 1]:
        clip = CLIPPING if label.endswith(", clipped") else None
        grids[f"epsilon {label}"] = [
            {"epsilon": epsilon, "thresholds": thresholds, "clip": clip}
            for thresholds in THRESHOLDS[: 1 if smoke else None]
        ]
    return graded_sets.measure_settings(*splits, grids, **settings)


def plot(results: Results) -> dict[str, Any]:
    return {"figure.svg": plot_columns(results, "epsilon", ("P_mr@1", "nDCG@5", "MAP", "MRR_mr"))}
