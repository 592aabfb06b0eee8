"""Look at the best hits again, more closely."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from paragloss.ranking import rank
from paragloss.types import Document, Hit, Query, Ranking, Reranker, Rescorer, Searcher, Where


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

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Ranking]:
        first = self.searcher.search(queries, max(k, self.depth), where)
        return [self._again(query, ranking)[:k] for query, ranking in zip(queries, first, strict=True)]

    def _again(self, query: Query, ranking: Ranking) -> Ranking:
        langs = getattr(self.reranker, "langs", None)
        if langs is not None and query.lang not in langs:
            return ranking
        documents = self.documents([hit.id for hit in ranking[: self.depth]])
        known = [document for document in documents if langs is None or document.lang in langs]
        if not known:
            return ranking
        if isinstance(self.reranker, Rescorer):
            said = {hit.id: hit.score for hit in ranking[: self.depth]}
            scores = self.reranker.rescore(query, known, np.array([said[d.id] for d in known], np.float32))
        else:
            scores = self.reranker.score(query, known)
        best = rank((Hit(d.id, float(s)) for d, s in zip(known, scores, strict=True)), len(known))
        # One descending list: the rest continues just below the lowest score given, in its old order.
        floor, again = best[-1].score, {hit.id for hit in best}
        rest = [hit for hit in ranking if hit.id not in again]
        return best + [Hit(hit.id, floor - place) for place, hit in enumerate(rest, start=1)]
