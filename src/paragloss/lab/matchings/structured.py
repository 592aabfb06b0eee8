"""Search with structured queries of the literature: the words that may translate one query term make one clause.

Four meanings of a clause are here and in `nested`:

- `Synonymous`: alternatives count as one term, tf summed, df of their union (Pirkola, SIGIR 1998);
- `Tempered`: likewise, but likelier and rarer alternatives count a little more;
- `Probabilistic`: tf and df are sums weighted by translation probability (Darwish and Oard, SIGIR 2003, "PSQ");
- `nested.Nested`: (a1 OR a2) AND (b1 OR b2): a document must match every clause.

The search's own are `search.word_search`, which adds fields before they saturate, and `search.lexical`, where every
alternative counts by itself. A query without clauses has one for each of its terms; all but `Nested` are then BM25.

The first three share `ClauseSearcher`. The score of a document is BM25 with a clause in the place of a term:

    sum over fields f and clauses c of clause_weight[f, c] * tf[f, c] / (tf[f, c] + K[f])

It is computed for all candidates of a query at once, on flat arrays. Their names use these words:

- An alternative is a word of a clause; the alternatives are numbered through all clauses of the query.
- A term id is the number that the index gives to one word in one field.
- An entry is one alternative in one field, so it has a term id. A query is compiled into its entries (`CompiledQuery`).
- A part is one field of one document, as in `bm25.CountedTerms`. Each part has its own tf of every clause.
- An occurrence is an entry that a part contains, with its count (`_Occurrences`).

The index has a field for words inside compounds, `index.terms.INNER`, called the subword field here. What occurs there
adds to the tf of the text rather than to a field of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from paragloss.analysis import analyzer
from paragloss.bm25 import CountedTerms, Doubles, Ids, Integers, concatenate_ranges, filter_entries
from paragloss.groups import list_groups, list_starts
from paragloss.index.terms import INNER, SUBWORD_FIELDS
from paragloss.ranking import rank_hits
from paragloss.search.clauses import MAX_CANDIDATES, Clause, split_into_clauses
from paragloss.search.evidence import Match, explain_matches, list_origins
from paragloss.statistics import (
    PROBABILITY_EXPONENT,
    RARITY_EXPONENT,
    Statistics,
    compute_idf,
    sum_by_key,
    temper_alternatives,
)
from paragloss.translation.subword_terms import SOUND_PREFIX, SUBWORD_PREFIX
from paragloss.types import (
    Analyzer,
    Document,
    Hit,
    Query,
    QueryForms,
    RankedList,
    Ranking,
    ScoreExplanation,
    SparseRows,
    SparseVector,
    Store,
    Where,
)


class CompiledQuery(NamedTuple):
    """A query in one language as arrays. An entry is an alternative of a clause in one field of the index."""

    term_ids: Ids  # (n_entries,) ascending
    clauses: Integers  # (n_entries,) number of the clause
    alternatives: Integers  # (n_entries,) number of the alternative among those of all clauses
    tf_weights: Doubles  # (n_entries,) what an occurrence adds to the tf of the clause
    clause_weights: Doubles  # (n_fields, n_clauses) weight of the field times importance and idf of the clause
    max_score: float  # the limit that no document's score reaches

    def make_request(self, ids_per_field: int) -> SparseVector:
        """Return the sparse vector whose dot product with documents approximates the score.

        It saturates every alternative by itself instead of the whole clause.

        :param ids_per_field: how many term ids each field has; field i has those from i * ids_per_field on
        """
        term_ids = self.term_ids.astype(np.int64)
        weights = self.tf_weights * self.clause_weights[term_ids // ids_per_field, self.clauses]
        distinct_ids, summed_weights = sum_by_key(term_ids, weights)
        return SparseVector(distinct_ids.astype(np.uint32), summed_weights.astype(np.float32))


class _Alternatives(NamedTuple):
    """The alternatives of all clauses of a query, one clause after the other."""

    hashes: Integers  # (n_alternatives,) from which the index computes term ids
    probabilities: Doubles  # (n_alternatives,)
    subword_shares: Doubles  # (n_alternatives,) how much an occurrence inside a compound counts
    clauses: Integers  # (n_alternatives,) number of the clause
    clause_starts: Integers  # (n_clauses,) the first alternative of each clause
    importance: Doubles  # (n_clauses,)

    @classmethod
    def gather(cls, clauses: Sequence[Clause]) -> _Alternatives:
        """Put the arrays of the clauses together."""
        sizes = [len(clause.words) for clause in clauses]
        return cls(
            hashes=np.concatenate([clause.hashes for clause in clauses]),
            probabilities=np.concatenate([clause.probabilities for clause in clauses]),
            subword_shares=np.concatenate([clause.subword_weights for clause in clauses]),
            clauses=list_groups(sizes),
            clause_starts=list_starts(sizes),
            importance=np.array([clause.weight for clause in clauses]),
        )


class _TermIds(NamedTuple):
    """The term ids of the alternatives of a query in the fields that are searched."""

    fields: Integers  # (n_searched,) numbers of the searched fields of whole words
    words: Ids  # (n_searched, n_alternatives)
    subwords: Ids | None  # (n_alternatives,) in the subword field; None if that is not searched


class _Weights(NamedTuple):
    """The weights of a query; for the fields see `CompiledQuery`."""

    alternatives: Doubles  # (n_alternatives,) what an occurrence as a word adds to the tf of the clause
    clauses: Doubles  # (n_fields, n_clauses)
    max_score: float


class _Occurrences(NamedTuple):
    """Where documents contain alternatives of a query; the arrays have an item for each entry in each part."""

    parts: Integers  # number of the part whose tf the occurrence adds to
    fields: Integers  # number of the field in which it is indexed
    alternatives: Integers  # number of the alternative
    clauses: Integers  # number of its clause
    tf: Doubles  # what it adds to the tf of the clause


class StructuredSearcher:
    """The base of searchers by clauses: a store, statistics and the weights of fields."""

    def __init__(
        self,
        store: Store,
        statistics: Statistics,
        *,
        weights: Mapping[str, float] | None = None,
        candidates: int = MAX_CANDIDATES,
        proportional: bool = False,
        name: str = "terms",
        analyze: Callable[[str], Analyzer] = analyzer,
    ) -> None:
        """Make a searcher.

        :param weights: weights of the fields to search; by default all fields of whole words count 1
        :param candidates: documents of a query that are scored exactly
        :param proportional: divide scores by the highest possible score of the query
        :param name: the store's sparse vector
        :param analyze: returns the analyzer of a language
        """
        layout = statistics.layout
        if weights is None:
            weights = {field: 1.0 for field in layout.fields if field not in SUBWORD_FIELDS}
        self._weights = dict(weights)
        self._store = store
        self._statistics = statistics
        self._field_factors = np.zeros(len(layout.fields))  # weight of each field of the layout, by its number
        for field, weight in weights.items():
            self._field_factors[layout.field(field)] = weight
        self._max_candidates = candidates
        self._proportional = proportional
        self._vector_name = name
        self._analyze = analyze

    @property
    def looks_inside(self) -> bool:
        """Whether parts of compounds and sounds of names are searched; they count as words of the text do."""
        return INNER in self._statistics.layout.fields and bool(self._weights.get("text"))

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Rank the documents of each query's language."""
        ranked_lists = []
        for query in queries:
            ranking = self._search_query(query, k, where)
            ranked_lists.append(RankedList(tuple(ranking), QueryForms((query,)), partial(self._explain, query)))
        return ranked_lists

    def max_score(self, lang: str) -> float:
        """Return the highest score possible."""
        return 1.0 if self._proportional else math.inf

    def _search_query(self, query: Query, k: int, where: Where | None) -> Ranking:
        """Rank the `k` best documents of the query's language.

        :param where: filters of the documents; None for all
        """
        raise NotImplementedError

    def matches(self, query: Query, id: str) -> list[Match]:
        """List what every word adds to the score of a document of the query's language."""
        raise NotImplementedError

    def _explain(self, query: Query, document: Document, score: float) -> ScoreExplanation:
        return explain_matches(self.matches(query, document.id), list_origins(query), score)


