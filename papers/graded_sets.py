"""Graded judgments for the recipes of smooth ordinal learning, and the measures of its tables.

The first sentence of an English page, without the words of its title, is a query. The same page in the other language
is relevant, pages that link to each other (Debian: packages of one source) are partly relevant, and 40 sampled pages
are not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from papers import original_data
from papers.corpora import (
    BUDGET,
    Columns,
    data_folder,
    duplicate_group,
    rank_randomly,
    read_collection,
    sample_by_hash,
    select_multilingual,
    split_collection,
    training_budget,
)
from paragloss.evaluation import evaluate, mean
from paragloss.lab import judgments
from paragloss.lab.learning import monolingual
from paragloss.lab.learning.counting import text_of
from paragloss.lab.methods import ordinal
from paragloss.ranking import rank_hits
from paragloss.types import Concept, Encoder, Floats, Hit, JudgedCollection, Run
from paragloss.vocabulary import Vocabulary

MDN_DATA = ("mdn/mutual_links.tsv.gz", "mdn/en.jsonl.gz")
MEASURES = ("P_mr@1", "P_mr@5", "P_r@5", "nDCG@5", "MAP", "MRR_mr", "MRR_r")
COLUMNS = (*MEASURES, *BUDGET)
LOSSES = {"SOSL": "sosl", "3-part": "three-part", "MSE": "mse", "PO_S": "sigmoids"}
#: Training stops after PATIENCE epochs without a better nDCG@5 of the validation queries.
MAX_EPOCHS, PATIENCE = 200, 15
#: Groups of more packages than this are no source package (`python3` and the like).
MAX_PACKAGES_OF_A_SOURCE = 6
DIM = 64
#: The device that networks are trained on (`python -m papers run --device`), also in the processes of a run.
DEVICE_VARIABLE = "PARAGLOSS_PAPERS_DEVICE"
#: The paper's own data has 25,000 queries per language.
ORIGINAL_QUERIES = 25_000
ORIGINALS = {"lsclir": original_data.read_lsclir, "wikipedia": original_data.read_wikipedia}


def split_judgments(
    lang: str, *, pages: int, smoke: bool, negatives: int = 40, collection: str = "mdn"
) -> tuple[JudgedCollection, JudgedCollection, JudgedCollection]:
    """Make training, validation and test queries 3:1:1; the last two have sampled irrelevant documents.

    :param pages: how many pages are used
    :param negatives: irrelevant documents per query
    """
    if collection in ORIGINALS:
        judged = ORIGINALS[collection](lang, pages if smoke else ORIGINAL_QUERIES)
    else:
        concepts = split_collection(collection, ["en", lang], test_tenths=0, lines=400 if smoke else None).train
        sample = sample_by_hash(select_multilingual(concepts, ["en", lang]), pages, 0)
        links = find_links(collection, sample)
        judged = judgments.from_aligned(sample, source="en", target=lang, links=links)
    train, valid, test = judgments.split(judged, (3, 1, 1), seed=0, family=partial(duplicate_group, collection))
    return (
        train,
        judgments.sample_irrelevant(valid, negatives, seed=0),
        judgments.sample_irrelevant(test, negatives, seed=0),
    )


def find_links(collection: str, concepts: Sequence[Concept]) -> judgments.Links:
    """Find the partly relevant concepts: pages that link to each other, or packages of one source."""
    if collection == "mdn":
        return judgments.read_links(data_folder() / "mdn" / "mutual_links.tsv.gz")
    groups: dict[str, set[str]] = {}
    for concept in concepts:
        groups.setdefault(duplicate_group(collection, concept.id), set()).add(concept.id)
    links = {}
    for group in groups.values():
        if 1 < len(group) <= MAX_PACKAGES_OF_A_SOURCE:
            links.update({concept: group - {concept} for concept in group})
    return links


def train_own_vectors(collection: str, langs: Sequence[str], seed: int, *, smoke: bool) -> dict[str, dict[str, Floats]]:
    """Train word vectors of each language on all its texts of a collection, without judgments or alignment.

    They are as long as the random vectors that words start from otherwise.
    """
    concepts = read_collection(collection, langs, lines=400 if smoke else None)
    vectors: dict[str, dict[str, Floats]] = {}
    for lang in langs:
        texts = [text_of(concept, lang) for concept in concepts if lang in concept.texts]
        vocabulary, _ = Vocabulary.build(texts, lang, min_df=3)
        words, rows = monolingual.train_word_vectors(texts, vocabulary, dim=DIM, seed=seed)
        lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        vectors[lang] = dict(zip(words, rows * np.sqrt(DIM) / lengths, strict=True))
    return vectors


def training_settings(valid: JudgedCollection, seed: int, *, smoke: bool, smoke_epochs: int = 2) -> dict[str, Any]:
    """Return the settings of `ordinal.fit_judged` that all recipes share."""
    epochs = smoke_epochs if smoke else MAX_EPOCHS
    device = os.environ.get(DEVICE_VARIABLE, "cpu")
    return {"validation": [valid], "seed": seed, "epochs": epochs, "patience": PATIENCE, "device": device}


def measure_settings(
    train: JudgedCollection,
    valid: JudgedCollection,
    test: JudgedCollection,
    grids: Mapping[str, Sequence[dict[str, Any]]],
    **common: Any,
) -> dict[str, Columns]:
    """Measure for each row the model of its grid of settings that has the best validation nDCG@5.

    :param common: settings of all rows
    """
    rows = {}
    for row, grid in grids.items():
        models = [ordinal.fit_judged(train, **settings, **common) for settings in grid]
        best = max(models, key=lambda model: mean(score_judged(model, valid, ["nDCG@5"]))["nDCG@5"])
        rows[row] = measure_model(best, test)
    return rows


def measure_model(model: Encoder, test: JudgedCollection) -> Columns:
    """Measure the columns of the paper's tables, query by query, and the training budget."""
    scores = score_judged(model, test, MEASURES)
    return {**{name: list(values.values()) for name, values in scores.items()}, **training_budget(model.meta)}


