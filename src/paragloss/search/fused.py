"""Make one ranking of those of several searchers: fused if they rank the same documents, merged if different ones.

Reciprocal rank fusion: Cormack et al., SIGIR 2009.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from paragloss.ranking import rank_hits
from paragloss.types import Document, Hit, Query, QueryForms, RankedList, ScoreExplanation, Searcher, Where

Fusion: TypeAlias = Callable[[Sequence[Sequence[Hit]], Sequence[float]], dict[str, float]]


def fuse_reciprocal_ranks(
    rankings: Sequence[Sequence[Hit]], weights: Sequence[float], *, constant: int = 60
) -> dict[str, float]:
    """Score each document by the sum of weight / (constant + rank) over its rankings; ranks count from 1."""
    fused: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, hit in enumerate(ranking, start=1):
            fused[hit.id] = fused.get(hit.id, 0.0) + weight / (constant + rank)
    return fused


def fuse_scaled_scores(rankings: Sequence[Sequence[Hit]], weights: Sequence[float]) -> dict[str, float]:
    """Score each document by the sum of weight * score, with scores scaled to [0, 1] in each ranking.

    The best hit of a ranking has 1 and the last one 0; if their scores are equal, all have 1.
    """
    fused: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        if not ranking:
            continue
        highest, lowest = ranking[0].score, ranking[-1].score
        for hit in ranking:
            scaled_score = (hit.score - lowest) / (highest - lowest) if highest > lowest else 1.0
            fused[hit.id] = fused.get(hit.id, 0.0) + weight * scaled_score
    return fused


def fuse_scores(rankings: Sequence[Sequence[Hit]], weights: Sequence[float]) -> dict[str, float]:
    """Score each document by the sum of weight * score, for scores that mean the same from query to query."""
    fused: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for hit in ranking:
            fused[hit.id] = fused.get(hit.id, 0.0) + weight * hit.score
    return fused


class Fused:
    """Fuses the rankings of several searchers of the same documents into one."""

    def __init__(
        self,
        searchers: Sequence[Searcher],
        *,
        fuse: Fusion = fuse_reciprocal_ranks,
        weights: Sequence[float] | None = None,
        depth: int = 100,
    ) -> None:
        """Fuse the rankings of searchers.

        :param fuse: computes a score for each document from the rankings and the weights.
        :param weights: the weight of each searcher; all 1 if None.
        :param depth: how many hits of each searcher are fused.
        :raises ValueError: if there are more or fewer weights than searchers.
        """
        self._searchers, self._fuse = list(searchers), fuse
        self._weights = list(weights) if weights is not None else [1.0] * len(self._searchers)
        if len(self._weights) != len(self._searchers):
            raise ValueError(f"{len(self._weights)} weights for {len(self._searchers)} searchers")
        self._depth = depth

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Return the best k documents for each query, best first."""
        depth = max(k, self._depth)
        rankings_by_searcher = [searcher.search(queries, depth, where) for searcher in self._searchers]
        return [self._fuse_rankings(rankings, k) for rankings in zip(*rankings_by_searcher, strict=True)]

    def max_score(self, lang: str) -> float:
        """Return the highest score that a document of a language can have."""
        return math.inf

    def _fuse_rankings(self, rankings: Sequence[RankedList], k: int) -> RankedList:
        """Fuse the rankings of one query, one from each searcher."""
        scores = self._fuse(rankings, self._weights)
        forms = QueryForms.merge(ranking.forms for ranking in rankings)
        hits = rank_hits((Hit(doc_id, score) for doc_id, score in scores.items()), k)
        return RankedList(tuple(hits), forms, partial(self._explain, rankings))

    def _explain(self, rankings: Sequence[RankedList], document: Document, score: float) -> ScoreExplanation:
        """Explain a fused score by one part for each searcher that found the document: a fusion is a sum over them.

        :param rankings: the ranking of each searcher; parts are named by their numbers, from 1 on.
        """
        parts = []
        for number, (ranking, weight) in enumerate(zip(rankings, self._weights, strict=True), start=1):
            share = self._fuse([ranking], [weight]).get(document.id, 0.0)
            if share:
                parts.append((str(number), ranking.explain(document).scale_to(share)))
        return ScoreExplanation(score, exact=all(part.exact for _, part in parts), parts=tuple(parts))


class Merged:
    """Merges the lists of several searchers whose scores mean the same, such as one searcher for each language."""

    def __init__(self, searchers: Sequence[Searcher]) -> None:
        self.searchers = list(searchers)

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Return the best k documents for each query, best first."""
        answers = [searcher.search(queries, k, where) for searcher in self.searchers]
        if not answers:
            return [RankedList() for _ in queries]
        return [merge_rankings(rankings, k) for rankings in zip(*answers, strict=True)]

    def max_score(self, lang: str) -> float:
        """Return the highest score that a document of a language can have."""
        return max((searcher.max_score(lang) for searcher in self.searchers), default=0.0)


def merge_rankings(rankings: Sequence[RankedList], k: int) -> RankedList:
    """Merge rankings whose scores mean the same; a document that several of them have keeps its best score."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for hit in ranking:
            scores[hit.id] = max(hit.score, scores.get(hit.id, hit.score))
    hits = rank_hits((Hit(doc_id, score) for doc_id, score in scores.items()), k)
    forms = QueryForms.merge(ranking.forms for ranking in rankings)
    has_probabilities = any(ranking.has_probabilities for ranking in rankings)
    return RankedList(tuple(hits), forms, partial(_explain_merged, rankings), has_probabilities=has_probabilities)


def _explain_merged(rankings: Sequence[RankedList], document: Document, score: float) -> ScoreExplanation:
    """Explain a score by the list that it came from."""
    ranking = max(rankings, key=lambda ranking: ranking.score_of(document.id))
    return ranking.explain(document) if ranking.score_of(document.id) else ScoreExplanation(score)
