"""The lexical half of the default search: query clauses as arrays, and how far a document matches them.

A clause is one term of the query with its alternatives in every searched language: translations, the term itself,
spellings by sound, compounds. All clauses of all languages form one `ClauseTable`. It gives one sparse vector to ask
the store with, and measures documents exactly from their stored vectors, in the manner of BM25F (Robertson, Zaragoza
and Taylor, CIKM 2004): occurrences in the fields of a document are added before they saturate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.bm25 import CountedTerms, Doubles, Ids, Integers, concatenate_ranges
from paragloss.groups import list_groups, list_starts
from paragloss.index.terms import INNER, TITLE_SUBWORDS, choose_field_weights, translation_field
from paragloss.search.clauses import Clause
from paragloss.search.evidence import Match
from paragloss.statistics import Statistics, compute_idf, sum_by_key, temper_alternatives
from paragloss.translation.subword_terms import SOUND_PREFIX, SUBWORD_PREFIX
from paragloss.types import Query, SparseRows, SparseVector

#: The fields that subword terms are from: they have the weight and the length of those.
HOME_FIELDS: Mapping[str, str] = {INNER: "text", TITLE_SUBWORDS: "title"}
#: How much title occurrences count beside those in the body where both are added.
TITLE_BOOST = 2.0
#: A query weighs as if this much (in nats of idf) of it were never matched: a match of rare words then counts more than
#: one of words that half of the documents have. Of 0, 10 and 20, 10 is best over all kinds of query (log-search.md).
UNMATCHED_WEIGHT = 10.0
#: Stands in for the weight of a query that has none, in languages in which it was not searched.
MIN_QUERY_WEIGHT = 1e-9


@dataclass(frozen=True)
class LexicalEvidence:
    """How far documents match the clauses of a query. Weights are sums of importance times idf over clauses."""

    title_tf: Doubles  # (n_docs, n_clauses) occurrences in the title, normalized by its length
    combined_tf: Doubles  # (n_docs, n_clauses) the same in all fields, those in the title TITLE_BOOST times
    combined_weight: Doubles  # (n_docs,) weight that title and body match together, saturated
    title_weight: Doubles  # (n_docs,) weight that the title matches, by how rare terms are in titles
    query_weight: Doubles  # (n_docs,) weight of the whole query in the language of the document
    query_title_weight: Doubles  # (n_docs,) the same by how rare terms are in titles
    match_rarity: Doubles  # (n_docs,) -log of how many documents would match as many clauses by chance
    text_length: Doubles  # (n_docs,) terms of the text

    @classmethod
    def make_zeros(cls, n_documents: int) -> LexicalEvidence:
        """Make the evidence of documents for a query without clauses: they match nothing."""
        no_clauses, zeros = np.zeros((n_documents, 0)), np.zeros(n_documents)
        return cls(no_clauses, no_clauses, zeros, zeros, zeros, zeros, zeros, zeros)

    @property
    def combined_share(self) -> Doubles:
        """Return the share of the query's weight that title and body match, 0 to 1."""
        return self.combined_weight / np.maximum(self.query_weight, MIN_QUERY_WEIGHT)

    @property
    def combined_evidence(self) -> Doubles:
        """Return the same share with UNMATCHED_WEIGHT added to the query: high if the matched words are rare."""
        return self.combined_weight / (self.query_weight + UNMATCHED_WEIGHT)

    @property
    def title_evidence(self) -> Doubles:
        """Return the share that the title matches, with UNMATCHED_WEIGHT added to the query."""
        return self.title_weight / (self.query_title_weight + UNMATCHED_WEIGHT)

    @property
    def scores(self) -> Doubles:
        """Return the score of words alone, 0 to 1: the share of both weights of the query that documents match."""
        query_weight = self.query_weight + self.query_title_weight
        return (self.combined_weight + self.title_weight) / np.maximum(query_weight, MIN_QUERY_WEIGHT)


class TermMatches(NamedTuple):
    """The terms of documents that are in a clause table, one item for each pair of a term and an entry of the table."""

    documents: Integers  # row of the document
    fields: Integers  # number of the field of the document that has the term
    entries: Integers  # position in the table
    counts: Doubles  # occurrences of the term, times how much an occurrence counts
    length_norms: Doubles  # BM25's norm of the length of the field

    def weigh(self, field_factors: Doubles) -> Doubles:
        """Return what each match adds to the occurrences of its clause; (n_matches,).

        :param field_factors: how much an occurrence in each field counts, (n_fields,).
        """
        return np.asarray(self.counts * field_factors[self.fields] / self.length_norms)


