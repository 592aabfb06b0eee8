"""Term statistics of every field and language of a collection. Knows nothing of stores, analyzers or searching.

N, df and the average length are those of the document's own language: a language with few documents is not
drowned by one with many. Everything here can be recounted from the documents' vectors (`bm25.Layout`).
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from paragloss.bm25 import LANGUAGE_SIGNS, CountedTerms, Doubles, Ids, Integers, Layout, term_hashes
from paragloss.errors import StoreError
from paragloss.groups import list_groups
from paragloss.languages import known_codes
from paragloss.types import SparseRows, SparseVector

FORMAT = 1
#: How far, relatively, an average length may move before weights made with the old one are rewritten.
DRIFT = 0.05
#: How much a translation's probability counts, and how much its rarity: docs/understand/model.md.
PROBABILITY_EXPONENT, RARITY_EXPONENT = 0.2, 0.1
#: Sets of languages whose summary is cached.
MAX_CACHED_SUMMARIES = 100
#: A filter of ids has 2 to the power of this more bits than there are ids.
FILTER_EXTRA_BITS = 4
#: Look-ups before a filter is built, which costs as much as they did: a command needs fewer, and search processes read
#: new statistics twice a second.
LOOKUPS_BEFORE_FILTER = 100

K = TypeVar("K")
_Key: TypeAlias = tuple[str, str]  # field, language
_QueryWeights: TypeAlias = tuple[str, Mapping[str, float]]  # language, weight of each term


class WeightedQuery(NamedTuple):
    """A query for documents of one language, as the store searches for it."""

    vector: SparseVector
    max_score: float  # of a document full of every term


class LanguageSummary(NamedTuple):
    """Figures of several languages; each array has the shape (n_fields, n_languages)."""

    n_documents: Doubles  # documents with the field, those that have it in a second language included
    field_shares: Doubles  # the same as a share of the field that most documents have
    average_lengths: Doubles  # in terms


class Statistics:
    """How many documents each field has in each language, how long they are, how many contain each term."""

    def __init__(self, layout: Layout) -> None:
        """Start without documents."""
        self.layout = layout
        self._documents: Counter[_Key] = Counter()
        self._lengths: Counter[_Key] = Counter()
        #: how many documents of each field and language were weighted with which average
        self._averages: dict[_Key, Counter[float]] = {}
        self._df = DocumentFrequencies(span=layout.span)
        #: How many documents the collection had when these were written, if that was recorded.
        self.records: int | None = None
        self._clear_caches()

    def _clear_caches(self) -> None:
        self._secondary_languages: dict[str, int] | None = None
        self._summaries: dict[tuple[str, ...], LanguageSummary] = {}

    @property
    def langs(self) -> tuple[str, ...]:
        """The languages of the documents, in order."""
        return tuple(sorted({lang for _, lang in list(self._documents)}))

    def documents(self, field: str, lang: str) -> int:
        """Return how many documents of a language have any term in a field."""
        return self._documents[field, lang]

    @property
    def secondary_languages(self) -> Mapping[str, int]:
        """For each language that documents contain besides their main one, how many do."""
        if self._secondary_languages is None:
            self._secondary_languages = self._count_secondary_languages()
        return self._secondary_languages

    def _count_secondary_languages(self) -> dict[str, int]:
        """Count the documents that contain each language besides their main one; languages with none are left out.

        A document that contains a second language has all of that language's `LANGUAGE_SIGNS` among its terms. A sign
        may share its id with another term, so a count is trusted only if the counts of all signs are equal.
        """
        if "text" not in self.layout.fields:
            return {}
        langs = known_codes()
        hashes = [term_hashes(lang)[sign] for lang in langs for sign in LANGUAGE_SIGNS]
        df = self.df_of(self.layout.ids(self.layout.field("text"), hashes))
        df_by_lang = df.reshape(len(langs), len(LANGUAGE_SIGNS)).tolist()
        n_documents = {}
        for lang, df_of_signs in zip(langs, df_by_lang, strict=True):
            if len(set(df_of_signs)) == 1 and df_of_signs[0] > 0:
                n_documents[lang] = df_of_signs[0]
        return n_documents

    def summarize_languages(self, langs: tuple[str, ...]) -> LanguageSummary:
        """Return numbers of documents and average lengths of the fields in several languages."""
        summary = self._summaries.get(langs)
        if summary is None:
            summary = self._compute_summary(langs)
            if len(self._summaries) >= MAX_CACHED_SUMMARIES:
                self._summaries = {}
            self._summaries[langs] = summary
        return summary

    def _compute_summary(self, langs: tuple[str, ...]) -> LanguageSummary:
        """Compute what `summarize_languages` returns."""
        fields = self.layout.fields
        n_documents = np.array([[self._documents[field, lang] for lang in langs] for field in fields], np.float64)
        secondary_languages = self.secondary_languages
        if secondary_languages:
            n_documents += [secondary_languages.get(lang, 0) for lang in langs]  # in every field
        averages = np.array([[self.average(field, lang) for lang in langs] for field in fields], np.float64)
        most_documents = np.maximum(n_documents.max(axis=0, initial=0), 1)  # (n_languages,)
        return LanguageSummary(n_documents, n_documents / most_documents, averages)

    def average(self, field: str, lang: str) -> float:
        """Return the current average length in terms, as a float32 because vectors contain it."""
        return float(np.float32(self._lengths[field, lang] / max(self._documents[field, lang], 1)))

    def df(self, field: str, lang: str, terms: Sequence[str]) -> Integers:
        """Return how many documents contain each term."""
        return self.df_of(self.ids(field, lang, terms))

    def df_of(self, ids: npt.ArrayLike) -> Integers:
        """Return how many documents contain each term, given by id."""
        return self._df.look_up(np.asarray(ids, np.uint32))

    def may_occur(self, hashes: Integers) -> npt.NDArray[np.bool_]:
        """Tell which terms some document may contain, in any field; False for most terms that none contains."""
        return self._df.may_contain(self.layout.fold(hashes))

    def idf(self, field: str, lang: str, df: npt.ArrayLike) -> Doubles:
        """Return ln(1 + (N - df + 0.5) / (df + 0.5)): Lucene's, never negative."""
        return compute_idf(self.documents(field, lang), df)

    def ids(self, field: str, lang: str, terms: Sequence[str]) -> Ids:
        """Return the ids of a language's terms in a field."""
        hashes = term_hashes(lang)
        return self.layout.ids(self.layout.field(field), [hashes[term] for term in terms])

    def weigh_query(self, lang: str, terms: Mapping[str, float], weights: Mapping[str, float]) -> SparseVector:
        """Return the vector of a query for documents of a language: idf times the weight of each term and field.

        Its dot product with a document's vector is BM25. Terms that no document contains are left out.

        :param terms: the weight of each term.
        :param weights: the weight of each searched field.
        """
        return self.weigh_queries([(lang, terms)], weights)[0].vector

    def weigh_queries(
        self, queries: Sequence[_QueryWeights], field_weights: Mapping[str, float]
    ) -> list[WeightedQuery]:
        """Weigh the terms of queries by idf and by the weights of fields, as `weigh_query` does for one.

        Each query comes with the highest score that a document could have, that of a document full of every term. Terms
        that no document contains count in it as well. A field counts by the share of documents that have it, so that
        documents without the field are not compared with a score that only a few can reach.

        :param queries: the language of each query, and the weight of each of its terms.
        :param field_weights: the weight of each searched field.
        """
        terms = _gather_query_terms(queries)
        fields = np.array([self.layout.field(field) for field in field_weights], np.int64)  # (n_fields,)
        summary = self.summarize_languages(tuple(lang for lang, _ in queries))
        # A row of these tables is a searched field, a column a term of one of the queries: (n_fields, n_terms).
        ids = self.layout.ids(fields[:, None], terms.hashes)
        df = self.df_of(ids.ravel()).reshape(ids.shape)
        n_documents = summary.n_documents[fields].take(terms.queries, axis=1)
        weights_of_fields = np.array(list(field_weights.values()))[:, None]  # (n_fields, 1)
        values = weights_of_fields * terms.weights * compute_idf(n_documents, df)
        occurs = df > 0
        query_numbers = np.broadcast_to(terms.queries, ids.shape)
        vectors = _make_query_vectors(query_numbers[occurs], ids[occurs], values[occurs], n_queries=len(queries))
        field_shares = summary.field_shares[fields].take(terms.queries, axis=1)
        max_scores = _sum_by_query(terms.queries, values * field_shares, n_queries=len(queries))
        return list(map(WeightedQuery, vectors, max_scores.tolist()))

    def weigh_documents(self, langs: Sequence[str], bags: CountedTerms) -> list[SparseVector]:
        """Weigh the terms of new documents. The statistics stay the same.

        In each field and language, all documents of one call are weighted with the same average length: the one most
        documents have been weighted with if it is still within DRIFT, otherwise that of the collection with these
        documents in it.

        :param langs: the language of each document
        :param bags: the counted terms of the documents
        :return: the vector of each document
        """
        keys = self._list_keys(langs, bags)  # the field and language of each part
        # Lengths and numbers of documents as if these documents were in the collection.
        total_lengths = Counter(self._lengths)
        n_documents = Counter(self._documents)
        for key, length in zip(keys, bags.length.tolist(), strict=True):
            total_lengths[key] += int(length)
            n_documents[key] += 1
        averages = {key: self._choose_average(key, total_lengths[key] / n_documents[key]) for key in set(keys)}
        average_of_part = np.array([averages[key] for key in keys], np.float64)
        return self.layout.pack(bags._replace(average=average_of_part))

    def reweigh_documents(self, lang: str, vectors: SparseRows) -> tuple[dict[int, SparseVector], CountedTerms]:
        """Weigh stored vectors of a language with the current averages. Counts nothing.

        :return: the vectors that change, by their position in `vectors`; and the terms of all with their old weights,
            for `count_new_weights`.
        """
        bags = self.layout.unpack_rows(vectors)
        current = self._set_current_averages(lang, bags)
        changed_rows = np.unique(bags.row[bags.average != current.average])
        packed = self.layout.pack(current)
        return {row: packed[row] for row in changed_rows.tolist()}, bags

    def count(self, langs: Sequence[str], vectors: Sequence[SparseVector], *, sign: int = 1) -> None:
        """Add documents, or with sign=-1 subtract them."""
        bags = self.layout.unpack(vectors)
        for key, length in zip(self._list_keys(langs, bags), bags.length.tolist(), strict=True):
            self._documents[key] += sign
            self._lengths[key] += sign * int(length)
            if not self._documents[key]:
                del self._documents[key], self._lengths[key]
        self._count_averages(langs, bags, sign)
        self._df.add(bags.ids, sign)
        self._clear_caches()

    def merge(self, changes: Sequence[tuple[Statistics, int]]) -> None:
        """Add statistics of other documents, or subtract them.

        Counts that become zero are dropped after the last change, so the order of the changes is irrelevant.

        :param changes: pairs of the statistics of some documents and 1, to add them, or -1, to subtract them.
        """
        for other, sign in changes:
            _add_counts(self._documents, other._documents, sign)
            _add_counts(self._lengths, other._lengths, sign)
            for key, counts in other._averages.items():
                _add_counts(self._averages.setdefault(key, Counter()), counts, sign)
            self._df.merge(*other._df.to_arrays(), sign)
        self._drop_zero_counts()
        self._clear_caches()

    def _drop_zero_counts(self) -> None:
        """Forget fields and languages without documents, and averages that no document was weighted with."""
        for key in [key for key, number in self._documents.items() if not number]:
            del self._documents[key], self._lengths[key]
        nonzero_averages = {}
        for key, counts in self._averages.items():
            nonzero_counts = Counter({average: number for average, number in counts.items() if number})
            if nonzero_counts:
                nonzero_averages[key] = nonzero_counts
        self._averages = nonzero_averages

    def count_new_weights(self, lang: str, old_bags: CountedTerms) -> None:
        """Note that documents of a language are now weighted with the current averages; nothing else has changed.

        :param old_bags: the terms of the documents with their old weights, from `reweigh_documents`.
        """
        langs = [lang] * old_bags.rows
        self._count_averages(langs, old_bags, -1)
        self._count_averages(langs, self._set_current_averages(lang, old_bags), 1)

    def _set_current_averages(self, lang: str, bags: CountedTerms) -> CountedTerms:
        averages = np.array([self.average(field, lang) for field in self.layout.fields])
        return bags._replace(average=averages[bags.field])

    def find_stale_languages(self, tolerance: float = DRIFT) -> set[str]:
        """Return the languages with documents whose weights use an average length that is off by more than `tolerance`.

        With average A' in place of A, tf / (tf + k1 (1 - b + b length / A')) is off by a factor between 1 and
        A' / A, whatever tf and length; so is a sum of such weights. A drift of 5 % moves no score by more than 5 %.
        """
        stale_languages = set()
        for (field, lang), counts_by_average in self._averages.items():
            current_average = self.average(field, lang)
            if any(abs(average / current_average - 1) > tolerance for average in counts_by_average):
                stale_languages.add(lang)
        return stale_languages

    def clear(self) -> None:
        """Forget every document."""
        self.__init__(self.layout)  # type: ignore[misc]

    def to_bytes(self, *, records: int | None = None) -> bytes:
        """Serialize; `records` is the number of documents, those without a single term included."""
        ids, df = self._df.to_arrays()
        languages = [
            [*key, number, self._lengths[key], sorted(self._averages[key].items())]
            for key, number in sorted(self._documents.items())
        ]
        header = self._make_header() | {"terms": len(ids), "languages": languages, "records": records}
        return json.dumps(header).encode() + b"\n" + ids.astype("<u4").tobytes() + df.astype("<u4").tobytes()

    def to_unfinished_bytes(self) -> bytes:
        """Serialize what is stored while documents are being written: it says that they must be recounted."""
        return json.dumps(self._make_header()).encode() + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes) -> tuple[Statistics, bool]:
        """Read what `to_bytes` or `to_unfinished_bytes` has written: a line of JSON, then ids and document frequencies.

        :return: the statistics, and whether they are complete; if not they are empty and must be recounted.
        :raises StoreError: if the data are damaged or have another format.
        """
        try:
            line, _, arrays = data.partition(b"\n")
            header = json.loads(line)
            if header["format"] != FORMAT:
                raise StoreError(f"the statistics have format {header['format']}, this version reads {FORMAT}")
            statistics = cls(Layout(header["fields"], k1=header["k1"], b=header["b"]))
            is_complete = "terms" in header
            if is_complete:
                statistics._restore(header, arrays)
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"the collection's term statistics are damaged ({error}): index again") from None
        return statistics, is_complete

    def _restore(self, header: Mapping[str, Any], arrays: bytes) -> None:
        """Fill empty statistics with the counts that `to_bytes` has written."""
        n_terms = header["terms"]
        ids, df = np.frombuffer(arrays, "<u4", n_terms), np.frombuffer(arrays, "<u4", n_terms, 4 * n_terms)
        self.records = header.get("records")
        for field, lang, n_documents, total_length, averages in header["languages"]:
            self._documents[field, lang] = n_documents
            self._lengths[field, lang] = total_length
            self._averages[field, lang] = Counter(dict(averages))
        self._df = DocumentFrequencies(ids, df.astype(np.int64), span=self.layout.span)

    def _make_header(self) -> dict[str, Any]:
        return {"format": FORMAT, "fields": list(self.layout.fields), "k1": self.layout.k1, "b": self.layout.b}

    def _list_keys(self, langs: Sequence[str], bags: CountedTerms) -> list[_Key]:
        return [
            (self.layout.fields[field], langs[row])
            for field, row in zip(bags.field.tolist(), bags.row.tolist(), strict=True)
        ]

    def _count_averages(self, langs: Sequence[str], bags: CountedTerms, sign: int) -> None:
        """Count the averages that documents were weighted with."""
        keys_and_averages = zip(self._list_keys(langs, bags), bags.average.tolist(), strict=True)
        for (key, average), number in Counter(keys_and_averages).items():
            counts = self._averages.setdefault(key, Counter())
            counts[average] += sign * number
            if not counts[average]:
                del counts[average]
            if not counts:
                del self._averages[key]

    def _choose_average(self, key: _Key, average: float) -> float:
        """Return the average that most documents were weighted with if it is still within DRIFT, else the given one."""
        counts = self._averages.get(key)
        if counts:
            commonest = max(counts, key=lambda candidate: (counts[candidate], candidate))
            if abs(commonest / average - 1) <= DRIFT:
                return commonest
        return float(np.float32(average))


