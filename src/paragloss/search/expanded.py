"""Search twice: the best documents of a first search lend the query their words (Rocchio's pseudo-relevance feedback,
eq. 5.1 of Liu's thesis). Put it inside `Translated` to expand after translation; with `translation.expansion` outside
the translator as well, before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paragloss.translation.expansion import as_clauses, rocchio
from paragloss.types import Document, Hit, Query, RankedList, Searcher, Where


class Expanded:
    """Asks the inner searcher for `depth` documents, adds their `terms` most telling words to the query, asks again.

    The query's own words weigh `alpha` and what the documents add to them, the best new word `beta`. Only documents in
    the query's language lend words. `idf` says how rare a term of a language is in the collection.
    """

    def __init__(
        self,
        searcher: Searcher,
        documents: Callable[[Sequence[str]], Sequence[Document]],
        idf: Callable[[str, str], float],
        *,
        depth: int = 10,
        terms: int = 10,
        alpha: float = 1.0,
        beta: float = 0.3,
    ) -> None:
        self.searcher, self._documents, self._idf = searcher, documents, idf
        self._depth, self._terms, self._alpha, self._beta = depth, terms, alpha, beta

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Return the best k documents for each query, best first."""
        first = self.searcher.search(queries, self._depth, where)
        again = [self.expand(query, ranking) for query, ranking in zip(queries, first, strict=True)]
        return self.searcher.search(again, k, where)

    def max_score(self, lang: str) -> float:
        """Return the highest score that a document of a language can have."""
        return self.searcher.max_score(lang)

    def expand(self, query: Query, ranking: Sequence[Hit]) -> Query:
        """The query with what its best documents add."""
        documents = self._documents([hit.id for hit in ranking])
        clauses = rocchio(
            as_clauses(query),
            documents,
            query.lang,
            lambda term: self._idf(query.lang, term),
            terms=self._terms,
            alpha=self._alpha,
            beta=self._beta,
        )
        text = " ".join([query.text, *(clause.source for clause in clauses if not clause.required)])
        return Query(query.id, text, query.lang, tuple(clauses))
