"""BM25 over a store: words that match. Knows nothing of translation; it weighs the alternatives a query brings.

One query is one sparse vector, whatever its fields, alternatives and languages: one question to the store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from paragloss.analysis import analyzer
from paragloss.bm25 import dot, sparse
from paragloss.search.met import Met
from paragloss.statistics import Statistics
from paragloss.types import Analyzer, Query, Ranking, SparseVector, Store, Where


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

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Ranking]:
        vectors = [self.vector(query, where) for query in queries]
        asked = [i for i, vector in enumerate(vectors) if len(vector.indices)]
        rankings: list[Ranking] = [[] for _ in queries]
        if asked:
            # Terms' ids are those of a language: the store need not filter by it as well.
            rest = {field: values for field, values in (where or {}).items() if field != "lang"}
            found = self._store.search_sparse(self._name, [vectors[i] for i in asked], k, rest or None)
            for i, ranking in zip(asked, found, strict=True):
                rankings[i] = ranking
        return rankings

    def scores(self, query: Query, ids: Sequence[str], langs: Sequence[str]) -> dict[str, float]:
        """Of documents whether or not they would be found: nothing in common is 0."""
        vector = self.vector(query, {"lang": langs})
        records = self._store.get(ids, vectors=[self._name], text=False) if ids else []
        terms = {id: record.sparse.get(self._name) for id, record in zip(ids, records, strict=True) if record}
        return {id: dot(vector, mine) if mine is not None else 0.0 for id, mine in terms.items()}

    def vector(self, query: Query, where: Where | None = None) -> SparseVector:
        """What the store is asked. Empty when no document can match."""
        entries: Counter[int] = Counter()
        for lang in self._searched(query, where):
            terms = self._terms(query, lang)
            part = self._statistics.query(lang, terms, self._weights)
            most = self._most(terms, lang) if self._proportional else 1.0
            entries.update(dict(zip(part.indices.tolist(), (part.values / most).tolist(), strict=True)))
        return sparse(entries)

    def met(self, query: Query, id: str) -> list[Met]:
        """What every word gives a document; all of them sum to its score, which is a dot product."""
        (record,) = self._store.get([id], vectors=[self._name], text=False)
        if record is None or record.document.lang not in self._searched(query, None):
            return []
        lang, vector, found = record.document.lang, record.sparse[self._name], []
        most = self._most(self._terms(query, lang), lang) if self._proportional else 1.0
        for source, word, weight in self._said(query, lang):
            linear = self._statistics.query(lang, {word: weight}, self._weights)
            found.append(Met(source, word, dot(linear, vector) / most))
        return [met for met in found if met.score]

    def _most(self, terms: Mapping[str, float], lang: str) -> float:
        """What a document would score that says every term without end; terms that no document has count too. A field
        counts as far as documents have it: the few that have more do not make the others worse."""
        wanted, statistics = np.fromiter(terms.values(), np.float64, len(terms)), self._statistics
        return sum(
            weight
            * statistics.coverage(field, lang)
            * float(wanted @ statistics.idf(field, lang, statistics.df(field, lang, list(terms))))
            for field, weight in self._weights.items()
        )

    def _searched(self, query: Query, where: Where | None) -> list[str]:
        langs = (query.lang,) if query.clauses or self._langs is None else self._langs
        wanted = (where or {}).get("lang", langs)
        return [lang for lang in dict.fromkeys(langs) if lang in wanted and lang in self._statistics.langs]

    def _terms(self, query: Query, lang: str) -> dict[str, float]:
        weights: dict[str, float] = {}
        for _, word, weight in self._said(query, lang):
            weights[word] = weights.get(word, 0.0) + weight
        return weights

    def _said(self, query: Query, lang: str) -> Iterator[tuple[str, str, float]]:
        """Every word of a language that is asked for, with the term of the query it stands for and its weight."""
        terms = self._analyze(lang).terms
        if not query.clauses:
            yield from ((word, word, 1.0) for word in terms(query.text))
        for clause in query.clauses:
            for alternative in clause.alternatives:
                words = alternative.terms or terms(alternative.text)
                for word in words:
                    yield clause.source, word, clause.weight * alternative.weight / len(words)