class _Segment(NamedTuple):
    """Document frequencies of some terms."""

    ids: Ids  # of the terms, ascending
    df: Integers

    def look_up(self, ids: Ids) -> Integers:
        """Return the frequency of each id, 0 for ids that the segment doesn't have."""
        if not len(self.ids):
            return np.zeros(len(ids), np.int64)
        positions = np.minimum(self.ids.searchsorted(ids), len(self.ids) - 1)
        return np.where(self.ids[positions] == ids, self.df[positions], 0)


class _IdFilter:
    """Tells for nearly all ids that were not added that they are absent.

    An id's last bits are its position in an array whose size is a power of 2; ids with equal last bits share one.
    """

    def __init__(self, n_bits: int, span: int) -> None:
        """Let positions have `n_bits` bits; `span` is the number of ids of each field."""
        self._is_present = np.zeros(1 << n_bits, bool)
        self._mask = len(self._is_present) - 1
        self._span = span

    def add(self, ids: Ids) -> None:
        """Add ids, and their offsets in the span of their field."""
        self._is_present[ids & self._mask] = True
        self._is_present[ids.astype(np.int64) % self._span & self._mask] = True

    def may_contain(self, ids: Ids | Integers) -> npt.NDArray[np.bool_]:
        """Tell for each id, or offset in a span, whether it may have been added."""
        return self._is_present.take(ids & self._mask)