@dataclass(frozen=True)
class ClauseTable:
    """The clauses of a query in all searched languages, ready to be matched with stored documents."""

    statistics: Statistics
    languages: Mapping[str, int]  # row of each language in the arrays below
    sources: Sequence[str]  # (n_clauses,) the query's terms, analyzed in its own language
    term_ids: Ids  # (n_entries,) ascending
    clauses: Integers  # (n_entries,) the clause that the term belongs to
    counts: Doubles  # (n_entries,) how much an occurrence of the term counts, 0 to 1
    body_weights: Doubles  # (n_languages + 1, n_clauses) importance times idf in the body; 0 for other languages
    title_weights: Doubles  # (n_languages + 1, n_clauses) importance times idf in titles
    rates: Doubles  # (n_clauses,) share of the documents of all languages that match a clause
    title_factors: Doubles  # (n_fields,) how much an occurrence in each field counts for the title
    body_factors: Doubles  # (n_fields,) the same for the body
    words: Sequence[tuple[str, str]]  # the query's term and the alternative, for each alternative
    word_numbers: Integers  # (n_entries,) position in `words`
    request: SparseVector  # what the store is asked for documents of all languages

    def measure(self, languages: Sequence[str], rows: SparseRows) -> LexicalEvidence:
        """Measure how far documents match the clauses of the query.

        :param languages: the language of each document, (n_docs,).
        :param rows: their stored vectors, one row each; terms of other clauses in them are ignored.
        """
        bags = self.statistics.layout.unpack_rows(rows)
        language_rows = self._find_language_rows(languages)
        matches = self._match_terms(bags, language_rows)
        title_tf = self._sum_by_clause(matches.weigh(self.title_factors), matches, bags.rows)
        body_tf = self._sum_by_clause(matches.weigh(self.body_factors), matches, bags.rows)
        return self._compute_evidence(bags, language_rows, title_tf, body_tf)

    def attribute_score(self, language: str, rows: SparseRows) -> list[Match]:
        """Divide the score of one document among the pairs of query term and document word that matched.

        :param language: the language of the document.
        :param rows: its stored vector, as the only row.
        :return: a match for each pair; their scores sum to the document's `LexicalEvidence.scores`. A word that matched
            inside a compound has SUBWORD_PREFIX.
        """
        bags = self.statistics.layout.unpack_rows(rows)
        matches = self._match_terms(bags, self._find_language_rows([language]))
        gains = self._compute_gains(language, matches, self.measure([language], rows))
        gain_of_pair: dict[tuple[str, str], float] = {}
        for entry, field, gain in zip(matches.entries.tolist(), matches.fields.tolist(), gains.tolist(), strict=True):
            pair = self._name_pair(entry, field)
            gain_of_pair[pair] = gain_of_pair.get(pair, 0.0) + gain
        return [Match(source, word, gain) for (source, word), gain in gain_of_pair.items() if gain]

    def _compute_gains(self, language: str, matches: TermMatches, evidence: LexicalEvidence) -> Doubles:
        """Return what each matched term of one document adds to its score; (n_matches,).

        A clause adds weight * tf / (tf + k1) to the score, so that each of its occurrences adds weight / (tf + k1).

        :param language: the language of the document.
        :param matches: the terms of the document that are in this table.
        :param evidence: what was measured of this document alone.
        """
        language_row = self.languages.get(language, -1)
        k1 = self.statistics.layout.k1
        # What one occurrence adds, by clause, (n_clauses,):
        combined_gains = self.body_weights[language_row] / (evidence.combined_tf[0] + k1)
        title_gains = self.title_weights[language_row] / (evidence.title_tf[0] + k1)
        # How many occurrences each match counts as, (n_matches,):
        combined_occurrences = matches.weigh(TITLE_BOOST * self.title_factors + self.body_factors)
        title_occurrences = matches.weigh(self.title_factors)
        clauses = self.clauses[matches.entries]  # (n_matches,)
        gains = combined_occurrences * combined_gains[clauses]
        gains += title_occurrences * title_gains[clauses]
        query_weight = evidence.query_weight[0] + evidence.query_title_weight[0]
        return np.asarray(gains / max(query_weight, MIN_QUERY_WEIGHT))

    def _name_pair(self, entry: int, field: int) -> tuple[str, str]:
        """Return the query term and the word of a match, given its entry in this table and the field it is in."""
        source, word = self.words[self.word_numbers[entry]]
        is_subword_field = self.statistics.layout.fields[field] in HOME_FIELDS
        if is_subword_field and not word.startswith(SOUND_PREFIX):
            return source, SUBWORD_PREFIX + word
        return source, word

    def _find_language_rows(self, languages: Sequence[str]) -> Integers:
        """Return the row of the language of each document; -1 for languages that were not searched."""
        return np.array([self.languages.get(lang, -1) for lang in languages], np.int64)

    def _match_terms(self, bags: CountedTerms, language_rows: Integers) -> TermMatches:
        """Find the terms of documents that are in this table: one match for each pair of a term and a table entry.

        :param bags: the terms of the fields of all documents, with how often each occurs.
        :param language_rows: the row of each document's language in the weights, (n_docs,).
        """
        # The entries of a term follow each other in this table. For each term of `bags`, (n_terms,):
        first_entries = self.term_ids.searchsorted(bags.ids, side="left")
        n_entries = self.term_ids.searchsorted(bags.ids, side="right") - first_entries
        # For each match, (n_matches,), where its entry is in this table, and its term and its field are in `bags`:
        entry_positions = concatenate_ranges(first_entries, n_entries)
        term_positions = list_groups(n_entries)
        field_positions = list_groups(bags.size)[term_positions]
        return TermMatches(
            documents=bags.row[field_positions],
            fields=bags.field[field_positions],
            entries=entry_positions,
            counts=bags.counts[term_positions] * self.counts[entry_positions],
            length_norms=self._compute_length_norms(bags, language_rows)[field_positions],
        )

    def _sum_by_clause(self, amounts: Doubles, matches: TermMatches, n_documents: int) -> Doubles:
        """Add up the amounts of matches by document and clause; (n_docs, n_clauses).

        :param amounts: one for each match, (n_matches,).
        """
        n_clauses = len(self.sources)
        cells = matches.documents * n_clauses + self.clauses[matches.entries]  # positions in the flattened result
        totals = np.bincount(cells, amounts, n_documents * n_clauses)
        return np.asarray(totals, np.float64).reshape(n_documents, n_clauses)

    def _compute_length_norms(self, bags: CountedTerms, language_rows: Integers) -> Doubles:
        """Compute BM25's length norm, 1 - b + b * length / average, of every field of every document; (n_parts,).

        A field of subwords has the norm of the field that they are from.

        :param bags: the terms of all documents; a part of it is one field of one document.
        :param language_rows: the row of each document's language in the weights, (n_docs,).
        """
        layout = self.statistics.layout
        average_lengths = self._list_average_lengths(bags, language_rows)
        norms = np.asarray(1 - layout.b + layout.b * bags.length / average_lengths)
        for subword_field, home_field in HOME_FIELDS.items():
            if subword_field not in layout.fields or home_field not in layout.fields:
                continue
            home_norms = _align_with_documents(bags, layout.field(home_field), norms, default=1.0)  # (n_docs,)
            is_subwords = bags.field == layout.field(subword_field)  # (n_parts,)
            norms[is_subwords] = home_norms[bags.row[is_subwords]]
        return norms

    def _list_average_lengths(self, bags: CountedTerms, language_rows: Integers) -> Doubles:
        """Return the average length that each field of each document is compared with; (n_parts,).

        It is the average of the document's language today, or what was stored with the document where that is unknown.
        """
        summary = self.statistics.summarize_languages(tuple(self.languages))
        averages = summary.average_lengths.T  # (n_languages, n_fields)
        language_of_part = language_rows[bags.row]
        current = averages[language_of_part, bags.field]
        return np.where((language_of_part >= 0) & (current > 0), current, bags.average)

    def _compute_evidence(
        self, bags: CountedTerms, language_rows: Integers, title_tf: Doubles, body_tf: Doubles
    ) -> LexicalEvidence:
        """Compute how much of the query's weight each document matches, from how often it has each clause.

        BM25 saturates occurrences: a clause that occurs tf times adds its weight times tf / (tf + k1). Its weight is
        the one that it has in the language of the document.

        :param bags: the terms of the documents, for the lengths of their texts.
        :param language_rows: the row of each document's language in the weights, (n_docs,).
        :param title_tf: normalized occurrences of clauses in titles, (n_docs, n_clauses).
        :param body_tf: the same in bodies.
        """
        k1 = self.statistics.layout.k1
        combined_tf = TITLE_BOOST * title_tf + body_tf
        # The weights of all clauses in the language of each document, (n_docs, n_clauses):
        body_weights, title_weights = self.body_weights[language_rows], self.title_weights[language_rows]
        matched_body_weights = body_weights * (combined_tf / (combined_tf + k1))
        matched_title_weights = title_weights * (title_tf / (title_tf + k1))
        return LexicalEvidence(
            title_tf=title_tf,
            combined_tf=combined_tf,
            combined_weight=matched_body_weights.sum(axis=1),
            title_weight=matched_title_weights.sum(axis=1),
            query_weight=body_weights.sum(axis=1),
            query_title_weight=title_weights.sum(axis=1),
            match_rarity=self._compute_rarity(combined_tf > 0),
            text_length=self._list_text_lengths(bags),
        )

    def _list_text_lengths(self, bags: CountedTerms) -> Doubles:
        """Return how many terms the text of each document has; (n_docs,)."""
        layout = self.statistics.layout
        if "text" not in layout.fields:
            return np.zeros(bags.rows)
        return _align_with_documents(bags, layout.field("text"), bags.length, default=0.0)

    def _compute_rarity(self, is_matched: npt.NDArray[np.bool_]) -> Doubles:
        """Return minus the logarithm of the number of documents expected to match the same clauses by chance."""
        n_documents = sum(self.statistics.documents("text", lang) for lang in self.statistics.langs)
        return np.asarray(is_matched @ -np.log(self.rates) - np.log(max(n_documents, 1)))


