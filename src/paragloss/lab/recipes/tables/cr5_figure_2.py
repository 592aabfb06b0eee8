"""Cr5's Figure 2: precision at k of documents, Cr5 of all languages and maps without a dictionary, both ways averaged.

The models and documents of Table 1; by CSLS.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paragloss.lab.methods import alignment
from paragloss.lab.recipes.nearest import places
from paragloss.lab.recipes.plots import lines
from paragloss.lab.recipes.runner import Measured, Results
from paragloss.lab.recipes.sets import drawn, in_all
from paragloss.lab.recipes.tables import cr5_table_1
from paragloss.lab.recipes.tables.cr5_table_1 import joint, only, pages
from paragloss.types import Encoder

MINUTES, DATA, CUTS = 15, cr5_table_1.DATA, (1, 2, 3, 5, 10, 20, 50, 100)
PARTS, QUICK = ("da-en", "da-ru", "en-it"), ("da-ru",)
COLUMNS = tuple(f"P@{k}" for k in CUTS)


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    langs = part.split("-")
    whole = pages(smoke)
    own = [only(c, langs) for c in drawn(in_all(whole.train, langs), 200 if smoke else 3000, seed)]
    small: dict[str, Any] = {"dim": 50, "epochs": 1, "steps": 20} if smoke else {"dim": 200, "epochs": 3}
    models: dict[str, Encoder] = {
        "Cr5, joint": joint(seed, smoke),
        "AdvRefine": alignment.fit(own, method="advrefine", seed=seed, **small),
    }
    test = drawn(in_all(whole.test, langs), 40 if smoke else 1000, 0)
    rows: Measured = {}
    for name, model in models.items():
        vectors = [model.encode([c.texts[lang] for c in test], lang) for lang in langs]
        there = places(vectors[0], vectors[1], range(len(test)), rule="CSLS")
        back = places(vectors[1], vectors[0], range(len(test)), rule="CSLS")
        rows[name] = {f"P@{k}": float(np.mean([(there <= k).mean(), (back <= k).mean()])) for k in CUTS}
    return rows


def plot(results: Results) -> dict[str, Any]:
    return {"figure.svg": lines(results, "k", [float(k) for k in CUTS], log=True)}
