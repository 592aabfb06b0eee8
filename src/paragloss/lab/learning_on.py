"""Measure what learning on from a table gains: held-out texts are searched with the table before and after."""

from __future__ import annotations

import tempfile
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

from paragloss.analysis import analyzer
from paragloss.collection import Collection
from paragloss.evaluation import evaluate, mean
from paragloss.lab.methods import table
from paragloss.translation.table_learning import load_start_table
from paragloss.translation.word_table import Table
from paragloss.types import Aligned, Concept, Document, Query

#: The query for a text without a title is this many of its first words.
QUERY_WORDS = 8
#: One concept in this many is held out.
HELD_OUT_STEP = 10


class Gain(NamedTuple):
    """Mean reciprocal rank of held-out texts before and after learning, from one language to another."""

    source: str
    target: str
    texts: int
    before: float
    after: float


def measure_gains(aligned: Aligned, *, start: str, max_held_out: int = 1000, **options: Any) -> list[Gain]:
    """Measure how much learning on from `start` with these texts improves the search for held-out texts.

    Every tenth concept is held out, a table is learned from the others, and the title or the beginning of each held-out
    text is a query for it in the other language.

    :param start: "default", or the folder of a saved table
    :param max_held_out: the largest number of held-out concepts
    :param options: settings of `table.fit`
    :return: one Gain for each direction between two languages
    """
    held_out = aligned[::HELD_OUT_STEP][:max_held_out]
    train = [concept for i, concept in enumerate(aligned) if i % HELD_OUT_STEP]
    learned = table.fit(train, start=start, **options)
    start_table = load_start_table(start, learned.pairs)
    langs = sorted({lang for concept in held_out for lang in concept.texts})
    gains = []
    for source, target in permutations(langs, 2):
        concepts = [concept for concept in held_out if source in concept.texts and target in concept.texts]
        if len(concepts) >= 2 and (source, target) in learned.probabilities:
            before, after = (measure_table(model, concepts, source, target) for model in (start_table, learned))
            gains.append(Gain(source, target, len(concepts), before, after))
    return gains


def measure_table(model: Table, concepts: Aligned, source: str, target: str) -> float:
    """Compute the mean reciprocal rank of texts searched by the titles or first words of their translations.

    :param source: language of the queries
    :param target: language of the texts
    :return: 0 if the table does not translate between the languages
    """
    if (source, target) not in model.probabilities:
        return 0.0
    queries = [_make_query(concept, source) for concept in concepts]
    queries = [query for query in queries if query.text]
    documents = [Document(concept.id, concept.texts[target], target) for concept in concepts]
    with tempfile.TemporaryDirectory() as folder:
        table_folder = Path(folder, "table")
        model.save(table_folder)
        with Collection.create(f"{folder}/c", models=[str(table_folder)], default=False) as collection:
            collection.index(documents)
            rankings = collection.rank(queries, k=len(concepts), to=[target], pipeline="table")
    run = {query.id: ranking for query, ranking in zip(queries, rankings, strict=True)}
    qrels = {concept.id: {concept.id: 1} for concept in concepts}
    return mean(evaluate(run, qrels, ["RR"]))["RR"]


def _make_query(concept: Concept, lang: str) -> Query:
    """Make a query of a concept's title in one language, or of the first words of its text; "" if it has no words."""
    text = concept.titles.get(lang) or concept.texts[lang]
    spans = analyzer(lang).spans(text)[:QUERY_WORDS]
    return Query(concept.id, text[: spans[-1].end] if spans else "", lang)
