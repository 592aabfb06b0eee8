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
from paragloss.bm25 import Bags, Doubles, Ids, Integers, concatenate_ranges, filter_entries
from paragloss.index.fields import INNER, SUBWORD_FIELDS
from paragloss.ranking import rank_hits
from paragloss.search.clauses import MAX_CANDIDATES, split_into_clauses
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
        """Return the sparse vector whose dot product with documents approximates the score: it saturates every
        alternative by itself. `span` is the number of ids of a field."""
        fields = self.term_ids.astype(np.int64) // span
        weights = self.counts * self.gains[fields, self.clauses]
        keys, values = sum_by_key(self.term_ids.astype(np.int64), weights)
        return SparseVector(keys.astype(np.uint32), values.astype(np.float32))


class _Occurrences(NamedTuple):
    """Entries of documents paired with entries of clauses. A part is a field of a document."""

    bags: Bags
    part: Integers  # (n_pairs,) the part that the occurrence counts in
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
        layout = statistics.layout
        word_fields = [field for field in layout.fields if field not in SUBWORD_FIELDS]
        weights = dict.fromkeys(word_fields, 1.0) if weights is None else dict(weights)
        self._weights = weights
        self._store = store
        self._statistics = statistics
        self._factors = np.zeros(len(layout.fields))
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
        rankings = zip(queries, self._rankings(queries, k, where), strict=True)
        return [
            RankedList(tuple(ranking), QueryForms((query,)), partial(self._explain, query))
            for query, ranking in rankings
        ]

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
        self, shares: Doubles, df: Doubles, first: Integers, documents: Doubles
    ) -> tuple[Doubles, Doubles]:
        """Return how much each alternative counts, and the document frequency of each clause and field.

        `shares` are probabilities of alternatives, `df` their document frequencies (n_fields, n_alternatives), `first`
        says where each clause begins, `documents` how many there are (n_fields, n_clauses).
        """
        raise NotImplementedError

    def _rankings(self, queries: Sequence[Query], k: int, where: Where | None) -> list[Ranking]:
        return [self._search_query(query, k, where) for query in queries]

    def _search_query(self, query: Query, k: int, where: Where | None) -> Ranking:
        languages = (where or {}).get("lang")
        compiled = self._compile(query) if languages is None or query.lang in languages else None
        if compiled is None or not len(compiled.term_ids):
            return []
        layout = self._statistics.layout
        # The ids of terms are those of a language: the store need not filter by it as well.
        conditions = {field: values for field, values in (where or {}).items() if field != "lang"}
        needed = layout.with_lengths(compiled.term_ids)
        found = self._store.search_and_read(
            self._name, [compiled.make_request(layout.span)], max(self._max_candidates, k), conditions or None, needed
        )
        scores = self._score(query.lang, compiled, found.rows)
        return rank_hits(
            (Hit(doc_id, score) for doc_id, score in zip(found.ids, scores.tolist(), strict=True) if score), k
        )

    def matches(self, query: Query, id: str) -> list[Match]:
        """List what each alternative adds to the score of a document.

        A clause saturates as a whole: what it gives is shared out by what each alternative adds to its tf.
        """
        compiled = self._compile(query)
        if compiled is None:
            return []
        _, rows = self._store.read_sparse(self._name, [id])
        found = self._find_occurrences(query.lang, compiled, rows)
        tf = self._add_occurrences(found, compiled)
        norms = self._norms(query.lang, found.bags)
        clauses = compiled.clauses[found.entry]
        gains = compiled.gains[found.bags.field[found.part], clauses] / (tf[found.part, clauses] + norms[found.part])
        scores = gains * found.amounts / (compiled.highest if self._proportional else 1.0)
        words = [(clause.source, word) for clause in split_into_clauses(query, self._analyze) for word in clause.words]
        subwords = self._statistics.layout.field(INNER) if self.looks_inside else -1
        totals: dict[tuple[str, str], float] = {}
        for number, field, score in zip(
            compiled.words[found.entry].tolist(), found.field.tolist(), scores.tolist(), strict=True
        ):
            source, word = words[number]
            is_part = field == subwords and not word.startswith(SOUND_PREFIX)
            key = source, SUBWORD_PREFIX + word if is_part else word
            totals[key] = totals.get(key, 0.0) + score
        return [Match(source, word, score) for (source, word), score in totals.items() if score]

    def _compile(self, query: Query) -> CompiledClauses | None:
        clauses = split_into_clauses(query, self._analyze)
        fields = np.flatnonzero(self._factors)
        if not clauses or not len(fields):
            return None
        layout, statistics = self._statistics.layout, self._statistics
        hashes, probabilities, inside = np.concatenate([clause.numbers for clause in clauses], axis=1)
        sizes = [len(clause.words) for clause in clauses]
        clause_of_word, first = np.arange(len(clauses)).repeat(sizes), np.cumsum([0, *sizes[:-1]])
        ids = layout.ids(fields[:, None], hashes.astype(np.int64))  # (n_fields, n_words)
        df = statistics.df_of(ids.ravel()).reshape(ids.shape).astype(np.float64)
        numbers, field_shares, _ = (table[fields, 0] for table in statistics.summarize_languages((query.lang,)))
        documents = np.repeat(numbers[:, None], len(clauses), axis=1)  # (n_fields, n_clauses)
        subword_ids = layout.ids(layout.field(INNER), hashes.astype(np.int64)) if self.looks_inside else None
        if subword_ids is not None:
            text = fields.tolist().index(layout.field("text"))
            df[text] = np.minimum(df[text] + inside * statistics.df_of(subword_ids), numbers[text])
        counts, clause_df = self.weigh_alternatives(probabilities, df, first, documents)
        importance = np.array([clause.weight for clause in clauses])
        idf = self._factors[fields, None] * importance * compute_idf(documents, clause_df)
        highest = float((idf * field_shares[:, None]).sum()) or 1.0  # terms that no document has count as well
        gains = np.zeros((len(layout.fields), len(clauses)))
        gains[fields] = np.where(clause_df > 0, idf, 0.0)
        entry_ids, entry_counts = [ids.ravel()], [np.tile(counts, len(fields))]
        if subword_ids is not None:
            gains[layout.field(INNER)] = gains[layout.field("text")]
            entry_ids, entry_counts = [*entry_ids, subword_ids], [*entry_counts, counts * inside]
        copies = len(fields) + (subword_ids is not None)
        words, clause_numbers = np.tile(np.arange(len(hashes)), copies), np.tile(clause_of_word, copies)
        return _sort_entries(
            np.concatenate(entry_ids), clause_numbers, words, np.concatenate(entry_counts), gains, highest
        )

    def _score(self, lang: str, compiled: CompiledClauses, rows: SparseRows) -> Doubles:
        """Score documents, given their stored vectors; (n_docs,)."""
        found = self._find_occurrences(lang, compiled, rows)
        tf = self._add_occurrences(found, compiled)  # (n_parts, n_clauses)
        saturated = tf / (tf + self._norms(lang, found.bags)[:, None])
        parts = (compiled.gains[found.bags.field] * saturated).sum(axis=1)
        if self._proportional:
            parts /= compiled.highest
        return np.asarray(np.bincount(found.bags.row, parts, found.bags.rows), np.float64)

    def _find_occurrences(self, lang: str, compiled: CompiledClauses, rows: SparseRows) -> _Occurrences:
        layout = self._statistics.layout
        bags = layout.unpack_rows(filter_entries(rows, layout.with_lengths(compiled.term_ids)))
        first = compiled.term_ids.searchsorted(bags.ids, side="left")
        sizes = compiled.term_ids.searchsorted(bags.ids, side="right") - first
        in_document, entry = np.arange(len(bags.ids)).repeat(sizes), concatenate_ranges(first, sizes)
        part = np.arange(len(bags.row)).repeat(bags.size)[in_document]
        amounts = bags.counts[in_document] * compiled.counts[entry]
        return _Occurrences(bags, self._home_parts(bags)[part], bags.field[part], entry, amounts)

    def _add_occurrences(self, found: _Occurrences, compiled: CompiledClauses) -> Doubles:
        """Return the tf of each clause in each field of each document; (n_parts, n_clauses)."""
        n_clauses = compiled.gains.shape[1]
        cells = found.part * n_clauses + compiled.clauses[found.entry]
        totals = np.bincount(cells, found.amounts, len(found.bags.row) * n_clauses)
        return np.asarray(totals, np.float64).reshape(-1, n_clauses)

    def _norms(self, lang: str, bags: Bags) -> Doubles:
        """Return K of BM25 of each field of each document, by the average lengths of now."""
        averages = self._statistics.summarize_languages((lang,)).average_lengths[:, 0]
        current = averages[bags.field]
        return self._statistics.layout.norms(bags._replace(average=np.where(current > 0, current, bags.average)))

    def _home_parts(self, bags: Bags) -> Integers:
        """Return the part that the entries of each part count in: subword terms count in the text."""
        home = np.arange(len(bags.row))
        if self.looks_inside:
            layout = self._statistics.layout
            text_parts = np.full(bags.rows, -1)
            is_text = bags.field == layout.field("text")
            text_parts[bags.row[is_text]] = home[is_text]
            is_subwords = bags.field == layout.field(INNER)
            text_of_subwords = text_parts[bags.row[is_subwords]]
            home[is_subwords] = np.where(text_of_subwords >= 0, text_of_subwords, home[is_subwords])
        return home


