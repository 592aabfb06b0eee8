"""A translated query as (a1 OR a2) AND (b1 OR b2): a document must match every clause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from paragloss.bm25 import dot, make_sparse_vector
from paragloss.lab.matchings.structured import StructuredSearcher
from paragloss.ranking import rank_hits
from paragloss.search.clauses import MAX_CANDIDATES
from paragloss.search.evidence import Match
from paragloss.types import Hit, Query, Ranking, SparseVector, Where

#: Documents of the plain ranking that are tried before all documents of the rarest clause.
HEAD_PER_HIT, MIN_HEAD = 10, 100


class Choice(NamedTuple):
    """An alternative of a clause: words that must all match, its weight, and the weight of its clause."""

    words: tuple[str, ...]
    weight: float
    clause_weight: float = 1.0


class SourceChoices(NamedTuple):
    """The alternatives of one query term."""

    source: str
    choices: list[Choice]


class RequiredClause(NamedTuple):
    """A clause that a document must match: for each word of each alternative its ids in the searched fields."""

    alternatives: list[list[frozenset[int]]]

    def is_matched_by(self, document_ids: Set[int]) -> bool:
        """Tell whether a document with these term ids has all words of some alternative."""
        return any(all(word_ids & document_ids for word_ids in words) for words in self.alternatives)

    def list_ids(self) -> list[int]:
        """Return the ids of all words of all alternatives, in order."""
        return sorted({term_id for words in self.alternatives for word_ids in words for term_id in word_ids})


class WeightedWord(NamedTuple):
    """A word that adds to the score, the query term it translates, and its weight."""

    source: str
    word: str
    weight: float


class Nested(StructuredSearcher):
    """Every clause must match, in any field; a phrase matches when all its words do. Exact.

    The score is the plain sum of BM25 over all alternatives, whatever their weights. Clauses that are not `required`,
    which expansion adds to the query, need not match, and count with their weights. The score is a dot product, so the
    result is a subsequence of the plain ranking: its head is tried first. If that has fewer than k matches, all
    documents of the rarest clause are read.
    """

    def _search_query(self, query: Query, k: int, where: Where | None) -> Ranking:
        """Rank the k best documents that match every required clause.

        First the head of the plain ranking is filtered, which is cheap and mostly enough. If too few of its documents
        match and the plain ranking goes on behind it, all documents of the rarest clause are filtered and scored: each
        document that matches every clause is among them.

        :param where: filters of the documents
        """
        request = self._make_request(query, self._list_weighted_words(query))
        clauses = [self._make_required_clause(clause, query.lang) for clause in self._list_required(query)]
        head_size = HEAD_PER_HIT * k + MIN_HEAD
        head = self._find_candidates(request, head_size, where)
        hits = self._filter_hits(head, clauses)
        is_whole_ranking = len(head) < head_size
        if len(hits) >= k or is_whole_ranking:
            return hits[:k]
        return self._rank_by_rarest_clause(request, clauses, k, where)

    def _make_required_clause(self, clause: SourceChoices, lang: str) -> RequiredClause:
        alternatives = []
        for choice in clause.choices:
            alternatives.append([self._list_ids(word, lang) for word in choice.words])
        return RequiredClause(alternatives)

    def _filter_hits(self, hits: Ranking, clauses: Sequence[RequiredClause]) -> Ranking:
        """Return the hits whose documents match every clause, in their order."""
        matching_ids = {doc_id for doc_id, _ in self._filter_documents([hit.id for hit in hits], clauses)}
        return [hit for hit in hits if hit.id in matching_ids]

    def _rank_by_rarest_clause(
        self, request: SparseVector, clauses: Sequence[RequiredClause], k: int, where: Where | None
    ) -> Ranking:
        """Rank the k best of all documents that match every clause, which the rarest clause finds.

        :param request: the vector whose dot product with a document is its score
        """
        df, term_ids = min((self._count_documents(clause), clause.list_ids()) for clause in clauses)
        clause_request = make_sparse_vector(dict.fromkeys(term_ids, 1.0))
        candidate_ids = [hit.id for hit in self._find_candidates(clause_request, df, where)]
        matching = self._filter_documents(candidate_ids, clauses)
        return rank_hits((Hit(doc_id, dot(request, vector)) for doc_id, vector in matching), k)

    def _make_request(self, query: Query, weighted_words: Sequence[WeightedWord]) -> SparseVector:
        """Return the vector whose dot product with a document is its score."""
        weights: dict[str, float] = {}
        for _, word, weight in weighted_words:
            weights[word] = weights.get(word, 0.0) + weight
        return self._statistics.weigh_query(query.lang, weights, self._field_weights())

    def matches(self, query: Query, id: str) -> list[Match]:
        """List what every word adds to the score of a document of the query's language."""
        langs, rows = self._store.read_sparse(self._vector_name, [id])
        if langs != [query.lang]:
            return []
        document = SparseVector(rows.indices, rows.values)
        matches = []
        for weighted_word in self._list_weighted_words(query):
            score = dot(self._make_request(query, [weighted_word]), document)
            if score:
                matches.append(Match(weighted_word.source, weighted_word.word, score))
        return matches

    def _list_choices(self, query: Query) -> list[SourceChoices]:
        """List each source term with its alternatives, split into words; those of stop words only are left out."""
        tokenize = self._analyze(query.lang).terms
        if not query.clauses:
            return [SourceChoices(word, [Choice((word,), 1.0)]) for word in tokenize(query.text)]
        sources = []
        for clause in query.clauses:
            choices = []
            for alternative in clause.alternatives:
                words = alternative.terms or tuple(tokenize(alternative.text))
                if words:
                    choices.append(Choice(words, alternative.weight, clause.weight))
            if choices:
                sources.append(SourceChoices(clause.source, choices))
        return sources

    def _list_required(self, query: Query) -> list[SourceChoices]:
        """List the clauses that must match: the required ones, or all if none is required."""
        required = tuple(clause for clause in query.clauses if clause.required)
        return self._list_choices(query._replace(clauses=required) if required else query)

    def _list_optional(self, query: Query) -> list[SourceChoices]:
        """List the clauses that need not match; none if no clause is required, because then all must match."""
        optional = tuple(clause for clause in query.clauses if not clause.required)
        if not optional or len(optional) == len(query.clauses):
            return []
        return self._list_choices(query._replace(clauses=optional))

    def _list_weighted_words(self, query: Query) -> list[WeightedWord]:
        """List the words of all clauses; those of required clauses have equal weights."""
        weighted_words: list[WeightedWord] = []
        for source, choices in self._list_required(query):
            for choice in choices:
                weighted_words += _list_words(source, choice._replace(weight=1.0))
        for source, choices in self._list_optional(query):
            for choice in choices:
                weighted_words += _list_words(source, choice)
        return weighted_words

    def _field_weights(self) -> dict[str, float]:
        weights = zip(self._statistics.layout.fields, self._field_factors.tolist(), strict=True)
        return {field: weight for field, weight in weights if weight}

    def _list_ids(self, word: str, lang: str) -> frozenset[int]:
        """Return the ids of a word in the fields that are searched."""
        return frozenset(int(self._statistics.ids(field, lang, [word])[0]) for field in self._field_weights())

    def _filter_documents(
        self, ids: Sequence[str], clauses: Sequence[RequiredClause]
    ) -> Iterator[tuple[str, SparseVector]]:
        """Yield the documents that match every clause, with their vectors.

        :param ids: ids of documents
        :param clauses: all of them must match
        """
        for start in range(0, len(ids), MAX_CANDIDATES):
            batch = ids[start : start + MAX_CANDIDATES]
            _, rows = self._store.read_sparse(self._vector_name, batch)
            bounds = [0, *np.cumsum(rows.sizes).tolist()]
            for doc_id, (first, end) in zip(batch, pairwise(bounds), strict=True):
                vector = SparseVector(rows.indices[first:end], rows.values[first:end])
                document_ids = set(vector.indices.tolist())
                if all(clause.is_matched_by(document_ids) for clause in clauses):
                    yield doc_id, vector

    def _find_candidates(self, vector: SparseVector, number: int, where: Where | None) -> Ranking:
        return self._store.search_sparse(self._vector_name, [vector], number, where)[0] if len(vector.indices) else []

    def _count_documents(self, clause: RequiredClause) -> int:
        """Return how many documents match a clause, at most."""
        return int(self._statistics.df_of(clause.list_ids()).sum())


def _list_words(source: str, choice: Choice) -> list[WeightedWord]:
    """Return the words of an alternative, which share its weight."""
    weight = choice.clause_weight * choice.weight / len(choice.words)
    return [WeightedWord(source, word, weight) for word in choice.words]
