"""Maps between word spaces on documents: the baselines of Cr5's Tables 3 and 4 where documents find documents.

English pages find the same pages in another language among up to 1,000 held-out ones, by cosine and by CSLS. Word
vectors (PPMI, 300 dimensions) and seed pairs come from the same training pages, up to 1,200; each seed draws others.
"""

from __future__ import annotations

from paragloss.encoders.bag import BagEncoder
from paragloss.lab.learning import monolingual
from paragloss.lab.learning.counting import count, text_of
from paragloss.lab.methods import alignment, cr5
from paragloss.lab.recipes.nearest import places, precisions
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.sets import Columns, drawn, in_all, split
from paragloss.types import Concept

MINUTES = 12
PARTS = ("lohelp en-it", "mdn en-fr", "ddtp en-da", "ddtp en-ru")
DATA = ("ddtp/da.jsonl.gz", "mdn/fr.jsonl.gz", "lohelp/it.jsonl.gz")
COLUMNS = ("P@1", "RR", "P@1, CSLS", "RR, CSLS")
METHODS = {
    "Procrustes, refined": "procrustes",
    "orthogonal": "orthogonal",
    "SVD": "svd",
    "least squares": "least-squares",
    "CCA of words": "cca",
}


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    name, _, lang = part.rpartition(" en-")
    whole = split(name, ["en", lang], lines=400 if smoke else None)
    learned, held_out = (in_all(some, ["en", lang]) for some in whole)
    most = min(120 if smoke else 1200, len(learned) * 9 // 10)  # never all of them: seeds are to differ
    train, test = drawn(learned, most, seed), drawn(held_out, 30 if smoke else 1000, 0)
    return {row: found(model, test, lang) for row, model in fitted(train, lang, 50 if smoke else 300, seed).items()}


def fitted(train: list[Concept], lang: str, dim: int, seed: int) -> dict[str, BagEncoder]:
    """The maps from the same word vectors, and Cr5 from the same pages."""
    counted, _ = count(train, stem=False, lengths=(1, 10**9))
    vectors = {
        of: monolingual.train((text_of(c, of) for c in train), counted[of].vocabulary, dim=dim) for of in ("en", lang)
    }
    maps = {row: alignment.fit(train, method=method, vectors=vectors, seed=seed) for row, method in METHODS.items()}
    return {**maps, "Cr5": cr5.fit(train, dim=dim, seed=seed)}


def found(model: BagEncoder, test: list[Concept], lang: str) -> Columns:
    asked, there = (model.encode([text_of(c, of) for c in test], of) for of in ("en", lang))
    cosine, csls = (precisions(places(asked, there, range(len(test)), rule=rule)) for rule in ("cosine", "CSLS"))
    return {"P@1": cosine["P@1"], "RR": cosine["RR"], "P@1, CSLS": csls["P@1"], "RR, CSLS": csls["RR"]}
