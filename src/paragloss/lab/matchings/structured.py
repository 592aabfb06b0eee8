"""Search with structured queries of the literature: the alternatives of one query term make one clause.

Four meanings of a clause are here and in `nested`:

- `Synonymous`: alternatives count as one term, tf summed, df of their union (Pirkola, SIGIR 1998);
- `Tempered`: likewise, but likelier and rarer alternatives count a little more;
- `Probabilistic`: tf and df are sums weighted by translation probability (Darwish and Oard, SIGIR 2003, "PSQ");
- `nested.Nested`: (a1 OR a2) AND (b1 OR b2): a document must match every clause.

The search's own are `search.word_search`, which adds fields before they saturate, and `search.lexical`, where every
alternative counts by itself. A query without clauses has one for each of its terms; all but `Nested` are then BM25.
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


class CompiledClauses(NamedTuple):
    """The clauses of a query in one language as arrays. An entry is an alternative in one field."""

    term_ids: Ids  # (n_entries,) ascending
    clauses: Integers  # (n_entries,)
    words: Integers  # (n_entries,) position of the alternative in the clauses' words, one clause after the other
    counts: Doubles  # (n_entries,) how much an occurrence counts
    gains: Doubles  # (n_fields, n_clauses) weight of the field times importance and idf of the clause
    highest: float  # what a document full of the query's words would score

    def make_request(self, span: int) -> SparseVector:
        """Return the sparse vector whose dot product with documents approximates the score.

        It saturates every alternative by itself instead of the whole clause.

        :param span: the number of ids of a field
        """
        fields = self.term_ids.astype(np.int64) // span
        weights = self.counts * self.gains[fields, self.clauses]
        keys, values = sum_by_key(self.term_ids.astype(np.int64), weights)
        return SparseVector(keys.astype(np.uint32), values.astype(np.float32))


class _Alternatives(NamedTuple):
    """The alternatives of all clauses of a query, one clause after the other."""

    hashes: Integers  # (n_words,)
    probabilities: Doubles  # (n_words,)
    subword_shares: Doubles  # (n_words,) how much an occurrence inside a compound counts
    clause: Integers  # (n_words,)
    first: Integers  # (n_clauses,) the first alternative of each clause
    importance: Doubles  # (n_clauses,)

    @classmethod
    def gather(cls, clauses: Sequence[Clause]) -> _Alternatives:
        """Put the arrays of the clauses together."""
        sizes = [len(clause.words) for clause in clauses]
        return cls(
            hashes=np.concatenate([clause.hashes for clause in clauses]),
            probabilities=np.concatenate([clause.probabilities for clause in clauses]),
            subword_shares=np.concatenate([clause.subword_weights for clause in clauses]),
            clause=list_groups(sizes),
            first=list_starts(sizes),
            importance=np.array([clause.weight for clause in clauses]),
        )


class _Occurrences(NamedTuple):
    """Occurrences of query words in documents, paired with the query's entries. A part is a field of a document."""

    bags: CountedTerms
    part: Integers  # (n_pairs,) the part whose tf the occurrence adds to
    field: Integers  # (n_pairs,) the field in which it is indexed
    entry: Integers  # (n_pairs,) position in the compiled clauses
    amounts: Doubles  # (n_pairs,) what it adds to the tf of its clause


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
        self._factors = np.zeros(len(layout.fields))  # weight of each field of the layout
        for field, weight in weights.items():
            self._factors[layout.field(field)] = weight
        self._max_candidates = candidates
        self._proportional = proportional
        self._name = name
        self._analyze = analyze

    @property
    def looks_inside(self) -> bool:
        """Whether parts of compounds and sounds of names are searched; they count as words of the text do."""
        return INNER in self._statistics.layout.fields and bool(self._weights.get("text"))

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Rank the documents of each query's language."""
        ranked_lists = []
        for query, ranking in zip(queries, self._rankings(queries, k, where), strict=True):
            ranked_lists.append(RankedList(tuple(ranking), QueryForms((query,)), partial(self._explain, query)))
        return ranked_lists

    def max_score(self, lang: str) -> float:
        """Return the highest score possible."""
        return 1.0 if self._proportional else math.inf

    def _rankings(self, queries: Sequence[Query], k: int, where: Where | None) -> list[Ranking]:
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
        self, probabilities: Doubles, df: Doubles, first: Integers, n_documents: Doubles
    ) -> tuple[Doubles, Doubles]:
        """Return how much an occurrence of each alternative counts, and the document frequency of each clause.

        :param probabilities: (n_words,) of the alternatives
        :param df: (n_fields, n_words) document frequencies of the alternatives
        :param first: (n_clauses,) the first alternative of each clause
        :param n_documents: (n_fields, n_clauses) how many documents there are
        :return: (n_words,) and (n_fields, n_clauses)
        """
        raise NotImplementedError

    def _rankings(self, queries: Sequence[Query], k: int, where: Where | None) -> list[Ranking]:
        return [self._search_query(query, k, where) for query in queries]

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
        layout = self._statistics.layout
        needed_ids = layout.with_lengths(compiled.term_ids)
        n_candidates = max(self._max_candidates, k)
        request = compiled.make_request(layout.span)
        candidates = self._store.search_and_read(self._name, [request], n_candidates, conditions or None, needed_ids)
        scores = self._score(query.lang, compiled, candidates.rows).tolist()
        hits = (Hit(doc_id, score) for doc_id, score in zip(candidates.ids, scores, strict=True) if score)
        return rank_hits(hits, k)

    def matches(self, query: Query, id: str) -> list[Match]:
        """List what each alternative adds to the score of a document.

        A clause saturates as a whole: its score is divided among its alternatives by what each adds to the tf.
        """
        compiled = self._compile(query)
        if compiled is None:
            return []
        _, rows = self._store.read_sparse(self._name, [id])
        occurrences = self._find_occurrences(query.lang, compiled, rows)
        part, clauses = occurrences.part, compiled.clauses[occurrences.entry]  # (n_pairs,)
        tf = self._sum_occurrences(occurrences, compiled)  # (n_parts, n_clauses)
        norms = self._norms(query.lang, occurrences.bags)  # (n_parts,)
        fields = occurrences.bags.field[part]
        scores = compiled.gains[fields, clauses] / (tf[part, clauses] + norms[part]) * occurrences.amounts
        if self._proportional:
            scores /= compiled.highest
        score_by_word = self._sum_by_word(query, compiled.words[occurrences.entry], occurrences.field, scores)
        return [Match(source, word, score) for (source, word), score in score_by_word.items() if score]

    def _sum_by_word(
        self, query: Query, words: Integers, fields: Integers, scores: Doubles
    ) -> dict[tuple[str, str], float]:
        """Add up the scores of occurrences: (query term, word) -> score. Parts of compounds are marked as such.

        :param words: (n_pairs,) position of the alternative in the words of all clauses
        :param fields: (n_pairs,) the field of the occurrence
        :param scores: (n_pairs,)
        """
        named_words: list[tuple[str, str]] = []
        for clause in split_into_clauses(query, self._analyze):
            named_words += [(clause.source, word) for word in clause.words]
        subword_field = self._statistics.layout.field(INNER) if self.looks_inside else -1
        totals: dict[tuple[str, str], float] = {}
        for number, field, score in zip(words.tolist(), fields.tolist(), scores.tolist(), strict=True):
            source, word = named_words[number]
            is_part_of_compound = field == subword_field and not word.startswith(SOUND_PREFIX)
            if is_part_of_compound:
                word = SUBWORD_PREFIX + word
            totals[source, word] = totals.get((source, word), 0.0) + score
        return totals

    def _compile(self, query: Query) -> CompiledClauses | None:
        """Weigh the alternatives of a query in each field; None if it has no terms or no field is searched."""
        clauses = split_into_clauses(query, self._analyze)
        fields = np.flatnonzero(self._factors)
        if not clauses or not len(fields):
            return None
        layout, words = self._statistics.layout, _Alternatives.gather(clauses)
        summary = self._statistics.summarize_languages((query.lang,))
        documents_per_field, field_shares = summary.n_documents[fields, 0], summary.field_shares[fields, 0]
        word_ids = layout.ids(fields[:, None], words.hashes)  # (n_fields, n_words)
        subword_ids = layout.ids(layout.field(INNER), words.hashes) if self.looks_inside else None
        df = self._count_documents(fields, word_ids, subword_ids, words.subword_shares, documents_per_field)
        n_documents = np.repeat(documents_per_field[:, None], len(clauses), axis=1)  # (n_fields, n_clauses)
        counts, clause_df = self.weigh_alternatives(words.probabilities, df, words.first, n_documents)
        idf = self._factors[fields, None] * words.importance * compute_idf(n_documents, clause_df)
        highest = float((idf * field_shares[:, None]).sum()) or 1.0  # terms that no document has count as well
        gains = np.zeros((len(layout.fields), len(clauses)))
        gains[fields] = np.where(clause_df > 0, idf, 0.0)
        entry_ids, entry_counts = list(word_ids), [counts] * len(fields)  # a row for each field
        if subword_ids is not None:
            gains[layout.field(INNER)] = gains[layout.field("text")]
            entry_ids.append(subword_ids)
            entry_counts.append(counts * words.subword_shares)
        return _sort_entries(np.stack(entry_ids), np.stack(entry_counts), words.clause, gains, highest)

    def _count_documents(
        self,
        fields: Integers,
        word_ids: Ids,
        subword_ids: Ids | None,
        subword_shares: Doubles,
        documents_per_field: Doubles,
    ) -> Doubles:
        """Return the document frequency of each word in each field, (n_fields, n_words).

        Documents that contain a word inside a compound are added to those of the text.

        :param fields: (n_fields,) numbers of the fields
        :param word_ids: (n_fields, n_words) term ids
        :param subword_ids: (n_words,) term ids of the words as parts of compounds, if those are searched
        :param subword_shares: (n_words,) how much an occurrence inside a compound counts
        :param documents_per_field: (n_fields,)
        """
        statistics = self._statistics
        df = statistics.df_of(word_ids.ravel()).reshape(word_ids.shape).astype(np.float64)
        if subword_ids is not None:
            text = fields.tolist().index(statistics.layout.field("text"))
            df_with_subwords = df[text] + subword_shares * statistics.df_of(subword_ids)
            df[text] = np.minimum(df_with_subwords, documents_per_field[text])
        return df

    def _score(self, lang: str, compiled: CompiledClauses, rows: SparseRows) -> Doubles:
        """Score documents, given their stored vectors: (n_docs,)."""
        occurrences = self._find_occurrences(lang, compiled, rows)
        bags = occurrences.bags
        tf = self._sum_occurrences(occurrences, compiled)  # (n_parts, n_clauses)
        saturated = tf / (tf + self._norms(lang, bags)[:, None])
        part_scores = (compiled.gains[bags.field] * saturated).sum(axis=1)
        if self._proportional:
            part_scores /= compiled.highest
        return np.asarray(np.bincount(bags.row, part_scores, bags.rows), np.float64)

    def _find_occurrences(self, lang: str, compiled: CompiledClauses, rows: SparseRows) -> _Occurrences:
        """Pair every entry of the documents' vectors with the query's entries of the same term id.

        :param compiled: the query's clauses
        :param rows: the stored vectors of the documents
        """
        layout = self._statistics.layout
        bags = layout.unpack_rows(filter_entries(rows, layout.with_lengths(compiled.term_ids)))
        first_match = compiled.term_ids.searchsorted(bags.ids, side="left")  # (bag entries,)
        n_matches = compiled.term_ids.searchsorted(bags.ids, side="right") - first_match
        bag_entry = np.arange(len(bags.ids)).repeat(n_matches)  # (n_pairs,)
        entry = concatenate_ranges(first_match, n_matches)  # (n_pairs,)
        part_of_bag_entry = np.arange(len(bags.row)).repeat(bags.size)
        part = part_of_bag_entry[bag_entry]
        amounts = bags.counts[bag_entry] * compiled.counts[entry]
        return _Occurrences(bags, self._home_parts(bags)[part], bags.field[part], entry, amounts)

    def _sum_occurrences(self, occurrences: _Occurrences, compiled: CompiledClauses) -> Doubles:
        """Return the tf of each clause in each field of each document: (n_parts, n_clauses)."""
        n_parts, n_clauses = len(occurrences.bags.row), compiled.gains.shape[1]
        cells = occurrences.part * n_clauses + compiled.clauses[occurrences.entry]
        totals = np.bincount(cells, occurrences.amounts, n_parts * n_clauses)
        return np.asarray(totals, np.float64).reshape(-1, n_clauses)

    def _norms(self, lang: str, bags: CountedTerms) -> Doubles:
        """Return K of BM25 of each field of each document, by the average lengths of now."""
        averages = self._statistics.summarize_languages((lang,)).average_lengths[:, 0]
        current = averages[bags.field]
        return self._statistics.layout.norms(bags._replace(average=np.where(current > 0, current, bags.average)))

    def _home_parts(self, bags: CountedTerms) -> Integers:
        """Return the part whose tf the entries of each part add to, (n_parts,): itself, or the text for subwords."""
        home = np.arange(len(bags.row))
        if not self.looks_inside:
            return home
        layout = self._statistics.layout
        is_text, is_subwords = bags.field == layout.field("text"), bags.field == layout.field(INNER)
        text_part = np.full(bags.rows, -1)  # of each document; -1 without text
        text_part[bags.row[is_text]] = home[is_text]
        text_of_subwords = text_part[bags.row[is_subwords]]
        home[is_subwords] = np.where(text_of_subwords >= 0, text_of_subwords, home[is_subwords])
        return home


