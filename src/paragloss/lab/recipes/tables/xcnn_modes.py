"""XCNN by conjugate gradients and BAE with three layers, as their paper has them, beside Adam and one layer.

Tatoeba's sentence pairs with English, 4,000 to learn from (BAE: 3,000, 3,000 words), 500 others to be found.
"""

from __future__ import annotations

from typing import Any

from paragloss.lab.methods import bae, xcnn
from paragloss.lab.recipes.nearest import across
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.sets import drawn, sentences
from paragloss.types import Concept, Encoder

MINUTES, DATA, COLUMNS = 60, ("tatoeba/en-hi.tsv.gz",), ("RR", "P@1", "P@5", "P@10")
PARTS = tuple(f"{pair}: {name}" for pair in ("en-hi", "en-fr", "en-da") for name in ("XCNN", "BAE"))
QUICK = PARTS[:2]
PAPER = {"optimizer": "cg", "hub_loss": "difference", "negatives": 1, "hub_bias": -1.0, "bias": -1.5, "patience": 5}
XCNN: dict[str, dict[str, Any]] = {
    "XCNN, Adam": {},
    "XCNN, conjugate gradients": {"optimizer": "cg", "epochs": 10, "patience": 5},
    "XCNN in the paper's own mode": {**PAPER, "hub_epochs": 10, "epochs": 15, "max_terms": 10_000},
}
BAE: dict[str, dict[str, Any]] = {
    "BAE, one layer": {},
    "BAE, three layers, the bottom one a machine first": {"layers": 3},
    "BAE, three layers, all machines first": {"layers": 3, "pretraining_layers": 3},
    "the same, 30 epochs of each machine": {"layers": 3, "pretraining_layers": 3, "pretraining_epochs": 30},
}


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    pair, _, name = part.partition(": ")
    lang = pair.removeprefix("en-")
    whole = sentences(lang)
    train, test = drawn(whole.train, 100 if smoke else 4000, seed), drawn(whole.test, 30 if smoke else 500, 0)
    quick: dict[str, Any] = {"epochs": 1} if smoke else {}
    rows: Measured = {}
    for row, settings in (XCNN if name == "XCNN" else BAE).items():
        rows[row] = across(fitted(name, train, seed, {**settings, **quick}), test, "en", lang)
    return rows


def fitted(name: str, train: list[Concept], seed: int, settings: dict[str, Any]) -> Encoder:
    if name == "XCNN":
        return xcnn.fit(train, hub="en", seed=seed, **settings)
    return bae.fit(train[:3000], max_terms=3000, seed=seed, **settings)