class ClauseSearcher(StructuredSearcher):
    """A clause is one term whose tf is a weighted sum over alternatives.

    A dot product can't saturate such a sum. It picks `candidates` documents by saturating each alternative by itself,
    and these are then scored exactly from their stored vectors. With one alternative to a clause both scores are equal.
    """

    def weigh_alternatives(
        self, probabilities: Doubles, df: Doubles, clause_starts: Integers, n_documents: Doubles
    ) -> tuple[Doubles, Doubles]:
        """Return how much an occurrence of each alternative counts, and the document frequency of each clause.

        :param probabilities: (n_alternatives,)
        :param df: (n_fields, n_alternatives) document frequencies of the alternatives
        :param clause_starts: (n_clauses,) the first alternative of each clause
        :param n_documents: (n_fields, n_clauses) how many documents there are
        :return: (n_alternatives,) and (n_fields, n_clauses)
        """
        raise NotImplementedError

    def _search_query(self, query: Query, k: int, where: Where | None) -> Ranking:
        """Find candidates by a dot product and rank them by their exact scores: the best `k`.

        :param k: how many documents are ranked at most
        :param where: filters of the documents; None for all
        """
        conditions = dict(where or {})
        languages = conditions.pop("lang", None)  # term ids belong to one language: the store need not filter by it
        if languages is not None and query.lang not in languages:
            return []
        compiled = self._compile(query)
        if compiled is None or not len(compiled.term_ids):
            return []
        doc_ids, vectors = self._find_candidates(compiled, max(self._max_candidates, k), conditions)
        scores = self._score_documents(query.lang, compiled, vectors).tolist()
        hits = (Hit(doc_id, score) for doc_id, score in zip(doc_ids, scores, strict=True) if score)
        return rank_hits(hits, k)

    def _find_candidates(
        self, compiled: CompiledQuery, limit: int, conditions: Where
    ) -> tuple[Sequence[str], SparseRows]:
        """Return the ids of the documents of the highest approximate scores, and the needed part of their vectors.

        :param limit: how many documents are returned at most
        :param conditions: filters of the documents
        """
        layout = self._statistics.layout
        request = compiled.make_request(layout.span)
        ids_to_read = layout.with_lengths(compiled.term_ids)
        candidates = self._store.search_and_read(self._vector_name, [request], limit, conditions or None, ids_to_read)
        return candidates.ids, candidates.rows

    def matches(self, query: Query, id: str) -> list[Match]:
        """List what each alternative adds to the score of a document.

        A clause saturates as a whole: its score is divided among its alternatives by what each adds to the tf.
        """
        compiled = self._compile(query)
        if compiled is None:
            return []
        _, vectors = self._store.read_sparse(self._vector_name, [id])
        bags = self._unpack_terms(compiled, vectors)
        occurrences = self._find_occurrences(compiled, bags)
        scores = self._score_occurrences(query.lang, compiled, bags, occurrences)
        score_by_word = self._sum_scores_by_word(query, occurrences, scores)
        return [Match(source, word, score) for (source, word), score in score_by_word.items() if score]

    def _score_occurrences(
        self, lang: str, compiled: CompiledQuery, bags: CountedTerms, occurrences: _Occurrences
    ) -> Doubles:
        """Divide the scores of documents among the occurrences of the query's alternatives in them: (n_occurrences,).

        :param bags: the terms of the documents
        """
        parts, clauses = occurrences.parts, occurrences.clauses
        tf = _sum_tf(occurrences, len(bags.row), compiled.clause_weights.shape[1])  # (n_parts, n_clauses)
        norms = self._compute_norms(lang, bags)  # (n_parts,)
        clause_weights = compiled.clause_weights[bags.field[parts], clauses]
        scores = clause_weights / (tf[parts, clauses] + norms[parts]) * occurrences.tf
        return scores / compiled.max_score if self._proportional else scores

    def _sum_scores_by_word(
        self, query: Query, occurrences: _Occurrences, scores: Doubles
    ) -> dict[tuple[str, str], float]:
        """Add up the scores of the occurrences of each word. Parts of compounds are marked by a prefix.

        :param scores: (n_occurrences,)
        :return: (query term, word that translates it) -> score
        """
        sources_and_words: list[tuple[str, str]] = []  # of each alternative
        for clause in split_into_clauses(query, self._analyze):
            sources_and_words += [(clause.source, word) for word in clause.words]
        subword_field = self._subword_field()
        score_by_word: dict[tuple[str, str], float] = {}
        for alternative, field, score in zip(
            occurrences.alternatives.tolist(), occurrences.fields.tolist(), scores.tolist(), strict=True
        ):
            source, word = sources_and_words[alternative]
            if field == subword_field and not word.startswith(SOUND_PREFIX):
                word = SUBWORD_PREFIX + word
            score_by_word[source, word] = score_by_word.get((source, word), 0.0) + score
        return score_by_word

    def _subword_field(self) -> int | None:
        """Return the number of the field for words inside compounds; None if it is not searched."""
        return self._statistics.layout.field(INNER) if self.looks_inside else None

    def _compile(self, query: Query) -> CompiledQuery | None:
        """Weigh the alternatives of a query in each field; None if it has no terms or no field is searched."""
        clauses = split_into_clauses(query, self._analyze)
        fields = np.flatnonzero(self._field_factors)
        if not clauses or not len(fields):
            return None
        alternatives = _Alternatives.gather(clauses)
        term_ids = self._find_term_ids(fields, alternatives)
        return _arrange_entries(term_ids, alternatives, self._weigh(query.lang, term_ids, alternatives))

    def _weigh(self, lang: str, term_ids: _TermIds, alternatives: _Alternatives) -> _Weights:
        """Weigh the alternatives and the clauses of a query by their frequency in the documents of a language."""
        fields, n_clauses = term_ids.fields, len(alternatives.importance)
        summary = self._statistics.summarize_languages((lang,))
        documents_per_field = summary.n_documents[fields, 0]  # (n_searched,)
        n_documents = np.repeat(documents_per_field[:, None], n_clauses, axis=1)  # (n_searched, n_clauses)
        df = self._count_documents(term_ids, alternatives.subword_shares, documents_per_field)
        tf_weights, clause_df = self.weigh_alternatives(
            alternatives.probabilities, df, alternatives.clause_starts, n_documents
        )
        idf = compute_idf(n_documents, clause_df)
        clause_weights = self._field_factors[fields, None] * alternatives.importance * idf  # (n_searched, n_clauses)
        # Terms that no document has count for the highest score as well.
        max_score = float((clause_weights * summary.field_shares[fields, 0][:, None]).sum()) or 1.0
        used_weights = np.where(clause_df > 0, clause_weights, 0.0)
        return _Weights(tf_weights, self._spread_over_fields(fields, used_weights), max_score)

    def _find_term_ids(self, fields: Integers, alternatives: _Alternatives) -> _TermIds:
        """Return the term ids of alternatives in some fields and, if it is searched, in the subword field."""
        layout, subword_field = self._statistics.layout, self._subword_field()
        word_ids = layout.ids(fields[:, None], alternatives.hashes)
        subword_ids = None if subword_field is None else layout.ids(subword_field, alternatives.hashes)
        return _TermIds(fields, word_ids, subword_ids)

    def _spread_over_fields(self, fields: Integers, weights: Doubles) -> Doubles:
        """Return weights of clauses in all fields, (n_fields, n_clauses); the subword field has those of the text.

        :param fields: (n_searched,) numbers of the fields whose weights are given; others get 0
        :param weights: (n_searched, n_clauses)
        """
        layout, subword_field = self._statistics.layout, self._subword_field()
        clause_weights = np.zeros((len(layout.fields), weights.shape[1]))
        clause_weights[fields] = weights
        if subword_field is not None:
            clause_weights[subword_field] = clause_weights[layout.field("text")]
        return clause_weights

    def _count_documents(self, term_ids: _TermIds, subword_shares: Doubles, documents_per_field: Doubles) -> Doubles:
        """Return the document frequency of each alternative in each searched field: (n_searched, n_alternatives).

        Documents that contain a word inside a compound are added to those of the text.

        :param subword_shares: (n_alternatives,) how much an occurrence inside a compound counts
        :param documents_per_field: (n_searched,)
        """
        statistics = self._statistics
        df = statistics.df_of(term_ids.words.ravel()).reshape(term_ids.words.shape).astype(np.float64)
        if term_ids.subwords is not None:
            text_row = term_ids.fields.tolist().index(statistics.layout.field("text"))
            df_with_subwords = df[text_row] + subword_shares * statistics.df_of(term_ids.subwords)
            df[text_row] = np.minimum(df_with_subwords, documents_per_field[text_row])
        return df

    def _score_documents(self, lang: str, compiled: CompiledQuery, vectors: SparseRows) -> Doubles:
        """Score documents, given their stored vectors: (n_docs,)."""
        bags = self._unpack_terms(compiled, vectors)
        occurrences = self._find_occurrences(compiled, bags)
        tf = _sum_tf(occurrences, len(bags.row), compiled.clause_weights.shape[1])  # (n_parts, n_clauses)
        saturated_tf = tf / (tf + self._compute_norms(lang, bags)[:, None])
        part_scores = (compiled.clause_weights[bags.field] * saturated_tf).sum(axis=1)
        if self._proportional:
            part_scores /= compiled.max_score
        return np.asarray(np.bincount(bags.row, part_scores, bags.rows), np.float64)

    def _unpack_terms(self, compiled: CompiledQuery, vectors: SparseRows) -> CountedTerms:
        """Recover term counts from stored vectors; most terms that the query does not have are left out."""
        layout = self._statistics.layout
        return layout.unpack_rows(filter_entries(vectors, layout.with_lengths(compiled.term_ids)))

    def _find_occurrences(self, compiled: CompiledQuery, bags: CountedTerms) -> _Occurrences:
        """Pair every term count of documents with the query's entries that have the same term id."""
        first_entries = compiled.term_ids.searchsorted(bags.ids, side="left")  # (n_counts,)
        entries_per_count = compiled.term_ids.searchsorted(bags.ids, side="right") - first_entries
        # Each pair is given by the position of a count in `bags` and of an entry in `compiled`; (n_occurrences,) both.
        count_positions = np.arange(len(bags.ids)).repeat(entries_per_count)
        entry_positions = concatenate_ranges(first_entries, entries_per_count)
        parts = list_groups(bags.size)[count_positions]
        return _Occurrences(
            parts=self._map_subwords_to_text(bags)[parts],
            fields=bags.field[parts],
            alternatives=compiled.alternatives[entry_positions],
            clauses=compiled.clauses[entry_positions],
            tf=bags.counts[count_positions] * compiled.tf_weights[entry_positions],
        )

    def _compute_norms(self, lang: str, bags: CountedTerms) -> Doubles:
        """Return K of BM25 of each part, (n_parts,), by the current average lengths of the fields."""
        averages = self._statistics.summarize_languages((lang,)).average_lengths[:, 0]
        current = averages[bags.field]
        return self._statistics.layout.norms(bags._replace(average=np.where(current > 0, current, bags.average)))

    def _map_subwords_to_text(self, bags: CountedTerms) -> Integers:
        """Return for each part of a document the number of the part that its terms are counted in: (n_parts,).

        A part is one field of one document. Subwords are counted in the text field of their document, if it has one;
        the terms of any other field are counted in their own part.
        """
        part_numbers = np.arange(len(bags.row))
        subword_field = self._subword_field()
        if subword_field is None:
            return part_numbers
        is_text = bags.field == self._statistics.layout.field("text")
        text_part_by_document = np.full(bags.rows, -1)  # -1 for a document without text
        text_part_by_document[bags.row[is_text]] = part_numbers[is_text]
        text_parts = text_part_by_document[bags.row]  # (n_parts,) the text part of the same document
        is_counted_in_text = (bags.field == subword_field) & (text_parts >= 0)
        return np.where(is_counted_in_text, text_parts, part_numbers)


