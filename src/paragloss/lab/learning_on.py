"""What was learning on from a table worth? Held-out texts are looked for with it, before and after, as the product
searches."""

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
from paragloss.types import Aligned, Document, Query

#: A text without a title is asked for by so many of its first words.
_WORDS = 8


class Gain(NamedTuple):
    """Mean reciprocal rank of held-out texts before and after learning on, from one language to another."""

    source: str
    target: str
    texts: int
    before: float
    after: float


def gain(aligned: Aligned, *, start: str, most: int = 1000, **options: Any) -> list[Gain]:
    """By how much learning on from `start` with these texts helps: every tenth concept is held out, a table is learned
    from the rest, and the beginning of each held-out text (or its title) has to find it in the other language."""
    held_out, rest = aligned[::10][:most], [concept for i, concept in enumerate(aligned) if i % 10]
    learned = table.fit(rest, start=start, **options)
    begun = load_start_table(start, learned.pairs)
    gains = []
    for source, target in permutations(sorted({lang for concept in held_out for lang in concept.texts}), 2):
        both = [concept for concept in held_out if {source, target} <= concept.texts.keys()]
        if len(both) > 1 and (source, target) in learned.probabilities:
            before = _found(begun, both, source, target) if (source, target) in begun.probabilities else 0.0
            gains.append(Gain(source, target, len(both), before, _found(learned, both, source, target)))
    return gains


def _found(model: Table, both: Aligned, source: str, target: str) -> float:
    """Mean reciprocal rank of texts that are asked for by the title, or the first words, of their counterparts."""
    asked = []
    for concept in both:
        text = concept.titles.get(source) or concept.texts[source]
        ends = [span.end for span in analyzer(source).spans(text)[:_WORDS]]
        asked.append(Query(concept.id, text[: ends[-1]] if ends else "", source))
    with tempfile.TemporaryDirectory() as place:
        model.save(Path(place, "table"))
        with Collection.create(f"{place}/c", models=[f"{place}/table"], default=False) as engine:
            engine.index([Document(concept.id, concept.texts[target], target) for concept in both])
            said = [query for query in asked if query.text]
            rankings = engine.rank(said, k=len(both), to=[target], pipeline="table")
    run = dict(zip((query.id for query in said), rankings, strict=True))
    return mean(evaluate(run, {concept.id: {concept.id: 1} for concept in both}, ["RR"]))["RR"]
