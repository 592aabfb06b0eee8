"""Cr5's Table 4: words find their translations, by the word vectors of Cr5 and of maps between word spaces.

Theirs: Dinu's en-it dictionary, 1,500 words, 200,000 candidates. Ours: MUSE pairs whose words all models know
and whose English word is not among the pairs that taught the maps; candidates are all words of the other language; the
models of Table 3. Dinu's pairs are a part where their file is (`lab.recipes.originals`).
"""

from __future__ import annotations

import numpy as np

from paragloss.encoders.bag import BagEncoder
from paragloss.formats.dictionaries import Entry, read_pairs
from paragloss.lab.recipes import originals
from paragloss.lab.recipes.nearest import RULES, unit
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.sets import drawn, folder
from paragloss.lab.recipes.tables.cr5_table_3 import DATA, MAPS, MINUTES, TAUGHT, models
from paragloss.types import Query

__all__ = ["COLUMNS", "DATA", "MINUTES", "measure", "parts"]

COLUMNS = ("P@1", "P@5", "P@10", "words")


def parts(smoke: bool) -> list[str]:
    ours = ["en-it"] if smoke else ["en-it", "en-da", "en-fr"]
    return [*ours, *([] if smoke else originals.present({"dinu en-it": ("dinu/*test*",)}))]


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    name, _, lang = part.rpartition("en-")
    learned = models(lang, seed, smoke)
    right = meanings(lang, list(learned.values()), originals.dinu() if name else [])
    asked = drawn([Query(word, word, "en") for word in right], 30 if smoke else 1500 if name else 500, 0)
    rows: Measured = {}
    for name, (method, rule) in MAPS.items():
        rows[name] = found_at(learned[method], lang, asked, right, rule)
    return rows


def meanings(lang: str, learned: list[BagEncoder], others: list[Entry]) -> dict[str, set[str]]:
    """English words that every model knows and no map was taught, with those of their translations all models know;
    of other pairs than MUSE's, if any are given."""
    entries = list(read_pairs(folder() / "muse" / f"en-{lang}.tsv.gz"))
    taught = {entry.source.lower() for entry in entries[:TAUGHT]}
    here, there = (set.intersection(*(set(terms(model, code)) for model in learned)) for code in ("en", lang))
    found: dict[str, set[str]] = {}
    for entry in others or entries[TAUGHT:]:
        word, other = entry.source.lower(), entry.target.lower()
        if word in here and other in there and word not in taught:
            found.setdefault(word, set()).add(other)
    return found


def found_at(
    model: BagEncoder, lang: str, asked: list[Query], right: dict[str, set[str]], rule: str
) -> dict[str, float | list[float]]:
    """How often one of the translations is among the first k of all words of the language."""
    at, others = {term: i for i, term in enumerate(terms(model, "en"))}, terms(model, lang)
    scores = RULES[rule](unit(model.words("en")[[at[q.id] for q in asked]]), unit(model.words(lang)))
    best = np.argsort(-scores, axis=1, kind="stable")[:, :10]
    hits = np.array([[others[i] in right[q.id] for i in row] for q, row in zip(asked, best.tolist(), strict=True)])
    return {**{f"P@{k}": float(hits[:, :k].any(1).mean()) for k in (1, 5, 10)}, "words": float(len(asked))}


def terms(model: BagEncoder, lang: str) -> list[str]:
    return list(model.tower(lang).vocabulary.terms)
