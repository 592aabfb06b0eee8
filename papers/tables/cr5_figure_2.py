"""Cr5's Figure 2: precision at k of documents by CSLS, Cr5 of all languages and AdvRefine, both directions averaged.

The models and documents of Table 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from papers.corpora import Rows, sample_by_hash, select_multilingual
from papers.nearest_neighbours import rank_of_targets
from papers.plots import plot_lines
from papers.runner import Results
from papers.tables import cr5_table_1
from papers.tables.cr5_table_1 import fit_compared_models, read_descriptions, sample_bilingual

DATA, CUTS = cr5_table_1.DATA, (1, 2, 3, 5, 10, 20, 50, 100)
PARTS, SMOKE_PARTS = ("da-en", "da-ru", "en-it"), ("da-ru",)
COLUMNS = tuple(f"P@{k}" for k in CUTS)
ROWS = ("Cr5, joint", "AdvRefine")


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    langs = part.split("-")
    descriptions = read_descriptions(smoke)
    concepts = sample_bilingual(descriptions, langs, 200 if smoke else 3000, seed)
    test = sample_by_hash(select_multilingual(descriptions.test, langs), 40 if smoke else 1000, 0)
    rows: Rows = {}
    models = fit_compared_models(concepts, seed, smoke)
    for name in ROWS:
        first, second = (models[name].encode([c.texts[lang] for c in test], lang) for lang in langs)
        ranks = [
            rank_of_targets(queries, documents, range(len(test)), rule="CSLS")
            for queries, documents in ((first, second), (second, first))
        ]
        rows[name] = {f"P@{k}": float(np.mean([(direction <= k).mean() for direction in ranks])) for k in CUTS}
    return rows


def plot(results: Results) -> dict[str, Any]:
    return {"figure.svg": plot_lines(results, "k", [float(k) for k in CUTS], log=True)}
