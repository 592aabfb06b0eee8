"""One ranking out of several that cover different documents, such as one per language."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from paragloss.ranking import rank
from paragloss.types import Account, Document, Found, Query, QueryForms, Searcher, Where


class Merged:
    """Asks every searcher and merges the lists by score; no document is found by two of them, all are scored alike."""

    def __init__(self, searchers: Sequence[Searcher]) -> None:
        self.searchers = list(searchers)

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Found]:
        answers = [searcher.search(queries, k, where) for searcher in self.searchers]
        if not answers:
            return [Found() for _ in queries]
        return [_merged(rankings, k) for rankings in zip(*answers, strict=True)]

    def best(self, lang: str) -> float:
        return max((searcher.best(lang) for searcher in self.searchers), default=0.0)


def _merged(rankings: Sequence[Found], k: int) -> Found:
    hits = rank((hit for ranking in rankings for hit in ranking), k)
    forms = QueryForms.joined(ranking.forms for ranking in rankings)
    return Found(hits, partial(_account, rankings), forms=forms)


def _account(rankings: Sequence[Found], document: Document, score: float) -> Account:
    """One of the lists has the document."""
    accounts = (ranking.explain(document) for ranking in rankings)
    return next((account.scaled(score) for account in accounts if account.score), Account(score))
