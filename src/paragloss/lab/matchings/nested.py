"""A translated query as (a1 OR a2) AND (b1 OR b2): a document must match every clause."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from paragloss.bm25 import dot, make_sparse_vector
from paragloss.lab.matchings.structured import StructuredSearcher
from paragloss.ranking import rank_hits
from paragloss.search.clauses import MAX_CANDIDATES
from paragloss.search.evidence import Match
from paragloss.types import Hit, Query, Ranking, SparseVector, Translation, Where

#: Documents of the plain ranking that are tried before all documents of the rarest clause.
HEAD_PER_HIT, MIN_HEAD = 10, 100


class Choice(NamedTuple):
    """An alternative of a clause: words that must all match, and the weight that they share."""

    words: tuple[str, ...]
    weight: float


class NestedClause(NamedTuple):
    """A query term with its alternatives; documents must match one of them if the clause is required."""

    source: str
    choices: list[Choice]
    is_required: bool


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
        clauses = self._list_clauses(query)
        request = self._make_request(query.lang, _list_weighted_words(clauses))
        required = [self._find_term_ids(clause, query.lang) for clause in clauses if clause.is_required]
        head_size = HEAD_PER_HIT * k + MIN_HEAD
        head = self._find_candidates(request, head_size, where)
        hits = self._filter_hits(head, required)
        is_whole_ranking = len(head) < head_size
        if len(hits) >= k or is_whole_ranking:
            return hits[:k]
        return self._rank_by_rarest_clause(request, required, k, where)

    def _find_term_ids(self, clause: NestedClause, lang: str) -> RequiredClause:
        """Look up the ids that the words of a clause have in the searched fields of documents of a language."""
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
        :param clauses: the clauses that must match
        """
        rarest_clause = min(clauses, key=self._count_documents)
        clause_request = make_sparse_vector(dict.fromkeys(rarest_clause.list_ids(), 1.0))
        candidates = self._find_candidates(clause_request, self._count_documents(rarest_clause), where)
        candidate_ids = [hit.id for hit in candidates]
        matching = self._filter_documents(candidate_ids, clauses)  # ids with vectors
        hits = (Hit(doc_id, dot(request, vector)) for doc_id, vector in matching)
        return rank_hits(hits, k)

    def _make_request(self, lang: str, weighted_words: Sequence[WeightedWord]) -> SparseVector:
        """Return the vector whose dot product with a document of a language is its score."""
        weights: dict[str, float] = {}
        for _, word, weight in weighted_words:
            weights[word] = weights.get(word, 0.0) + weight
        return self._statistics.weigh_query(lang, weights, self._field_weights())

    def matches(self, query: Query, id: str) -> list[Match]:
        """List what every word adds to the score of a document; nothing if it is in another language than the query.

        :param id: of the document
        """
        langs, rows = self._store.read_sparse(self._vector_name, [id])
        if langs != [query.lang]:
            return []
        document = SparseVector(rows.indices, rows.values)  # the only row
        matches = []
        for weighted_word in _list_weighted_words(self._list_clauses(query)):
            score = dot(self._make_request(query.lang, [weighted_word]), document)
            if score:
                matches.append(Match(weighted_word.source, weighted_word.word, score))
        return matches

    def _list_clauses(self, query: Query) -> list[NestedClause]:
        """List the clauses of a query with their alternatives split into words, without those of stop words only.

        Where the query says of no clause that it is required, all are. A query without clauses has one for each of its
        words.
        """
        tokenize = self._analyze(query.lang).terms
        if not query.clauses:
            return [NestedClause(word, [Choice((word,), 1.0)], is_required=True) for word in tokenize(query.text)]
        are_all_required = not any(clause.required for clause in query.clauses)
        clauses = []
        for clause in query.clauses:
            is_required = clause.required or are_all_required
            choices = _list_choices(clause, is_required, tokenize)
            if choices:
                clauses.append(NestedClause(clause.source, choices, is_required))
        return clauses

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
                term_ids = set(vector.indices.tolist())
                if all(clause.is_matched_by(term_ids) for clause in clauses):
                    yield doc_id, vector

    def _find_candidates(self, vector: SparseVector, number: int, where: Where | None) -> Ranking:
        return self._store.search_sparse(self._vector_name, [vector], number, where)[0] if len(vector.indices) else []

    def _count_documents(self, clause: RequiredClause) -> int:
        """Return how many documents match a clause, at most."""
        return int(self._statistics.df_of(clause.list_ids()).sum())


def _list_choices(clause: Translation, is_required: bool, tokenize: Callable[[str], Sequence[str]]) -> list[Choice]:
    """Split the alternatives of a clause into words; those without a word are left out.

    :param is_required: the alternatives of a required clause weigh alike, those of any other as the query says
    :param tokenize: text -> its words without stop words
    """
    choices = []
    for alternative in clause.alternatives:
        words = alternative.terms or tuple(tokenize(alternative.text))
        weight = 1.0 if is_required else alternative.weight
        if words:
            choices.append(Choice(words, clause.weight * weight))
    return choices


def _list_weighted_words(clauses: Sequence[NestedClause]) -> list[WeightedWord]:
    """List the words of all alternatives; those of a phrase share its weight."""
    weighted_words = []
    for clause in clauses:
        for choice in clause.choices:
            share = choice.weight / len(choice.words)
            weighted_words += [WeightedWord(clause.source, word, share) for word in choice.words]
    return weighted_words