class DocumentFrequencies:
    """Document frequencies by term id.

    They are kept in segments: the first with everything that was merged, and behind it changes since then, each at most
    half as long as the one before. So look-ups read few arrays, and merging costs little per document. Most ids that
    are looked up are absent; a filter of the last bits of ids tells so for nearly all of them.
    """

    def __init__(self, ids: Ids | None = None, df: Integers | None = None, *, span: int = 1 << 32) -> None:
        """Start with ascending ids and their frequencies, or empty; `span` is the number of ids of each field."""
        self._span = span
        ids = np.zeros(0, np.uint32) if ids is None else ids
        self._segments: tuple[_Segment, ...] = (_Segment(ids, np.zeros(0, np.int64) if df is None else df),)
        self._filter: _IdFilter | None = None
        self._n_lookups = 0
        self._lock = threading.Lock()  # one thread may look up while another counts

    def look_up(self, ids: Ids) -> Integers:
        """Return the frequency of each id, 0 for ids that no document has."""
        frequencies = np.zeros(len(ids), np.int64)
        segments, id_filter = self._get_segments()
        candidates = np.arange(len(ids)) if id_filter is None else id_filter.may_contain(ids).nonzero()[0]
        candidates = candidates[ids[candidates].argsort()]  # sorted ids are found in half the time
        candidate_ids = ids[candidates]
        for segment in segments:
            frequencies[candidates] += segment.look_up(candidate_ids)
        return frequencies

    def may_contain(self, offsets: Integers) -> npt.NDArray[np.bool_]:
        """Tell for each offset in a field's span whether an id of some field may have it."""
        _, id_filter = self._get_segments()
        return np.ones(len(offsets), bool) if id_filter is None else id_filter.may_contain(offsets)

    def _get_segments(self) -> tuple[tuple[_Segment, ...], _IdFilter | None]:
        """Return the segments and a filter of their ids, which is built when enough look-ups have been made."""
        with self._lock:
            self._n_lookups += 1
            if self._filter is None and self._n_lookups >= LOOKUPS_BEFORE_FILTER:
                n_ids = sum(len(segment.ids) for segment in self._segments)
                self._filter = _IdFilter(n_ids.bit_length() + FILTER_EXTRA_BITS, self._span)
                for segment in self._segments:
                    self._filter.add(segment.ids)
            return self._segments, self._filter

    def add(self, ids: Ids, sign: int) -> None:
        """Count each id once, or with sign=-1 subtract one."""
        self.merge(ids, np.ones(len(ids), np.int64), sign)

    def merge(self, ids: Ids, df: Integers, sign: int) -> None:
        """Add frequencies, perhaps counted elsewhere, or with sign=-1 subtract them."""
        segments = [*self._segments, _merge_segments([_Segment(ids, sign * df)])]
        while len(segments) > 1 and 2 * len(segments[-1].ids) > len(segments[-2].ids):
            segments[-2:] = [_merge_segments(segments[-2:])]
        with self._lock:
            if self._filter is not None and len(segments) > 1:
                self._filter.add(ids)
            else:
                self._filter = None  # it is built again for the merged ids
            self._segments = tuple(segments)

    def to_arrays(self) -> tuple[Ids, Integers]:
        """Return all ids in order, and their frequencies, none of which is zero."""
        ids, df = _merge_segments(self._segments)
        if not df.all():
            ids, df = ids[df != 0], df[df != 0]
        self._segments = (_Segment(ids, df),)
        return ids, df


