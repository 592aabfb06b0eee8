"""Which weights do judgments ask for? The parts of a fusion are asked once, then weighed in many ways.

Without judgments the weights are those of docs/understand/fusion.md. Weights found here are measured on queries they
were not chosen by: half of the queries choose, the other half measures, and the other way round; all choose those
handed out.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from paragloss.collection import Collection, retrieval
from paragloss.errors import InputError
from paragloss.evaluation import Comparison, compare, evaluate
from paragloss.search.calibrated import Calibrated, merged
from paragloss.types import Qrels, Query

#: What a part may count; the part that counts most without judgments keeps its weight.
WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
_ROUNDS, _FEWEST, _DEPTH = 2, 20, 100

Shares = Sequence[Sequence[Sequence[Mapping[str, float]]]]


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
        kept = [(part, weight) for part, weight in zip(self.parts, self.after, strict=True) if weight > 0]
        return " + ".join(f"{weight:g}*{part}" for part, weight in kept)


def tune(
    engine: Collection, queries: Sequence[Query], qrels: Qrels, *, measure: str = "RR", to: Sequence[str] | None = None
) -> Tuned:
    """Weights for the parts of a search without a pipeline, for queries of one language."""
    asked = [query for query in queries if any(grade > 0 for grade in qrels.get(query.id, {}).values())]
    if len(asked) < _FEWEST:
        raise InputError(f"{len(asked)} of {len(queries)} queries have a relevant document; at least {_FEWEST} must")
    parts, searcher, asked = _fusion(engine, asked, to)
    shares = [gathered.shares for gathered in searcher.gather(asked, _DEPTH)]
    halves = [[i for i, query in enumerate(asked) if zlib.crc32(query.id.encode()) % 2 == half] for half in (0, 1)]
    score = _scorer(searcher, asked, shares, qrels, measure)
    found: dict[str, float] = {}
    for chosen, held_out in (halves, halves[::-1]):
        found |= score(_best(searcher.weights, partial(score, which=chosen)), held_out)
    everyone = range(len(asked))
    after = _best(searcher.weights, partial(score, which=everyone))
    test = compare(score(searcher.weights, everyone), found)
    return Tuned(parts, searcher.weights, after, measure, len(asked), test)


def _fusion(
    engine: Collection, queries: Sequence[Query], to: Sequence[str] | None
) -> tuple[tuple[str, ...], Calibrated, list[Query]]:
    """What a search without a pipeline fuses: its parts' names in the order of their weights, the searcher, and the
    queries with their language."""
    state = engine.state
    asked = [retrieval.understood(state, query)[0] for query in queries]
    source, *others = dict.fromkeys(query.lang for query in asked)
    if others:
        raise InputError(f"the queries are in {source}, {', '.join(others)}: give those of one language at a time")
    targets = retrieval.targets_of(state, to)
    searcher = retrieval.searcher(state, None, source, targets)
    if not isinstance(searcher, Calibrated):
        raise InputError(f"this collection has one part for queries in {source!r}: there is nothing to weigh")
    return searcher.names, searcher, asked


def _scorer(
    searcher: Calibrated, queries: Sequence[Query], shares: Shares, qrels: Qrels, measure: str
) -> Callable[..., dict[str, float]]:
    def score(weights: Sequence[float], which: Sequence[int]) -> dict[str, float]:
        run = {queries[i].id: merged(searcher.weighed(shares[i], weights), _DEPTH) for i in which}
        return evaluate(run, {id: qrels[id] for id in run}, [measure])[measure]

    return score


def _best(weights: Sequence[float], score: Callable[[Sequence[float]], Mapping[str, float]]) -> tuple[float, ...]:
    """One weight after the other, as often as it helps; of equals the one that was there."""
    best, most = tuple(weights), _mean(score(weights))
    fixed = max(range(len(best)), key=lambda i: (best[i], i > 0))  # among equals not words as they stand
    for _ in range(_ROUNDS):
        before = best
        for place in (i for i in range(len(best)) if i != fixed):
            for weight in WEIGHTS:
                tried = (*best[:place], weight, *best[place + 1 :])
                if (reached := _mean(score(tried))) > most + 1e-9:
                    best, most = tried, reached
        if best == before:
            break
    return best


def _mean(scores: Mapping[str, float]) -> float:
    return sum(scores.values()) / max(len(scores), 1)
