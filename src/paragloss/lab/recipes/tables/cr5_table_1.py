"""Cr5's Table 1: documents find their counterparts; joint, pairwise, with little data, transitive, and AdvRefine.

Josifoski et al., "Crosslingual Document Embedding as Reduced-Rank Ridge Regression", WSDM 2019. Theirs: Wikipedia, da
en it vi, up to 489,000 shared documents, 200,000 candidates. Ours: Debian's package descriptions in da en it, and ru in
place of vi as the poor language; each description finds its translation among held-out ones. AdvRefine maps word spaces
without a dictionary; joint is one model of all languages; a third: of the pair's concepts; transitive: no concept has
both languages of the pair. λ is chosen for every model by cross-validation over what it learns from.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from paragloss.encoders.bag import BagEncoder
from paragloss.lab.methods import alignment, cr5
from paragloss.lab.recipes.nearest import across
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.sets import Split, digest, drawn, in_all, split
from paragloss.types import Concept

LANGS = ("da", "en", "it", "ru")
MINUTES, DATA = 30, tuple(f"ddtp/{lang}.jsonl.gz" for lang in LANGS)
QUICK = ("da-ru",)
COLUMNS = ("P@1", "P@5", "P@10", "back P@1", "back P@5", "back P@10", "λ")
PARTS = ("da-en", "da-it", "da-ru", "en-it", "en-ru", "it-ru")
ALONE = ("da-en", "da-ru", "en-it")  # which pairs the paper trains alone


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    """A row is a way of training and a similarity; `back` asks in the second language."""
    one, other = part.split("-")
    whole = pages(smoke)
    wanted = 20 if smoke else 300
    both = in_all(whole.test, (one, other))
    test = drawn(both, wanted, 0)
    asked = {c.id for c in test}
    others = [c for c in drawn(both, 5 * wanted, 1) if c.id not in asked]
    rows: Measured = {}
    for way, model in trained(part, whole, seed, smoke).items():
        for rule in ("cosine", "CSLS"):
            there = across(model, test, one, other, others=others, rule=rule)
            back = across(model, test, other, one, others=others, rule=rule)
            rows[f"{way}, {rule}"] = {**there, **{f"back {name}": value for name, value in back.items()}}
            rows[f"{way}, {rule}"] |= {"λ": model.meta["lambda_"]} if way.startswith("Cr5") else {}
    return rows


def trained(pair: str, whole: Split, seed: int, smoke: bool) -> dict[str, BagEncoder]:
    most = 200 if smoke else 3000
    langs = pair.split("-")
    own = [only(c, langs) for c in drawn(in_all(whole.train, langs), most, seed)]
    small: dict[str, Any] = {"dim": 50, "epochs": 1, "steps": 20} if smoke else {"dim": 200, "epochs": 3}
    models: dict[str, BagEncoder] = {
        "AdvRefine": alignment.fit(own, method="advrefine", seed=seed, **small),
        "Cr5, joint": joint(seed, smoke),
    }
    if pair in ALONE:
        models["Cr5, pairwise"] = validated(own, seed)
    if pair == "da-ru":
        models["Cr5, pairwise, a third"] = validated(own[: len(own) // 3], seed)
        models["Cr5, transitive"] = validated(bridges(whole, langs, most, seed), seed)
    return models


@lru_cache(maxsize=3)
def joint(seed: int, smoke: bool) -> BagEncoder:
    """One model of all languages, from the union of what each pair has."""
    whole = pages(smoke)
    most = 100 if smoke else 2000
    union = {c.id: c for pair in PARTS for c in drawn(in_all(whole.train, pair.split("-")), most, seed)}
    return validated([c._replace(titles={}) for c in union.values()], seed)


def validated(concepts: list[Concept], seed: int) -> BagEncoder:
    """Cr5 with the λ of cross-validation."""
    return cr5.fit(concepts, seed=seed, lambda_=cr5.tune(concepts, folds=2, seed=seed).best)


def bridges(whole: Split, langs: Sequence[str], most: int, seed: int) -> list[Concept]:
    """Concepts in English and one of the two languages: no concept has both."""
    found: dict[str, Concept] = {}
    for lang, gone, half in ((langs[0], langs[1], 0), (langs[1], langs[0], 1)):
        free = [c for c in in_all(whole.train, (lang, "en")) if gone not in c.texts or digest(c.id) % 2 == half]
        found |= {c.id: only(c, (lang, "en")) for c in drawn(free, most, seed)}
    return list(found.values())


def only(concept: Concept, langs: Sequence[str]) -> Concept:
    return concept._replace(texts={lang: concept.texts[lang] for lang in langs}, titles={})


def pages(smoke: bool) -> Split:
    return split("ddtp", LANGS, lines=1500 if smoke else None)
