"""BM25 over a store: words that match as they are, or each alternative of a translated query by itself.

A query is one sparse vector, whatever its fields, alternatives and languages: one request to the store.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from paragloss.analysis import analyzer
from paragloss.bm25 import dot, make_sparse_vector
from paragloss.index.terms import TERMS_VECTOR
from paragloss.search.evidence import Match, explain_matches, list_origins
from paragloss.statistics import Statistics
from paragloss.types import (
    Analyzer,
    Document,
    Query,
    QueryForms,
    RankedList,
    Ranking,
    ScoreExplanation,
    SparseVector,
    Store,
    Where,
)


class Lexical:
    """Searches documents of the query's own language, or of all `langs` with the words as they are.

    A query with clauses (a translated one) asks for every alternative at once, each with its weight; alternatives with
    the same term add up, and the words of a phrase share its weight. A `proportional` score is BM25 divided by the
    score of a document full of the query's words in that language: from 0 to 1, it can be compared between queries and
    languages.
    """

    def __init__(
        self,
        store: Store,
        statistics: Statistics,
        *,
        weights: Mapping[str, float] | None = None,
        langs: Sequence[str] | None = None,
        proportional: bool = False,
        analyze: Callable[[str], Analyzer] = analyzer,
    ) -> None:
        """Search the sparse vectors of a store.

        :param weights: how much each searched field counts; every field 1 if None.
        :param langs: search documents of these languages with the words as they are; only those of the query's own
            language if None.
        :param proportional: divide scores by the highest one possible.
        :param analyze: returns the analyzer of a language.
        """
        weights = dict.fromkeys(statistics.layout.fields, 1.0) if weights is None else dict(weights)
        for field in weights:
            statistics.layout.field(field)  # raises an error for a field that is not indexed
        self._store = store
        self._statistics = statistics
        self._weights = weights
        self._langs = None if langs is None else list(dict.fromkeys(langs))
        self._proportional = proportional
        self._analyze = analyze

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Rank the documents of all searched languages for each query."""
        rankings = self._search_vectors([self.vector(query, where) for query in queries], k, where)
        return [
            RankedList(tuple(ranking), QueryForms((query,)), partial(self._explain, query))
            for query, ranking in zip(queries, rankings, strict=True)
        ]

    def max_score(self, lang: str) -> float:
        """Return the highest score possible."""
        return 1.0 if self._proportional else math.inf

    def vector(self, query: Query, where: Where | None = None) -> SparseVector:
        """Return the sparse vector that is sent to the store for a query; empty if no document can match."""
        languages = self._list_languages(query, (where or {}).get("lang"))
        terms_by_language = [(lang, self._sum_word_weights(query, lang)) for lang in languages]
        weighted_queries = self._statistics.weigh_queries(terms_by_language, self._weights)
        return _add_vectors([self._scale(vector, highest_score) for vector, highest_score in weighted_queries])

    def matches(self, query: Query, id: str) -> list[Match]:
        """List the words of a query that a document has, each with what it adds to the document's score.

        :param id: the id of the document, which may have parts in other languages than its own.
        """
        (own_language,), document_rows = self._store.read_sparse(TERMS_VECTOR, [id])
        document_vector = SparseVector(document_rows.indices, document_rows.values)
        document_languages = [own_language, *self._statistics.secondary_languages]
        matches: list[Match] = []
        for lang in self._list_languages(query, document_languages):
            matches += self._match_words(query, lang, document_vector)
        return matches

    def _match_words(self, query: Query, lang: str, document_vector: SparseVector) -> Iterator[Match]:
        """Yield the words of a query that a document has in one language, each with its part of the document's score.

        The score is a sum over words, so the part of a word is the score of a query of this word alone. A proportional
        score is divided by the highest one possible for the complete query.

        :param document_vector: the stored vector of the document.
        """
        _, highest_score = self._make_query_vector(lang, self._sum_word_weights(query, lang))
        divisor = highest_score if self._proportional else 1.0
        for source, word, weight in self._list_words(query, lang):
            word_vector, _ = self._make_query_vector(lang, {word: weight})
            score = dot(word_vector, document_vector) / divisor
            if score:
                yield Match(source, word, score)

    def _make_query_vector(self, lang: str, word_weights: Mapping[str, float]) -> tuple[SparseVector, float]:
        """Return the vector of weighted words of a language, and the highest score that a document can have for it."""
        ((vector, highest_score),) = self._statistics.weigh_queries([(lang, word_weights)], self._weights)
        return vector, highest_score

    def _search_vectors(self, vectors: Sequence[SparseVector], k: int, where: Where | None) -> list[Ranking]:
        """Return the best k documents for each vector; none for an empty vector, which is not sent to the store.

        :param where: conditions that documents meet, by field; those on languages are left out.
        """
        rankings: list[Ranking] = [[] for _ in vectors]
        positions = [position for position, vector in enumerate(vectors) if len(vector.indices)]
        if positions:
            nonempty_vectors = [vectors[position] for position in positions]
            # The ids of terms are those of a language: the store need not filter by it as well.
            conditions = {field: values for field, values in (where or {}).items() if field != "lang"}
            new_rankings = self._store.search_sparse(TERMS_VECTOR, nonempty_vectors, k, conditions or None)
            for position, ranking in zip(positions, new_rankings, strict=True):
                rankings[position] = ranking
        return rankings

    def _scale(self, vector: SparseVector, highest_score: float) -> SparseVector:
        """Divide the vector of a query by the highest score possible for it, if scores are proportional."""
        if self._proportional and highest_score:
            return vector._replace(values=(vector.values / highest_score).astype(vector.values.dtype))
        return vector

    def _explain(self, query: Query, document: Document, score: float) -> ScoreExplanation:
        return explain_matches(self.matches(query, document.id), list_origins(query), score)

    def _list_languages(self, query: Query, allowed_languages: Collection[Any] | None) -> list[str]:
        """List the languages in which documents are searched for a query; only those that documents have.

        :param allowed_languages: search no other languages than these; None for no limit.
        """
        languages = [query.lang] if query.clauses or self._langs is None else self._langs
        if allowed_languages is not None:
            languages = [lang for lang in languages if lang in allowed_languages]
        return [lang for lang in languages if lang in self._statistics.langs]

    def _sum_word_weights(self, query: Query, lang: str) -> dict[str, float]:
        """Return the words that are searched in a language with the sum of their weights."""
        weights: dict[str, float] = {}
        for _, word, weight in self._list_words(query, lang):
            weights[word] = weights.get(word, 0.0) + weight
        return weights

    def _list_words(self, query: Query, lang: str) -> Iterator[tuple[str, str, float]]:
        """Yield the words that are searched in a language: (the query's term, the word, its weight).

        The words of a translated query are those of all its alternatives; any other query is searched as it is.
        """
        terms = self._analyze(lang).terms
        if not query.clauses:
            for word in terms(query.text):
                yield word, word, 1.0
        for clause in query.clauses:
            for alternative in clause.alternatives:
                words = alternative.terms or terms(alternative.text)
                for word in words:
                    yield clause.source, word, clause.weight * alternative.weight / len(words)


def _add_vectors(vectors: Sequence[SparseVector]) -> SparseVector:
    """Return the sum of sparse vectors."""
    if len(vectors) == 1:
        return vectors[0]
    entries: Counter[int] = Counter()
    for vector in vectors:
        entries.update(dict(zip(vector.indices.tolist(), vector.values.tolist(), strict=True)))
    return make_sparse_vector(entries)
