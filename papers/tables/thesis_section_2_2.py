"""Liu's section 2.2: which translations of a dictionary to keep: all, those of the word's part of speech, or one.

The thesis cites Ballesteros and Croft, who gained 22 % average precision by part of speech, and Oard, for whom one
translation at random reached 98 % of all. Here English titles (Tatoeba: sentences) find German texts by BM25 over
MUSE's translations; nothing is learned. "As many at random": of each word as many translations as the row above has of
it. Parts of speech are those of the Hanover Tagger (`papers.parts_of_speech`); rows that need it are left out where it
is not installed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from papers.corpora import Columns, Rows, make_known_item_task, open_term_index, sample_by_hash, split_titled_concepts
from papers.parts_of_speech import has_tagger, keep_alternatives, keep_part_of_speech
from papers.translators import build_muse_dictionary
from paragloss.evaluation import evaluate
from paragloss.search.lexical import Lexical
from paragloss.types import Document, Qrels, Query, Searcher, Translation

PARTS, COLUMNS = ("ddtp en-de", "lohelp en-de", "tatoeba en-de"), ("RR", "P@1", "translations")
DATA = ("ddtp/de.jsonl.gz", "lohelp/de.jsonl.gz", "tatoeba/en-de.tsv.gz", "muse/en-de.tsv.gz")


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    queries, documents, qrels = make_task(part.removesuffix(" en-de"), smoke)
    dictionary = build_muse_dictionary("de")
    all_translations = [dictionary.translate(query, "de") for query in queries]
    translations_by_row = {"All translations": all_translations}
    if has_tagger():
        same_part = [
            keep_part_of_speech(query, clauses, "de") for query, clauses in zip(queries, all_translations, strict=True)
        ]
        translations_by_row["Of the word's part of speech"] = same_part
        sizes = [[len(clause.alternatives) for clause in clauses] for clauses in same_part]
        translations_by_row["As many at random"] = sample_alternatives(all_translations, sizes, seed)
    ones = [[1] * len(clauses) for clauses in all_translations]
    translations_by_row["One at random"] = sample_alternatives(all_translations, ones, seed)
    with open_term_index(documents, ("title", "text")) as (store, statistics):
        searcher = Lexical(store, statistics)
        return {
            row: measure_translations(searcher, queries, translations, qrels)
            for row, translations in translations_by_row.items()
        }


def make_task(collection: str, smoke: bool) -> tuple[list[Query], list[Document], Qrels]:
    """Make the held-out concepts of a collection a task."""
    concepts = split_titled_concepts(collection, "de", lines=600 if smoke else None).test
    queries, documents, qrels = make_known_item_task(concepts, "en", ["de"])
    return sample_by_hash(queries, 20 if smoke else 1000, 0), documents, qrels


def sample_alternatives(
    translations: Sequence[Sequence[Translation]], sizes: Sequence[Sequence[int]], seed: int
) -> list[list[Translation]]:
    """Sample so many alternatives of each word of each query."""
    rng = random.Random(seed)
    return [
        [
            keep_alternatives(clause, rng.sample(clause.alternatives, size))
            for clause, size in zip(clauses, clause_sizes, strict=True)
        ]
        for clauses, clause_sizes in zip(translations, sizes, strict=True)
    ]


def measure_translations(
    searcher: Searcher, queries: Sequence[Query], translations: Sequence[Sequence[Translation]], qrels: Qrels
) -> Columns:
    """Search with translated queries; "translations" is the mean number of alternatives of a word."""
    translated = [
        Query(query.id, " ".join(clause.alternatives[0].text for clause in clauses), "de", tuple(clauses))
        for query, clauses in zip(queries, translations, strict=True)
    ]
    run = {q.id: hits for q, hits in zip(queries, searcher.search(translated, 100, {"lang": ["de"]}), strict=True)}
    scores = evaluate(run, {query.id: qrels[query.id] for query in queries}, ["RR", "P@1"])
    sizes = [len(clause.alternatives) for clauses in translations for clause in clauses]
    return {name: list(values.values()) for name, values in scores.items()} | {"translations": float(np.mean(sizes))}
