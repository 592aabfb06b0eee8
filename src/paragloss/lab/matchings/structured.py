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
- An occurrence is an entry that a document contains, with its count (`_Occurrences`).

The index has a field for words inside compounds, `index.terms.INNER`, called the subword field here. What occurs there
adds to the tf of the text rather than to a field of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
    fields: Integers  # (n_entries,) number of the field to whose tf it adds; for parts of compounds that is the text
    is_subword: npt.NDArray[np.bool_]  # (n_entries,) whether it is a part of compounds
    clauses: Integers  # (n_entries,) number of the clause
    alternatives: Integers  # (n_entries,) number of the alternative among those of all clauses
    tf_weights: Doubles  # (n_entries,) what an occurrence adds to the tf of the clause
    clause_weights: Doubles  # (n_fields, n_clauses) weight of the field times importance and idf of the clause
    max_score: float  # the limit that no document's score reaches

    def make_request(self) -> SparseVector:
        """Return the sparse vector whose dot product with documents approximates the score.

        It saturates every alternative by itself instead of the whole clause.
        """
        weights = self.tf_weights * self.clause_weights[self.fields, self.clauses]
        distinct_ids, summed_weights = sum_by_key(self.term_ids.astype(np.int64), weights)
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


class _Weights(NamedTuple):
    """The weights of a query; for the fields see `CompiledQuery`."""

    alternatives: Doubles  # (n_alternatives,) what an occurrence as a word adds to the tf of the clause
    clauses: Doubles  # (n_fields, n_clauses)
    max_score: float


class _SearchedFields(NamedTuple):
    """The fields of the index in which the alternatives of a query are looked up."""

    index_fields: Integers  # (n_searched,) number of the field whose term ids are looked up
    tf_fields: Integers  # (n_searched,) number of the field to whose tf occurrences add
    tf_weights: Doubles  # (n_searched, n_alternatives) what an occurrence adds


