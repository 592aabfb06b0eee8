"""Smooth learning's Figure 1: the gradient of smooth cosine similarity near zero, for several epsilons.

No data: the longest gradient of r(x, z) = x.z / ((|x| + e)(|z| + e)) in x over directions of x, z of length 1, by the
length of x. It never exceeds 1 / e (the paper's bound is 2 / e); the cosine's grows without bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paragloss.lab.recipes.plots import lines
from paragloss.lab.recipes.runner import Measured, Results

MINUTES, DATA, SEEDS = 1, (), (0,)
PARTS = ("gradient",)
LENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
COLUMNS = (*(f"length {length}" for length in LENGTHS), "bound")
EPSILONS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    rows: Measured = {}
    for epsilon in EPSILONS:
        values = {f"length {x}": steepest(x, epsilon) for x in LENGTHS}
        rows[f"epsilon {epsilon}"] = {**values, "bound": 1 / epsilon if epsilon else float("inf")}
    return {row: {c: v for c, v in columns.items() if np.isfinite(v)} for row, columns in rows.items()}


def steepest(length: float, epsilon: float, *, angles: int = 721) -> float:
    """The longest gradient in x over directions of x, by central differences; z = (1, 0)."""
    turn = np.linspace(0, np.pi, angles)
    x = length * np.stack([np.cos(turn), np.sin(turn)], 1)
    step = length * 1e-5
    gradient = [(_smooth(x + step * e, epsilon) - _smooth(x - step * e, epsilon)) / (2 * step) for e in np.eye(2)]
    return float(np.linalg.norm(np.stack(gradient, 1), axis=1).max())


def _smooth(x: np.ndarray[Any, Any], epsilon: float) -> np.ndarray[Any, Any]:
    return np.asarray(x[:, 0] / ((np.linalg.norm(x, axis=1) + epsilon) * (1 + epsilon)))


def plot(results: Results) -> dict[str, Any]:
    figure = lines(results._replace(columns=results.columns[:-1]), "|x|", LENGTHS, log=True)  # without the bound
    figure.axes[0].set(yscale="log", ylabel="length of the gradient")
    return {"figure.svg": figure}
