"""Look at the best hits again, more closely."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paragloss.ranking import rank
from paragloss.types import Document, Hit, Query, Ranking, Reranker, Searcher, Where


class Reranked:
    """Scores the first `depth` hits of a searcher with a reranker; what comes after them keeps its order below."""

    def __init__(
        self,
        searcher: Searcher,
        reranker: Reranker,
        documents: Callable[[Sequence[str]], Sequence[Document]],
        *,
        depth: int = 100,
    ) -> None:
        self._searcher = searcher
        self._reranker = reranker
        self._documents = documents
        self._depth = depth

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Ranking]:
        first = self._searcher.search(queries, max(k, self._depth), where)
        return [self._again(query, ranking)[:k] for query, ranking in zip(queries, first, strict=True)]

    def _again(self, query: Query, ranking: Ranking) -> Ranking:
        close, rest = ranking[: self._depth], ranking[self._depth :]
        if not close:
            return []
        documents = self._documents([hit.id for hit in close])
        scores = self._reranker.score(query, documents)
        best = rank((Hit(d.id, float(s)) for d, s in zip(documents, scores, strict=True)), len(close))
        # One descending list: the rest continues just below the lowest score given, in its old order.
        floor = best[-1].score
        return best + [Hit(hit.id, floor - place) for place, hit in enumerate(rest, start=1)]
