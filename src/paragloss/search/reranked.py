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
    """Scores the best hits of a searcher again with a reranker; the other hits keep their order below them.

    A reranker may know only some languages (`langs`). Documents in other languages stay below, too, and the hits of
    queries in other languages stay as they are. A `Rescorer` is given the scores of the searcher.
    """

    def __init__(
        self,
        searcher: Searcher,
        reranker: Reranker,
        read_documents: Callable[[Sequence[str]], Sequence[Document]],
        *,
        depth: int = 100,
    ) -> None:
        """Rerank the hits of a searcher.

        :param read_documents: reads documents by their ids.
        :param depth: how many hits are reranked.
        """
        self.searcher = searcher
        self.reranker = reranker
        self.read_documents = read_documents
        self.depth = depth

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Return the best k documents for each query, best first."""
        rankings = self.searcher.search(queries, max(k, self.depth), where)
        return [self._rerank(query, ranking, k) for query, ranking in zip(queries, rankings, strict=True)]

    def max_score(self, lang: str) -> float:
        """Return the highest score that a document of a language can have."""
        return math.inf

    def _rerank(self, query: Query, ranking: RankedList, k: int) -> RankedList:
        """Return the best k hits of a ranking, with its first hits in the order of the reranker's scores.

        :param ranking: the hits of the wrapped searcher; it stays as it is if the reranker can't read any of the first.
        """
        first_hits = ranking[: self.depth]
        documents = self._read_documents(query, first_hits)
        reranked_ids = {document.id for document in documents}
        explainer = partial(self._explain, query, first_hits, reranked_ids)
        if not documents:
            return RankedList(ranking[:k], ranking.forms, explainer)
        searcher_scores = {hit.id: hit.score for hit in first_hits}
        scores = self._score(query, documents, searcher_scores)
        hits = [Hit(document.id, float(score)) for document, score in zip(documents, scores, strict=True)]
        reranked_hits = rank_hits(hits, len(hits))
        all_hits = (*reranked_hits, *_place_below(reranked_hits, ranking))
        return RankedList(all_hits[:k], ranking.forms, explainer)

    def _read_documents(self, query: Query, hits: Sequence[Hit]) -> list[Document]:
        """Read the documents whose language the reranker knows; none if it does not know the query's."""
        if not isinstance(self.reranker, Multilingual):
            return list(self.read_documents([hit.id for hit in hits]))
        langs = self.reranker.langs
        if query.lang not in langs:
            return []
        return [document for document in self.read_documents([hit.id for hit in hits]) if document.lang in langs]

    def _score(self, query: Query, documents: Sequence[Document], searcher_scores: Mapping[str, float]) -> Floats:
        """Return the reranker's score of each document; `searcher_scores` has the searcher's by document id."""
        if isinstance(self.reranker, Rescorer):
            scores = np.array([searcher_scores[document.id] for document in documents], np.float32)
            return self.reranker.rescore(query, documents, scores)
        return self.reranker.score(query, documents)

    def _explain(
        self, query: Query, first_hits: Sequence[Hit], reranked_ids: set[str], document: Document, score: float
    ) -> ScoreExplanation:
        return explain_reranker_score(self.reranker, query, document, score, first_hits, reranked_ids)


def _place_below(reranked_hits: Sequence[Hit], ranking: RankedList) -> list[Hit]:
    """Return the hits of a ranking that were not reranked, with new scores just below the lowest reranked one."""
    reranked_ids = {hit.id for hit in reranked_hits}
    lowest_score = reranked_hits[-1].score
    other_hits = [hit for hit in ranking if hit.id not in reranked_ids]
    return [Hit(hit.id, lowest_score - position) for position, hit in enumerate(other_hits, start=1)]
