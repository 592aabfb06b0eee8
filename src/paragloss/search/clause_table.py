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
from paragloss.index.fields import INNER, TITLE_SUBWORDS, choose_field_weights, translation_field
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
        """Measure documents, given their languages and their stored vectors."""
        layout = self.statistics.layout
        bags = layout.unpack_rows(rows)
        language_rows = np.array([self.languages.get(lang, -1) for lang in languages], np.int64)
        entries = self.match_entries(bags)
        norms = self._length_norms(bags, language_rows)
        title_tf = self._sum_occurrences(bags, entries, self.title_factors, norms)
        body_tf = self._sum_occurrences(bags, entries, self.body_factors, norms)
        return self._summarize(bags, language_rows, title_tf, body_tf)

    def attribute(self, language: str, rows: SparseRows) -> list[Match]:
        """Divide the score of one document among the pairs of query term and document word that matched.

        The scores of the matches sum to the document's `LexicalEvidence.scores`. A word that matched inside a compound
        has SUBWORD_PREFIX.
        """
        bags = self.statistics.layout.unpack_rows(rows)
        in_document, in_table = entries = self.match_entries(bags)
        gains = self._compute_gains(language, rows, bags, entries)
        term_ids, word_numbers = bags.ids[in_document].tolist(), self.word_numbers[in_table].tolist()
        gain_of_pair: dict[tuple[str, str], float] = {}
        for term_id, word_number, gain in zip(term_ids, word_numbers, gains.tolist(), strict=True):
            pair = self._name_pair(word_number, term_id)
            gain_of_pair[pair] = gain_of_pair.get(pair, 0.0) + gain
        return [Match(source, word, gain) for (source, word), gain in gain_of_pair.items() if gain]

    def _compute_gains(
        self, language: str, rows: SparseRows, bags: CountedTerms, entries: tuple[Integers, Integers]
    ) -> Doubles:
        """Return what each matched entry of one document adds to its score; (n_matches,).

        :param rows: the stored vector of the document.
        :param bags: the same, unpacked.
        :param entries: its matches, see `match_entries`.
        """
        evidence = self.measure([language], rows)
        language_row = self.languages.get(language, -1)
        norms = self._length_norms(bags, np.array([language_row]))
        combined_factors = TITLE_BOOST * self.title_factors + self.body_factors
        k1, clauses = self.statistics.layout.k1, self.clauses[entries[1]]
        combined_gains = self.body_weights[language_row] / (evidence.combined_tf[0] + k1)  # (n_clauses,) per occurrence
        title_gains = self.title_weights[language_row] / (evidence.title_tf[0] + k1)
        gains = self._weigh_entries(bags, entries, combined_factors, norms) * combined_gains[clauses]
        gains += self._weigh_entries(bags, entries, self.title_factors, norms) * title_gains[clauses]
        return np.asarray(gains / max(evidence.query_weight[0] + evidence.query_title_weight[0], MIN_QUERY_WEIGHT))

    def _name_pair(self, word_number: int, term_id: int) -> tuple[str, str]:
        """Return the query term and the word of a match, given the word's position and the id of the stored term."""
        source, word = self.words[word_number]
        field = self.statistics.layout.fields[term_id // self.statistics.layout.span]
        is_inside_compound = field in HOME_FIELDS and not word.startswith(SOUND_PREFIX)
        return source, SUBWORD_PREFIX + word if is_inside_compound else word

    def match_entries(self, bags: CountedTerms) -> tuple[Integers, Integers]:
        """Pair the entries of documents with the entries of this table: (positions in `bags.ids`, in `term_ids`)."""
        first = self.term_ids.searchsorted(bags.ids, side="left")
        sizes = self.term_ids.searchsorted(bags.ids, side="right") - first
        return np.arange(len(bags.ids)).repeat(sizes), concatenate_ranges(first, sizes)

    def _sum_occurrences(
        self, bags: CountedTerms, entries: tuple[Integers, Integers], factors: Doubles, norms: Doubles
    ) -> Doubles:
        """Add the length-normalized occurrences of each clause in some fields; (n_docs, n_clauses)."""
        in_document, in_table = entries
        row_of_entry = bags.row.repeat(bags.size)
        cells = row_of_entry[in_document] * len(self.sources) + self.clauses[in_table]
        amounts = self._weigh_entries(bags, entries, factors, norms)
        totals = np.bincount(cells, amounts, bags.rows * len(self.sources))
        return np.asarray(totals, np.float64).reshape(bags.rows, len(self.sources))

    def _weigh_entries(
        self, bags: CountedTerms, entries: tuple[Integers, Integers], factors: Doubles, norms: Doubles
    ) -> Doubles:
        """Return what each matched entry adds to the occurrences of its clause, given a factor for each field."""
        in_document, in_table = entries
        part = np.arange(len(bags.row)).repeat(bags.size)[in_document]
        return np.asarray(bags.counts[in_document] * self.counts[in_table] * factors[bags.field[part]] / norms[part])

    def _length_norms(self, bags: CountedTerms, language_rows: Integers) -> Doubles:
        """Compute BM25's length norm, 1 - b + b * length / average, of every field of every document; (n_parts,).

        A field of subwords has the norm of the field that they are from.
        """
        layout = self.statistics.layout
        average_lengths = self._average_lengths(bags, language_rows)
        norms = np.asarray(1 - layout.b + layout.b * bags.length / average_lengths)
        for subword_field, home_field in HOME_FIELDS.items():
            if subword_field in layout.fields and home_field in layout.fields:
                is_home = bags.field == layout.field(home_field)
                is_subwords = bags.field == layout.field(subword_field)
                norm_of_document = np.ones(bags.rows)
                norm_of_document[bags.row[is_home]] = norms[is_home]
                norms[is_subwords] = norm_of_document[bags.row[is_subwords]]
        return norms

    def _average_lengths(self, bags: CountedTerms, language_rows: Integers) -> Doubles:
        """Return the average length that each field of each document is compared with; (n_parts,).

        It is the average of the document's language today, or what was stored with the document where that is unknown.
        """
        summary = self.statistics.summarize_languages(tuple(self.languages))
        averages = summary.average_lengths.T  # (n_languages, n_fields)
        language_of_part = language_rows[bags.row]
        current = averages[language_of_part, bags.field]
        return np.where((language_of_part >= 0) & (current > 0), current, bags.average)

    def _summarize(
        self, bags: CountedTerms, language_rows: Integers, title_tf: Doubles, body_tf: Doubles
    ) -> LexicalEvidence:
        """Sum the saturated occurrences of all clauses, each by its weight in the language of the document.

        :param language_rows: the row of each document's language in the weights, (n_docs,).
        :param title_tf: occurrences of clauses in titles, (n_docs, n_clauses).
        :param body_tf: the same in bodies.
        """
        k1 = self.statistics.layout.k1
        combined_tf = TITLE_BOOST * title_tf + body_tf
        body_weights, title_weights = self.body_weights[language_rows], self.title_weights[language_rows]
        return LexicalEvidence(
            title_tf=title_tf,
            combined_tf=combined_tf,
            combined_weight=(body_weights * (combined_tf / (combined_tf + k1))).sum(axis=1),
            title_weight=(title_weights * (title_tf / (title_tf + k1))).sum(axis=1),
            query_weight=body_weights.sum(axis=1),
            query_title_weight=title_weights.sum(axis=1),
            match_rarity=self._compute_rarity(combined_tf > 0),
            text_length=_length_of_field(bags, self.statistics, "text"),
        )

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
    """Compile the clauses of a query; None if there are none.

    :param forms: each searched language with the clauses of the query in that language.
    :param field_weights: how much an occurrence in each field counts; the default weights if None. Fields without a
        weight are not searched.
    """
    clause_list = [(lang, clause) for lang, clauses in forms for clause in clauses]
    if not clause_list:
        return None
    weights = choose_field_weights(statistics, None) if field_weights is None else field_weights
    return _TableBuilder(query, [lang for lang, _ in forms], clause_list, statistics, weights).build()


class _Terms(NamedTuple):
    """The alternatives of all clauses of all languages, one clause after the other."""

    hashes: Integers
    probabilities: Doubles  # those of a clause sum to 1
    subword_weights: Doubles  # how much an occurrence inside a compound counts
    clauses: Integers  # position in the list of clauses


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


class _TableBuilder:
    """Steps from clauses to a `ClauseTable`."""

    def __init__(
        self,
        query: Query,
        languages: Sequence[str],
        clause_list: Sequence[tuple[str, Clause]],
        statistics: Statistics,
        field_weights: Mapping[str, float],
    ) -> None:
        """Number the languages and the distinct query terms, and remember of which each clause is.

        :param clause_list: each clause with its language.
        """
        self.statistics, self.layout = statistics, statistics.layout
        self.source_language = query.lang
        self.title_factors, self.body_factors = self._split_field_weights(field_weights)
        self.languages = {lang: row for row, lang in enumerate(dict.fromkeys(languages))}
        self.clause_list = clause_list
        query_terms = [_analyze_source(clause.source, query.lang) for _, clause in clause_list]
        self.columns = {term: column for column, term in enumerate(dict.fromkeys(query_terms))}
        self.column_of_clause = np.array([self.columns[term] for term in query_terms], np.int64)
        self.row_of_clause = np.array([self.languages[lang] for lang, _ in clause_list], np.int64)
        summary = statistics.summarize_languages(tuple(self.languages))
        self.documents_per_language = summary.n_documents  # (n_fields, n_languages)
        self.words = [(clause.source, word) for _, clause in clause_list for word in clause.words]

    def build(self) -> ClauseTable:
        """Look up the clauses' terms, weigh them, and arrange them in the order of their ids."""
        terms, word_numbers = self._collect_terms()
        weights = self._weigh_clauses(terms)
        entries = self._join_entries(
            self._list_entries(terms, word_numbers, weights.counts), self._list_document_translations()
        )
        order = entries.ids.argsort(kind="stable")
        return ClauseTable(
            statistics=self.statistics,
            languages=self.languages,
            sources=list(self.columns),
            term_ids=entries.ids[order],
            clauses=self.column_of_clause[entries.clauses][order],
            counts=entries.counts[order],
            body_weights=self._arrange(weights.body),
            title_weights=self._arrange(weights.title),
            rates=self._estimate_rates(weights.clause_df),
            title_factors=self.title_factors,
            body_factors=self.body_factors,
            words=self.words,
            word_numbers=entries.words[order],
            request=self._make_request(entries, weights.body),
        )

    def _collect_terms(self) -> tuple[_Terms, Integers]:
        """Return the alternatives that documents may hold, and their positions in `words`."""
        numbers = np.concatenate([clause.numbers for _, clause in self.clause_list], axis=1)  # (3, n_words)
        sizes = [len(clause.words) for _, clause in self.clause_list]
        clause_of_word = np.arange(len(self.clause_list)).repeat(sizes)
        occurs = self.statistics.may_occur(numbers[0].astype(np.int64))
        occurs[clause_of_word.searchsorted(np.arange(len(sizes)))] = True  # every clause keeps at least one term
        hashes, probabilities, subword_weights = numbers[:, occurs]
        terms = _Terms(hashes.astype(np.int64), probabilities, subword_weights, clause_of_word[occurs])
        return terms, np.flatnonzero(occurs)

    def _weigh_clauses(self, terms: _Terms) -> _ClauseWeights:
        """Weigh the alternatives of each clause against each other, and the clauses by importance and idf."""
        first_terms = terms.clauses.searchsorted(np.arange(len(self.clause_list)))
        frequencies = [
            self._document_frequencies("text", INNER, terms),
            self._document_frequencies("title", TITLE_SUBWORDS, terms),
        ]
        documents = np.stack([self._count_documents("text"), self._count_documents("title")])[:, self.row_of_clause]
        counts, clause_df = temper_alternatives(terms.probabilities, np.stack(frequencies), first_terms, documents)
        importance = np.array([clause.weight for _, clause in self.clause_list])
        body_weights, title_weights = importance * compute_idf(documents, clause_df)
        return _ClauseWeights(counts, clause_df[0], body_weights, title_weights)

    def _estimate_rates(self, clause_df: Doubles) -> Doubles:
        """Return the share of documents that match each clause, all languages together; (n_clauses,).

        A rate of its own for each language would make every term of a language with one document as rare as can be, and
        a copy of a document would lower the documents of its language.
        """
        documents = self._count_documents("text")[self.row_of_clause]
        matching = np.bincount(self.column_of_clause, clause_df, len(self.columns))
        searched = np.bincount(self.column_of_clause, documents, len(self.columns))
        return np.asarray(np.minimum((matching + 1.0) / (searched + 2.0), 1.0))

    def _document_frequencies(self, field: str, subwords: str, terms: _Terms) -> Doubles:
        """Return the document frequency of each term in a field, parts of compounds counted by their weight."""
        frequencies = self._field_frequencies(field, terms.hashes)
        frequencies = frequencies + terms.subword_weights * self._field_frequencies(subwords, terms.hashes)
        documents = self._count_documents(field)[self.row_of_clause[terms.clauses]]
        return np.asarray(np.minimum(frequencies, documents))

    def _count_documents(self, field: str) -> Doubles:
        """Return how many documents of each language have a field; (n_languages,)."""
        if field not in self.layout.fields:
            return np.zeros(len(self.languages))
        return np.asarray(self.documents_per_language[self.layout.field(field)])

    def _field_frequencies(self, field: str, hashes: Integers) -> Doubles:
        if field not in self.layout.fields:
            return np.zeros(len(hashes))
        return self.statistics.df_of(self.layout.ids(self.layout.field(field), hashes)).astype(np.float64)

    def _list_entries(self, terms: _Terms, word_numbers: Integers, counts: Doubles) -> _Entries:
        """List the entries of all alternatives in all searched fields, except translations of documents."""
        factors = self.title_factors + self.body_factors
        fields = [
            field
            for field, factor in zip(self.layout.fields, factors.tolist(), strict=True)
            if factor and field != translation_field(self.source_language)
        ]
        ids_by_field = [self.layout.ids(self.layout.field(field), terms.hashes) for field in fields]
        subword_counts = counts * terms.subword_weights
        counts_by_field = [subword_counts if field in HOME_FIELDS else counts for field in fields]
        return _Entries(
            ids=np.concatenate(ids_by_field),
            words=np.tile(word_numbers, len(fields)),
            clauses=np.tile(terms.clauses, len(fields)),
            counts=np.concatenate(counts_by_field),
        )

    def _list_document_translations(self) -> _Entries:
        """List the entries of the query's own words in the field that holds translations of documents, if there is one.

        The ids of its terms depend on the language of the document, as those of all fields do. The words are added to
        `words`.
        """
        field = translation_field(self.source_language)
        if field not in self.layout.fields:
            no_numbers = np.zeros(0, np.int64)
            return _Entries(np.zeros(0, np.uint32), no_numbers, no_numbers, np.zeros(0))
        ids: list[int] = []
        clauses: list[int] = []
        counts: list[float] = []
        first_word = len(self.words)
        for clause_number, (lang, clause) in enumerate(self.clause_list):
            own_terms = analyzer(self.source_language).terms(clause.source)
            ids += self.statistics.ids(field, lang, own_terms).tolist()
            clauses += [clause_number] * len(own_terms)
            counts += [1 / len(own_terms)] * len(own_terms)
            self.words += [(clause.source, term) for term in own_terms]
        words = np.arange(first_word, len(self.words))
        return _Entries(np.array(ids, np.uint32), words, np.array(clauses, np.int64), np.array(counts, np.float64))

    def _join_entries(self, own: _Entries, translated: _Entries) -> _Entries:
        """Concatenate two lists of entries without those that no document holds."""
        ids = np.concatenate([own.ids, translated.ids])
        counts = np.concatenate([own.counts, translated.counts])
        useful = np.flatnonzero((counts > 0) & (self.statistics.df_of(ids) > 0))
        words = np.concatenate([own.words, translated.words])
        clauses = np.concatenate([own.clauses, translated.clauses])
        return _Entries(ids[useful], words[useful], clauses[useful], counts[useful])

    def _split_field_weights(self, field_weights: Mapping[str, float]) -> tuple[Doubles, Doubles]:
        """Return how much an occurrence in each field counts for the title and for the body; (n_fields,) each."""
        homes = [HOME_FIELDS.get(field, field) for field in self.layout.fields]
        is_title = np.array([home == "title" for home in homes])
        weights = dict(field_weights)
        if weights.get("text"):
            weights[translation_field(self.source_language)] = 1.0
        factors = np.array([weights.get(home, 0.0) for home in homes])
        return np.where(is_title, factors, 0.0), np.where(is_title, 0.0, factors)

    def _make_request(self, entries: _Entries, body_weights: Doubles) -> SparseVector:
        """Weigh each entry by its clause's share of the query and its field; equal ids are added."""
        totals = np.bincount(self.row_of_clause, body_weights, len(self.languages))
        clause_shares = body_weights / np.maximum(totals[self.row_of_clause], 1e-9)
        factors = TITLE_BOOST * self.title_factors + self.body_factors
        weights = (
            entries.counts * clause_shares[entries.clauses] * factors[entries.ids.astype(np.int64) // self.layout.span]
        )
        keys, values = sum_by_key(entries.ids.astype(np.int64), weights)
        return SparseVector(keys.astype(np.uint32), values.astype(np.float32))

    def _arrange(self, clause_weights: Doubles) -> Doubles:
        """Arrange the weights of clauses by language and column; (n_languages + 1, n_clauses), the last row zeros."""
        table = np.zeros((len(self.languages) + 1, len(self.columns)))
        np.add.at(table, (self.row_of_clause, self.column_of_clause), clause_weights)
        return table


def _length_of_field(bags: CountedTerms, statistics: Statistics, field: str) -> Doubles:
    """Return how many terms a field of each document has; (n_docs,)."""
    lengths = np.zeros(bags.rows)
    if field not in statistics.layout.fields:
        return lengths
    parts = bags.field == statistics.layout.field(field)
    lengths[bags.row[parts]] = bags.length[parts]
    return lengths


def _analyze_source(source: str, lang: str) -> str:
    """Return a query term in the form that is the same in the clauses of all languages."""
    return " ".join(analyzer(lang).terms(source)) or source
