"""One ranking out of several that cover different documents, such as one per language."""

from __future__ import annotations

from collections.abc import Sequence

from paragloss.ranking import rank
from paragloss.types import Query, Ranking, Searcher, Where


class Merged:
    """Asks every searcher and merges the lists by score; no document is found by two of them, all are scored alike."""

    def __init__(self, searchers: Sequence[Searcher]) -> None:
        self.searchers = list(searchers)

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Ranking]:
        answers = [searcher.search(queries, k, where) for searcher in self.searchers]
        if not answers:
            return [[] for _ in queries]
        return [rank((hit for ranking in rankings for hit in ranking), k) for rankings in zip(*answers, strict=True)]
