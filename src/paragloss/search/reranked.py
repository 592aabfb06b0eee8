"""Score the best hits of a searcher again with a reranker."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from paragloss.encoders.explanations import explain_reranker_score
from paragloss.ranking import rank_hits
from paragloss.types import (
    Document,
    Floats,
    Hit,
    Multilingual,
    Query,
    RankedList,
    Reranker,
    Rescorer,
    ScoreExplanation,
    Searcher,
    Where,
)


class Reranked:
    """Scores the first `depth` hits of a searcher with a reranker; the others keep their order below them.

    A reranker may know only some languages (`langs`): documents in others stay below too, and queries in others are not
    reranked. A `Rescorer` is given the scores of the searcher.
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
        """Return the best k documents for each query, best first."""
        first = self.searcher.search(queries, max(k, self.depth), where)
        return [self._rerank(query, ranking, k) for query, ranking in zip(queries, first, strict=True)]

    def max_score(self, lang: str) -> float:
        """Return the highest score that a document of a language can have."""
        return math.inf

    def _rerank(self, query: Query, ranking: RankedList, k: int) -> RankedList:
        first_hits = ranking[: self.depth]
        documents = self._read_documents(query, first_hits)
        explainer = partial(self._account, query, first_hits, {document.id for document in documents})
        if not documents:
            return RankedList(ranking[:k], ranking.forms, explainer)
        scores = self._score(query, documents, {hit.id: hit.score for hit in first_hits})
        hits = [Hit(document.id, float(score)) for document, score in zip(documents, scores, strict=True)]
        reranked = rank_hits(hits, len(hits))
        # One descending list: the other hits continue just below the lowest score, in their old order.
        lowest, reranked_ids = reranked[-1].score, {hit.id for hit in reranked}
        unranked = [hit for hit in ranking if hit.id not in reranked_ids]
        lower_hits = [Hit(hit.id, lowest - position) for position, hit in enumerate(unranked, start=1)]
        return RankedList((*reranked, *lower_hits)[:k], ranking.forms, explainer)

    def _read_documents(self, query: Query, hits: Sequence[Hit]) -> list[Document]:
        """Read the documents whose language the reranker knows; none if it does not know the query's."""
        langs = self.reranker.langs if isinstance(self.reranker, Multilingual) else None
        if langs is not None and query.lang not in langs:
            return []
        documents = self.documents([hit.id for hit in hits])
        return [document for document in documents if langs is None or document.lang in langs]

    def _score(self, query: Query, documents: Sequence[Document], scores_before: Mapping[str, float]) -> Floats:
        if isinstance(self.reranker, Rescorer):
            before = np.array([scores_before[document.id] for document in documents], np.float32)
            return self.reranker.rescore(query, documents, before)
        return self.reranker.score(query, documents)

    def _account(
        self, query: Query, first: Sequence[Hit], known: set[str], document: Document, score: float
    ) -> ScoreExplanation:
        return explain_reranker_score(self.reranker, query, document, score, first, known)
