"""Smooth learning's Figure 2: SOSL and squared error by score, for each of three classes, with thresholds (0, 0.5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from papers.corpora import Columns, Rows
from papers.plots import plot_lines
from papers.runner import Results
from paragloss.lab.methods import ordinal

DATA, SEEDS = (), (0,)
PARTS = SMOKE_PARTS = ("irrelevant", "partly relevant", "relevant")
SCORES = tuple(round(float(score), 1) + 0.0 for score in np.arange(-1, 1.01, 0.1))
COLUMNS = tuple(f"r = {score}" for score in SCORES)
THRESHOLDS = (0.0, 0.5)


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    grade = PARTS.index(part)
    return {name: evaluate_loss(loss, grade) for name, loss in (("SOSL", ordinal.sosl), ("MSE", ordinal.mse))}


def evaluate_loss(loss: Any, grade: int) -> Columns:
    """Evaluate a loss at each score for a document of one grade."""
    scores = torch.tensor(SCORES, dtype=torch.float64)
    values = loss(scores, torch.full(scores.shape, grade), THRESHOLDS)
    return dict(zip(COLUMNS, values.tolist(), strict=True))


def plot(results: Results) -> dict[str, Any]:
    return {"figure.svg": plot_lines(results, "score", SCORES)}
