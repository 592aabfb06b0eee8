"""Smooth learning's Figure 1: the gradient of smooth cosine similarity near zero, for several epsilons.

Without data: the longest gradient of r(x, z) = x.z / ((|x| + e)(|z| + e)) in x over directions of x, for z of length 1,
by the length of x. It never exceeds 1 / e (the paper's bound is 2 / e); that of the cosine grows without bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from papers.corpora import Rows
from papers.plots import plot_lines
from papers.runner import Results
from paragloss.types import Floats

DATA, SEEDS = (), (0,)
PARTS = ("gradient",)
LENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
COLUMNS = (*(f"length {length}" for length in LENGTHS), "bound")
EPSILONS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)
DIRECTIONS = 721


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    rows: Rows = {}
    for epsilon in EPSILONS:
        columns: dict[str, Any] = {f"length {x}": steepest_gradient(x, epsilon) for x in LENGTHS}
        rows[f"epsilon {epsilon}"] = columns | ({"bound": 1 / epsilon} if epsilon else {})
    return rows


def steepest_gradient(length: float, epsilon: float) -> float:
    """Compute the longest gradient in x over directions of x, by central differences, for z = (1, 0)."""
    angles = np.linspace(0, np.pi, DIRECTIONS)
    x = length * np.stack([np.cos(angles), np.sin(angles)], 1)  # (directions, 2)
    step = length * 1e-5
    partials = [
        (_smooth_cosine(x + step * axis, epsilon) - _smooth_cosine(x - step * axis, epsilon)) / (2 * step)
        for axis in np.eye(2)
    ]
    return float(np.linalg.norm(np.stack(partials, 1), axis=1).max())


def _smooth_cosine(x: Any, epsilon: float) -> Floats:
    return np.asarray(x[:, 0] / ((np.linalg.norm(x, axis=1) + epsilon) * (1 + epsilon)))


def plot(results: Results) -> dict[str, Any]:
    figure = plot_lines(results, "|x|", LENGTHS, columns=COLUMNS[:-1], log=True)
    figure.axes[0].set(yscale="log", ylabel="length of the gradient")
    return {"figure.svg": figure}