def _add_counts(totals: Counter[K], counts: Mapping[K, int], sign: int) -> None:
    """Add counts to totals, or with sign=-1 subtract them; totals may become zero."""
    for key, count in counts.items():
        totals[key] += sign * count


def sum_by_key(keys: Integers, values: Doubles) -> tuple[Integers, Doubles]:
    """Return the distinct keys in order with the sums of their values; keys with the sum 0 are left out."""
    order = keys.argsort(kind="stable")
    keys, values = keys[order], values[order]
    is_new = keys[1:] != keys[:-1]
    if not is_new.all():
        first = np.flatnonzero(np.concatenate([[True], is_new]))
        keys, values = keys[first], np.add.reduceat(values, first)
    is_nonzero = values != 0
    return (keys, values) if is_nonzero.all() else (keys[is_nonzero], values[is_nonzero])


def compute_idf(n_documents: npt.ArrayLike, df: npt.ArrayLike) -> Doubles:
    """Return the idf of terms that `df` of `n_documents` documents contain."""
    df = np.asarray(df, np.float64)
    return np.asarray(np.log1p((np.asarray(n_documents) - df + 0.5) / (df + 0.5)))


class _QueryTerms(NamedTuple):
    """The terms of several queries, query after query; the arrays have one item for each term."""

    queries: Integers  # the number of the query
    weights: Doubles
    hashes: list[int]


