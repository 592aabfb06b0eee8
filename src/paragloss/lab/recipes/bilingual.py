"""K-NRM learned from a search log and asked in either language: what the recipes of chapter 6 of Liu's thesis share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from paragloss.encoders.kernel_ranker import Knrm
from paragloss.evaluation import evaluate
from paragloss.lab.methods import cr5, knrm, table
from paragloss.lab.query_log import translate_log
from paragloss.lab.recipes.searchlog import SHOWN, Labels, Log, only
from paragloss.lab.recipes.sets import Columns
from paragloss.ranking import rank
from paragloss.translation import word_table
from paragloss.types import Concept, Floats, Hit, Judged, Query, Reranker, Run, Translator

DATA = ("ddtp/en.jsonl.gz", "ddtp/de.jsonl.gz")
#: The thesis' seven columns: nDCG by two click models' labels, reciprocal rank of the one document opened.
MEASURES = ("SAME @1", "SAME @5", "SAME @10", "DIFF @1", "DIFF @5", "DIFF @10", "RAW MRR")
EPOCHS, DIM = 4, 100
_NDCG = ("nDCG@1", "nDCG@5", "nDCG@10")


@lru_cache(maxsize=2)
def _learned(titles: tuple[tuple[str, str, str], ...], lang: str) -> word_table.Table:
    return table.fit([Concept(id, {lang: native, "en": english}) for id, native, english in titles], sharpness=1.0)


def translator(made: Log) -> Translator:
    """Learned from the training packages' short descriptions: what stands in for the thesis' translation service."""
    lang = made.lang
    return _learned(tuple((c.id, c.titles[lang], c.titles["en"]) for c in made.learned), lang)


def shared_vectors(made: Log) -> dict[str, dict[str, Floats]]:
    """Word vectors of both languages in one space, from Cr5 on the training packages: a start for K-NRM's table."""
    langs = (made.lang, "en")
    texts = [c._replace(texts={of: f"{c.titles[of]}\n{c.texts[of][:300]}" for of in langs}) for c in made.learned]
    space = cr5.fit(texts, dim=DIM)
    # As long as vectors drawn from (-1, 1) are, so that the optimiser's steps mean the same.
    length = np.sqrt(DIM / 3)
    return {
        lang: {
            term: length * row / max(float(np.linalg.norm(row)), 1e-9)
            for term, row in zip(space.tower(lang).vocabulary.terms, space.words(lang), strict=True)
        }
        for lang in langs
    }


def in_english(made: Log, judged: Judged, by: Translator | None = None) -> Judged:
    """A log with its queries translated."""
    return translate_log(judged, by or translator(made), "en")


def train(judged: Judged, *, seed: int, **settings: Any) -> Knrm:
    import torch

    torch.set_num_threads(1)  # batches are small: a second thread waits more than it works
    return knrm.fit_judged(judged, dim=DIM, **{"epochs": EPOCHS, "batch": 32, "per_positive": 2, **settings}, seed=seed)


def rerank(made: Log, model: Reranker, queries: Mapping[str, Query]) -> Run:
    """The test queries' ten documents in the model's order."""
    run: Run = {}
    for id in made.test:
        documents = [made.documents[d] for d in made.shown[id]]
        scores: Sequence[float] | Floats = model.score(queries[id], documents) if documents else []
        run[id] = rank((Hit(d.id, float(s)) for d, s in zip(documents, scores, strict=True)), SHOWN)
    return run


def measured(made: Log, run: Run, among: Sequence[str] | None = None) -> Columns:
    """The seven columns of the thesis' tables, query by query."""
    wanted = set(made.test if among is None else among)
    same, different, raw = Labels(*(only(qrels, wanted) for qrels in made.labels))
    found = [evaluate(run, qrels, _NDCG)[name] for qrels in (same, different) for name in _NDCG]
    found.append(evaluate(run, raw, ("RR",))["RR"])
    return {name: list(scores.values()) for name, scores in zip(MEASURES, found, strict=True)}
