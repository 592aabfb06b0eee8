"""Smooth learning's tables and figures: encoders trained on graded judgments, and the formulas of Figures 1 and 2.

The first sentence of an English page, without the words of its title, is a query. The same page in the other language
is relevant, pages that link to each other (Debian: packages of one source) are partly relevant, and 40 sampled pages
are not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import torch

from papers import original_data
from papers.corpora import (
    DEVICE_VARIABLE,
    Columns,
    Rows,
    data_folder,
    duplicate_group,
    rank_randomly,
    read_collection,
    sample_by_hash,
    select_multilingual,
    split_collection,
    training_budget,
)
from papers.plots import plot_columns, plot_lines
from papers.runner import Results
from papers.verdicts import CHANCE_ROW
from paragloss.evaluation import evaluate, mean
from paragloss.evaluation.report import panels
from paragloss.lab import judgments
from paragloss.lab.learning import monolingual
from paragloss.lab.learning.counting import text_of
from paragloss.lab.methods import ordinal
from paragloss.ranking import rank_hits
from paragloss.types import Concept, Encoder, Floats, Hit, JudgedCollection, Run
from paragloss.vocabulary import Vocabulary

MEASURES = ("P_mr@1", "P_mr@5", "P_r@5", "nDCG@5", "MAP", "MRR_mr", "MRR_r")
PLOTTED_MEASURES = ("P_mr@1", "nDCG@5", "MAP", "MRR_mr")
LOSSES = {"SOSL": "sosl", "3-part": "three-part", "MSE": "mse", "PO_S": "sigmoids"}
#: Training stops after PATIENCE epochs without a better nDCG@5 of the validation queries.
MAX_EPOCHS, PATIENCE = 200, 15
#: Groups of more packages than this are no source package (`python3` and the like).
MAX_PACKAGES_OF_A_SOURCE = 6
DIM = 64
#: LS-CLIR has 25,000 queries per language.
ORIGINAL_QUERIES = 25_000
#: Table 2 compares losses with the first of these settings, its parts named "grid" with all; the paper's stand first.
THRESHOLDS = {"three-part": ((0.2, 0.55, 0.9), (0.2, 0.5, 0.75))}
DEFAULT_THRESHOLDS = ((0.2, 0.7), (0.1, 0.6))
EPSILONS = (1.0, 0.5, 2.0)
#: The settings of Table 3's networks.
NETWORKS: dict[str, dict[str, Any]] = {
    "average": {},
    "CNN": {"encoder": "cnn", "batch": 16},
    "LSTM": {"encoder": "lstm", "batch": 16},
    "CNN, shared": {"encoder": "cnn", "batch": 16, "shared_network": True},
    "LSTM, shared": {"encoder": "lstm", "batch": 16, "shared_network": True},
}
CLASSES = ("NR", "SR", "MR")
#: Edges of the bins of Figure 3.
EDGES = tuple(round(float(edge), 2) for edge in np.linspace(-1, 1, 41))
#: Figure 4's epsilons. They must be above 0: a millionth stands for the cosine itself.
FIGURE_4_EPSILONS = {
    "0": 1e-6, "0.25": 0.25, "0.5": 0.5, "1": 1.0, "1.5": 1.5, "2": 2.0, "0, clipped": 1e-6, "1, clipped": 1.0,
}  # fmt: skip
FIGURE_4_THRESHOLDS = ((0.2, 0.7), (0.1, 0.4), (0.05, 0.25), (0.3, 0.85))
CLIPPING = 5.0  # of the authors' code
FIGURE_5_NEGATIVES = (20, 40, 60, 80, 100)
#: Row -> the settings of which the best on the validation queries is measured.
Grids = Mapping[str, Sequence[dict[str, Any]]]


class JudgedSplit(NamedTuple):
    """Queries to train with, to choose settings by, and to measure; the last two have sampled irrelevant documents."""

    train: JudgedCollection
    valid: JudgedCollection
    test: JudgedCollection


def measure_table_1(part: str, seed: int, *, smoke: bool) -> Rows:
    collection, lang = parse_part(part)
    splits = split_judgments(lang, pages=120 if smoke else 1500, smoke=smoke, collection=collection)
    queries = sum(len(judged.queries) for judged in splits)
    grades = [grade for judged in splits for by_document in judged.qrels.values() for grade in by_document.values()]
    counts = {"queries": float(queries), "documents": float(len(splits.train.documents))}
    return {"all": {**counts, "partly relevant": grades.count(1) / queries}}


def measure_table_2(part: str, seed: int, *, smoke: bool) -> Rows:
    """Train an encoder by each loss on a set such as "ddtp en-da, grid": collection, languages, and a variation."""
    name, _, kind = part.partition(", ")
    collection, lang = parse_part(name)
    splits = split_judgments(lang, pages=120 if smoke else 1500, smoke=smoke, collection=collection)
    settings = training_settings(splits, seed, smoke=smoke) | {"stem": kind != "plain words"}
    if kind == "own vectors":
        settings["vectors"] = train_own_vectors(collection, ["en", lang], seed, smoke=smoke)
    grids = {}
    for row, loss in LOSSES.items():
        choices = product(THRESHOLDS.get(loss, DEFAULT_THRESHOLDS), EPSILONS)
        grid = [{"loss": loss, "thresholds": thresholds, "epsilon": epsilon} for thresholds, epsilon in choices]
        grids[row] = grid if kind == "grid" else grid[:1]
    return {CHANCE_ROW: measure_random_order(splits.test, seed), **measure_grids(splits, grids, settings)}


def measure_table_3(part: str, seed: int, *, smoke: bool) -> Rows:
    splits = split_judgments(part.removeprefix("en-"), pages=90 if smoke else 1000, smoke=smoke)
    settings = training_settings(splits, seed, smoke=smoke, smoke_epochs=1) | ({"negatives": 4} if smoke else {})
    grids = {name: [network] for name, network in NETWORKS.items()}
    return {CHANCE_ROW: measure_random_order(splits.test, seed), **measure_grids(splits, grids, settings)}


def measure_figure_3(part: str, seed: int, *, smoke: bool) -> Rows:
    """Train an encoder by each loss, and describe the scores of each grade of its training documents."""
    splits = split_judgments("fr", pages=90 if smoke else 1500, smoke=smoke)
    training_documents = judgments.sample_irrelevant(splits.train, 40, seed=seed)
    settings = training_settings(splits, seed, smoke=smoke)
    rows: Rows = {}
    for name, loss in LOSSES.items():
        model = ordinal.fit_judged(splits.train, loss=loss, **settings)
        scores = scores_by_grade(model, training_documents)
        rows[name] = {
            "NR above SR": share_above(scores[0], scores[1]),
            "SR above MR": share_above(scores[1], scores[2]),
            **training_budget(model.meta),
        }
        for class_name, class_scores in zip(CLASSES, scores, strict=True):
            rows[name][f"mean {class_name}"] = float(class_scores.mean())
            for edge in EDGES:
                rows[name][f"{class_name} {edge}"] = float((class_scores <= edge).mean())
    return rows


def plot_figure_3(results: Results) -> dict[str, Any]:
    (rows,) = results.values.values()
    figure, axes = panels(len(rows), width=3)
    centers = [(left + right) / 2 for left, right in pairwise(EDGES)]
    for panel, (name, columns) in zip(axes, rows.items(), strict=True):
        for class_name in CLASSES:
            cumulative = np.array([np.mean(columns[f"{class_name} {edge}"]) for edge in EDGES])
            panel.plot(centers, np.diff(cumulative), label=class_name)
        panel.set(title=name, xlabel="score")
    axes[0].legend(fontsize=7)
    return {"figure.svg": figure}


def measure_figure_4(part: str, seed: int, *, smoke: bool) -> Rows:
    splits = split_judgments("fr", pages=90 if smoke else 1500, smoke=smoke)
    grids = {}
    for label, epsilon in list(FIGURE_4_EPSILONS.items())[:: 5 if smoke else 1]:
        settings = {"epsilon": epsilon, "clip": CLIPPING if label.endswith(", clipped") else None}
        thresholds = FIGURE_4_THRESHOLDS[: 1 if smoke else None]
        grids[f"epsilon {label}"] = [{**settings, "thresholds": choice} for choice in thresholds]
    return measure_grids(splits, grids, training_settings(splits, seed, smoke=smoke, smoke_epochs=1))


def plot_figure_4(results: Results) -> dict[str, Any]:
    return {"figure.svg": plot_columns(results, "epsilon", PLOTTED_MEASURES)}


def measure_figure_5(part: str, seed: int, *, smoke: bool) -> Rows:
    rows: Rows = {}
    for number in FIGURE_5_NEGATIVES[: 1 if smoke else None]:
        splits = split_judgments("fr", pages=90 if smoke else 1500, smoke=smoke, negatives=number)
        settings = training_settings(splits, seed, smoke=smoke, smoke_epochs=1)
        rows |= measure_grids(splits, {f"negatives {number}": [{"negatives": number}]}, settings)
        rows[f"{CHANCE_ROW}, {number}"] = measure_random_order(splits.test, seed)
    return rows


def plot_figure_5(results: Results) -> dict[str, Any]:
    return {"figure.svg": plot_columns(results, "irrelevant documents", PLOTTED_MEASURES)}


def parse_part(part: str) -> tuple[str, str]:
    """Split the name of a part, such as "ddtp en-da", into collection and language; without a collection it is MDN."""
    collection, _, lang = part.rpartition("en-")
    return collection.strip() or "mdn", lang


def split_judgments(lang: str, *, pages: int, smoke: bool, negatives: int = 40, collection: str = "mdn") -> JudgedSplit:
    """Make training, validation and test queries 3:1:1.

    :param pages: how many pages are used
    :param negatives: irrelevant documents per query
    """
    if collection == "lsclir":
        judged = original_data.read_lsclir(lang, pages if smoke else ORIGINAL_QUERIES)
    else:
        concepts = split_collection(collection, ["en", lang], test_tenths=0, lines=400 if smoke else None).train
        sample = sample_by_hash(select_multilingual(concepts, ["en", lang]), pages, 0)
        links = find_links(collection, sample)
        judged = judgments.from_aligned(sample, source="en", target=lang, links=links)
    train, valid, test = judgments.split(judged, (3, 1, 1), seed=0, family=partial(duplicate_group, collection))
    return JudgedSplit(train, *(judgments.sample_irrelevant(part, negatives, seed=0) for part in (valid, test)))


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


def training_settings(splits: JudgedSplit, seed: int, *, smoke: bool, smoke_epochs: int = 2) -> dict[str, Any]:
    """Return the settings of `ordinal.fit_judged` that all recipes share."""
    epochs = smoke_epochs if smoke else MAX_EPOCHS
    device = os.environ.get(DEVICE_VARIABLE, "cpu")
    return {"validation": [splits.valid], "seed": seed, "epochs": epochs, "patience": PATIENCE, "device": device}


def measure_grids(splits: JudgedSplit, grids: Grids, common: Mapping[str, Any]) -> Rows:
    """Measure for each row the model of its grid of settings that has the best validation nDCG@5.

    :param common: settings of all rows
    :return: the measures of each row, query by query, and its training budget
    """
    rows: Rows = {}
    for row, grid in grids.items():
        models = [ordinal.fit_judged(splits.train, **settings, **common) for settings in grid]
        best = max(models, key=lambda model: mean(score_judged(model, splits.valid, ["nDCG@5"]))["nDCG@5"])
        scores = score_judged(best, splits.test, MEASURES)
        rows[row] = {name: list(values.values()) for name, values in scores.items()} | training_budget(best.meta)
    return rows


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


def scores_by_grade(model: Encoder, judged: JudgedCollection) -> list[Floats]:
    """Score every judged document by the smooth cosine; return an array of scores for each grade."""
    scores: list[list[float]] = [[], [], []]
    for query_id, scores_of_query in score_documents(model, judged).items():
        for doc_id, score in scores_of_query.items():
            scores[judged.qrels[query_id][doc_id]].append(score)
    return [np.array(values or [0.0]) for values in scores]


def share_above(low: Floats, high: Floats) -> float:
    """Compute how often a value drawn from `low` is above one drawn from `high`."""
    return float(np.searchsorted(np.sort(high), low, side="left").mean() / len(high))


LENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
MAP_EPSILONS, FIGURE_1_EPSILONS = (0.05, 0.2, 0.5), (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)
DIRECTIONS = 721
GRID = np.linspace(-1, 1, 201)
GRADES = ("irrelevant", "partly relevant", "relevant")
SCORES = tuple(round(float(score), 1) + 0.0 for score in np.arange(-1, 1.01, 0.1))
FIGURE_2_THRESHOLDS = (0.0, 0.5)


def measure_figure_1(part: str, seed: int, *, smoke: bool) -> Rows:
    rows: Rows = {}
    if part == "heat map":
        for epsilon in MAP_EPSILONS:
            derivatives = differentiate(*np.meshgrid(GRID, GRID), epsilon)
            rows[f"epsilon {epsilon}"] = {"lowest": float(derivatives.min()), "highest": float(derivatives.max())}
        return rows
    for epsilon in FIGURE_1_EPSILONS:
        columns: Columns = {f"length {length}": steepest_gradient(length, epsilon) for length in LENGTHS}
        rows[f"epsilon {epsilon}"] = columns | ({"bound": 1 / epsilon} if epsilon else {})
    return rows


def plot_figure_1(results: Results) -> dict[str, Any]:
    gradients = replace(results, values={"gradient": results.values["gradient"]})
    figure = plot_lines(gradients, "|x|", LENGTHS, columns=[f"length {length}" for length in LENGTHS], log=True)
    figure.axes[0].set(yscale="log", ylabel="length of the gradient")
    heat_map, axes = panels(len(MAP_EPSILONS), width=3)
    for axis, epsilon in zip(axes, MAP_EPSILONS, strict=True):
        derivatives = differentiate(*np.meshgrid(GRID, GRID), epsilon)
        heat_map.colorbar(axis.pcolormesh(GRID, GRID, derivatives), ax=axis)
        axis.set(title=f"epsilon {epsilon}", xlabel="x1", ylabel="x2")
    return {"figure.svg": figure, "heat-map.png": heat_map}


def differentiate(x1: Any, x2: Any, epsilon: float) -> Floats:
    """Compute the partial derivative by x1 of the smooth cosine of (x1, x2) and (1, 1)."""
    length = np.hypot(x1, x2)
    cosine = np.divide(x1, length, out=np.zeros_like(length), where=length > 0)  # of x with the first axis
    return np.asarray((1 - (x1 + x2) * cosine / (length + epsilon)) / ((length + epsilon) * (np.sqrt(2) + epsilon)))


def steepest_gradient(length: float, epsilon: float) -> float:
    """Compute the longest gradient in x over directions of x, by central differences, for z = (1, 0)."""

    def smooth_cosine(x: Any) -> Floats:
        return np.asarray(x[:, 0] / ((np.linalg.norm(x, axis=1) + epsilon) * (1 + epsilon)))

    angles = np.linspace(0, np.pi, DIRECTIONS)
    x = length * np.stack([np.cos(angles), np.sin(angles)], 1)  # (directions, 2)
    step = length * 1e-5
    partials = [(smooth_cosine(x + step * axis) - smooth_cosine(x - step * axis)) / (2 * step) for axis in np.eye(2)]
    return float(np.linalg.norm(np.stack(partials, 1), axis=1).max())


def measure_figure_2(part: str, seed: int, *, smoke: bool) -> Rows:
    scores = torch.tensor(SCORES, dtype=torch.float64)
    grades = torch.full(scores.shape, GRADES.index(part))
    rows: Rows = {}
    for name, loss in (("SOSL", ordinal.sosl), ("MSE", ordinal.mse)):
        losses = loss(scores, grades, FIGURE_2_THRESHOLDS).tolist()
        rows[name] = {f"r = {score}": value for score, value in zip(SCORES, losses, strict=True)}
    return rows


def plot_figure_2(results: Results) -> dict[str, Any]:
    return {"figure.svg": plot_lines(results, "score", SCORES)}