class Synonymous(ClauseSearcher):
    """The alternatives of a clause count as one term, whatever their weights.

    The df of a union is estimated as if alternatives occurred independently of each other; it lies between the largest
    df and the sum, as the true one does.
    """

    power = rarer = 0.0

    def weigh_alternatives(
        self, shares: Doubles, df: Doubles, first: Integers, documents: Doubles
    ) -> tuple[Doubles, Doubles]:
        """Return the weight of each alternative and the document frequency of each clause."""
        return temper_alternatives(
            shares, df, first, documents, probability_exponent=self.power, rarity_exponent=self.rarer
        )


class Tempered(Synonymous):
    """Likelier alternatives count more, and so do rarer ones; the best that the collection holds counts in full.

    The probabilities of a translation are those of other texts: what is unlikely there may be the only sense here.
    """

    power, rarer = PROBABILITY_EXPONENT, RARITY_EXPONENT


class Probabilistic(ClauseSearcher):
    """The weights of a clause's alternatives, made to sum to one, are the probabilities of its translations."""

    def weigh_alternatives(
        self, shares: Doubles, df: Doubles, first: Integers, documents: Doubles
    ) -> tuple[Doubles, Doubles]:
        """Return the weight of each alternative and the document frequency of each clause."""
        return shares, np.minimum(np.add.reduceat(df * shares, first, axis=1), documents)


def _sort_entries(
    ids: Ids, clauses: Integers, words: Integers, counts: Doubles, gains: Doubles, highest: float
) -> CompiledClauses:
    useful = np.flatnonzero(counts > 0)
    order = useful[ids[useful].argsort(kind="stable")]
    return CompiledClauses(ids[order], clauses[order], words[order], counts[order], gains, highest)
