"""Learn the weights of the parts of a fused pipeline from judgments: every part searches once, then weights are tried.

To measure the gain without bias, each half of the queries is scored with weights that were chosen on the other half.
The weights that are returned are chosen on all queries.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from paragloss.collection import Collection, retrieval
from paragloss.collection.state import State
from paragloss.errors import InputError
from paragloss.evaluation import Comparison, compare, evaluate
from paragloss.ranking import rank_hits
from paragloss.search.fused import fuse_scaled_scores
from paragloss.translation.combined import list_known_targets
from paragloss.types import Hit, Qrels, Query, RankedList

#: Weights that are tried for a part.
WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
#: How often all parts are gone through, queries needed, and documents that each part ranks.
ROUNDS, MIN_QUERIES, DEPTH = 2, 20, 100
#: A mean score that is higher by less than this may be a rounding error.
MIN_IMPROVEMENT = 1e-9


class Tuned(NamedTuple):
    """The parts of a pipeline, their weights before and after, and what the change gained."""

    parts: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    measure: str
    queries: int
    test: Comparison  # of weights that were chosen on other queries

    @property
    def pipeline(self) -> str:
        """The pipeline with the new weights; a part of weight zero is left out."""
        weighted_parts = [(part, weight) for part, weight in zip(self.parts, self.after, strict=True) if weight > 0]
        return " + ".join(f"{weight:g}*{part}" for part, weight in weighted_parts)


def tune(
    engine: Collection, queries: Sequence[Query], qrels: Qrels, *, measure: str = "RR", to: Sequence[str] | None = None
) -> Tuned:
    """Learn weights for the parts of a collection's search.

    :param engine: the collection to search
    :param queries: queries of one language; those without a relevant document are left out
    :param measure: the measure to improve, such as "RR" or "nDCG@10"
    :param to: languages of the documents; all by default
    :raises InputError: if there are too few queries, or they are in several languages
    """
    judged_queries = [query for query in queries if any(grade > 0 for grade in qrels.get(query.id, {}).values())]
    if len(judged_queries) < MIN_QUERIES:
        raise InputError(
            f"{len(judged_queries)} of {len(queries)} queries have a relevant document; at least {MIN_QUERIES} must"
        )
    parts, rankings, judged_queries = _rank_by_parts(engine, judged_queries, to)
    scorer = _FusionScorer(judged_queries, rankings, qrels, measure)
    weights = (1.0,) * len(parts)
    held_out_scores: dict[str, float] = {}
    first_half, second_half = _split_in_halves(judged_queries)
    for chosen, held_out in ((first_half, second_half), (second_half, first_half)):
        best_weights = _choose_weights(weights, partial(scorer.score_queries, chosen))
        held_out_scores |= scorer.score_queries(held_out, best_weights)
    all_numbers = range(len(judged_queries))
    after = _choose_weights(weights, partial(scorer.score_queries, all_numbers))
    test = compare(scorer.score_queries(all_numbers, weights), held_out_scores)
    return Tuned(parts, weights, after, measure, len(judged_queries), test)


def _split_in_halves(queries: Sequence[Query]) -> tuple[list[int], list[int]]:
    """Split queries, by their numbers, into two halves that depend on their ids only."""
    halves: tuple[list[int], list[int]] = ([], [])
    for number, query in enumerate(queries):
        halves[zlib.crc32(query.id.encode()) % 2].append(number)
    return halves


def _rank_by_parts(
    engine: Collection, queries: Sequence[Query], to: Sequence[str] | None
) -> tuple[tuple[str, ...], list[list[RankedList]], list[Query]]:
    """Rank documents by each part of the collection that knows the language of the queries.

    :param to: languages of the documents; None for all
    :return: the names of the parts, for each query one ranking per part, and the queries with their language
    :raises InputError: if the queries are in several languages, or only one part knows their language
    """
    state = engine.state
    identified_queries = [retrieval.identify_query(state, query).query for query in queries]
    source = _require_one_language(identified_queries)
    targets = retrieval.resolve_targets(state, to)
    part_names = _list_part_names(state, source, targets)
    if len(part_names) < 2:
        raise InputError(f"this collection has one part for queries in {source!r}: there is nothing to weigh")
    rankings_by_part = []
    for name in part_names:
        searcher = retrieval.build_searcher(state, name, source, targets)
        rankings_by_part.append(searcher.search(identified_queries, DEPTH, {"lang": targets}))
    rankings_by_query = [list(rankings) for rankings in zip(*rankings_by_part, strict=True)]
    return part_names, rankings_by_query, identified_queries


def _require_one_language(queries: Sequence[Query]) -> str:
    """Return the language that all queries are in; raise InputError if they are in several."""
    lang, *other_langs = dict.fromkeys(query.lang for query in queries)
    if other_langs:
        raise InputError(f"the queries are in {lang}, {', '.join(other_langs)}: give those of one language at a time")
    return lang


def _list_part_names(state: State, source: str, targets: Sequence[str]) -> tuple[str, ...]:
    """List the parts of a collection that search for queries in `source`: "bm25", translators, then encoders."""
    parts = state.parts()
    translators = []
    for name, translator in parts.translators.items():
        if list_known_targets(translator, source, targets):
            translators.append(name)
    encoders = [name for name, encoder in parts.encoders.items() if source in encoder.langs]
    return ("bm25", *translators, *encoders)


class _FusionScorer(NamedTuple):
    """Measures weighted fusions of the rankings of the parts."""

    queries: Sequence[Query]
    rankings: Sequence[Sequence[RankedList]]  # for each query one ranking per part
    qrels: Qrels
    measure: str  # such as "RR"

    def score_queries(self, query_numbers: Sequence[int], weights: Sequence[float]) -> dict[str, float]:
        """Return the score of each query, by id, if the parts have these weights."""
        run, qrels = {}, {}
        for number in query_numbers:
            query_id = self.queries[number].id
            fused = fuse_scaled_scores(self.rankings[number], weights)
            run[query_id] = rank_hits((Hit(doc_id, score) for doc_id, score in fused.items()), DEPTH)
            qrels[query_id] = self.qrels[query_id]
        return evaluate(run, qrels, [self.measure])[self.measure]


def _choose_weights(
    weights: Sequence[float], score: Callable[[Sequence[float]], Mapping[str, float]]
) -> tuple[float, ...]:
    """Improve one weight after the other until no change raises the mean score, or ROUNDS rounds are over.

    :param score: weights -> scores by query id
    """
    best, best_score = tuple(weights), _mean(score(weights))
    # One weight is fixed, since only ratios count: the highest, and among equal ones not the first, which is "bm25".
    fixed = max(range(len(best)), key=lambda i: (best[i], i > 0))
    changed_positions = [position for position in range(len(best)) if position != fixed]
    for _ in range(ROUNDS):
        previous = best
        for position in changed_positions:
            for weight in WEIGHTS:
                candidate = (*best[:position], weight, *best[position + 1 :])
                candidate_score = _mean(score(candidate))
                if candidate_score > best_score + MIN_IMPROVEMENT:
                    best, best_score = candidate, candidate_score
        if best == previous:
            break
    return best


def _mean(scores: Mapping[str, float]) -> float:
    return sum(scores.values()) / max(len(scores), 1)