class Synonymous(ClauseSearcher):
    """The alternatives of a clause count as one term, whatever their weights.

    The df of a union is estimated as if alternatives occurred independently of each other; it lies between the largest
    df and the sum, as the true one does.
    """

    probability_exponent = rarity_exponent = 0.0

    def weigh_alternatives(
        self, probabilities: Doubles, df: Doubles, clause_starts: Integers, n_documents: Doubles
    ) -> tuple[Doubles, Doubles]:
        """Return the weight of each alternative and the document frequency of each clause."""
        return temper_alternatives(
            probabilities,
            df,
            clause_starts,
            n_documents,
            probability_exponent=self.probability_exponent,
            rarity_exponent=self.rarity_exponent,
        )


class Tempered(Synonymous):
    """Likelier alternatives count more, and so do rarer ones; the best that the collection holds counts in full.

    The probabilities of a translation are those of other texts: what is unlikely there may be the only sense here.
    """

    probability_exponent, rarity_exponent = PROBABILITY_EXPONENT, RARITY_EXPONENT


class Probabilistic(ClauseSearcher):
    """The weights of a clause's alternatives, made to sum to one, are the probabilities of its translations."""

    def weigh_alternatives(
        self, probabilities: Doubles, df: Doubles, clause_starts: Integers, n_documents: Doubles
    ) -> tuple[Doubles, Doubles]:
        """Return the probability of each alternative and the document frequency of each clause."""
        return probabilities, np.minimum(np.add.reduceat(df * probabilities, clause_starts, axis=1), n_documents)


