"""Smooth learning's Figure 5: SOSL with 20 to 100 irrelevant documents for each query, in training and in test."""

from __future__ import annotations

from typing import Any

from papers import graded_sets
from papers.corpora import Rows
from papers.plots import plot_columns
from papers.runner import Results
from papers.verdicts import CHANCE_ROW

DATA, COLUMNS, PARTS = graded_sets.MDN_DATA, graded_sets.COLUMNS, ("en-fr",)
NEGATIVES = (20, 40, 60, 80, 100)


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    rows: Rows = {}
    for number in NEGATIVES[:1] if smoke else NEGATIVES:
        pages = 90 if smoke else 1500
        splits = graded_sets.split_judgments("fr", pages=pages, smoke=smoke, negatives=number)
        settings = graded_sets.training_settings(splits[1], seed, smoke=smoke, smoke_epochs=1)
        rows |= graded_sets.measure_settings(*splits, {f"negatives {number}": [{"negatives": number}]}, **settings)
        rows[f"{CHANCE_ROW}, {number}"] = graded_sets.measure_random_order(splits[2], seed)
    return rows


def plot(results: Results) -> dict[str, Any]:
    return {"figure.svg": plot_columns(results, "irrelevant documents", ("P_mr@1", "nDCG@5", "MAP", "MRR_mr"))}
