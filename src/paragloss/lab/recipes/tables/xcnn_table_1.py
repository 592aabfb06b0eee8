"""XCNN's Table 1: sentences find their translations; CL-LSI, OPCA, BAE, S2Net, translated words, XCNN.

Gupta, Banchs and Rosso, "Continuous space models for CLIR", 2017. Theirs: WMT14 en-hi, 100,000 pairs to learn from,
21,500 to be found. Ours: Tatoeba's pairs of English and four languages; everybody has the same 10,000 words a language,
128 dimensions, and the same sentences; as there, pairs to learn from have three words of the vocabulary. "MT" is BM25
with the best word of a table learned from the same pairs, "MT, phrases" with sentences translated phrase by phrase, as
theirs was (`lab.recipes.phrasal`); Spanish also has a machine, where Apertium is installed.
WMT14 itself is a part where its files are (`lab.recipes.originals`); 5,000 of its sentences are to be found.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from typing import Any

from paragloss.evaluation import evaluate
from paragloss.lab.methods import bae, lsi, opca, s2net, xcnn
from paragloss.lab.methods import table as table_method
from paragloss.lab.recipes import originals, phrasal
from paragloss.lab.recipes.adhoc import ranked
from paragloss.lab.recipes.nearest import across
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.sets import Columns, drawn, sentences
from paragloss.types import Concept, Document, Encoder, Query
from paragloss.vocabulary import Vocabulary

MINUTES, DATA, COLUMNS = 35, ("tatoeba/en-hi.tsv.gz",), ("RR", "P@1", "P@5", "P@10")
PARTS = ("en-hi", "en-fr", "en-vi", "en-ar", "en-es")
ORIGINALS = {"wmt14 en-hi": ("wmt14/*.en", "wmt14/*.hi")}
ALIKE: dict[str, Any] = {"dim": 128, "max_terms": 10_000}
#: Pairs to learn from have so many words of the vocabulary.
LEAST = 3
MACHINE = "MT, Apertium"
METHODS: dict[str, tuple[Callable[..., Encoder], dict[str, Any]]] = {
    "CL-LSI": (lsi.fit, {}),
    "OPCA": (opca.fit, {}),
    "BAE": (bae.fit, {}),
    "S2Net": (s2net.fit, {}),
    "S2Net from OPCA": (s2net.fit, {"start": "opca"}),
    "XCNN": (xcnn.fit, {"hub": "en"}),
}


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    """`seed` draws the pairs to learn from; the pairs to be found are always the same."""
    name, _, lang = part.rpartition("en-")
    most, wanted = (150, 30) if smoke else (originals.WMT14, 5000) if name else (4000, 500)
    whole = originals.sentences(name.strip(), lang) if name else sentences(lang)
    train, test = told(drawn(whole.train, most, seed), ["en", lang]), drawn(whole.test, wanted, 0)
    rows: Measured = {}
    for name, (fit, settings) in METHODS.items():
        rows[name] = across(fit(train, seed=seed, **ALIKE, **settings), test, "en", lang)
    queries = [Query(c.id, c.texts["en"], "en") for c in test]
    rows["MT"] = by_words(queries, test, lang, "table:best", train)
    phrases = phrasal.fit([(c.texts["en"], c.texts[lang]) for c in train])
    rows["MT, phrases"] = by_words([Query(q.id, phrases.translate(q.text), lang) for q in queries], test, lang, "bm25")
    if has_machine(lang):
        rows[MACHINE] = by_words(queries, test, lang, "mt:apertium")
    return rows


def told(train: Sequence[Concept], langs: Sequence[str]) -> list[Concept]:
    """Those that have at least three words of each language's vocabulary."""
    kept = [True] * len(train)
    for lang in langs:
        vocabulary, _ = Vocabulary.build((c.texts[lang] for c in train), lang, min_df=2, max_terms=ALIKE["max_terms"])
        kept = [so and len(vocabulary.ids(c.texts[lang])) >= LEAST for so, c in zip(kept, train, strict=True)]
    return [concept for concept, so in zip(train, kept, strict=True) if so]


def has_machine(lang: str) -> bool:
    return lang == "es" and shutil.which("apertium") is not None


def by_words(
    queries: Sequence[Query], test: Sequence[Concept], lang: str, pipeline: str, train: Sequence[Concept] = ()
) -> Columns:
    """BM25 over the words of a query, over those that a table learned from pairs thinks best, or a machine says."""
    models = [("table", table_method.fit(train))] if train else []
    found = ranked(queries, [Document(c.id, c.texts[lang], lang) for c in test], pipeline, models, 100)
    run = dict(zip((query.id for query in queries), found, strict=True))
    scores = evaluate(run, {c.id: {c.id: 1} for c in test}, ["RR", "P@1", "Success@5", "Success@10"])
    named = {"P@1": "P@1", "P@5": "Success@5", "P@10": "Success@10"}
    cuts = {column: sum(scores[name].values()) / len(test) for column, name in named.items()}
    return {**cuts, "RR": [round(scores["RR"][c.id], 4) for c in test]}
