"""Smooth learning's Figure 3: the distribution of the scores of three classes under each loss, on the training queries.

Means of the classes (NR irrelevant, SR partly relevant, MR relevant), and how often a document of a lower class scores
above one of the next; the plot shows the densities.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from papers import graded_sets
from papers.corpora import BUDGET, Rows, training_budget
from papers.runner import Results
from paragloss.evaluation.report import panels
from paragloss.lab import judgments
from paragloss.lab.methods import ordinal
from paragloss.types import Encoder, Floats, JudgedCollection

DATA, PARTS = graded_sets.MDN_DATA, ("en-fr",)
EDGES = tuple(round(float(edge), 2) for edge in np.linspace(-1, 1, 41))
CLASSES = ("NR", "SR", "MR")
COLUMNS = ("mean NR", "mean SR", "mean MR", "NR above SR", "SR above MR", *BUDGET)


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    train, valid, _ = graded_sets.split_judgments("fr", pages=90 if smoke else 1500, smoke=smoke)
    training_documents = judgments.sample_irrelevant(train, 40, seed=seed)
    settings = graded_sets.training_settings(valid, seed, smoke=smoke)
    rows: Rows = {}
    for name, loss in graded_sets.LOSSES.items():
        model = ordinal.fit_judged(train, loss=loss, **settings)
        scores = scores_by_grade(model, training_documents)
        rows[name] = {
            "NR above SR": share_above(scores[0], scores[1]),
            "SR above MR": share_above(scores[1], scores[2]),
            **training_budget(model.meta),
        }
        for class_name, class_scores in zip(CLASSES, scores, strict=True):
            rows[name][f"mean {class_name}"] = float(class_scores.mean())
            for edge in EDGES:
                rows[name][f"{class_name} {edge}"] = float((class_scores <= edge).mean())
    return rows


def scores_by_grade(model: Encoder, judged: JudgedCollection) -> list[Floats]:
    """Score every judged document by the smooth cosine; return an array of scores for each grade."""
    scores: list[list[float]] = [[], [], []]
    for query_id, scores_of_query in graded_sets.score_documents(model, judged).items():
        for doc_id, score in scores_of_query.items():
            scores[judged.qrels[query_id][doc_id]].append(score)
    return [np.array(values or [0.0]) for values in scores]


def share_above(low: Floats, high: Floats) -> float:
    """Compute how often a value drawn from `low` is above one drawn from `high`."""
    return float(np.searchsorted(np.sort(high), low, side="left").mean() / len(high))


def plot(results: Results) -> dict[str, Any]:
    (rows,) = results.values.values()
    figure, axes = panels(len(rows), width=3)
    centers = [(left + right) / 2 for left, right in pairwise(EDGES)]
    for panel, (name, columns) in zip(axes, rows.items(), strict=True):
        for class_name in CLASSES:
            cumulative = np.array([np.mean(columns[f"{class_name} {edge}"]) for edge in EDGES])
            panel.plot(centers, np.diff(cumulative), label=class_name)
        panel.set(title=name, xlabel="score")
    axes[0].legend(fontsize=7)
    return {"figure.svg": figure}
