"""Weigh the parts of a fused pipeline by judgments: every part is asked once, then weighed in many ways.

Weights found here are measured on queries they were not chosen by: half of the queries choose, the other half measures,
and the other way round; all of them choose the weights that are returned.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from paragloss.collection import Collection, retrieval
from paragloss.errors import InputError
from paragloss.evaluation import Comparison, compare, evaluate
from paragloss.ranking import rank_hits
from paragloss.search.fused import fuse_scaled_scores
from paragloss.translation.combined import list_known_targets
from paragloss.types import Hit, Qrels, Query, RankedList

#: What a part may count; the part that counts most without judgments keeps its weight.
WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
_ROUNDS, _FEWEST, _DEPTH = 2, 20, 100


class Tuned(NamedTuple):
    """The parts with the weights they had and have; `test` compares both on queries that had no part in choosing."""

    parts: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    measure: str
    queries: int
    test: Comparison

    @property
    def pipeline(self) -> str:
        """What to search with; a part that counts nothing is left out."""
        weighted_parts = [(part, weight) for part, weight in zip(self.parts, self.after, strict=True) if weight > 0]
        return " + ".join(f"{weight:g}*{part}" for part, weight in weighted_parts)


def tune(
    engine: Collection, queries: Sequence[Query], qrels: Qrels, *, measure: str = "RR", to: Sequence[str] | None = None
) -> Tuned:
    """Learn weights for the parts of a search without a pipeline, for queries of one language."""
    judged_queries = [query for query in queries if any(grade > 0 for grade in qrels.get(query.id, {}).values())]
    if len(judged_queries) < _FEWEST:
        raise InputError(
            f"{len(judged_queries)} of {len(queries)} queries have a relevant document; at least {_FEWEST} must"
        )
    parts, rankings, judged_queries = _rank_by_parts(engine, judged_queries, to)
    weights = (1.0,) * len(parts)
    halves = [
        [i for i, query in enumerate(judged_queries) if zlib.crc32(query.id.encode()) % 2 == half] for half in (0, 1)
    ]
    score = _scorer(judged_queries, rankings, qrels, measure)
    held_out_scores: dict[str, float] = {}
    for chosen, held_out in (halves, halves[::-1]):
        held_out_scores |= score(_best(weights, partial(score, query_numbers=chosen)), held_out)
    everyone = range(len(judged_queries))
    after = _best(weights, partial(score, query_numbers=everyone))
    test = compare(score(weights, everyone), held_out_scores)
    return Tuned(parts, weights, after, measure, len(judged_queries), test)


def _rank_by_parts(
    engine: Collection, queries: Sequence[Query], to: Sequence[str] | None
) -> tuple[tuple[str, ...], list[list[RankedList]], list[Query]]:
    """Rank documents by each part of the collection that knows the language of the queries.

    Returns the names of the parts, for each query one ranking per part, and the queries with their language.
    """
    state = engine.state
    in_language = [retrieval.identify_query(state, query).query for query in queries]
    source, *other_langs = dict.fromkeys(query.lang for query in in_language)
    if other_langs:
        raise InputError(f"the queries are in {source}, {', '.join(other_langs)}: give those of one language at a time")
    targets = retrieval.resolve_targets(state, to)
    parts = state.parts()
    encoders = [name for name, encoder in parts.encoders.items() if source in encoder.langs]
    translators = [
        name for name, translator in parts.translators.items() if list_known_targets(translator, source, targets)
    ]
    names = ("bm25", *translators, *encoders)
    if len(names) < 2:
        raise InputError(f"this collection has one part for queries in {source!r}: there is nothing to weigh")
    where = {"lang": targets}
    by_part = [retrieval.build_searcher(state, n, source, targets).search(in_language, _DEPTH, where) for n in names]
    return names, [list(rankings) for rankings in zip(*by_part, strict=True)], in_language


def _scorer(
    queries: Sequence[Query], rankings: Sequence[Sequence[RankedList]], qrels: Qrels, measure: str
) -> Callable[..., dict[str, float]]:
    def score(weights: Sequence[float], query_numbers: Sequence[int]) -> dict[str, float]:
        run = {}
        for i in query_numbers:
            fused = fuse_scaled_scores(rankings[i], weights)
            run[queries[i].id] = rank_hits((Hit(doc_id, total) for doc_id, total in fused.items()), _DEPTH)
        return evaluate(run, {id: qrels[id] for id in run}, [measure])[measure]

    return score


def _best(weights: Sequence[float], score: Callable[[Sequence[float]], Mapping[str, float]]) -> tuple[float, ...]:
    """Improve one weight after the other, as often as it helps; of equals the present one stays."""
    best, best_score = tuple(weights), _mean(score(weights))
    fixed = max(range(len(best)), key=lambda i: (best[i], i > 0))  # among equals not words as they stand
    for _ in range(_ROUNDS):
        before = best
        for position in (i for i in range(len(best)) if i != fixed):
            for weight in WEIGHTS:
                tried = (*best[:position], weight, *best[position + 1 :])
                if (reached := _mean(score(tried))) > best_score + 1e-9:
                    best, best_score = tried, reached
        if best == before:
            break
    return best


def _mean(scores: Mapping[str, float]) -> float:
    return sum(scores.values()) / max(len(scores), 1)