def build_clause_table(
    query: Query,
    forms: Sequence[tuple[str, Sequence[Clause]]],
    statistics: Statistics,
    field_weights: Mapping[str, float] | None = None,
) -> ClauseTable | None:
    """Compile the clauses of a query in all searched languages into one table; None if there are no clauses.

    :param query: the query as it was typed, in its own language.
    :param forms: each searched language with the clauses of the query in that language.
    :param statistics: how many documents of each language have each term.
    :param field_weights: how much an occurrence in each field counts; the default weights if None. Fields without a
        weight are not searched.
    """
    languages = [lang for lang, _ in forms]
    clauses_with_language = [(lang, clause) for lang, clauses in forms for clause in clauses]
    if not clauses_with_language:
        return None
    if field_weights is None:
        field_weights = choose_field_weights(statistics, None)
    return _TableBuilder(query, languages, clauses_with_language, statistics, field_weights).build()


class _Terms(NamedTuple):
    """The alternatives of all clauses of all languages, one clause after the other; (n_terms,) each."""

    hashes: Integers
    probabilities: Doubles  # those of a clause sum to 1
    subword_weights: Doubles  # how much an occurrence inside a compound counts
    clauses: Integers  # position in the list of clauses
    words: Integers  # position in the list of words


class _ClauseWeights(NamedTuple):
    """How much the clauses of a query and their alternatives count."""

    counts: Doubles  # (n_terms,) how much an occurrence of each alternative counts
    clause_df: Doubles  # (n_clauses,) documents whose body matches each clause
    body: Doubles  # (n_clauses,) importance times idf in the body
    title: Doubles  # (n_clauses,) the same in the title


