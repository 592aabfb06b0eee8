"""Smooth learning's Table 2: SOSL and three other losses on graded judgments from page links.

Liu, Zhang, Goldwasser and Wang, "Cross-lingual document retrieval with smooth learning", 2020. Theirs: Wikipedia,
25,000 queries, fr it sw tl. Ours: MDN web docs with fr zh ru and (machine-translated) vi, Debian's descriptions, where
packages of one source are partly relevant, and LibreOffice help, where nothing is (`papers.graded_sets`). LS-CLIR and
Wikipedia's dumps are parts where they are present (`papers.original_data`). All losses have the paper's thresholds and
epsilon 1; in parts named "grid" both are chosen for each loss on the validation queries from one small grid. In parts
named "own vectors" words start from vectors of each language's own texts, as the paper's do from Polyglot's; in "plain
words" they are neither stemmed nor left out, as there.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from papers import graded_sets
from papers.corpora import Rows
from papers.verdicts import CHANCE_ROW

COLUMNS = graded_sets.COLUMNS
DATA = (*graded_sets.MDN_DATA, "ddtp/en.jsonl.gz", "lohelp/en.jsonl.gz")
SETS = ("en-fr", "en-zh", "en-ru", "en-vi", "ddtp en-da", "ddtp en-it", "lohelp en-it")
PARTS = (*SETS, *(f"{name}, {kind}" for kind in ("grid", "own vectors", "plain words") for name in SETS))
SMOKE_PARTS = ("en-fr", "en-fr, own vectors", "en-fr, plain words")
ORIGINAL_PARTS = {
    "lsclir en-{lang}": ("lsclir/wiki_en.queries", "lsclir/wiki_{lang}.documents", "lsclir/en2{lang}.rel"),
    "wikipedia en-{lang}": ("wikipedia/{lang}wiki-*langlinks.sql*",),
}
#: The paper's thresholds first; the three-part loss takes three.
THRESHOLDS = {"three-part": ((0.2, 0.55, 0.9), (0.2, 0.5, 0.75))}
DEFAULT_THRESHOLDS = ((0.2, 0.7), (0.1, 0.6))
EPSILONS = (1.0, 0.5, 2.0)


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    name, _, kind = part.partition(", ")
    prefix, _, lang = name.rpartition("en-")
    collection = prefix.strip() or "mdn"
    splits = graded_sets.split_judgments(lang, pages=120 if smoke else 1500, smoke=smoke, collection=collection)
    settings = graded_sets.training_settings(splits[1], seed, smoke=smoke) | {"stem": kind != "plain words"}
    if kind == "own vectors":
        settings["vectors"] = graded_sets.train_own_vectors(collection, ["en", lang], seed, smoke=smoke)
    grids: dict[str, list[dict[str, Any]]] = {
        row: [
            {"loss": loss, "thresholds": thresholds, "epsilon": epsilon}
            for thresholds, epsilon in product(THRESHOLDS.get(loss, DEFAULT_THRESHOLDS), EPSILONS)
        ]
        for row, loss in graded_sets.LOSSES.items()
    }
    if kind != "grid":
        grids = {row: grid[:1] for row, grid in grids.items()}
    random_order = graded_sets.measure_random_order(splits[2], seed)
    return {CHANCE_ROW: random_order, **graded_sets.measure_settings(*splits, grids, **settings)}
