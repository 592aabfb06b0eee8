"""Cr5's Table 1: documents find their translations; joint, pairwise, little data, transitive, and AdvRefine.

Josifoski et al., "Crosslingual Document Embedding as Reduced-Rank Ridge Regression", WSDM 2019. Theirs: Wikipedia, da
en it vi, up to 489,000 shared documents, 200,000 candidates. Ours: Debian's package descriptions in da en it, and ru in
place of vi as the language with little data; each description finds its translation among held-out ones. "joint" is one
model of all languages; "a third": of the pair's concepts; "transitive": no concept has both languages of the pair.
AdvRefine maps word spaces without a dictionary. λ is chosen for every model by cross-validation on its training data;
"paper's settings" has λ = 1, 300 dimensions and the solver that goes on until it converges. Candidates are up to 1,800
descriptions; "all candidates": all that are held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from papers.corpora import (
    Rows,
    Split,
    hash_text,
    restrict_languages,
    sample_by_hash,
    select_multilingual,
    split_collection,
)
from papers.nearest_neighbours import measure_both_directions
from paragloss.encoders.bag import BagEncoder
from paragloss.lab.methods import alignment, cr5
from paragloss.types import Concept

LANGS = ("da", "en", "it", "ru")
DATA = tuple(f"ddtp/{lang}.jsonl.gz" for lang in LANGS)
PARTS, SMOKE_PARTS = ("da-en", "da-it", "da-ru", "en-it", "en-ru", "it-ru"), ("da-ru",)
COLUMNS = ("P@1", "P@5", "P@10", "back P@1", "back P@5", "back P@10", "λ")
PAIRWISE_PAIRS = ("da-en", "da-ru", "en-it")  # the pairs for which the paper trains a model of two languages
JOINT_ROW = "Cr5, joint"
PAPER_SETTINGS: dict[str, Any] = {"lambda_": 1.0, "dim": 300, "solver": "converged"}


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    source, target = part.split("-")
    descriptions = read_descriptions(smoke)
    size = 20 if smoke else 300
    bilingual = select_multilingual(descriptions.test, (source, target))
    queries = sample_by_hash(bilingual, size, 0)
    query_ids = {c.id for c in queries}
    others = [c for c in bilingual if c.id not in query_ids]
    distractors = [c for c in sample_by_hash(bilingual, 5 * size, 1) if c.id not in query_ids]
    rows: Rows = {}
    models = fit_models(part, descriptions, seed, smoke)
    for name, model in models.items():
        for rule in ("cosine", "CSLS"):
            columns = measure_both_directions(model, queries, source, target, distractors, rule)
            rows[f"{name}, {rule}"] = columns | ({"λ": model.meta["lambda_"]} if name.startswith("Cr5") else {})
    columns = measure_both_directions(models[JOINT_ROW], queries, source, target, others, "CSLS")
    rows[f"{JOINT_ROW}, all candidates, CSLS"] = columns
    return rows


def fit_models(pair: str, descriptions: Split, seed: int, smoke: bool) -> dict[str, BagEncoder]:
    """Fit every model that the paper has for a pair of languages."""
    size = 200 if smoke else 3000
    langs = pair.split("-")
    concepts = sample_bilingual(descriptions, langs, size, seed)
    models = fit_compared_models(concepts, seed, smoke)
    if pair in PAIRWISE_PAIRS:
        models["Cr5, pairwise"] = fit_cross_validated(concepts, seed)
        models["Cr5, pairwise, paper's settings"] = cr5.fit(concepts, seed=seed, **PAPER_SETTINGS)
    if pair == "da-ru":
        models["Cr5, pairwise, a third"] = fit_cross_validated(concepts[: len(concepts) // 3], seed)
        models["Cr5, transitive"] = fit_cross_validated(select_bridges(descriptions, langs, size, seed), seed)
    return models


def sample_bilingual(descriptions: Split, langs: Sequence[str], size: int, seed: int) -> list[Concept]:
    """Sample the concepts that a model of two languages learns from, with no other language."""
    bilingual = select_multilingual(descriptions.train, langs)
    return [restrict_languages(c, langs) for c in sample_by_hash(bilingual, size, seed)]


def fit_compared_models(concepts: list[Concept], seed: int, smoke: bool) -> dict[str, BagEncoder]:
    """Fit AdvRefine to the concepts of a pair, and the joint model: Table 1 and Figure 2 compare them."""
    settings: dict[str, Any] = {"dim": 50, "epochs": 1, "steps": 20} if smoke else {"dim": 200, "epochs": 3}
    adversarial = alignment.fit(concepts, method="advrefine", seed=seed, **settings)
    return {"AdvRefine": adversarial, JOINT_ROW: fit_joint_model(seed, smoke)}


@lru_cache(maxsize=3)
def fit_joint_model(seed: int, smoke: bool) -> BagEncoder:
    """Fit one model of all languages to the union of what each pair of them has."""
    train = read_descriptions(smoke).train
    size = 100 if smoke else 2000
    samples = [sample_by_hash(select_multilingual(train, pair.split("-")), size, seed) for pair in PARTS]
    union = {c.id: c for sample in samples for c in sample}
    return fit_cross_validated([c._replace(titles={}) for c in union.values()], seed)


def fit_cross_validated(concepts: list[Concept], seed: int) -> BagEncoder:
    """Fit Cr5 with the λ that two folds of its training concepts choose."""
    return cr5.fit(concepts, seed=seed, lambda_=cr5.tune(concepts, folds=2, seed=seed).best)


def select_bridges(descriptions: Split, langs: Sequence[str], size: int, seed: int) -> list[Concept]:
    """Select concepts in English and one of two languages, such that no concept has both of them."""
    bridges: dict[str, Concept] = {}
    for lang, absent_lang, half in ((langs[0], langs[1], 0), (langs[1], langs[0], 1)):
        concepts = [
            c
            for c in select_multilingual(descriptions.train, (lang, "en"))
            if absent_lang not in c.texts or hash_text(c.id) % 2 == half
        ]
        bridges |= {c.id: restrict_languages(c, (lang, "en")) for c in sample_by_hash(concepts, size, seed)}
    return list(bridges.values())


def read_descriptions(smoke: bool) -> Split:
    """Read Debian's descriptions in all languages of the table."""
    return split_collection("ddtp", LANGS, lines=1500 if smoke else None)
