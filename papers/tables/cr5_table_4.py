"""Cr5's Table 4: words find their translations, by the word vectors of Cr5 and of maps between word spaces.

Theirs: Dinu's en-it dictionary, 1,500 words, 200,000 candidates. Ours: MUSE pairs whose words all models know
and whose English word is not among the pairs that the maps were learned from; candidates are all words of the other
language; the models of Table 3, λ the best on pairs that the maps were learned from, as the authors chose theirs.
Dinu's pairs are a part where their file is present (`papers.original_data`).
"""

from __future__ import annotations

import numpy as np

from papers import original_data
from papers.corpora import Columns, Rows, data_folder, sample_by_hash
from papers.nearest_neighbours import SIMILARITIES, normalize_rows
from papers.tables import cr5_table_3
from papers.tables.cr5_table_3 import DICTIONARY_SIZE, SYSTEMS, choose_lambda, fit_models, select_model
from paragloss.encoders.bag import BagEncoder
from paragloss.formats.dictionaries import Entry, read_pairs
from paragloss.types import Query

DATA, PARTS = cr5_table_3.DATA, cr5_table_3.PARTS
COLUMNS = ("P@1", "P@5", "P@10", "words", "λ")
ORIGINAL_PARTS = {"dinu en-it": ("dinu/*test*",)}


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    dictionary, _, lang = part.rpartition("en-")
    models = fit_models(lang, seed, smoke)
    entries = list(read_pairs(data_folder() / "muse" / f"en-{lang}.tsv.gz"))
    training_words = {entry.source.lower() for entry in entries[:DICTIONARY_SIZE]}
    training_pairs = common_translations(list(models.values()), lang, entries[:DICTIONARY_SIZE])
    validation = sample_by_hash([Query(word, word, "en") for word in training_pairs], 30 if smoke else 500, seed)

    def score(model: BagEncoder) -> float:
        return float(np.mean(measure_words(model, lang, validation, training_pairs, "cosine")["P@1"]))

    best_lambda = choose_lambda(models, score)
    test_entries = original_data.read_dinu_dictionary() if dictionary else entries[DICTIONARY_SIZE:]
    test_pairs = common_translations(list(models.values()), lang, test_entries)
    words = [Query(word, word, "en") for word in test_pairs if word not in training_words]
    queries = sample_by_hash(words, 30 if smoke else 1500 if dictionary else 500, 0)
    rows: Rows = {}
    for name, (method, rule) in SYSTEMS.items():
        model = select_model(models, method, lang, best_lambda)
        rows[name] = measure_words(model, lang, queries, test_pairs, rule)
        rows[name] |= {"λ": best_lambda} if method == "cr5" else {}
    return rows


def common_translations(models: list[BagEncoder], lang: str, entries: list[Entry]) -> dict[str, set[str]]:
    """Map English words that every model knows to those of their translations that every model knows."""
    english, foreign = (
        set.intersection(*(set(model.tower(code).vocabulary.terms) for model in models)) for code in ("en", lang)
    )
    translations: dict[str, set[str]] = {}
    for entry in entries:
        word, translation = entry.source.lower(), entry.target.lower()
        if word in english and translation in foreign:
            translations.setdefault(word, set()).add(translation)
    return translations


def measure_words(
    model: BagEncoder, lang: str, queries: list[Query], translations: dict[str, set[str]], rule: str
) -> Columns:
    """Measure how often one of a word's translations is among the first k of all words of the language."""
    english_rows = {term: row for row, term in enumerate(model.tower("en").vocabulary.terms)}
    terms = list(model.tower(lang).vocabulary.terms)
    query_vectors = normalize_rows(model.words("en")[[english_rows[query.id] for query in queries]])
    scores = SIMILARITIES[rule](query_vectors, normalize_rows(model.words(lang)))
    nearest = np.argsort(-scores, axis=1, kind="stable")[:, :10].tolist()  # (queries, 10)
    is_right = np.array(
        [[terms[i] in translations[query.id] for i in row] for query, row in zip(queries, nearest, strict=True)]
    )
    precisions = {f"P@{k}": float(is_right[:, :k].any(1).mean()) for k in (1, 5, 10)}
    return {**precisions, "words": float(len(queries))}
