"""Cr5's Table 3: sentences find their translations, by Cr5 learned from documents and by maps between word spaces.

Theirs: Europarl en-it, 200,000 candidates, Cr5 and word vectors from Wikipedia, a dictionary of 5,000 pairs. Ours: Cr5
and each language's own word vectors (PPMI, 200 dimensions) from Debian's descriptions; sentences of Tatoeba; MUSE pairs
as the dictionary. Neither learns from sentences. λ is the best on other sentences than the queries, as the authors
chose theirs; λ = 1 is shown too. A map that is not the same in both directions goes from the language of the queries to
that of the documents. Europarl, with 200,000 candidates, is a part where its files are present
(`papers.original_data`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from papers import original_data
from papers.corpora import Rows, Split, sample_by_hash, select_multilingual, split_collection, split_sentences
from papers.nearest_neighbours import join_directions, measure_translation_retrieval
from papers.translators import read_training_dictionary
from paragloss.encoders.bag import BagEncoder
from paragloss.lab.learning import monolingual
from paragloss.lab.learning.counting import count, text_of
from paragloss.lab.methods import alignment, cr5
from paragloss.types import Concept

PARTS = ("en-it", "en-da", "en-fr")
ORIGINAL_PARTS = {"europarl en-it": ("europarl/*.en", "europarl/*.it")}
DATA = ("ddtp/it.jsonl.gz", "ddtp/da.jsonl.gz", "ddtp/fr.jsonl.gz", "tatoeba/en-it.tsv.gz", "muse/en-it.tsv.gz")
MAX_CANDIDATES = 200_000  # of Europarl
DIRECTED_METHOD = "least-squares"  # the one map that differs by direction
COLUMNS = ("P@1", "P@5", "P@10", "back P@1", "back P@5", "back P@10", "λ")
#: Row -> the map between word spaces, and the rule by which its authors find the nearest neighbour.
SYSTEMS = {
    "Mikolov et al.": ("least-squares", "cosine"),
    "Dinu et al.": ("least-squares", "corrected"),
    "Faruqui and Dyer": ("cca", "cosine"),
    "Artetxe et al. 2016": ("orthogonal", "cosine"),
    "Artetxe et al.": ("self-learning", "cosine"),
    "Smith et al.": ("svd", "inverted"),
    "Procrustes (cosine)": ("procrustes", "cosine"),
    "Procrustes (CSLS)": ("procrustes", "CSLS"),
    "AdvRefine (CSLS)": ("advrefine", "CSLS"),
    "Cr5 (cosine)": ("cr5", "cosine"),
    "Cr5 (CSLS)": ("cr5", "CSLS"),
    "Cr5, λ = 1 (cosine)": ("cr5 1", "cosine"),
    "Cr5, λ = 1 (CSLS)": ("cr5 1", "CSLS"),
}


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    corpus, _, lang = part.rpartition("en-")
    sentences = original_data.split_parallel_corpus(corpus.strip(), lang) if corpus else split_sentences(lang)
    test = sample_by_hash(sentences.test, 40 if smoke else 2000 if corpus else 1000, 0)
    distractors = select_distractors(sentences, test) if corpus else []
    validation = sample_by_hash(sentences.train, 40 if smoke else 500, seed)
    models = fit_models(lang, seed, smoke)
    directions = (("en", lang), (lang, "en"))

    def score(model: BagEncoder) -> float:
        scores = [measure_translation_retrieval(model, validation, *direction)["P@1"] for direction in directions]
        return float(np.mean(scores))

    best_lambda = choose_lambda(models, score)
    rows: Rows = {}
    for name, (method, rule) in SYSTEMS.items():
        forward, backward = (
            measure_translation_retrieval(
                select_model(models, method, target, best_lambda), test, source, target, distractors, rule
            )
            for source, target in directions
        )
        rows[name] = join_directions(forward, backward) | ({"λ": best_lambda} if method == "cr5" else {})
    return rows


def select_distractors(sentences: Split, test: list[Concept], candidates: int = MAX_CANDIDATES) -> list[Concept]:
    """Select further sentences of a corpus, to have as many candidates as the paper if the corpus is that large."""
    test_ids = {c.id for c in test}
    others = [c for part in sentences for c in part if c.id not in test_ids]
    return sample_by_hash(others, candidates - len(test), 1)


def choose_lambda(models: dict[str, BagEncoder], score: Callable[[BagEncoder], float]) -> float:
    """Choose the λ whose Cr5 model has the highest score."""
    return max(cr5.LAMBDAS, key=lambda lambda_: score(models[f"cr5 {lambda_:g}"]))


def select_model(models: dict[str, BagEncoder], method: str, target: str, lambda_: float) -> BagEncoder:
    """Select the model of a method for documents in the target language."""
    if method == "cr5":
        return models[f"cr5 {lambda_:g}"]
    return models[f"{method} {target}" if method == DIRECTED_METHOD else method]


@lru_cache(maxsize=1)
def fit_models(lang: str, seed: int, smoke: bool) -> dict[str, BagEncoder]:
    """Fit all maps to the same word vectors, and Cr5 to the same descriptions with each λ."""
    descriptions = split_collection("ddtp", ["en", lang], lines=500 if smoke else None)
    train = sample_by_hash(select_multilingual(descriptions.train, ["en", lang]), 200 if smoke else 4000, seed)
    dictionary = read_training_dictionary(lang)
    vectors = train_word_vectors(train, ("en", lang), dim=50 if smoke else 200, seed=seed)
    models = {}
    for method in dict.fromkeys(method for method, _ in SYSTEMS.values() if not method.startswith("cr5")):
        settings: dict[str, Any] = {"dictionary": dictionary}
        if method == "advrefine":
            settings = {"epochs": 1, "steps": 20} if smoke else {"epochs": 3}
        for onto in ("en", lang) if method == DIRECTED_METHOD else ("",):
            model = alignment.fit(train, method=method, onto=onto, vectors=vectors, seed=seed, **settings)
            models[f"{method} {onto}".strip()] = model
    for lambda_ in cr5.LAMBDAS:
        models[f"cr5 {lambda_:g}"] = cr5.fit(train, seed=seed, stem=False, lambda_=lambda_)
    return models


def train_word_vectors(
    concepts: list[Concept], langs: tuple[str, ...], *, dim: int, seed: int
) -> dict[str, monolingual.WordEmbeddings]:
    """Train word vectors of each language from its own texts."""
    counts, _ = count(concepts, stem=False, min_df=3)
    return {
        lang: monolingual.train_word_vectors(
            (text_of(c, lang) for c in concepts), counts[lang].vocabulary, dim=dim, seed=seed
        )
        for lang in langs
    }
