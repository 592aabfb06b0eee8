"""Smooth learning's Figure 2: SOSL and squared error by score, for each of three classes, thresholds (0, 0.5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from paragloss.lab.methods import ordinal
from paragloss.lab.recipes.plots import lines
from paragloss.lab.recipes.runner import Measured, Results
from paragloss.lab.recipes.sets import Columns

MINUTES, DATA, SEEDS = 1, (), (0,)
PARTS = QUICK = ("irrelevant", "partly relevant", "relevant")
SCORES = tuple(round(float(score), 1) + 0.0 for score in np.arange(-1, 1.01, 0.1))
COLUMNS = tuple(f"r = {score}" for score in SCORES)


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    grade = PARTS.index(part)
    return {name: _loss(loss, grade) for name, loss in (("SOSL", ordinal.sosl), ("MSE", ordinal.mse))}


def _loss(loss: Any, grade: int) -> Columns:
    scores = torch.tensor(SCORES, dtype=torch.float64)
    values = [float(loss(scores[i : i + 1], torch.tensor([grade]), (0.0, 0.5)).mean()) for i in range(len(SCORES))]
    return dict(zip(COLUMNS, values, strict=True))


def plot(results: Results) -> dict[str, Any]:
    return {"figure.svg": lines(results, "score", SCORES)}