def _gather_query_terms(queries: Sequence[_QueryWeights]) -> _QueryTerms:
    """Put the terms of queries one after the other."""
    weights: list[float] = []
    hashes: list[int] = []
    for lang, terms in queries:
        weights += terms.values()
        hashes += map(term_hashes(lang).__getitem__, terms)
    query_numbers = list_groups([len(terms) for _, terms in queries])
    return _QueryTerms(query_numbers, np.array(weights, np.float64), hashes)


def _sum_by_query(queries: Integers, values: Doubles, *, n_queries: int) -> Doubles:
    """Add up the values of each query's terms in all fields; (n_queries,).

    :param queries: the number of each term's query, shape (n_terms,).
    :param values: shape (n_fields, n_terms).
    """
    sums_over_fields = values.sum(axis=0)  # (n_terms,)
    return np.asarray(np.bincount(queries, sums_over_fields, n_queries), np.float64)


def _make_query_vectors(queries: Integers, ids: Ids, values: Doubles, *, n_queries: int) -> list[SparseVector]:
    """Return the vector of each query.

    :param queries: for each entry the number of the query, shape (n_entries,).
    :param ids: the entries' ids; if a query has an id several times, the values are added.
    :param values: the entries' values.
    """
    # A key joins a query (upper half) and an id (lower half).
    keys, sums = sum_by_key((queries << 32) + ids, values)
    vector_ids = keys.astype(np.uint32)  # the lower half
    vector_values = sums.astype(np.float32)
    boundaries = keys.searchsorted(np.arange(n_queries + 1) << 32).tolist()  # where each query's entries begin
    return [SparseVector(vector_ids[start:end], vector_values[start:end]) for start, end in pairwise(boundaries)]


