"""K-NRM behind each first stage: is reranking ever worse, and how often better?

English titles (Tatoeba: sentences) find documents of another language. The table, Cr5 and K-NRM are learned from 500
training concepts with the defaults of `paragloss train`; rankings are the product's own, over 2,000 documents at most.
"better" and "worse": the share of seeds with which reranking is significantly so (p < .05 by randomisation).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from papers.corpora import Rows, make_known_item_task, sample_by_hash, select_multilingual, split_titled_concepts
from paragloss.collection import Collection
from paragloss.evaluation import compare, evaluate
from paragloss.lab.methods import cr5, knrm, table
from paragloss.types import Concept, Document, Qrels, Query

COLUMNS = ("RR", "better", "worse")
SMOKE_PARTS = ("tatoeba en-hi",)
DATA = ("lohelp/it.jsonl.gz", "mdn/zh.jsonl.gz", "ddtp/ru.jsonl.gz", "tatoeba/en-hi.tsv.gz")
PARTS = (
    *("lohelp en-it", "lohelp en-fr", "mdn en-fr", "mdn en-zh"),
    *("ddtp en-it", "ddtp en-ru", "tatoeba en-hi", "tatoeba en-da"),
)
FIRST_STAGES = ("bm25", "table", "cr5", "bm25+cr5+table")
MAX_DOCUMENTS = 2000
SIGNIFICANCE = 0.05


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    collection, _, lang = part.rpartition(" en-")
    train, test = split_titled_concepts(collection, lang)
    queries, documents, qrels = make_task(test, lang, 20 if smoke else 200)
    sample = sample_by_hash(select_multilingual(train, ["en", lang]), 60 if smoke else 500, seed)
    scores = reciprocal_ranks(sample, queries, documents, qrels)
    rows: Rows = {}
    for stage in FIRST_STAGES:
        before, after = scores[stage], scores[f"{stage}>knrm"]
        test_result = compare(before, after)
        is_significant = test_result.p_randomisation < SIGNIFICANCE
        rows[stage] = {"RR": list(before.values())}
        rows[f"{stage}>knrm"] = {
            "RR": list(after.values()),
            "better": float(is_significant and test_result.difference > 0),
            "worse": float(is_significant and test_result.difference < 0),
        }
    return rows


def make_task(concepts: list[Concept], lang: str, size: int) -> tuple[list[Query], list[Document], Qrels]:
    """Sample queries, their relevant documents, and other documents up to MAX_DOCUMENTS."""
    queries, documents, qrels = make_known_item_task(concepts, "en", [lang])
    queries = sample_by_hash(queries, size, 0)
    relevant_ids = {doc_id for query in queries for doc_id in qrels[query.id]}
    relevant = [document for document in documents if document.id in relevant_ids]
    irrelevant = [document for document in documents if document.id not in relevant_ids]
    distractors = sample_by_hash(irrelevant, MAX_DOCUMENTS - len(relevant_ids), 0)
    return queries, [*relevant, *distractors], {query.id: qrels[query.id] for query in queries}


def reciprocal_ranks(
    train: list[Concept], queries: list[Query], documents: list[Document], qrels: Qrels
) -> dict[str, dict[str, float]]:
    """Train the models and measure each pipeline: pipeline -> query -> reciprocal rank."""
    with tempfile.TemporaryDirectory() as folder:
        cr5.fit(train).save(Path(folder, "cr5"))
        table.fit(train, sharpness=1.0).save(Path(folder, "table"))
        knrm.fit(train).save(Path(folder, "knrm"))
        models = [str(Path(folder, name)) for name in ("cr5", "table", "knrm")]
        with Collection.create(str(Path(folder, "collection")), models=models, default=False) as collection:
            collection.index(documents)
            scores = {}
            for pipeline in [*FIRST_STAGES, *(f"{stage}>knrm" for stage in FIRST_STAGES)]:
                tempered = pipeline.replace("table", "table:tempered")
                rankings = collection.rank(queries, k=100, to=[documents[0].lang], pipeline=tempered)
                run = {query.id: ranking for query, ranking in zip(queries, rankings, strict=True)}
                scores[pipeline] = evaluate(run, qrels, ["RR"])["RR"]
    return scores
