"""Smooth learning's Figures 1 and 2: the gradient of the smooth cosine, and the losses by score, without data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from papers.corpora import Columns, Rows
from papers.plots import plot_lines
from papers.runner import Results
from paragloss.evaluation.report import panels
from paragloss.lab.methods import ordinal
from paragloss.types import Floats

LENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
MAP_EPSILONS, EPSILONS = (0.05, 0.2, 0.5), (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)
DIRECTIONS = 721
GRID = np.linspace(-1, 1, 201)
GRADES = ("irrelevant", "partly relevant", "relevant")
SCORES = tuple(round(float(score), 1) + 0.0 for score in np.arange(-1, 1.01, 0.1))
THRESHOLDS = (0.0, 0.5)


def measure_figure_1(part: str, seed: int, *, smoke: bool) -> Rows:
    rows: Rows = {}
    if part == "heat map":
        for epsilon in MAP_EPSILONS:
            derivatives = differentiate(*np.meshgrid(GRID, GRID), epsilon)
            rows[f"epsilon {epsilon}"] = {"lowest": float(derivatives.min()), "highest": float(derivatives.max())}
        return rows
    for epsilon in EPSILONS:
        columns: Columns = {f"length {length}": steepest_gradient(length, epsilon) for length in LENGTHS}
        rows[f"epsilon {epsilon}"] = columns | ({"bound": 1 / epsilon} if epsilon else {})
    return rows


def plot_figure_1(results: Results) -> dict[str, Any]:
    gradients = replace(results, values={"gradient": results.values["gradient"]})
    figure = plot_lines(gradients, "|x|", LENGTHS, columns=[f"length {length}" for length in LENGTHS], log=True)
    figure.axes[0].set(yscale="log", ylabel="length of the gradient")
    heat_map, axes = panels(len(MAP_EPSILONS), width=3)
    for axis, epsilon in zip(axes, MAP_EPSILONS, strict=True):
        derivatives = differentiate(*np.meshgrid(GRID, GRID), epsilon)
        heat_map.colorbar(axis.pcolormesh(GRID, GRID, derivatives), ax=axis)
        axis.set(title=f"epsilon {epsilon}", xlabel="x1", ylabel="x2")
    return {"figure.svg": figure, "heat-map.png": heat_map}


def differentiate(x1: Any, x2: Any, epsilon: float) -> Floats:
    """Compute the partial derivative by x1 of the smooth cosine of (x1, x2) and (1, 1)."""
    length = np.hypot(x1, x2)
    cosine = np.divide(x1, length, out=np.zeros_like(length), where=length > 0)  # of x with the first axis
    return np.asarray((1 - (x1 + x2) * cosine / (length + epsilon)) / ((length + epsilon) * (np.sqrt(2) + epsilon)))


def steepest_gradient(length: float, epsilon: float) -> float:
    """Compute the longest gradient in x over directions of x, by central differences, for z = (1, 0)."""

    def smooth_cosine(x: Any) -> Floats:
        return np.asarray(x[:, 0] / ((np.linalg.norm(x, axis=1) + epsilon) * (1 + epsilon)))

    angles = np.linspace(0, np.pi, DIRECTIONS)
    x = length * np.stack([np.cos(angles), np.sin(angles)], 1)  # (directions, 2)
    step = length * 1e-5
    partials = [(smooth_cosine(x + step * axis) - smooth_cosine(x - step * axis)) / (2 * step) for axis in np.eye(2)]
    return float(np.linalg.norm(np.stack(partials, 1), axis=1).max())


def measure_figure_2(part: str, seed: int, *, smoke: bool) -> Rows:
    scores = torch.tensor(SCORES, dtype=torch.float64)
    grades = torch.full(scores.shape, GRADES.index(part))
    rows: Rows = {}
    for name, loss in (("SOSL", ordinal.sosl), ("MSE", ordinal.mse)):
        losses = loss(scores, grades, THRESHOLDS).tolist()
        rows[name] = {f"r = {score}": value for score, value in zip(SCORES, losses, strict=True)}
    return rows


def plot_figure_2(results: Results) -> dict[str, Any]:
    return {"figure.svg": plot_lines(results, "score", SCORES)}
