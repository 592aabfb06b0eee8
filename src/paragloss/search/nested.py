"""A translated query as (a1 OR a2) AND (b1 OR b2): a document must match every clause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from paragloss.bm25 import dot, make_sparse_vector
from paragloss.ranking import rank
from paragloss.search.clauses import CANDIDATES, StructuredSearcher
from paragloss.search.evidence import Match
from paragloss.types import Hit, Query, Ranking, SparseVector, Where


class Choice(NamedTuple):
    """One alternative of a clause: its words, all of which are meant, its weight, and that of its clause."""

    words: tuple[str, ...]
    weight: float
    clause: float = 1.0


class Nested(StructuredSearcher):
    """Every clause must match, in any field; a phrase matches when all its words are there. Exact.

    The score is the plain sum of BM25 over all alternatives, whatever their weights; what was added to the query
    (clauses that are not `required`) need not match, and counts with its weight. It is a dot product, so
    what is wanted is a subsequence of the plain ranking: its head is gone through first. Where that does not hold k
    documents, all documents of the rarest clause are.
    """

    def _rankings(self, queries: Sequence[Query], k: int, where: Where | None) -> list[Ranking]:
        return [self._one(query, k, where) for query in queries]

    def _one(self, query: Query, k: int, where: Where | None) -> Ranking:
        needed, weighed = self._weighed_words(query)
        clauses, words = [choices for _, choices in needed], dict[str, float]()
        for _, word, weight in weighed:
            words[word] = words.get(word, 0.0) + weight
        linear = self._statistics.weigh_query(query.lang, words, self._fields())
        needs = [[[self._anywhere(w, query.lang) for w in choice.words] for choice in choices] for choices in clauses]
        number = 10 * k + 100
        head = self._candidates(linear, number, where)
        matching = {id for id, _ in self._matching([hit.id for hit in head], needs)}
        found = [hit for hit in head if hit.id in matching]
        if len(found) >= k or len(head) < number:
            return found[:k]
        rarest, df = self._rarest(clauses, query.lang)
        ids = [hit.id for hit in self._candidates(rarest, df, where)]
        return rank((Hit(id, dot(linear, vector)) for id, vector in self._matching(ids, needs)), k)

    def matches(self, query: Query, id: str) -> list[Match]:
        """Return the pairs of words of a query and a document that matched."""
        langs, rows = self._store.read_sparse(self._name, [id])
        vector = SparseVector(rows.indices, rows.values)
        if langs != [query.lang]:
            return []
        found = []
        for source, word, weight in self._weighed_words(query)[1]:
            linear = self._statistics.weigh_query(query.lang, {word: weight}, self._fields())
            found.append(Match(source, word, dot(linear, vector)))
        return [match for match in found if match.score]

    def _clauses(self, query: Query) -> list[tuple[str, list[Choice]]]:
        """Each source term with its alternatives, cut into words; what is only stop words is left out."""
        terms = self._analyze(query.lang).terms
        if not query.clauses:
            return [(word, [Choice((word,), 1.0)]) for word in terms(query.text)]
        cut = [
            (
                clause.source,
                [
                    Choice(words, weight, clause.weight)
                    for text, weight, known in clause.alternatives
                    if (words := known or tuple(terms(text)))
                ],
            )
            for clause in query.clauses
        ]
        return [(source, choices) for source, choices in cut if choices]

    def _weighed_words(self, query: Query) -> tuple[list[tuple[str, list[Choice]]], list[tuple[str, str, float]]]:
        """The clauses that must match, and every word with its source and its weight."""
        added = tuple(clause for clause in query.clauses if not clause.required)
        asked = query._replace(clauses=tuple(clause for clause in query.clauses if clause.required))
        needed = self._clauses(asked if asked.clauses or not added else query)
        more = self._clauses(query._replace(clauses=added)) if added and asked.clauses else []
        plain = [(source, choice._replace(weight=1.0)) for source, choices in needed for choice in choices]
        every = [*plain, *((source, choice) for source, choices in more for choice in choices)]
        return needed, [(s, word, c.clause * c.weight / len(c.words)) for s, c in every for word in c.words]

    def _fields(self) -> dict[str, float]:
        weights = zip(self._statistics.layout.fields, self._factors.tolist(), strict=True)
        return {field: weight for field, weight in weights if weight}

    def _anywhere(self, word: str, lang: str) -> frozenset[int]:
        """The ids of a word in the fields that count."""
        return frozenset(int(self._statistics.ids(field, lang, [word])[0]) for field in self._fields())

    def _matching(
        self, ids: Sequence[str], needs: Sequence[Sequence[Sequence[frozenset[int]]]]
    ) -> Iterator[tuple[str, SparseVector]]:
        """Documents that hold all the words of some alternative of every clause."""
        for start in range(0, len(ids), CANDIDATES):
            some = ids[start : start + CANDIDATES]
            rows = self._store.read_sparse(self._name, some)[1]
            ends = np.cumsum(rows.sizes)
            for id, start, end in zip(some, (ends - rows.sizes).tolist(), ends.tolist(), strict=True):
                vector = SparseVector(rows.indices[start:end], rows.values[start:end])
                here = set(vector.indices.tolist())
                if all(any(all(word & here for word in choice) for choice in choices) for choices in needs):
                    yield id, vector

    def _candidates(self, vector: SparseVector, number: int, where: Where | None) -> Ranking:
        return self._store.search_sparse(self._name, [vector], number, where)[0] if len(vector.indices) else []

    def _rarest(self, clauses: Sequence[Sequence[Choice]], lang: str) -> tuple[SparseVector, int]:
        """The clause with the fewest documents, as a question for all of them, and how many there may be."""
        questions = []
        for choices in clauses:
            words = {word for choice in choices for word in choice.words}
            ids = sorted(frozenset[int]().union(*(self._anywhere(word, lang) for word in words)))
            questions.append((make_sparse_vector(dict.fromkeys(ids, 1.0)), int(self._statistics.df_of(ids).sum())))
        return min(questions, key=lambda question: question[1])