class Synonymous(ClauseSearcher):
    """The alternatives of a clause count as one term, whatever their weights.

    The df of a union is estimated as if alternatives occurred independently of each other; it lies between the largest
    df and the sum, as the true one does.
    """

    probability_exponent = rarity_exponent = 0.0

    def weigh_alternatives(
        self, probabilities: Doubles, df: Doubles, first: Integers, n_documents: Doubles
    ) -> tuple[Doubles, Doubles]:
        """Return the weight of each alternative and the document frequency of each clause."""
        return temper_alternatives(
            probabilities,
            df,
            first,
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
        self, probabilities: Doubles, df: Doubles, first: Integers, n_documents: Doubles
    ) -> tuple[Doubles, Doubles]:
        """Return the probability of each alternative and the document frequency of each clause."""
        return probabilities, np.minimum(np.add.reduceat(df * probabilities, first, axis=1), n_documents)


def _sort_entries(
    ids: Ids, counts: Doubles, clause_of_word: Integers, gains: Doubles, highest: float
) -> CompiledClauses:
    """Arrange entries by their term ids and drop those that count nothing.

    :param ids: (n_fields, n_words)
    :param counts: (n_fields, n_words) how much an occurrence of each entry counts
    :param clause_of_word: (n_words,)
    :param gains: see `CompiledClauses`, and so for `highest`
    """
    n_fields, n_words = ids.shape
    word_of_entry = np.tile(np.arange(n_words), n_fields)
    flat_ids, flat_counts = ids.ravel(), counts.ravel()
    counting_entries = np.flatnonzero(flat_counts > 0)
    order = counting_entries[flat_ids[counting_entries].argsort(kind="stable")]
    words = word_of_entry[order]
    return CompiledClauses(flat_ids[order], clause_of_word[words], words, flat_counts[order], gains, highest)
