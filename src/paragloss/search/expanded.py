"""Search twice: words of the best documents of a first search are added to the query.

This is Rocchio's pseudo-relevance feedback (eq. 5.1 of Liu's thesis). Put it inside `Translated` to expand after
translation; with `translation.expansion` outside the translator as well, before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paragloss.translation.expansion import as_clauses, rocchio
from paragloss.types import Document, Hit, Query, RankedList, Searcher, Where


class Expanded:
    """Searches again with the query expanded by words of the first search's best documents in its language."""

    def __init__(
        self,
        searcher: Searcher,
        read_documents: Callable[[Sequence[str]], Sequence[Document]],
        idf: Callable[[str, str], float],
        *,
        depth: int = 10,
        terms: int = 10,
        alpha: float = 1.0,
        beta: float = 0.3,
    ) -> None:
        """Expand the queries of a searcher.

        :param read_documents: reads documents by their ids.
        :param idf: returns the inverse document frequency of a term, given its language and the term.
        :param depth: how many documents of the first search are used.
        :param terms: how many new words are added to the query.
        :param alpha: the weight of the query's own words, to which the documents may add.
        :param beta: the weight of the best new word.
        """
        self.searcher = searcher
        self._read_documents = read_documents
        self._idf = idf
        self._depth = depth
        self._terms = terms
        self._alpha = alpha
        self._beta = beta

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Return the best k documents for each query, best first."""
        first_rankings = self.searcher.search(queries, self._depth, where)
        expanded = [self.expand(query, ranking) for query, ranking in zip(queries, first_rankings, strict=True)]
        return self.searcher.search(expanded, k, where)

    def max_score(self, lang: str) -> float:
        """Return the highest score that a document of a language can have."""
        return self.searcher.max_score(lang)

    def expand(self, query: Query, ranking: Sequence[Hit]) -> Query:
        """Add words of a query's best documents to it, each as a clause of its own.

        :param ranking: the best documents of a first search; those in other languages lend no words.
        :return: the query with more clauses, whose text has the new words as well.
        """
        documents = self._read_documents([hit.id for hit in ranking])
        clauses = rocchio(
            as_clauses(query),
            documents,
            query.lang,
            lambda term: self._idf(query.lang, term),
            terms=self._terms,
            alpha=self._alpha,
            beta=self._beta,
        )
        new_words = [clause.source for clause in clauses if not clause.required]
        text = " ".join([query.text, *new_words])
        return Query(query.id, text, query.lang, tuple(clauses))
