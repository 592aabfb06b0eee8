"""Cr5's tables and Figure 2: documents, sentences and words find their translations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from papers import original_data
from papers.corpora import (
    Columns,
    Rows,
    Split,
    hash_text,
    restrict_languages,
    sample_by_hash,
    select_multilingual,
    split_collection,
    split_sentences,
)
from papers.nearest_neighbours import SIMILARITIES, join_directions, measure_translation_retrieval, rank_of_targets
from papers.plots import plot_lines
from papers.runner import Results
from papers.translators import DICTIONARY_SIZE, read_muse, read_training_dictionary
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.kernel_features import normalize_rows
from paragloss.lab.learning import monolingual
from paragloss.lab.learning.counting import count, text_of
from paragloss.lab.methods import alignment, cr5
from paragloss.types import Concept, Query

LANGS = ("da", "en", "it", "ru")
PAIRS = ("da-en", "da-it", "da-ru", "en-it", "en-ru", "it-ru")
PAIRWISE_PAIRS = ("da-en", "da-ru", "en-it")  # the pairs for which the paper trains a model of two languages
JOINT_ROW = "Cr5, joint"
PAPER_SETTINGS: dict[str, Any] = {"lambda_": 1.0, "dim": 300, "solver": "converged"}
CUTS = (1, 2, 3, 5, 10, 20, 50, 100)


def measure_table_1(part: str, seed: int, *, smoke: bool) -> Rows:
    """Let descriptions in two languages, such as "da-en", find each other; rows are models, by cosine and CSLS."""
    source, target = part.split("-")
    descriptions = read_descriptions(smoke)
    size = 20 if smoke else 300
    bilingual = select_multilingual(descriptions.test, (source, target))
    queries = sample_by_hash(bilingual, size, 0)
    query_ids = {c.id for c in queries}
    others = [c for c in bilingual if c.id not in query_ids]
    distractors = [c for c in sample_by_hash(bilingual, 5 * size, 1) if c.id not in query_ids]

    def measure_both_directions(model: BagEncoder, distractors: Sequence[Concept], rule: str) -> Columns:
        forward = measure_translation_retrieval(model, queries, source, target, distractors, rule)
        backward = measure_translation_retrieval(model, queries, target, source, distractors, rule)
        return join_directions(forward, backward)

    rows: Rows = {}
    models = fit_document_models(part, descriptions, seed, smoke)
    for name, model in models.items():
        for rule in ("cosine", "CSLS"):
            columns = measure_both_directions(model, distractors, rule)
            rows[f"{name}, {rule}"] = columns | ({"λ": model.meta["lambda_"]} if name.startswith("Cr5") else {})
    rows[f"{JOINT_ROW}, all candidates, CSLS"] = measure_both_directions(models[JOINT_ROW], others, "CSLS")
    return rows


def measure_figure_2(part: str, seed: int, *, smoke: bool) -> Rows:
    """Measure how often descriptions find their translations among the first k, both directions averaged."""
    langs = part.split("-")
    descriptions = read_descriptions(smoke)
    concepts = sample_bilingual(descriptions, langs, 200 if smoke else 3000, seed)
    test = sample_by_hash(select_multilingual(descriptions.test, langs), 40 if smoke else 1000, 0)
    rows: Rows = {}
    for name, model in fit_compared_models(concepts, seed, smoke).items():
        first, second = (model.encode([c.texts[lang] for c in test], lang) for lang in langs)
        forward = rank_of_targets(first, second, range(len(test)), rule="CSLS")
        backward = rank_of_targets(second, first, range(len(test)), rule="CSLS")
        rows[name] = {f"P@{k}": float(((forward <= k).mean() + (backward <= k).mean()) / 2) for k in CUTS}
    return rows


def plot_figure_2(results: Results) -> dict[str, Any]:
    return {"figure.svg": plot_lines(results, "k", [float(k) for k in CUTS], log=True)}


def fit_document_models(pair: str, descriptions: Split, seed: int, smoke: bool) -> dict[str, BagEncoder]:
    """Fit every model that the paper has for a pair of languages."""
    size = 200 if smoke else 3000
    langs = pair.split("-")
    concepts = sample_bilingual(descriptions, langs, size, seed)
    models = fit_compared_models(concepts, seed, smoke)
    if pair in PAIRWISE_PAIRS:
        models["Cr5, pairwise"] = fit_cross_validated(concepts, seed)
        models["Cr5, pairwise, paper's settings"] = cr5.fit(concepts, seed=seed, **PAPER_SETTINGS)
    if pair == "da-ru":
        models["Cr5, pairwise, a third"] = fit_cross_validated(concepts[: len(concepts) // 3], seed)
        models["Cr5, transitive"] = fit_cross_validated(select_bridges(descriptions, langs, size, seed), seed)
    return models


def sample_bilingual(descriptions: Split, langs: Sequence[str], size: int, seed: int) -> list[Concept]:
    """Sample the concepts that a model of two languages learns from, with no other language."""
    bilingual = select_multilingual(descriptions.train, langs)
    return [restrict_languages(c, langs) for c in sample_by_hash(bilingual, size, seed)]


def fit_compared_models(concepts: list[Concept], seed: int, smoke: bool) -> dict[str, BagEncoder]:
    """Fit AdvRefine to the concepts of a pair, and the joint model: Table 1 and Figure 2 compare them."""
    settings: dict[str, Any] = {"dim": 50, "epochs": 1, "steps": 20} if smoke else {"dim": 200, "epochs": 3}
    adversarial = alignment.fit(concepts, method="advrefine", seed=seed, **settings)
    return {"AdvRefine": adversarial, JOINT_ROW: fit_joint_model(seed, smoke)}


@lru_cache(maxsize=3)
def fit_joint_model(seed: int, smoke: bool) -> BagEncoder:
    """Fit one model of all languages to the union of what each pair of them has."""
    train = read_descriptions(smoke).train
    size = 100 if smoke else 2000
    samples = [sample_by_hash(select_multilingual(train, pair.split("-")), size, seed) for pair in PAIRS]
    union = {c.id: c for sample in samples for c in sample}
    return fit_cross_validated([c._replace(titles={}) for c in union.values()], seed)


def fit_cross_validated(concepts: list[Concept], seed: int) -> BagEncoder:
    """Fit Cr5 with the λ that two folds of its training concepts choose."""
    return cr5.fit(concepts, seed=seed, lambda_=cr5.tune(concepts, folds=2, seed=seed).best)


def select_bridges(descriptions: Split, langs: Sequence[str], size: int, seed: int) -> list[Concept]:
    """Select concepts in English and one of two languages, such that no concept has both of them."""
    bridges: dict[str, Concept] = {}
    for lang, absent_lang, half in ((langs[0], langs[1], 0), (langs[1], langs[0], 1)):
        concepts = [
            c
            for c in select_multilingual(descriptions.train, (lang, "en"))
            if absent_lang not in c.texts or hash_text(c.id) % 2 == half
        ]
        bridges |= {c.id: restrict_languages(c, (lang, "en")) for c in sample_by_hash(concepts, size, seed)}
    return list(bridges.values())


def read_descriptions(smoke: bool) -> Split:
    """Read Debian's descriptions in all languages of the table."""
    return split_collection("ddtp", LANGS, lines=1500 if smoke else None)