class _Occurrences(NamedTuple):
    """Where documents contain alternatives of a query; the arrays have an item for each entry in each document."""

    documents: Integers  # number of the document
    entries: Integers  # number of the entry in the `CompiledQuery`
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
        :param name: name of the sparse vector in the store that holds the term counts of documents
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
        ids_to_read = self._statistics.layout.with_lengths(compiled.term_ids)
        candidates = self._store.search_and_read(
            self._vector_name, [compiled.make_request()], limit, conditions or None, ids_to_read
        )
        return candidates.ids, candidates.rows

    def matches(self, query: Query, id: str) -> list[Match]:
        """List what each alternative adds to the score of a document.

        A clause saturates as a whole: its score is divided among its alternatives by what each adds to the tf.
        """
        compiled = self._compile(query)
        if compiled is None:
            return []
        _, vectors = self._store.read_sparse(self._vector_name, [id])  # of the one document
        bags = self._unpack_terms(compiled, vectors)
        occurrences = self._find_occurrences(compiled, bags)
        scores = self._score_occurrences(query.lang, compiled, bags, occurrences)
        score_by_word = self._sum_scores_by_word(query, compiled, occurrences.entries, scores)
        return [Match(source, word, score) for (source, word), score in score_by_word.items() if score]

    def _score_occurrences(
        self, lang: str, compiled: CompiledQuery, bags: CountedTerms, occurrences: _Occurrences
    ) -> Doubles:
        """Divide the scores of documents among the occurrences of the query's words in them, to explain the scores.

        A clause is one term of the query with all words that may translate it. In a field, such as the title, it
        scores weight x tf / (tf + norm), where tf is what all occurrences of its words add up to, and norm grows with
        the length of the field. An occurrence that adds 2 of a tf of 3 gets two thirds of that score.

        :param lang: the language of the query and the documents
        :param compiled: the query, with the weight of each clause in each field
        :param bags: the terms of the documents
        :param occurrences: where these documents contain words of the query, and what each adds to the tf
        :return: (n_occurrences,) what each occurrence contributes to the score of its document
        """
        # All arrays have one value for each occurrence: first where it is, then what holds for its clause there.
        document_numbers = occurrences.documents
        field_numbers = compiled.fields[occurrences.entries]
        clause_numbers = compiled.clauses[occurrences.entries]
        clause_tf = _sum_tf(compiled, bags.rows, occurrences)[document_numbers, field_numbers, clause_numbers]
        length_norms = self._compute_norms(lang, bags)[document_numbers, field_numbers]
        clause_weights = compiled.clause_weights[field_numbers, clause_numbers]
        score_per_tf = clause_weights / (clause_tf + length_norms)
        scores = score_per_tf * occurrences.tf
        if self._proportional:
            return scores / compiled.max_score
        return scores

    def _sum_scores_by_word(
        self, query: Query, compiled: CompiledQuery, entries: Integers, scores: Doubles
    ) -> dict[tuple[str, str], float]:
        """Add up the scores of the occurrences of each word. Parts of compounds are marked by a prefix.

        :param entries: (n_occurrences,) number of the entry in the compiled query
        :param scores: (n_occurrences,)
        :return: (query term, word that translates it) -> score
        """
        sources_and_words: list[tuple[str, str]] = []  # of each alternative
        for clause in split_into_clauses(query, self._analyze):
            sources_and_words += [(clause.source, word) for word in clause.words]
        score_by_word: dict[tuple[str, str], float] = {}
        for entry, score in zip(entries.tolist(), scores.tolist(), strict=True):
            source, word = sources_and_words[compiled.alternatives[entry]]
            if compiled.is_subword[entry] and not word.startswith(SOUND_PREFIX):
                word = SUBWORD_PREFIX + word
            score_by_word[source, word] = score_by_word.get((source, word), 0.0) + score
        return score_by_word

    def _compile(self, query: Query) -> CompiledQuery | None:
        """Weigh the alternatives of a query in each field; None if it has no terms or no field is searched."""
        clauses = split_into_clauses(query, self._analyze)
        if not clauses or not self._field_factors.any():
            return None
        alternatives = _Alternatives.gather(clauses)
        return self._arrange_entries(alternatives, self._weigh(query.lang, alternatives))

    def _weigh(self, lang: str, alternatives: _Alternatives) -> _Weights:
        """Weigh the alternatives and the clauses of a query by their frequency in the documents of a language."""
        fields = np.flatnonzero(self._field_factors)  # (n_searched,) the fields that are searched
        n_clauses = len(alternatives.importance)
        summary = self._statistics.summarize_languages((lang,))
        field_sizes = summary.n_documents[fields]  # (n_searched, 1) documents that have the field
        n_documents = np.repeat(field_sizes, n_clauses, axis=1)  # (n_searched, n_clauses)
        df = self._count_documents(fields, alternatives, field_sizes)  # (n_searched, n_alternatives)
        tf_weights, clause_df = self.weigh_alternatives(
            alternatives.probabilities, df, alternatives.clause_starts, n_documents
        )
        idf = compute_idf(n_documents, clause_df)  # (n_searched, n_clauses)
        searched_weights = self._field_factors[fields, None] * alternatives.importance * idf  # (n_searched, n_clauses)
        # Terms that no document has count for the highest score as well.
        highest_scores = searched_weights * summary.field_shares[fields]  # (n_searched, n_clauses)
        max_score = float(highest_scores.sum()) or 1.0  # scores are divided by it, so it must not be 0
        clause_weights = np.zeros((len(self._field_factors), n_clauses))
        clause_weights[fields] = np.where(clause_df > 0, searched_weights, 0.0)
        return _Weights(tf_weights, clause_weights, max_score)

    def _count_documents(self, fields: Integers, alternatives: _Alternatives, n_documents: Doubles) -> Doubles:
        """Return the document frequency of each alternative in each searched field: (n_searched, n_alternatives).

        Documents that contain a word inside a compound are added to those of the text.

        :param fields: (n_searched,) numbers of the searched fields
        :param n_documents: (n_searched, 1) documents that have the field
        """
        layout = self._statistics.layout
        term_ids = layout.ids(fields[:, None], alternatives.hashes)  # (n_searched, n_alternatives)
        df = self._statistics.df_of(term_ids.ravel()).reshape(term_ids.shape).astype(np.float64)
        if self.looks_inside:
            text_row = fields.tolist().index(layout.field("text"))
            text_df = df[text_row] + self._count_compounds(alternatives)  # (n_alternatives,)
            df[text_row] = np.minimum(text_df, n_documents[text_row])
        return df

    def _count_compounds(self, alternatives: _Alternatives) -> Doubles:
        """Return the number of documents with each alternative inside a compound, weighted: (n_alternatives,)."""
        layout = self._statistics.layout
        subword_ids = layout.ids(layout.field(INNER), alternatives.hashes)
        return alternatives.subword_shares * self._statistics.df_of(subword_ids)

    def _arrange_entries(self, alternatives: _Alternatives, query_weights: _Weights) -> CompiledQuery:
        """List the entries of a query by their term ids, without those that count nothing.

        :param alternatives: the words of all clauses
        :param query_weights: what an occurrence of each alternative counts, and the weights of the clauses
        """
        searched = self._list_searched_fields(alternatives, query_weights.alternatives)
        term_ids = self._statistics.layout.ids(searched.index_fields[:, None], alternatives.hashes)
        rows, columns = np.nonzero(searched.tf_weights > 0)  # searched field and alternative of each entry
        order = term_ids[rows, columns].argsort(kind="stable")
        rows = rows[order]
        columns = columns[order]
        return CompiledQuery(
            term_ids=term_ids[rows, columns],
            fields=searched.tf_fields[rows],
            is_subword=searched.index_fields[rows] != searched.tf_fields[rows],
            clauses=alternatives.clauses[columns],
            alternatives=columns,
            tf_weights=searched.tf_weights[rows, columns],
            clause_weights=query_weights.clauses,
            max_score=query_weights.max_score,
        )

    def _list_searched_fields(self, alternatives: _Alternatives, tf_weights: Doubles) -> _SearchedFields:
        """List the fields in which words are looked up: those with a weight, and the subword field if it is searched.

        :param tf_weights: (n_alternatives,) what an occurrence as a word adds to the tf
        """
        fields = np.flatnonzero(self._field_factors)
        weights = np.tile(tf_weights, (len(fields), 1))
        if not self.looks_inside:
            return _SearchedFields(fields, fields, weights)
        layout = self._statistics.layout
        return _SearchedFields(
            index_fields=np.append(fields, layout.field(INNER)),
            tf_fields=np.append(fields, layout.field("text")),
            tf_weights=np.vstack([weights, tf_weights * alternatives.subword_shares]),
        )

    def _score_documents(self, lang: str, compiled: CompiledQuery, vectors: SparseRows) -> Doubles:
        """Score documents exactly by BM25: the sum of weight x tf / (tf + norm) over fields and clauses; (n_docs,).

        :param lang: the language of the query and the documents
        :param vectors: the stored vectors of the documents
        """
        bags = self._unpack_terms(compiled, vectors)
        tf = _sum_tf(compiled, bags.rows, self._find_occurrences(compiled, bags))  # (n_docs, n_fields, n_clauses)
        length_norms = self._compute_norms(lang, bags)[:, :, None]  # (n_docs, n_fields, 1)
        saturated_tf = tf / (tf + length_norms)
        scores = np.asarray((compiled.clause_weights * saturated_tf).sum(axis=(1, 2)), np.float64)
        if self._proportional:
            return scores / compiled.max_score
        return scores

    def _unpack_terms(self, compiled: CompiledQuery, vectors: SparseRows) -> CountedTerms:
        """Recover term counts from stored vectors; most terms that the query does not have are left out."""
        layout = self._statistics.layout
        return layout.unpack_rows(filter_entries(vectors, layout.with_lengths(compiled.term_ids)))

    def _find_occurrences(self, compiled: CompiledQuery, bags: CountedTerms) -> _Occurrences:
        """Pair every term count of documents with the query's entries that have the same term id.

        Several entries have the same term id if several clauses have the same word.

        :param compiled: the query, its entries sorted by their term ids
        :param bags: the terms of documents with their counts, field by field of each document
        """
        first_entries = compiled.term_ids.searchsorted(bags.ids, side="left")  # (n_counts,)
        entries_per_count = compiled.term_ids.searchsorted(bags.ids, side="right") - first_entries
        # Each pair is given by the position of a count in `bags` and of an entry in `compiled`; (n_occurrences,) both.
        count_positions = np.arange(len(bags.ids)).repeat(entries_per_count)
        entry_positions = concatenate_ranges(first_entries, entries_per_count)
        parts = list_groups(bags.size)[count_positions]  # a part is one field of one document
        return _Occurrences(
            documents=bags.row[parts],
            entries=entry_positions,
            tf=bags.counts[count_positions] * compiled.tf_weights[entry_positions],
        )

    def _compute_norms(self, lang: str, bags: CountedTerms) -> Doubles:
        """Return K of BM25's tf / (tf + K) for each field of each document: (n_docs, n_fields).

        K grows with the length of the field relative to the current average of the language, or, if there is none, to
        the average when the document was indexed. A field that a document lacks has no terms, and any K would do.

        :param bags: the terms of the documents; their parts are the fields that the documents have
        """
        average_by_field = self._statistics.summarize_languages((lang,)).average_lengths[:, 0]  # (n_fields,)
        current_averages = average_by_field[bags.field]  # (n_parts,)
        averages = np.where(current_averages > 0, current_averages, bags.average)
        norms = np.ones((bags.rows, len(average_by_field)))
        norms[bags.row, bags.field] = self._statistics.layout.norms(bags._replace(average=averages))
        return norms


