"""Cr5's Table 3: sentences find their translations, by Cr5 learned from documents and by maps between word spaces.

Theirs: Europarl en-it, 200,000 candidates, Cr5 and word vectors from Wikipedia, a dictionary of 5,000 pairs. Ours: Cr5
and each language's own word vectors (PPMI, 200 dimensions) from Debian's descriptions; sentences of Tatoeba; MUSE pairs
as the dictionary. Neither learns from sentences. λ is the best on other sentences than are asked, as the authors chose
theirs; λ = 1 stands beside it. A map that is not the same both ways goes from the language that asks to the one that
answers. Europarl is a part where its files are (`lab.recipes.originals`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from paragloss.encoders.bag import BagEncoder
from paragloss.formats.dictionaries import read_pairs
from paragloss.lab.learning import monolingual
from paragloss.lab.learning.counting import count, text_of
from paragloss.lab.methods import alignment, cr5
from paragloss.lab.recipes import originals
from paragloss.lab.recipes.nearest import across
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.sets import drawn, folder, in_all, sentences, split

MINUTES = 12
PARTS = ("en-it", "en-da", "en-fr")
ORIGINALS = {"europarl en-it": ("europarl/*.en", "europarl/*.it")}
DATA = ("ddtp/it.jsonl.gz", "ddtp/da.jsonl.gz", "ddtp/fr.jsonl.gz", "tatoeba/en-it.tsv.gz", "muse/en-it.tsv.gz")
TAUGHT = 10_000  # word pairs that teach the maps
UNEVEN = "least-squares"  # the one map whose way back is another
COLUMNS = ("P@1", "P@5", "P@10", "back P@1", "back P@5", "back P@10", "λ")
#: A map between word spaces, and by which rule its authors look for the nearest.
MAPS = {
    "Mikolov et al.": ("least-squares", "cosine"),
    "Dinu et al.": ("least-squares", "corrected"),
    "Faruqui and Dyer": ("cca", "cosine"),
    "Artetxe et al.": ("orthogonal", "cosine"),
    "Smith et al.": ("svd", "inverted"),
    "Procrustes (cosine)": ("procrustes", "cosine"),
    "Procrustes (CSLS)": ("procrustes", "CSLS"),
    "AdvRefine (CSLS)": ("advrefine", "CSLS"),
    "Cr5 (cosine)": ("cr5", "cosine"),
    "Cr5 (CSLS)": ("cr5", "CSLS"),
    "Cr5, λ = 1 (cosine)": ("cr5 1", "cosine"),
    "Cr5, λ = 1 (CSLS)": ("cr5 1", "CSLS"),
}


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    name, _, lang = part.rpartition("en-")
    held_out = originals.sentences(name.strip(), lang) if name else sentences(lang)
    test = drawn(held_out.test, 40 if smoke else 2000 if name else 1000, 0)
    learned = models(lang, seed, smoke)
    apart = drawn(held_out.train, 40 if smoke else 500, seed)
    lambda_ = best(learned, lambda model: np.mean([across(model, apart, *way)["P@1"] for way in ways(lang)]))
    rows: Measured = {}
    for name, (method, rule) in MAPS.items():
        there, back = (across(taken(learned, method, way[1], lambda_), test, *way, rule=rule) for way in ways(lang))
        rows[name] = {**there, **{f"back {measure}": value for measure, value in back.items()}}
        rows[name] |= {"λ": lambda_} if method == "cr5" else {}
    return rows


def ways(lang: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("en", lang), (lang, "en")


def best(learned: dict[str, BagEncoder], score: Callable[[BagEncoder], Any]) -> float:
    """The λ whose Cr5 has the highest score."""
    return max(cr5.LAMBDAS, key=lambda lambda_: float(score(learned[f"cr5 {lambda_:g}"])))


def taken(learned: dict[str, BagEncoder], method: str, target: str, lambda_: float) -> BagEncoder:
    """The model of a method for queries to a language."""
    return learned[f"cr5 {lambda_:g}" if method == "cr5" else f"{method} {target}" if method == UNEVEN else method]


@lru_cache(maxsize=1)
def models(lang: str, seed: int, smoke: bool) -> dict[str, BagEncoder]:
    """Learned from the same descriptions; the maps from the same word vectors."""
    whole = split("ddtp", ["en", lang], lines=500 if smoke else None)
    train = drawn(in_all(whole.train, ["en", lang]), 200 if smoke else 4000, seed)
    pairs = [(entry.source, entry.target) for entry in read_pairs(folder() / "muse" / f"en-{lang}.tsv.gz")][:TAUGHT]
    known = {("en", lang): pairs, (lang, "en"): [(b, a) for a, b in pairs]}
    small: dict[str, Any] = {"epochs": 1, "steps": 20} if smoke else {"epochs": 3}
    counted, _ = count(train, stem=False, min_df=3)
    vectors = {
        of: monolingual.train(
            (text_of(c, of) for c in train), counted[of].vocabulary, dim=50 if smoke else 200, seed=seed
        )
        for of in ("en", lang)
    }
    methods = dict.fromkeys(method for method, _ in MAPS.values() if not method.startswith("cr5"))
    made = {}
    for method in methods:
        given = small if method == "advrefine" else {"dictionary": known}
        for onto in ("en", lang) if method == UNEVEN else ("",):
            model = alignment.fit(train, method=method, onto=onto, vectors=vectors, seed=seed, **given)
            made[f"{method} {onto}".strip()] = model
    return {**made, **{f"cr5 {each:g}": cr5.fit(train, seed=seed, stem=False, lambda_=each) for each in cr5.LAMBDAS}}