MAX_CANDIDATES = 200_000  # of Europarl
DIRECTED_METHOD = "least-squares"  # the one map that differs by direction
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
#: Words and their translations, in the direction of the queries.
WordPairs: TypeAlias = Sequence[tuple[str, str]]
#: The models that are compared: "cr5 1" is Cr5 with λ = 1, "svd" a map, "least-squares it" the map to Italian.
Models: TypeAlias = Mapping[str, BagEncoder]


def measure_table_3(part: str, seed: int, *, smoke: bool) -> Rows:
    """Let sentences of "en-it" find their translations; "europarl en-it" has the paper's corpus. Rows are SYSTEMS."""
    corpus, _, lang = part.rpartition("en-")
    sentences = original_data.split_parallel_corpus(corpus.strip(), lang) if corpus else split_sentences(lang)
    test = sample_by_hash(sentences.test, 40 if smoke else 2000 if corpus else 1000, 0)
    distractors = select_distractors(sentences, test) if corpus else []
    validation = sample_by_hash(sentences.train, 40 if smoke else 500, seed)
    models = fit_word_models(lang, seed, smoke)
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


def measure_table_4(part: str, seed: int, *, smoke: bool) -> Rows:
    """Let words of "en-it" find their translations; "dinu en-it" has the paper's words. Rows are SYSTEMS."""
    dictionary, _, lang = part.rpartition("en-")
    models = fit_word_models(lang, seed, smoke)
    muse = read_muse(lang)
    test_entries = original_data.read_dinu_dictionary() if dictionary else muse[DICTIONARY_SIZE:]
    training, test = (
        [(entry.source.lower(), entry.target.lower()) for entry in entries]
        for entries in (muse[:DICTIONARY_SIZE], test_entries)
    )
    sizes = (30, 30) if smoke else (500, 1500 if dictionary else 500)
    forward = measure_direction(models, "en", lang, training, test, sizes, seed)
    reversed_pairs = ([(translation, word) for word, translation in pairs] for pairs in (training, test))
    backward = measure_direction(models, lang, "en", *reversed_pairs, sizes, seed)
    return {name: join_directions(forward[name], backward[name]) for name in SYSTEMS}


def select_distractors(sentences: Split, test: list[Concept], candidates: int = MAX_CANDIDATES) -> list[Concept]:
    """Select further sentences of a corpus, to have as many candidates as the paper if the corpus is that large."""
    test_ids = {c.id for c in test}
    others = [c for part in sentences for c in part if c.id not in test_ids]
    return sample_by_hash(others, candidates - len(test), 1)


