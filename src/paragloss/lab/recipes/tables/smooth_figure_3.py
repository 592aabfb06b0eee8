"""Smooth learning's Figure 3: how scores of the three classes spread under each loss, on the training queries.

Means of the classes (NR irrelevant, SR partly, MR relevant), and how often one of a lower class scores above one of the
next; the plot has the densities.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from paragloss.evaluation.report import panels
from paragloss.lab import judgments
from paragloss.lab.methods import ordinal
from paragloss.lab.recipes.runner import Measured, Results
from paragloss.lab.recipes.tables.smooth_table_2 import LOSSES, MDN, divided
from paragloss.types import Encoder, Judged

MINUTES = 10
DATA, PARTS = MDN, ("en-fr",)
EDGES = tuple(round(float(edge), 2) for edge in np.linspace(-1, 1, 41))
CLASSES = ("NR", "SR", "MR")
COLUMNS = ("mean NR", "mean SR", "mean MR", "NR above SR", "SR above MR")


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    train, valid, _ = divided("fr", seed, pages=90 if smoke else 1500, smoke=smoke)
    shown = judgments.sample_irrelevant(train, 40, seed=seed)
    rows: Measured = {}
    for name, loss in LOSSES.items():
        model = ordinal.fit_judged(train, validation=[valid], loss=loss, seed=seed, epochs=2 if smoke else 12)
        found = scores(model, shown)
        rows[name] = {"NR above SR": above(found[0], found[1]), "SR above MR": above(found[1], found[2])}
        for c, values in zip(CLASSES, found, strict=True):
            rows[name][f"mean {c}"] = float(values.mean())
            rows[name] |= {f"{c} {edge}": float((values <= edge).mean()) for edge in EDGES}
    return rows


def scores(model: Encoder, judged: Judged) -> list[np.ndarray[Any, Any]]:
    """Smooth cosines by class."""
    names = sorted({name for grades in judged.qrels.values() for name in grades})
    at = {name: i for i, name in enumerate(names)}
    rows = model.encode([judged.documents[name].whole for name in names], judged.documents[names[0]].lang)
    asked = model.encode([query.text for query in judged.queries], judged.queries[0].lang)
    found: list[list[float]] = [[], [], []]
    for query, vector in zip(judged.queries, asked, strict=True):
        for name, grade in judged.qrels[query.id].items():
            found[grade].append(float(rows[at[name]] @ vector))
    return [np.array(values or [0.0]) for values in found]


def above(low: np.ndarray[Any, Any], high: np.ndarray[Any, Any]) -> float:
    """How often one drawn from the first is above one drawn from the second."""
    order = np.sort(high)
    return float(np.searchsorted(order, low, side="left").mean() / len(order))


def plot(results: Results) -> dict[str, Any]:
    (rows,) = results.values.values()
    figure, axes = panels(len(rows), width=3)
    middle = [(a + b) / 2 for a, b in pairwise(EDGES)]
    for panel, (name, columns) in zip(axes, rows.items(), strict=True):
        for c in CLASSES:
            upto = np.array([np.mean(columns[f"{c} {edge}"]) for edge in EDGES])
            panel.plot(middle, np.diff(upto), label=c)
        panel.set(title=name, xlabel="score")
    axes[0].legend(fontsize=7)
    return {"figure.svg": figure}
