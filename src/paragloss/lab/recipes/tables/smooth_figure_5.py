"""Smooth learning's Figure 5: SOSL with 20 to 100 irrelevant documents for each query, in training and in test."""

from __future__ import annotations

from typing import Any

from paragloss.lab.methods import ordinal
from paragloss.lab.recipes.plots import by_row
from paragloss.lab.recipes.runner import Measured, Results
from paragloss.lab.recipes.tables.smooth_table_2 import COLUMNS, MDN, divided, scored

MINUTES = 20
DATA, PARTS = MDN, ("en-fr",)
NUMBERS = (20, 40, 60, 80, 100)


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    rows: Measured = {}
    for number in NUMBERS[:1] if smoke else NUMBERS:
        train, valid, test = divided("fr", seed, pages=90 if smoke else 1500, smoke=smoke, negatives=number)
        model = ordinal.fit_judged(train, validation=[valid], negatives=number, seed=seed, epochs=1 if smoke else 12)
        rows[f"negatives {number}"] = {c: list(values.values()) for c, values in scored(model, test, COLUMNS).items()}
    return rows


def plot(results: Results) -> dict[str, Any]:
    return {"figure.svg": by_row(results, "irrelevant documents", ("P_mr@1", "nDCG@5", "MAP", "MRR_mr"))}
