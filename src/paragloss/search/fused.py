"""Several searchers over the same documents, one ranking. Reciprocal rank fusion: Cormack et al., SIGIR 2009."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from paragloss.ranking import rank_hits
from paragloss.types import Document, Hit, Query, QueryForms, RankedList, ScoreExplanation, Searcher, Where

Fusion: TypeAlias = Callable[[Sequence[Sequence[Hit]], Sequence[float]], dict[str, float]]


class Fused:
    """Asks every searcher for `depth` hits and fuses what they say; `weights` say how far each is trusted."""

    def __init__(
        self,
        searchers: Sequence[Searcher],
        *,
        fuse: Fusion | None = None,
        weights: Sequence[float] | None = None,
        depth: int = 100,
    ) -> None:
        self._searchers = list(searchers)
        self._fuse = fuse or reciprocal_rank
        self._weights = list(weights) if weights is not None else [1.0] * len(self._searchers)
        if len(self._weights) != len(self._searchers):
            raise ValueError(f"{len(self._weights)} weights for {len(self._searchers)} searchers")
        self._depth = depth

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Return the best k documents for each query, best first."""
        depth = max(k, self._depth)
        answers = [searcher.search(queries, depth, where) for searcher in self._searchers]
        return [self._one(rankings, k) for rankings in zip(*answers, strict=True)]

    def max_score(self, lang: str) -> float:
        """Return the highest score that a document of a language can have."""
        return math.inf

    def _one(self, rankings: Sequence[RankedList], k: int) -> RankedList:
        scores = self._fuse(rankings, self._weights)
        forms = QueryForms.merge(ranking.forms for ranking in rankings)
        hits = rank_hits((Hit(doc_id, score) for doc_id, score in scores.items()), k)
        return RankedList(tuple(hits), forms, partial(self._account, rankings))

    def _account(self, rankings: Sequence[RankedList], document: Document, score: float) -> ScoreExplanation:
        """Every fusion is a sum over its searchers."""
        parts = []
        for number, (ranking, weight) in enumerate(zip(rankings, self._weights, strict=True), start=1):
            if share := self._fuse([ranking], [weight]).get(document.id, 0.0):
                parts.append((str(number), ranking.explain(document).scale_to(share)))
        return ScoreExplanation(score, exact=all(part.exact for _, part in parts), parts=tuple(parts))


def reciprocal_rank(
    rankings: Sequence[Sequence[Hit]], weights: Sequence[float], *, constant: int = 60
) -> dict[str, float]:
    """Each ranking gives weight / (constant + place), places from 1; scores don't matter, only order."""
    fused: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for place, hit in enumerate(ranking, start=1):
            fused[hit.id] = fused.get(hit.id, 0.0) + weight / (constant + place)
    return fused


def score_sum(rankings: Sequence[Sequence[Hit]], weights: Sequence[float]) -> dict[str, float]:
    """Each ranking gives weight x its score scaled to [0, 1] between its last and its best hit."""
    fused: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        if not ranking:
            continue
        best, last = ranking[0].score, ranking[-1].score
        for hit in ranking:
            scaled = (hit.score - last) / (best - last) if best > last else 1.0
            fused[hit.id] = fused.get(hit.id, 0.0) + weight * scaled
    return fused


def plain_sum(rankings: Sequence[Sequence[Hit]], weights: Sequence[float]) -> dict[str, float]:
    """Each ranking gives weight x score, as it is: for scores that mean the same from query to query."""
    fused: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for hit in ranking:
            fused[hit.id] = fused.get(hit.id, 0.0) + weight * hit.score
    return fused
