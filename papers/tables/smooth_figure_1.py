"""Smooth learning's Figure 1: the gradient of smooth cosine similarity r(x, z) = x.z / ((|x| + e)(|z| + e)) near zero.

Without data. "heat map", the paper's: its partial derivative by the first coordinate of x, for z = (1, 1) and x in the
square [-1, 1]²; the columns are its range there, the plot shows it. "gradient": the longest gradient over directions of
x, for z of length 1, by the length of x. It never exceeds 1 / e (the paper's bound is 2 / e); that of the cosine grows
without bound.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from papers.corpora import Rows
from papers.plots import plot_lines
from papers.runner import Results
from paragloss.evaluation.report import panels
from paragloss.types import Floats

DATA, SEEDS = (), (0,)
PARTS = SMOKE_PARTS = ("heat map", "gradient")
LENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
COLUMNS = ("lowest", "highest", *(f"length {length}" for length in LENGTHS), "bound")
MAP_EPSILONS, EPSILONS = (0.05, 0.2, 0.5), (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)
DIRECTIONS = 721
GRID = np.linspace(-1, 1, 201)


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    rows: Rows = {}
    if part == "heat map":
        for epsilon in MAP_EPSILONS:
            derivatives = differentiate(*np.meshgrid(GRID, GRID), epsilon)
            rows[f"epsilon {epsilon}"] = {"lowest": float(derivatives.min()), "highest": float(derivatives.max())}
        return rows
    for epsilon in EPSILONS:
        columns: dict[str, Any] = {f"length {x}": steepest_gradient(x, epsilon) for x in LENGTHS}
        rows[f"epsilon {epsilon}"] = columns | ({"bound": 1 / epsilon} if epsilon else {})
    return rows


def differentiate(x1: Any, x2: Any, epsilon: float) -> Floats:
    """Compute the partial derivative by x1 of the smooth cosine of (x1, x2) and (1, 1)."""
    length = np.hypot(x1, x2)
    cosine = np.divide(x1, length, out=np.zeros_like(length), where=length > 0)  # of x with the first axis
    return np.asarray((1 - (x1 + x2) * cosine / (length + epsilon)) / ((length + epsilon) * (np.sqrt(2) + epsilon)))


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
    gradients = replace(results, values={"gradient": results.values["gradient"]})
    figure = plot_lines(gradients, "|x|", LENGTHS, columns=COLUMNS[2:-1], log=True)
    figure.axes[0].set(yscale="log", ylabel="length of the gradient")
    heat_map, axes = panels(len(MAP_EPSILONS), width=3)
    for axis, epsilon in zip(axes, MAP_EPSILONS, strict=True):
        derivatives = differentiate(*np.meshgrid(GRID, GRID), epsilon)
        heat_map.colorbar(axis.pcolormesh(GRID, GRID, derivatives), ax=axis)
        axis.set(title=f"epsilon {epsilon}", xlabel="x1", ylabel="x2")
    return {"figure.svg": figure, "heat-map.png": heat_map}
