"""XCNN by conjugate gradients and BAE with three layers, as their paper has them, beside Adam and one layer.

Tatoeba's sentence pairs with English, 4,000 to learn from (BAE: 3,000, 3,000 words), 500 others to be found.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from papers.corpora import BUDGET, Rows, fit_with_budget, sample_by_hash, split_sentences
from papers.nearest_neighbours import measure_translation_retrieval
from paragloss.lab.methods import bae, xcnn

DATA, COLUMNS = ("tatoeba/en-hi.tsv.gz",), ("RR", "P@1", "P@5", "P@10", *BUDGET)
PARTS = tuple(f"{pair}: {name}" for pair in ("en-hi", "en-fr", "en-da") for name in ("XCNN", "BAE"))
SMOKE_PARTS = PARTS[:2]
#: The settings of the XCNN paper.
PAPER_MODE = {
    "optimizer": "cg",
    "hub_loss": "difference",
    "negatives": 1,
    "hub_bias": -1.0,
    "bias": -1.5,
    "patience": 5,
    "hub_epochs": 10,
    "epochs": 15,
    "max_terms": 10_000,
}
XCNN_MODES: dict[str, dict[str, Any]] = {
    "XCNN, Adam": {},
    "XCNN, conjugate gradients": {"optimizer": "cg", "epochs": 10, "patience": 5},
    "XCNN in the paper's own mode": PAPER_MODE,
}
BAE_MODES: dict[str, dict[str, Any]] = {
    "BAE, one layer": {},
    "BAE, three layers, the bottom one a machine first": {"layers": 3},
    "BAE, three layers, all machines first": {"layers": 3, "pretraining_layers": 3},
    "the same, 30 epochs of each machine": {"layers": 3, "pretraining_layers": 3, "pretraining_epochs": 30},
}


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    pair, _, method = part.partition(": ")
    lang = pair.removeprefix("en-")
    sentences = split_sentences(lang)
    train = sample_by_hash(sentences.train, 100 if smoke else 4000, seed)
    test = sample_by_hash(sentences.test, 30 if smoke else 500, 0)
    smoke_settings: dict[str, Any] = {"epochs": 1} if smoke else {}
    rows: Rows = {}
    for row, settings in (XCNN_MODES if method == "XCNN" else BAE_MODES).items():
        fit = partial(xcnn.fit, hub="en") if method == "XCNN" else partial(bae.fit, max_terms=3000)
        pairs = train if method == "XCNN" else train[:3000]
        model, budget = fit_with_budget(fit, pairs, seed=seed, **{**settings, **smoke_settings})
        rows[row] = measure_translation_retrieval(model, test, "en", lang) | budget
    return rows
