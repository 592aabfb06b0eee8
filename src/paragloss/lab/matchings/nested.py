"""A translated query as (a1 OR a2) AND (b1 OR b2): a document must match every clause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from paragloss.bm25 import dot, make_sparse_vector
from paragloss.lab.matchings.structured import StructuredSearcher
from paragloss.ranking import rank_hits
from paragloss.search.clauses import MAX_CANDIDATES
from paragloss.search.evidence import Match
from paragloss.types import Hit, Query, Ranking, SparseVector, Where


class Choice(NamedTuple):
    """One alternative of a clause: its words, all of which must match, its weight, and that of its clause."""

    words: tuple[str, ...]
    weight: float
    clause_weight: float = 1.0


class WeightedWord(NamedTuple):
    """A word that adds to the score, the query term that it is from, and its weight."""

    source: str
    word: str
    weight: float


class Nested(StructuredSearcher):
    """Every clause must match, in any field; a phrase matches when all its words do. Exact.

    The score is the plain sum of BM25 over all alternatives, whatever their weights; what was added to the query
    (clauses that are not `required`) need not match, and counts with its weight. It is a dot product, so the result is
    a subsequence of the plain ranking: the head of that is tried first. If it has fewer than k matches, all documents
    of the rarest clause are read.
    """

    def _rankings(self, queries: Sequence[Query], k: int, where: Where | None) -> list[Ranking]:
        return [self._search_query(query, k, where) for query in queries]

    def _search_query(self, query: Query, k: int, where: Where | None) -> Ranking:
        required, weighted_words = self._weigh_words(query)
        weights: dict[str, float] = {}
        for _, word, weight in weighted_words:
            weights[word] = weights.get(word, 0.0) + weight
        request = self._statistics.weigh_query(query.lang, weights, self._field_weights())
        clauses = [choices for _, choices in required]
        needed_ids = [
            [[self._list_ids(word, query.lang) for word in choice.words] for choice in choices] for choices in clauses
        ]
        n_head = 10 * k + 100
        head = self._find_candidates(request, n_head, where)
        matching_ids = {doc_id for doc_id, _ in self._filter_documents([hit.id for hit in head], needed_ids)}
        hits = [hit for hit in head if hit.id in matching_ids]
        if len(hits) >= k or len(head) < n_head:
            return hits[:k]
        rarest, df = self._choose_rarest(clauses, query.lang)
        ids = [hit.id for hit in self._find_candidates(rarest, df, where)]
        matching = self._filter_documents(ids, needed_ids)
        return rank_hits((Hit(doc_id, dot(request, vector)) for doc_id, vector in matching), k)

    def matches(self, query: Query, id: str) -> list[Match]:
        """List what every word adds to the score of a document of the query's language."""
        langs, rows = self._store.read_sparse(self._name, [id])
        document = SparseVector(rows.indices, rows.values)
        if langs != [query.lang]:
            return []
        matches = []
        for source, word, weight in self._weigh_words(query)[1]:
            request = self._statistics.weigh_query(query.lang, {word: weight}, self._field_weights())
            matches.append(Match(source, word, dot(request, document)))
        return [match for match in matches if match.score]

    def _list_choices(self, query: Query) -> list[tuple[str, list[Choice]]]:
        """List each source term with its alternatives, split into words; stop words are left out."""
        tokenize = self._analyze(query.lang).terms
        if not query.clauses:
            return [(word, [Choice((word,), 1.0)]) for word in tokenize(query.text)]
        clauses = []
        for clause in query.clauses:
            alternatives = [(terms or tuple(tokenize(text)), weight) for text, weight, terms in clause.alternatives]
            choices = [Choice(words, weight, clause.weight) for words, weight in alternatives if words]
            if choices:
                clauses.append((clause.source, choices))
        return clauses

    def _weigh_words(self, query: Query) -> tuple[list[tuple[str, list[Choice]]], list[WeightedWord]]:
        """Return the clauses that must match, and the weights of all words."""
        added = tuple(clause for clause in query.clauses if not clause.required)
        asked = query._replace(clauses=tuple(clause for clause in query.clauses if clause.required))
        required = self._list_choices(asked if asked.clauses or not added else query)
        optional = self._list_choices(query._replace(clauses=added)) if added and asked.clauses else []
        choices = [(source, choice._replace(weight=1.0)) for source, clause in required for choice in clause]
        choices += [(source, choice) for source, clause in optional for choice in clause]
        return required, [
            WeightedWord(source, word, choice.clause_weight * choice.weight / len(choice.words))
            for source, choice in choices
            for word in choice.words
        ]

    def _field_weights(self) -> dict[str, float]:
        weights = zip(self._statistics.layout.fields, self._factors.tolist(), strict=True)
        return {field: weight for field, weight in weights if weight}

    def _list_ids(self, word: str, lang: str) -> frozenset[int]:
        """Return the ids of a word in the fields that are searched."""
        return frozenset(int(self._statistics.ids(field, lang, [word])[0]) for field in self._field_weights())

    def _filter_documents(
        self, ids: Sequence[str], needed_ids: Sequence[Sequence[Sequence[frozenset[int]]]]
    ) -> Iterator[tuple[str, SparseVector]]:
        """Iterate over the documents that contain all words of some alternative of every clause, with their vectors."""
        for start in range(0, len(ids), MAX_CANDIDATES):
            batch = ids[start : start + MAX_CANDIDATES]
            rows = self._store.read_sparse(self._name, batch)[1]
            ends = np.cumsum(rows.sizes)
            for doc_id, first, last in zip(batch, (ends - rows.sizes).tolist(), ends.tolist(), strict=True):
                vector = SparseVector(rows.indices[first:last], rows.values[first:last])
                term_ids = set(vector.indices.tolist())
                if all(any(all(word & term_ids for word in choice) for choice in clause) for clause in needed_ids):
                    yield doc_id, vector

    def _find_candidates(self, vector: SparseVector, number: int, where: Where | None) -> Ranking:
        return self._store.search_sparse(self._name, [vector], number, where)[0] if len(vector.indices) else []

    def _choose_rarest(self, clauses: Sequence[Sequence[Choice]], lang: str) -> tuple[SparseVector, int]:
        """Return a request for all documents of the clause that has fewest, and how many there may be at most."""
        requests = []
        for choices in clauses:
            words = {word for choice in choices for word in choice.words}
            ids = sorted(frozenset[int]().union(*(self._list_ids(word, lang) for word in words)))
            requests.append((make_sparse_vector(dict.fromkeys(ids, 1.0)), int(self._statistics.df_of(ids).sum())))
        return min(requests, key=lambda request: request[1])