def measure_random_order(test: JudgedCollection, seed: int) -> Columns:
    """Measure the judged documents of each query in a random order."""
    run = rank_randomly({query.id: list(test.qrels[query.id]) for query in test.queries}, seed)
    return {name: list(values.values()) for name, values in evaluate(run, test.qrels, MEASURES).items()}


def score_judged(model: Encoder, judged: JudgedCollection, measures: Sequence[str]) -> dict[str, dict[str, float]]:
    """Rank the judged documents of each query by the model; return measure -> query -> score."""
    run: Run = {}
    for query_id, scores in score_documents(model, judged).items():
        run[query_id] = rank_hits((Hit(doc_id, score) for doc_id, score in scores.items()), len(scores))
    return evaluate(run, judged.qrels, measures)


def score_documents(model: Encoder, judged: JudgedCollection) -> dict[str, dict[str, float]]:
    """Score the judged documents of each query by the model's cosine; return query -> document -> score."""
    doc_ids = sorted({doc_id for grades in judged.qrels.values() for doc_id in grades})
    row_by_id = {doc_id: row for row, doc_id in enumerate(doc_ids)}
    documents = [judged.documents[doc_id] for doc_id in doc_ids]
    vectors = model.encode([document.full_text for document in documents], documents[0].lang)
    query_vectors = model.encode([query.text for query in judged.queries], judged.queries[0].lang)
    scores = {}
    for query, vector in zip(judged.queries, query_vectors, strict=True):
        candidates = list(judged.qrels[query.id])
        products = vectors[[row_by_id[doc_id] for doc_id in candidates]] @ vector
        scores[query.id] = dict(zip(candidates, products.tolist(), strict=True))
    return scores