class TemperedAlternatives(NamedTuple):
    """How much the alternatives of clauses count, and how common the clauses are."""

    counts: Doubles  # (n_alternatives,) the best of each clause that occurs counts 1
    clause_df: Doubles  # (n_fields, n_clauses) the expected number of documents with any of the alternatives


def temper_alternatives(
    probabilities: Doubles,
    df: Doubles,
    first_alternatives: Integers,
    n_documents: Doubles,
    *,
    probability_exponent: float = PROBABILITY_EXPONENT,
    rarity_exponent: float = RARITY_EXPONENT,
) -> TemperedAlternatives:
    """Weigh the alternatives of each clause by probability and rarity, and estimate the clause's document frequency.

    :param probabilities: of the alternatives, those of one clause side by side; shape (n_alternatives,).
    :param df: document frequencies of the alternatives, shape (n_fields, n_alternatives).
    :param first_alternatives: the number of the first alternative of each clause, shape (n_clauses,).
    :param n_documents: documents of the clause's language, shape (n_fields, n_clauses).
    :param probability_exponent: how much the probability of an alternative counts; 0 ignores it.
    :param rarity_exponent: how much rarer alternatives are preferred; 0 ignores document frequencies.
    """
    clause_sizes = np.diff(first_alternatives, append=len(probabilities))
    clauses = _Clauses(first_alternatives, list_groups(clause_sizes))
    highest_df = df.max(axis=0)  # over the fields, (n_alternatives,)
    rarities = np.maximum(highest_df, 1.0) ** -rarity_exponent
    weights = np.where(highest_df > 0, probabilities**probability_exponent * rarities, 0.0)
    counts = _scale_to_best(weights, clauses)
    return TemperedAlternatives(counts, _estimate_clause_df(counts, df, n_documents, clauses))


