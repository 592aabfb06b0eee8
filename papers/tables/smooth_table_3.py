"""Smooth learning's Table 3: average pooling, CNN and LSTM under SOSL, with the thresholds of Table 2.

Data and measures as in Table 2; the networks keep the paper's widths.
"""

from __future__ import annotations

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
from papers.verdicts import CHANCE_ROW, PaperColumn, PaperTable
from paragloss.lab.methods import ordinal

__all__ = ["COLUMNS"]

MINUTES = 1500
DATA, PARTS = MDN_DATA, ("en-fr", "en-zh", "en-ru")
NETWORKS: dict[str, dict[str, Any]] = {
    "average": {},
    "CNN": {"encoder": "cnn", "batch": 16},
    "LSTM": {"encoder": "lstm", "batch": 16},
}
PAPER = PaperTable(
    "Wikipedia, 25,000 queries",
    [PaperColumn("nDCG@5", {"en-fr": {"average": 0.811, "CNN": 0.570, "LSTM": 0.716}}, tolerance=0.01)],
)


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    train, valid, test = split_judgments(part.removeprefix("en-"), pages=90 if smoke else 1000, smoke=smoke)
    settings = training_settings(valid, seed, smoke=smoke, smoke_epochs=1) | ({"negatives": 4} if smoke else {})
    rows: Rows = {CHANCE_ROW: measure_random_order(test, seed)}
    for name, network in NETWORKS.items():
        rows[name] = measure_model(ordinal.fit_judged(train, **network, **settings), test)
    return rows