class _Entries(NamedTuple):
    """Where documents may hold an alternative: one entry per field and alternative."""

    ids: Ids
    words: Integers  # position in the list of words
    clauses: Integers  # position in the list of clauses
    counts: Doubles  # how much an occurrence counts

    @classmethod
    def concatenate(cls, entry_lists: Sequence[_Entries]) -> _Entries:
        """Return the entries of several lists, at least one, in one."""
        return cls(*(np.concatenate(columns) for columns in zip(*entry_lists, strict=True)))

    def select(self, rows: Integers) -> _Entries:
        """Return the entries of some rows."""
        return _Entries(self.ids[rows], self.words[rows], self.clauses[rows], self.counts[rows])


class _OwnWords(NamedTuple):
    """The words of a query as they are, and where translations of documents may hold them."""

    words: list[tuple[str, str]]  # the query's term and the word
    entry_lists: list[_Entries]  # the entries of each clause's words


class _TableBuilder:
    """Steps from clauses to a `ClauseTable`."""

    def __init__(
        self,
        query: Query,
        languages: Sequence[str],
        clauses_with_language: Sequence[tuple[str, Clause]],
        statistics: Statistics,
        field_weights: Mapping[str, float],
    ) -> None:
        """Lay out the tables of weights: a row for each language, and a column for each distinct query term.

        A clause is a query term with its translations into one language, so there is one clause for each term and
        language. A query "red house", searched in French and German, has four clauses; they fill two rows (fr, de)
        and two columns (red, house).

        :param query: the query as it was typed, in its own language.
        :param languages: the searched languages.
        :param clauses_with_language: each clause behind its language: ("fr", clause). A clause is numbered by its
            position here.
        :param statistics: how many documents of each language have each term.
        :param field_weights: how much an occurrence in each field counts, by the field's name.
        """
        self.statistics = statistics
        self.layout = statistics.layout
        self.source_language = query.lang
        self.title_factors, self.body_factors = self._split_field_weights(field_weights)
        self.clauses_with_language = clauses_with_language
        self.row_of_language = _number_distinct(languages)
        clause_languages = [lang for lang, _ in clauses_with_language]
        self.row_of_clause = np.array([self.row_of_language[lang] for lang in clause_languages], np.int64)
        clause_terms = [_analyze_source(clause.source, query.lang) for _, clause in clauses_with_language]
        self.column_of_term = _number_distinct(clause_terms)
        self.column_of_clause = np.array([self.column_of_term[term] for term in clause_terms], np.int64)
        summary = statistics.summarize_languages(tuple(self.row_of_language))
        self.documents_per_language = summary.n_documents  # (n_fields, n_languages)

    def build(self) -> ClauseTable:
        """Look up the terms of all clauses, weigh them, and sort them by their ids."""
        clause_words = [(clause.source, word) for _, clause in self.clauses_with_language for word in clause.words]
        terms = self._collect_terms()
        weights = self._weigh_clauses(terms)
        own_words = self._list_own_words(first_number=len(clause_words))
        entry_lists = self._list_entries(terms, weights.counts) + own_words.entry_lists
        entries = self._sort_entries(_Entries.concatenate(entry_lists))
        return ClauseTable(
            statistics=self.statistics,
            languages=self.row_of_language,
            sources=list(self.column_of_term),
            term_ids=entries.ids,
            clauses=self.column_of_clause[entries.clauses],
            counts=entries.counts,
            body_weights=self._arrange_by_language(weights.body),
            title_weights=self._arrange_by_language(weights.title),
            rates=self._estimate_rates(weights.clause_df),
            title_factors=self.title_factors,
            body_factors=self.body_factors,
            words=clause_words + own_words.words,
            word_numbers=entries.words,
            request=self._make_request(entries, weights.body),
        )

    def _collect_terms(self) -> _Terms:
        """List the alternatives of all clauses, one clause after the other, without those that no document has.

        The first alternative of a clause is kept even if no document has it, so that every clause has one.
        """
        clauses = [clause for _, clause in self.clauses_with_language]
        sizes = [len(clause.words) for clause in clauses]
        hashes = np.concatenate([clause.hashes for clause in clauses])
        is_used = self.statistics.may_occur(hashes)
        is_used[list_starts(sizes)] = True
        return _Terms(
            hashes=hashes[is_used],
            probabilities=np.concatenate([clause.probabilities for clause in clauses])[is_used],
            subword_weights=np.concatenate([clause.subword_weights for clause in clauses])[is_used],
            clauses=list_groups(sizes)[is_used],
            words=np.flatnonzero(is_used),
        )

    def _weigh_clauses(self, terms: _Terms) -> _ClauseWeights:
        """Weigh the alternatives of each clause against each other, and the clauses by importance and idf.

        :param terms: the alternatives, those of one clause after the other.
        """
        first_terms = terms.clauses.searchsorted(np.arange(len(self.clauses_with_language)))  # (n_clauses,)
        text_df = self._count_matching_documents("text", INNER, terms)
        title_df = self._count_matching_documents("title", TITLE_SUBWORDS, terms)
        term_df = np.stack([text_df, title_df])  # (2, n_terms)
        documents_per_language = np.stack([self._count_documents("text"), self._count_documents("title")])
        documents = documents_per_language[:, self.row_of_clause]  # (2, n_clauses)
        # How much each alternative counts, (n_terms,), and how many documents match each clause, (2, n_clauses):
        counts, clause_df = temper_alternatives(terms.probabilities, term_df, first_terms, documents)
        importance = np.array([clause.weight for _, clause in self.clauses_with_language])  # (n_clauses,)
        body_weights, title_weights = importance * compute_idf(documents, clause_df)
        return _ClauseWeights(counts, clause_df[0], body_weights, title_weights)

    def _estimate_rates(self, clause_df: Doubles) -> Doubles:
        """Estimate the share of documents that match each query term, all languages together; (n_columns,).

        A rate of its own for each language would make every term of a language with one document as rare as can be, and
        a copy of a document would lower the documents of its language.

        :param clause_df: documents whose body matches each clause, (n_clauses,).
        """
        n_columns = len(self.column_of_term)
        documents_of_clause = self._count_documents("text")[self.row_of_clause]  # in the language of the clause
        matching_documents = np.bincount(self.column_of_clause, clause_df, n_columns)
        searched_documents = np.bincount(self.column_of_clause, documents_of_clause, n_columns)
        return np.asarray(np.minimum((matching_documents + 1.0) / (searched_documents + 2.0), 1.0))

    def _count_matching_documents(self, field: str, subword_field: str, terms: _Terms) -> Doubles:
        """Return the document frequency of each term in a field; (n_terms,).

        A document that has the term inside a compound counts by the weight of subwords. The sum is at most the number
        of documents, since some have the term both ways.
        """
        word_df = self._look_up_df(field, terms.hashes)
        subword_df = self._look_up_df(subword_field, terms.hashes)
        n_documents = self._count_documents(field)[self.row_of_clause[terms.clauses]]
        return np.minimum(word_df + terms.subword_weights * subword_df, n_documents)

    def _count_documents(self, field: str) -> Doubles:
        """Return how many documents of each language have a field; (n_languages,)."""
        if field not in self.layout.fields:
            return np.zeros(len(self.row_of_language))
        return np.asarray(self.documents_per_language[self.layout.field(field)])

    def _look_up_df(self, field: str, hashes: Integers) -> Doubles:
        """Return how many documents have each term in a field; zeros for a field that is not indexed."""
        if field not in self.layout.fields:
            return np.zeros(len(hashes))
        return self.statistics.df_of(self.layout.ids(self.layout.field(field), hashes)).astype(np.float64)

    def _list_entries(self, terms: _Terms, counts: Doubles) -> list[_Entries]:
        """List the entries of all alternatives in each searched field, except the field of documents' translations.

        :param terms: the alternatives.
        :param counts: how much an occurrence of each alternative counts, (n_terms,).
        :return: entries of each field; occurrences inside compounds count less.
        """
        field_factors = self.title_factors + self.body_factors  # (n_fields,) 0 for a field that is not searched
        subword_counts = counts * terms.subword_weights
        entry_lists = []
        for number, field in enumerate(self.layout.fields):
            if not field_factors[number] or field == translation_field(self.source_language):
                continue
            ids = self.layout.ids(number, terms.hashes)
            field_counts = subword_counts if field in HOME_FIELDS else counts
            entry_lists.append(_Entries(ids, terms.words, terms.clauses, field_counts))
        return entry_lists

    def _list_own_words(self, first_number: int) -> _OwnWords:
        """List the query's own words with their entries in the field of documents' translations.

        Documents may have been translated into the query's language when they were indexed. Their translations are in
        a field of their own, where the query's words are looked for as they are.

        :param first_number: the number of the first of these words in the list of all words.
        :return: no words if there is no such field.
        """
        field = translation_field(self.source_language)
        words: list[tuple[str, str]] = []
        entry_lists: list[_Entries] = []
        if field not in self.layout.fields:
            return _OwnWords(words, entry_lists)
        analyze = analyzer(self.source_language).terms
        for clause_number, (lang, clause) in enumerate(self.clauses_with_language):
            terms = analyze(clause.source)
            n_terms = len(terms)
            first_word = first_number + len(words)
            entries = _Entries(
                ids=self.statistics.ids(field, lang, terms),  # by the language of the document, as in every field
                words=np.arange(first_word, first_word + n_terms),
                clauses=np.full(n_terms, clause_number),
                counts=np.full(n_terms, 1 / max(n_terms, 1)),  # the words of a clause share its weight
            )
            entry_lists.append(entries)
            words += [(clause.source, term) for term in terms]
        return _OwnWords(words, entry_lists)

    def _sort_entries(self, entries: _Entries) -> _Entries:
        """Return the entries that occur in documents, ordered by id."""
        useful = np.flatnonzero((entries.counts > 0) & (self.statistics.df_of(entries.ids) > 0))
        return entries.select(useful[entries.ids[useful].argsort(kind="stable")])

    def _split_field_weights(self, field_weights: Mapping[str, float]) -> tuple[Doubles, Doubles]:
        """Return how much an occurrence in each field counts for the title and for the body; (n_fields,) each.

        Each field counts for one of the two, and for the other it has 0.

        :param field_weights: how much an occurrence in a field counts, by the field's name; others are not searched.
        """
        weights = dict(field_weights)
        if weights.get("text"):  # documents' translations are searched where their text is
            weights[translation_field(self.source_language)] = 1.0
        # Parts of compounds have fields of their own, which count as the field that the compounds are in.
        counted_fields = [HOME_FIELDS.get(field, field) for field in self.layout.fields]
        is_title = np.array([field == "title" for field in counted_fields])
        factors = np.array([weights.get(field, 0.0) for field in counted_fields])
        title_factors = np.where(is_title, factors, 0.0)
        body_factors = np.where(is_title, 0.0, factors)
        return title_factors, body_factors

    def _make_request(self, entries: _Entries, body_weights: Doubles) -> SparseVector:
        """Return the sparse vector by which the store finds candidates; weights of entries with equal ids are added.

        An entry weighs as much as its clause's share of the query in its language, times the factor of its field.

        :param body_weights: importance times idf of each clause, (n_clauses,).
        """
        query_weights = np.bincount(self.row_of_clause, body_weights, len(self.row_of_language))  # (n_languages,)
        clause_shares = body_weights / np.maximum(query_weights[self.row_of_clause], MIN_QUERY_WEIGHT)
        field_factors = TITLE_BOOST * self.title_factors + self.body_factors
        ids = entries.ids.astype(np.int64)
        fields = ids // self.layout.span  # (n_entries,)
        weights = entries.counts * clause_shares[entries.clauses] * field_factors[fields]
        distinct_ids, values = sum_by_key(ids, weights)
        return SparseVector(distinct_ids.astype(np.uint32), values.astype(np.float32))

    def _arrange_by_language(self, clause_weights: Doubles) -> Doubles:
        """Arrange the weights of clauses by language and column; (n_languages + 1, n_clauses), the last row zeros."""
        table = np.zeros((len(self.row_of_language) + 1, len(self.column_of_term)))
        np.add.at(table, (self.row_of_clause, self.column_of_clause), clause_weights)
        return table


def _align_with_documents(bags: CountedTerms, field: int, values: Doubles, *, default: float) -> Doubles:
    """Return the value of one field of each document; (n_docs,).

    :param values: the values of all fields of all documents, (n_parts,).
    :param default: the value of documents without the field.
    """
    values_by_document = np.full(bags.rows, default)
    is_field = bags.field == field
    values_by_document[bags.row[is_field]] = values[is_field]
    return values_by_document


def _number_distinct(texts: Sequence[str]) -> dict[str, int]:
    """Give each different text a number, from 0 in the order of their first places: b, a, b gives {b: 0, a: 1}."""
    return {text: number for number, text in enumerate(dict.fromkeys(texts))}


def _analyze_source(source: str, lang: str) -> str:
    """Return a query term in the form that is the same in the clauses of all languages."""
    return " ".join(analyzer(lang).terms(source)) or source