class _Clauses(NamedTuple):
    """The alternatives of several clauses side by side: where each clause begins, and whose each alternative is."""

    first_alternatives: Integers  # (n_clauses,) the number of the first alternative of each clause
    clause_of_alternative: Integers  # (n_alternatives,) the number of the clause


def _scale_to_best(weights: Doubles, clauses: _Clauses) -> Doubles:
    """Divide the weight of each alternative by the highest one of its clause, unless all are 0.

    :param weights: shape (n_alternatives,), as the result.
    """
    highest_weights = np.maximum.reduceat(weights, clauses.first_alternatives)  # (n_clauses,)
    divisors = np.where(highest_weights > 0, highest_weights, 1.0)
    return np.asarray(weights / divisors[clauses.clause_of_alternative])


def _estimate_clause_df(counts: Doubles, df: Doubles, n_documents: Doubles, clauses: _Clauses) -> Doubles:
    """Estimate how many documents match each clause by at least one alternative, shape (n_fields, n_clauses).

    A document does not match a clause if it lacks all alternatives. They are assumed to occur independently, so the
    share of these documents is the product of the shares that lack each alternative.

    :param counts: how much each alternative counts, shape (n_alternatives,).
    :param df: document frequencies of the alternatives, shape (n_fields, n_alternatives).
    :param n_documents: documents of the clause's language, shape (n_fields, n_clauses).
    """
    n_documents_of_alternative = np.maximum(n_documents, 1).take(clauses.clause_of_alternative, axis=1)
    shares_without_alternative = 1 - counts * df / n_documents_of_alternative  # (n_fields, n_alternatives)
    shares_without_match = np.multiply.reduceat(shares_without_alternative, clauses.first_alternatives, axis=1)
    return np.asarray(n_documents * (1 - shares_without_match))


def _merge_segments(segments: Sequence[_Segment]) -> _Segment:
    """Merge document frequencies by term id.

    :param segments: at least one; the ids of a segment may be in any order, and repeated.
    :return: all ids in ascending order, each once, with the sum of its frequencies.
    """
    ids = np.concatenate([segment.ids for segment in segments])
    df = np.concatenate([segment.df for segment in segments])
    if (ids[1:] > ids[:-1]).all():  # also if there are none
        return _Segment(ids, df)
    order = ids.argsort(kind="stable")
    ids, df = ids[order], df[order]
    is_first = np.append(True, ids[1:] != ids[:-1])  # of equal ids, which are neighbours now
    first_positions = np.flatnonzero(is_first)
    return _Segment(ids[first_positions], np.add.reduceat(df, first_positions))
