"""Several searchers over the same documents, one ranking. Reciprocal rank fusion: Cormack et al., SIGIR 2009."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from paragloss.ranking import rank
from paragloss.types import Hit, Query, Ranking, Searcher, Where

Fusion: TypeAlias = Callable[[Sequence[Ranking], Sequence[float]], dict[str, float]]


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

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Ranking]:
        depth = self.depth(k)
        answers = [searcher.search(queries, depth, where) for searcher in self._searchers]
        return [
            rank((Hit(i, s) for i, s in self._fuse(rankings, self._weights).items()), k)
            for rankings in zip(*answers, strict=True)
        ]

    def depth(self, k: int) -> int:
        """How many hits of each searcher are looked at."""
        return max(k, self._depth)

    def given(self, query: Query, k: int, where: Where | None = None) -> list[tuple[Searcher, dict[str, float]]]:
        """What each searcher adds to the documents it finds."""
        asked = [(searcher, searcher.search([query], self.depth(k), where)) for searcher in self._searchers]
        weighed = zip(asked, self._weights, strict=True)
        return [(searcher, self._fuse(rankings, [weight])) for (searcher, rankings), weight in weighed]


def reciprocal_rank(rankings: Sequence[Ranking], weights: Sequence[float], *, constant: int = 60) -> dict[str, float]:
    """Each ranking gives weight / (constant + place), places from 1; scores don't matter, only order."""
    fused: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for place, hit in enumerate(ranking, start=1):
            fused[hit.id] = fused.get(hit.id, 0.0) + weight / (constant + place)
    return fused


def score_sum(rankings: Sequence[Ranking], weights: Sequence[float]) -> dict[str, float]:
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


def plain_sum(rankings: Sequence[Ranking], weights: Sequence[float]) -> dict[str, float]:
    """Each ranking gives weight x score, as it is: for scores that mean the same from query to query."""
    fused: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for hit in ranking:
            fused[hit.id] = fused.get(hit.id, 0.0) + weight * hit.score
    return fused
