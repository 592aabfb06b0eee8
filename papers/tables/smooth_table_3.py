"""Smooth learning's Table 3: average pooling, CNN and LSTM under SOSL, with the thresholds of Table 2.

Data and measures as in Table 2; the networks keep the paper's widths. "shared": one network for queries and
documents, which the paper found worse.
"""

from __future__ import annotations

from typing import Any

from papers import graded_sets
from papers.corpora import Rows
from papers.verdicts import CHANCE_ROW

DATA, COLUMNS, PARTS = graded_sets.MDN_DATA, graded_sets.COLUMNS, ("en-fr", "en-zh", "en-ru")
NETWORKS: dict[str, dict[str, Any]] = {
    "average": {},
    "CNN": {"encoder": "cnn", "batch": 16},
    "LSTM": {"encoder": "lstm", "batch": 16},
    "CNN, shared": {"encoder": "cnn", "batch": 16, "shared_network": True},
    "LSTM, shared": {"encoder": "lstm", "batch": 16, "shared_network": True},
}


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    pages = 90 if smoke else 1000
    splits = graded_sets.split_judgments(part.removeprefix("en-"), pages=pages, smoke=smoke)
    settings = graded_sets.training_settings(splits[1], seed, smoke=smoke, smoke_epochs=1)
    settings |= {"negatives": 4} if smoke else {}
    grids = {name: [network] for name, network in NETWORKS.items()}
    random_order = graded_sets.measure_random_order(splits[2], seed)
    return {CHANCE_ROW: random_order, **graded_sets.measure_settings(*splits, grids, **settings)}