def _arrange_entries(term_ids: _TermIds, alternatives: _Alternatives, query_weights: _Weights) -> CompiledQuery:
    """List the entries of a query by their term ids, without those that count nothing."""
    tf_weights = query_weights.alternatives
    ids, weights = term_ids.words, np.tile(tf_weights, (len(term_ids.fields), 1))  # (n_searched, n_alternatives)
    if term_ids.subwords is not None:
        ids = np.vstack([ids, term_ids.subwords])
        weights = np.vstack([weights, tf_weights * alternatives.subword_shares])
    alternative_of_entry = np.tile(np.arange(len(tf_weights)), len(ids))
    flat_ids, flat_weights = ids.ravel(), weights.ravel()
    counting_entries = np.flatnonzero(flat_weights > 0)
    order = counting_entries[flat_ids[counting_entries].argsort(kind="stable")]
    sorted_alternatives = alternative_of_entry[order]
    return CompiledQuery(
        term_ids=flat_ids[order],
        clauses=alternatives.clauses[sorted_alternatives],
        alternatives=sorted_alternatives,
        tf_weights=flat_weights[order],
        clause_weights=query_weights.clauses,
        max_score=query_weights.max_score,
    )


def _sum_tf(occurrences: _Occurrences, n_parts: int, n_clauses: int) -> Doubles:
    """Return the tf of each clause in each field of each document: (n_parts, n_clauses)."""
    positions = occurrences.parts * n_clauses + occurrences.clauses  # in the flattened result
    tf = np.bincount(positions, occurrences.tf, n_parts * n_clauses)
    return np.asarray(tf, np.float64).reshape(-1, n_clauses)
