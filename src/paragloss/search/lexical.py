"""BM25 over a store: words that match. Knows nothing of translation; it weighs the alternatives a query brings.

One query is one sparse vector, whatever its fields, alternatives and languages: one question to the store.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from paragloss.analysis import analyzer
from paragloss.bm25 import dot, sparse
from paragloss.search.evidence import translators, words
from paragloss.search.matches import Match
from paragloss.statistics import Statistics
from paragloss.types import (
    Account,
    Analyzer,
    Document,
    Query,
    QueryForms,
    RankedList,
    Ranking,
    SparseVector,
    Store,
    Where,
)


class Lexical:
    """Searches documents of the query's own language, or of all `langs` with the words as they stand.

    A query with clauses (a translated one) asks for every alternative at once, each with its weight; alternatives
    that come down to the same term add up, and the words of a phrase share its weight. `weights` says how much
    each field counts. A `proportional` score is BM25 divided by what a document full of the query's words would get
    in that language: from 0 to 1, it can be compared between queries and languages, and added to a cosine.
    """

    def __init__(
        self,
        store: Store,
        statistics: Statistics,
        *,
        weights: Mapping[str, float] | None = None,
        langs: Sequence[str] | None = None,
        proportional: bool = False,
        name: str = "terms",
        analyze: Callable[[str], Analyzer] = analyzer,
    ) -> None:
        weights = dict.fromkeys(statistics.layout.fields, 1.0) if weights is None else dict(weights)
        for field in weights:
            statistics.layout.field(field)  # refuses a field that is not indexed
        self._store = store
        self._statistics = statistics
        self._weights = weights
        self._langs = None if langs is None else tuple(langs)
        self._proportional = proportional
        self._name = name
        self._analyze = analyze

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        vectors = [_one(list(each.values())) for each in self._vectors(queries, where)]
        rankings = zip(queries, self._found(vectors, k, where), strict=True)
        return [
            RankedList(tuple(ranking), QueryForms((query,)), partial(self._account, query))
            for query, ranking in rankings
        ]

    def best(self, lang: str) -> float:
        return 1.0 if self._proportional else math.inf

    def _found(self, vectors: Sequence[SparseVector], k: int, where: Where | None) -> list[Ranking]:
        asked = [i for i, vector in enumerate(vectors) if len(vector.indices)]
        rankings: list[Ranking] = [[] for _ in vectors]
        if asked:
            # Terms' ids are those of a language: the store need not filter by it as well.
            rest = {field: values for field, values in (where or {}).items() if field != "lang"}
            found = self._store.search_sparse(self._name, [vectors[i] for i in asked], k, rest or None)
            for i, ranking in zip(asked, found, strict=True):
                rankings[i] = ranking
        return rankings

    def vector(self, query: Query, where: Where | None = None) -> SparseVector:
        """What the store is asked. Empty when no document can match."""
        (vectors,) = self._vectors([query], where)
        return _one(list(vectors.values()))

    def _vectors(self, queries: Sequence[Query], where: Where | None) -> list[dict[str, SparseVector]]:
        """The same for several queries, each language by itself."""
        terms = [[(lang, self._terms(query, lang)) for lang in self._searched(query, where)] for query in queries]
        parts = iter(self._statistics.queries([one for some in terms for one in some], self._weights))
        return [{lang: self._scaled(*next(parts)) for lang, _ in some} for some in terms]

    def _scaled(self, vector: SparseVector, most: float) -> SparseVector:
        if self._proportional and most:
            return vector._replace(values=vector.values / np.float32(most))
        return vector

    def _account(self, query: Query, document: Document, score: float) -> Account:
        return words(self.matches(query, document.id), translators(query), score)

    def matches(self, query: Query, id: str) -> list[Match]:
        """What every word gives a document, in its language and in those it holds beside; all of them sum to its score,
        which is a dot product."""
        (own,), rows = self._store.read_sparse(self._name, [id])
        vector, langs = (
            SparseVector(rows.indices, rows.values),
            self._searched(query, {"lang": [own, *self._statistics.beside]}),
        )
        words = [(lang, *each) for lang in langs for each in self._weighed_words(query, lang)]
        asked = [
            *((lang, self._terms(query, lang)) for lang in langs),
            *((lang, {word: n}) for lang, _, word, n in words),
        ]
        weighed = self._statistics.queries(asked, self._weights)
        most = {lang: whole if self._proportional else 1.0 for lang, (_, whole) in zip(langs, weighed, strict=False)}
        each = zip(words, weighed[len(langs) :], strict=True)
        found = [Match(source, word, dot(one, vector) / most[lang]) for (lang, source, word, _), (one, _) in each]
        return [match for match in found if match.score]

    def _searched(self, query: Query, where: Where | None) -> list[str]:
        langs = (query.lang,) if query.clauses or self._langs is None else self._langs
        wanted, there = (where or {}).get("lang", langs), self._statistics.langs
        return [lang for lang in dict.fromkeys(langs) if lang in wanted and lang in there]

    def _terms(self, query: Query, lang: str) -> dict[str, float]:
        weights: dict[str, float] = {}
        for _, word, weight in self._weighed_words(query, lang):
            weights[word] = weights.get(word, 0.0) + weight
        return weights

    def _weighed_words(self, query: Query, lang: str) -> Iterator[tuple[str, str, float]]:
        """Every word of a language that is asked for, with the term of the query it stands for and its weight."""
        terms = self._analyze(lang).terms
        if not query.clauses:
            yield from ((word, word, 1.0) for word in terms(query.text))
        for clause in query.clauses:
            for alternative in clause.alternatives:
                words = alternative.terms or terms(alternative.text)
                for word in words:
                    yield clause.source, word, clause.weight * alternative.weight / len(words)


def _one(parts: Sequence[SparseVector]) -> SparseVector:
    """Several vectors added up."""
    if len(parts) == 1:
        return parts[0]
    entries: Counter[int] = Counter()
    for part in parts:
        entries.update(dict(zip(part.indices.tolist(), part.values.tolist(), strict=True)))
    return sparse(entries)
