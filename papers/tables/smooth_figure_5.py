"""Smooth learning's Figure 5: SOSL with 20 to 100 irrelevant documents for each query, in training and in test."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from papers.corpora import Rows
from papers.graded_sets import (
    COLUMNS,
    MDN_DATA,
    measure_model,
    measure_random_order,
    split_judgments,
    training_settings,
)
from papers.plots import plot_columns
from papers.runner import Results
from papers.verdicts import CHANCE_ROW, PaperTable, Statement, rows_above
from paragloss.lab.methods import ordinal

__all__ = ["COLUMNS"]

MINUTES = 100
DATA, PARTS = MDN_DATA, ("en-fr",)
NEGATIVES = (20, 40, 60, 80, 100)
#: "About 10 %" lower with five times as many irrelevant documents: up to this share is counted as that.
MAX_LOSS = 0.15


def _loses_about_a_tenth(means: Mapping[str, float]) -> bool:
    return 1 - means["negatives 100"] / means["negatives 20"] <= MAX_LOSS


PAPER = PaperTable(
    "Wikipedia, English queries, French documents",
    statements=[
        *(
            Statement(
                f"{more} irrelevant documents lower it",
                "en-fr",
                "nDCG@5",
                (f"negatives {fewer}", f"negatives {more}"),
                rows_above(f"negatives {fewer}", f"negatives {more}", 0.01),
            )
            for fewer, more in pairwise(NEGATIVES)
        ),
        Statement(
            "five times as many irrelevant documents cost about 10 %",
            "en-fr",
            "nDCG@5",
            ("negatives 20", "negatives 100"),
            _loses_about_a_tenth,
        ),
    ],
)


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    rows: Rows = {}
    for number in NEGATIVES[:1] if smoke else NEGATIVES:
        train, valid, test = split_judgments("fr", pages=90 if smoke else 1500, smoke=smoke, negatives=number)
        settings = training_settings(valid, seed, smoke=smoke, smoke_epochs=1)
        rows[f"negatives {number}"] = measure_model(ordinal.fit_judged(train, negatives=number, **settings), test)
        rows[f"{CHANCE_ROW}, {number}"] = measure_random_order(test, seed)
    return rows


def plot(results: Results) -> dict[str, Any]:
    return {"figure.svg": plot_columns(results, "irrelevant documents", ("P_mr@1", "nDCG@5", "MAP", "MRR_mr"))}