def choose_lambda(models: Models, score: Callable[[BagEncoder], float]) -> float:
    """Choose the λ whose Cr5 model has the highest score."""
    return max(cr5.LAMBDAS, key=lambda lambda_: score(models[f"cr5 {lambda_:g}"]))


def select_model(models: Models, method: str, target: str, lambda_: float) -> BagEncoder:
    """Select the model of a method for documents in the target language."""
    if method == "cr5":
        return models[f"cr5 {lambda_:g}"]
    return models[f"{method} {target}" if method == DIRECTED_METHOD else method]


@lru_cache(maxsize=1)
def fit_word_models(lang: str, seed: int, smoke: bool) -> Models:
    """Fit all maps to the same word vectors, and Cr5 to the same descriptions with each λ."""
    descriptions = split_collection("ddtp", ["en", lang], lines=500 if smoke else None)
    train = sample_by_hash(select_multilingual(descriptions.train, ["en", lang]), 200 if smoke else 4000, seed)
    counts, _ = count(train, stem=False, min_df=3)
    dim = 50 if smoke else 200
    vectors = {
        code: monolingual.train_word_vectors(
            (text_of(c, code) for c in train), counts[code].vocabulary, dim=dim, seed=seed
        )
        for code in ("en", lang)
    }
    models = {}
    for method in dict.fromkeys(method for method, _ in SYSTEMS.values() if not method.startswith("cr5")):
        settings: dict[str, Any] = {"dictionary": read_training_dictionary(lang)}
        if method == "advrefine":
            settings = {"epochs": 1, "steps": 20} if smoke else {"epochs": 3}
        for onto in ("en", lang) if method == DIRECTED_METHOD else ("",):
            model = alignment.fit(train, method=method, onto=onto, vectors=vectors, seed=seed, **settings)
            models[f"{method} {onto}".strip()] = model
    for lambda_ in cr5.LAMBDAS:
        models[f"cr5 {lambda_:g}"] = cr5.fit(train, seed=seed, stem=False, lambda_=lambda_)
    return models


def measure_direction(
    models: Models,
    source: str,
    target: str,
    training: WordPairs,
    test: WordPairs,
    sizes: tuple[int, int],
    seed: int,
) -> Rows:
    """Measure how all systems translate words in one direction.

    :param training: the pairs that the maps were learned from
    :param sizes: numbers of validation and of test words
    """
    known_training, known_test = (list_translations(models, source, target, pairs) for pairs in (training, test))
    validation = sample_by_hash([Query(word, word, source) for word in known_training], sizes[0], seed)
    training_words = {word for word, _ in training}
    words = [Query(word, word, source) for word in known_test if word not in training_words]
    queries = sample_by_hash(words, sizes[1], 0)

    def score(model: BagEncoder) -> float:
        return float(np.mean(measure_words(model, target, validation, known_training, "cosine")["P@1"]))

    best_lambda = choose_lambda(models, score)
    rows: Rows = {}
    for name, (method, rule) in SYSTEMS.items():
        model = select_model(models, method, target, best_lambda)
        rows[name] = measure_words(model, target, queries, known_test, rule)
        rows[name] |= {"λ": best_lambda} if method == "cr5" else {}
    return rows


def list_translations(models: Models, source: str, target: str, pairs: WordPairs) -> dict[str, set[str]]:
    """List the translations of each word, of words and translations that all models know."""
    known_words, known_translations = (
        set.intersection(*(set(model.tower(lang).vocabulary.terms) for model in models.values()))
        for lang in (source, target)
    )
    translations: dict[str, set[str]] = {}
    for word, translation in pairs:
        if word in known_words and translation in known_translations:
            translations.setdefault(word, set()).add(translation)
    return translations


def measure_words(
    model: BagEncoder, target: str, queries: list[Query], translations: dict[str, set[str]], rule: str
) -> Columns:
    """Measure how often one of a word's translations is among the first k of all words of the target language."""
    source = queries[0].lang
    source_rows = {term: row for row, term in enumerate(model.tower(source).vocabulary.terms)}
    terms = list(model.tower(target).vocabulary.terms)
    query_vectors = normalize_rows(model.words(source)[[source_rows[query.id] for query in queries]])
    scores = SIMILARITIES[rule](query_vectors, normalize_rows(model.words(target)))
    nearest = np.argsort(-scores, axis=1, kind="stable")[:, :10].tolist()  # (queries, 10)
    is_right = np.array(
        [[terms[i] in translations[query.id] for i in row] for query, row in zip(queries, nearest, strict=True)]
    )
    precisions = {f"P@{k}": float(is_right[:, :k].any(1).mean()) for k in (1, 5, 10)}
    return {**precisions, "words": float(len(queries))}
