"""Cr5's Table 4: words find their translations, by the word vectors of Cr5 and of maps between word spaces.

Theirs: Dinu's en-it dictionary, 1,500 words, 200,000 candidates. Ours: MUSE pairs whose words all models know
and whose queried word is not among the pairs that the maps were learned from; candidates are all words of the other
language; the models of Table 3, λ the best on pairs that the maps were learned from, as the authors chose theirs.
"back": words of the other language find English ones. Dinu's pairs are a part where their file is present
(`papers.original_data`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from papers import original_data
from papers.corpora import Columns, Rows, sample_by_hash
from papers.nearest_neighbours import SIMILARITIES, join_directions, normalize_rows
from papers.tables import cr5_table_3
from papers.tables.cr5_table_3 import SYSTEMS, choose_lambda, fit_models, select_model
from papers.translators import DICTIONARY_SIZE, read_muse
from paragloss.encoders.bag import BagEncoder
from paragloss.types import Query

DATA, PARTS = cr5_table_3.DATA, cr5_table_3.PARTS
COLUMNS = ("P@1", "P@5", "P@10", "words", "back P@1", "back P@5", "back P@10", "back words", "λ", "back λ")
ORIGINAL_PARTS = {"dinu en-it": ("dinu/*test*",)}
VALIDATION_SIZE = 500
#: Words and their translations, in the direction of the queries.
WordPairs: TypeAlias = Sequence[tuple[str, str]]


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    dictionary, _, lang = part.rpartition("en-")
    models = fit_models(lang, seed, smoke)
    muse = read_muse(lang)
    test_entries = original_data.read_dinu_dictionary() if dictionary else muse[DICTIONARY_SIZE:]
    training, test = (
        [(entry.source.lower(), entry.target.lower()) for entry in entries]
        for entries in (muse[:DICTIONARY_SIZE], test_entries)
    )
    sizes = (30, 30) if smoke else (VALIDATION_SIZE, 1500 if dictionary else 500)
    forward = measure_direction(models, "en", lang, training, test, sizes, seed)
    reversed_pairs = ([(translation, word) for word, translation in pairs] for pairs in (training, test))
    backward = measure_direction(models, lang, "en", *reversed_pairs, sizes, seed)
    return {name: join_directions(forward[name], backward[name]) for name in SYSTEMS}


def measure_direction(
    models: dict[str, BagEncoder],
    source: str,
    target: str,
    training: WordPairs,
    test: WordPairs,
    sizes: tuple[int, int],
    seed: int,
) -> Rows:
    """Measure all systems in one direction.

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


def list_translations(models: dict[str, BagEncoder], source: str, target: str, pairs: WordPairs) -> dict[str, set[str]]:
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
