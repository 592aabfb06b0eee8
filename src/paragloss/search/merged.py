"""One ranking out of several that cover different documents, such as one per language."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from paragloss.ranking import rank_hits
from paragloss.types import Document, Hit, Query, QueryForms, RankedList, ScoreExplanation, Searcher, Where


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
    """Merge lists by score; a document that several of them have keeps its best score."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for hit in ranking:
            scores[hit.id] = max(hit.score, scores.get(hit.id, hit.score))
    hits = rank_hits((Hit(doc_id, score) for doc_id, score in scores.items()), k)
    forms = QueryForms.merge(ranking.forms for ranking in rankings)
    has_probabilities = any(ranking.has_probabilities for ranking in rankings)
    return RankedList(tuple(hits), forms, partial(_explain, rankings), has_probabilities=has_probabilities)


def _explain(rankings: Sequence[RankedList], document: Document, score: float) -> ScoreExplanation:
    """Explain a score by the list that it came from."""
    ranking = max(rankings, key=lambda ranking: ranking.score_of(document.id))
    return ranking.explain(document) if ranking.score_of(document.id) else ScoreExplanation(score)
