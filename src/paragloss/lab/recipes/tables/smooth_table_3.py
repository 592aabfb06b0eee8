"""Smooth learning's Table 3: average pooling, CNN and LSTM under SOSL, thresholds of Table 2.

Data and measures as in Table 2; the networks keep the paper's widths.
"""

from __future__ import annotations

from typing import Any

from paragloss.lab.methods import ordinal
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.tables.smooth_table_2 import COLUMNS, MDN, divided, scored

MINUTES = 90
DATA, PARTS = MDN, ("en-fr", "en-zh", "en-ru")
NETWORKS: dict[str, dict[str, Any]] = {
    "average": {"epochs": 12},
    "CNN": {"encoder": "cnn", "epochs": 8, "batch": 16},
    "LSTM": {"encoder": "lstm", "epochs": 6, "batch": 16},
}


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    train, valid, test = divided(part.removeprefix("en-"), seed, pages=90 if smoke else 1000, smoke=smoke)
    rows: Measured = {}
    for name, settings in NETWORKS.items():
        given = {**settings, "epochs": 1, "negatives": 4} if smoke else settings
        model = ordinal.fit_judged(train, validation=[valid], seed=seed, **given)
        rows[name] = {column: list(values.values()) for column, values in scored(model, test, COLUMNS).items()}
    return rows
