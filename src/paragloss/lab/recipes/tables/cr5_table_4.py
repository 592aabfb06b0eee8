"""Cr5's Table 4: words find their translations, by the word vectors of Cr5 and of maps between word spaces.

Theirs: Dinu's en-it dictionary, 1,500 words, 200,000 candidates. Ours: MUSE pairs whose words all models know
and whose English word is not among the pairs that taught the maps; candidates are all words of the other language; the
models of Table 3, λ the best on pairs that taught the maps, as the authors chose theirs. Dinu's pairs are a part where
their file is (`lab.recipes.originals`).
"""

from __future__ import annotations

import numpy as np

from paragloss.encoders.bag import BagEncoder
from paragloss.formats.dictionaries import Entry, read_pairs
from paragloss.lab.recipes import originals
from paragloss.lab.recipes.nearest import RULES, unit
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.sets import Columns, drawn, folder
from paragloss.lab.recipes.tables import cr5_table_3
from paragloss.lab.recipes.tables.cr5_table_3 import MAPS, TAUGHT, best, models, taken
from paragloss.types import Query

MINUTES, DATA, PARTS = cr5_table_3.MINUTES, cr5_table_3.DATA, cr5_table_3.PARTS
COLUMNS = ("P@1", "P@5", "P@10", "words", "λ")
ORIGINALS = {"dinu en-it": ("dinu/*test*",)}


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    name, _, lang = part.rpartition("en-")
    learned = models(lang, seed, smoke)
    entries = list(read_pairs(folder() / "muse" / f"en-{lang}.tsv.gz"))
    taught = {entry.source.lower() for entry in entries[:TAUGHT]}
    known = meanings(list(learned.values()), lang, entries[:TAUGHT])
    apart = drawn([Query(word, word, "en") for word in known], 30 if smoke else 500, seed)
    lambda_ = best(learned, lambda model: found_at(model, lang, apart, known, "cosine")["P@1"])
    right = meanings(list(learned.values()), lang, originals.dinu() if name else entries[TAUGHT:])
    words = [Query(word, word, "en") for word in right if word not in taught]
    asked = drawn(words, 30 if smoke else 1500 if name else 500, 0)
    rows: Measured = {}
    for name, (method, rule) in MAPS.items():
        rows[name] = found_at(taken(learned, method, lang, lambda_), lang, asked, right, rule)
        rows[name] |= {"λ": lambda_} if method == "cr5" else {}
    return rows


def meanings(learned: list[BagEncoder], lang: str, entries: list[Entry]) -> dict[str, set[str]]:
    """English words that every model knows, with those of their translations all models know."""
    here, there = (set.intersection(*(set(terms(model, code)) for model in learned)) for code in ("en", lang))
    found: dict[str, set[str]] = {}
    for entry in entries:
        word, other = entry.source.lower(), entry.target.lower()
        if word in here and other in there:
            found.setdefault(word, set()).add(other)
    return found


def found_at(model: BagEncoder, lang: str, asked: list[Query], right: dict[str, set[str]], rule: str) -> Columns:
    """How often one of the translations is among the first k of all words of the language."""
    at, others = {term: i for i, term in enumerate(terms(model, "en"))}, terms(model, lang)
    scores = RULES[rule](unit(model.words("en")[[at[q.id] for q in asked]]), unit(model.words(lang)))
    best = np.argsort(-scores, axis=1, kind="stable")[:, :10]
    hits = np.array([[others[i] in right[q.id] for i in row] for q, row in zip(asked, best.tolist(), strict=True)])
    return {**{f"P@{k}": float(hits[:, :k].any(1).mean()) for k in (1, 5, 10)}, "words": float(len(asked))}


def terms(model: BagEncoder, lang: str) -> list[str]:
    return list(model.tower(lang).vocabulary.terms)