class Synonymous(ClauseSearcher):
    """The alternatives of a clause count as one term, whatever their weights.

    The df of a union is estimated as if alternatives occurred independently of each other; it lies between the largest
    df and the sum, as the true one does.
    """

    probability_exponent = rarity_exponent = 0.0

    def weigh_alternatives(
        self, probabilities: Doubles, df: Doubles, clause_starts: Integers, n_documents: Doubles
    ) -> tuple[Doubles, Doubles]:
        """Return the weight of each alternative and the df of each clause in each field; shapes as in the base."""
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


def _sum_tf(compiled: CompiledQuery, n_docs: int, occurrences: _Occurrences) -> Doubles:
    """Add up what the occurrences of each clause's words count in each field of each document.

    :param compiled: the query; it knows the field and the clause of each occurrence
    :param n_docs: how many documents there are
    :param occurrences: where the documents contain words of the query, and what each occurrence counts
    :return: (n_docs, n_fields, n_clauses)
    """
    shape = (n_docs, *compiled.clause_weights.shape)
    fields = compiled.fields[occurrences.entries]
    clauses = compiled.clauses[occurrences.entries]
    cells = np.ravel_multi_index((occurrences.documents, fields, clauses), shape)  # positions in the flat result
    flat_tf = np.bincount(cells, occurrences.tf, math.prod(shape))
    return flat_tf.reshape(shape).astype(np.float64)
