"""One ranking out of several that cover different documents, such as one per language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from paragloss.ranking import rank
from paragloss.types import Account, Document, Found, Hit, Known, Query, Ranking, Searcher, Where

Merge: TypeAlias = Callable[[Sequence[Ranking], int], Ranking]


class Merged:
    """Asks every searcher and merges the lists; no document is found by two of them."""

    def __init__(self, searchers: Sequence[Searcher], *, merge: Merge | None = None) -> None:
        self.searchers = list(searchers)
        self._merge = merge or by_score

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Found]:
        answers = [searcher.search(queries, k, where) for searcher in self.searchers]
        if not answers:
            return [Found() for _ in queries]
        each = list(zip(*answers, strict=True))
        return [Found(self._merge(rankings, k), partial(_account, rankings)) for rankings in each]

    def best(self, lang: str) -> float:
        return max((searcher.best(lang) for searcher in self.searchers), default=0.0)


def _account(rankings: Sequence[Found], document: Document, score: float, known: Known) -> Account:
    """One of the lists has the document."""
    accounts = (ranking.explain(document, known) for ranking in rankings)
    return next((account.scaled(score) for account in accounts if account.score), Account(score))


def by_score(rankings: Sequence[Ranking], k: int) -> Ranking:
    """Scores as they are: right when all lists are scored alike."""
    return rank((hit for ranking in rankings for hit in ranking), k)


def by_scaled_score(rankings: Sequence[Ranking], k: int) -> Ranking:
    """Scores divided by the best of their list: each list's best document counts the same."""
    return rank(
        (
            Hit(h.id, h.score / ranking[0].score)
            for ranking in rankings
            if ranking and ranking[0].score > 0
            for h in ranking
        ),
        k,
    )


def in_turns(rankings: Sequence[Ranking], k: int) -> Ranking:
    """First the best of every list, then every second, and so on; the score is 1 / (turn)."""
    return rank((Hit(hit.id, 1 / turn) for ranking in rankings for turn, hit in enumerate(ranking, start=1)), k)
