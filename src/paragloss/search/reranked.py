"""Look at the best hits again, more closely."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from paragloss.ranking import rank
from paragloss.search.vector_evidence import reread
from paragloss.types import (
    Account,
    Document,
    Hit,
    Multilingual,
    Query,
    RankedList,
    Reranker,
    Rescorer,
    Searcher,
    Where,
)


class Reranked:
    """Scores the first `depth` hits of a searcher with a reranker; what comes after them keeps its order below.

    A reranker may say which `langs` it knows: documents in others stay below too, queries in others as they were. One
    that wants to know what the search before it said (a `Rescorer`) is told.
    """

    def __init__(
        self,
        searcher: Searcher,
        reranker: Reranker,
        documents: Callable[[Sequence[str]], Sequence[Document]],
        *,
        depth: int = 100,
    ) -> None:
        self.searcher = searcher
        self.reranker = reranker
        self.documents = documents
        self.depth = depth

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        first = self.searcher.search(queries, max(k, self.depth), where)
        return [self._again(query, ranking, k) for query, ranking in zip(queries, first, strict=True)]

    def best(self, lang: str) -> float:
        return math.inf

    def _again(self, query: Query, ranking: RankedList, k: int) -> RankedList:
        langs = self.reranker.langs if isinstance(self.reranker, Multilingual) else None
        first = ranking[: self.depth]
        documents = self.documents([hit.id for hit in first]) if langs is None or query.lang in langs else []
        known = [document for document in documents if langs is None or document.lang in langs]
        account = partial(self._account, query, first, {document.id for document in known})
        if not known:
            return RankedList(ranking[:k], ranking.forms, account)
        if isinstance(self.reranker, Rescorer):
            scores_before = {hit.id: hit.score for hit in first}
            scores = self.reranker.rescore(query, known, np.array([scores_before[d.id] for d in known], np.float32))
        else:
            scores = self.reranker.score(query, known)
        best = rank((Hit(d.id, float(s)) for d, s in zip(known, scores, strict=True)), len(known))
        # One descending list: the rest continues just below the lowest score given, in its old order.
        floor, again = best[-1].score, {hit.id for hit in best}
        rest = [hit for hit in ranking if hit.id not in again]
        below = [Hit(hit.id, floor - place) for place, hit in enumerate(rest, start=1)]
        return RankedList((*best, *below)[:k], ranking.forms, account)

    def _account(
        self, query: Query, first: Sequence[Hit], known: set[str], document: Document, score: float
    ) -> Account:
        return reread(self.reranker, query, document, score, first, known)
