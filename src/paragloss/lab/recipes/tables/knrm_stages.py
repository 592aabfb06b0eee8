"""K-NRM behind each first stage: is it ever worse, and how often better?

English titles (Tatoeba: sentences) find documents of another language. The table, Cr5 and K-NRM are learned from 500
training concepts with the defaults of `paragloss train`; rankings are the product's own, over 2,000 documents at most.
"better" and "worse": the share of seeds with which reranking is so, p < .05 by randomisation over the queries.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from paragloss.collection import Collection, train
from paragloss.evaluation import compare, evaluate
from paragloss.lab.methods import cr5, knrm, table
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.sets import drawn, in_all, known_item, sentences, split
from paragloss.types import Concept, Document, Qrels, Query

MINUTES, COLUMNS = 45, ("RR", "better", "worse")
QUICK = ("tatoeba en-hi",)
DATA = ("lohelp/it.jsonl.gz", "mdn/zh.jsonl.gz", "ddtp/ru.jsonl.gz", "tatoeba/en-hi.tsv.gz")
PARTS = (
    *("lohelp en-it", "lohelp en-fr", "mdn en-fr", "mdn en-zh"),
    *("ddtp en-it", "ddtp en-ru", "tatoeba en-hi", "tatoeba en-da"),
)
STAGES = ("bm25", "table", "cr5", "bm25+cr5+table")
#: Documents to be found: the right ones of all queries, and others up to so many.
MOST = 2000


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    name, _, lang = part.rpartition(" en-")
    learned, held_out = divided(name, lang)
    queries, documents, qrels = asked(held_out, lang, 20 if smoke else 200)
    scores = reciprocal_ranks(drawn(learned, 60 if smoke else 500, seed), queries, documents, qrels)
    rows: Measured = {}
    for stage in STAGES:
        before, after = scores[stage], scores[f"{stage}>knrm"]
        test = compare(before, after)
        sure = test.p_randomisation < 0.05
        rows[stage] = {"RR": list(before.values())}
        rows[f"{stage}>knrm"] = {
            "RR": list(after.values()),
            "better": float(sure and test.difference > 0),
            "worse": float(sure and test.difference < 0),
        }
    return rows


def divided(name: str, lang: str) -> tuple[list[Concept], list[Concept]]:
    """What may be learned from, and what is asked for; a sentence asks with itself."""
    if name != "tatoeba":
        found = split(name, ["en", lang])
        return in_all(found.train, ["en", lang]), found.test
    found = sentences(lang)
    return found.train, [c._replace(titles={"en": c.texts["en"]}) for c in found.test]


def asked(held_out: list[Concept], lang: str, most: int) -> tuple[list[Query], list[Document], Qrels]:
    queries, documents, qrels = known_item(held_out, "en", [lang])
    queries = drawn(queries, most, 0)
    wanted = {id for query in queries for id in qrels[query.id]}
    others = drawn([document for document in documents if document.id not in wanted], MOST - len(wanted), 0)
    found = [document for document in documents if document.id in wanted]
    return queries, [*found, *others], {query.id: qrels[query.id] for query in queries}


def reciprocal_ranks(
    learned: list[Concept], queries: list[Query], documents: list[Document], qrels: Qrels
) -> dict[str, dict[str, float]]:
    """Each pipeline's, query by query."""
    with tempfile.TemporaryDirectory() as place:
        train(cr5.fit, learned).save(Path(place, "cr5"))
        table.fit(learned, sharpness=1.0).save(Path(place, "table"))
        knrm.fit(learned).save(Path(place, "knrm"))
        models = [str(Path(place, name)) for name in ("cr5", "table", "knrm")]
        with Collection.create(str(Path(place, "collection")), models=models, default=False) as engine:
            engine.index(documents)
            scores = {}
            for pipeline in [*STAGES, *(f"{stage}>knrm" for stage in STAGES)]:
                rankings = engine.rank(queries, k=100, to=[documents[0].lang], pipeline=pipeline)
                run = {query.id: ranking for query, ranking in zip(queries, rankings, strict=True)}
                scores[pipeline] = evaluate(run, qrels, ["RR"])["RR"]
    return scores
