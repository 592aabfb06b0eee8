"""Cr5's Table 1 and Figure 2: documents find their translations, by Cr5 and by AdvRefine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from papers.corpora import (
    Columns,
    Rows,
    Split,
    hash_text,
    restrict_languages,
    sample_by_hash,
    select_multilingual,
    split_collection,
)
from papers.nearest_neighbours import join_directions, measure_translation_retrieval, rank_of_targets
from papers.plots import plot_lines
from papers.runner import Results
from paragloss.encoders.bag import BagEncoder
from paragloss.lab.methods import alignment, cr5
from paragloss.types import Concept

LANGS = ("da", "en", "it", "ru")
PAIRS = ("da-en", "da-it", "da-ru", "en-it", "en-ru", "it-ru")
PAIRWISE_PAIRS = ("da-en", "da-ru", "en-it")  # the pairs for which the paper trains a model of two languages
JOINT_ROW = "Cr5, joint"
PAPER_SETTINGS: dict[str, Any] = {"lambda_": 1.0, "dim": 300, "solver": "converged"}
CUTS = (1, 2, 3, 5, 10, 20, 50, 100)


def measure_table_1(part: str, seed: int, *, smoke: bool) -> Rows:
    source, target = part.split("-")
    descriptions = read_descriptions(smoke)
    size = 20 if smoke else 300
    bilingual = select_multilingual(descriptions.test, (source, target))
    queries = sample_by_hash(bilingual, size, 0)
    query_ids = {c.id for c in queries}
    others = [c for c in bilingual if c.id not in query_ids]
    distractors = [c for c in sample_by_hash(bilingual, 5 * size, 1) if c.id not in query_ids]

    def measure_both_directions(model: BagEncoder, distractors: Sequence[Concept], rule: str) -> Columns:
        forward = measure_translation_retrieval(model, queries, source, target, distractors, rule)
        backward = measure_translation_retrieval(model, queries, target, source, distractors, rule)
        return join_directions(forward, backward)

    rows: Rows = {}
    models = fit_models(part, descriptions, seed, smoke)
    for name, model in models.items():
        for rule in ("cosine", "CSLS"):
            columns = measure_both_directions(model, distractors, rule)
            rows[f"{name}, {rule}"] = columns | ({"λ": model.meta["lambda_"]} if name.startswith("Cr5") else {})
    rows[f"{JOINT_ROW}, all candidates, CSLS"] = measure_both_directions(models[JOINT_ROW], others, "CSLS")
    return rows


def measure_figure_2(part: str, seed: int, *, smoke: bool) -> Rows:
    langs = part.split("-")
    descriptions = read_descriptions(smoke)
    concepts = sample_bilingual(descriptions, langs, 200 if smoke else 3000, seed)
    test = sample_by_hash(select_multilingual(descriptions.test, langs), 40 if smoke else 1000, 0)
    rows: Rows = {}
    for name, model in fit_compared_models(concepts, seed, smoke).items():
        first, second = (model.encode([c.texts[lang] for c in test], lang) for lang in langs)
        forward = rank_of_targets(first, second, range(len(test)), rule="CSLS")
        backward = rank_of_targets(second, first, range(len(test)), rule="CSLS")
        rows[name] = {f"P@{k}": float(((forward <= k).mean() + (backward <= k).mean()) / 2) for k in CUTS}
    return rows


def plot_figure_2(results: Results) -> dict[str, Any]:
    return {"figure.svg": plot_lines(results, "k", [float(k) for k in CUTS], log=True)}


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
    samples = [sample_by_hash(select_multilingual(train, pair.split("-")), size, seed) for pair in PAIRS]
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
