"""Documents' terms as sparse vectors of BM25 weights, and back. Knows nothing of stores, analyzers or statistics.

BM25 as in Lucene 8 and later (Kamphuis et al., "Which BM25 do you mean?", ECIR 2020, "Lucene (accurate)"):
    idf(t) * tf / (tf + K),  K = k1 * (1 - b + b * length / average)
without the constant factor k1 + 1, which never changes a ranking. A vector holds tf / (tf + K) for each term of
each field; idf is the query's business. It also holds each field's length and the average it was weighed with,
so that it describes itself: term counts come back out of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from itertools import chain, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from paragloss.errors import StoreError
from paragloss.groups import list_groups
from paragloss.types import SparseRows, SparseVector

Ids: TypeAlias = npt.NDArray[np.uint32]
Integers: TypeAlias = npt.NDArray[np.int64]
Doubles: TypeAlias = npt.NDArray[np.float64]

_LENGTH, _AVERAGE, _RESERVED = 0, 1, 2  # the first ids of each field
#: The largest weight below 1 in float32: the weight of a very large count may have been rounded to 1.
_MAX_WEIGHT = 1 - 2.0**-24
#: Buckets of an id filter; ids with equal last bits share one. A table is quicker than a search in sorted ids.
FILTER_BUCKETS = np.uint32(1 << 16)
#: The terms that stand for a language in a document that is mainly in another: two, since among millions of terms some
#: will share its id with one of so many languages.
LANGUAGE_SIGNS = ("", " ")
MAX_CACHED_HASHES = 500_000  # of each language: about 60 MB


class CountedTerms(NamedTuple):
    """The term counts of many documents as flat arrays.

    A part is one field of one document, an entry one term in a part.
    """

    rows: int  # number of documents
    row: Integers  # (n_parts,) the document of each part
    field: Integers  # (n_parts,) its field
    length: Doubles  # (n_parts,) its length in terms, repetitions counted
    average: Doubles  # (n_parts,) the average length that it is compared with
    size: Integers  # (n_parts,) its number of entries
    ids: Ids  # (n_entries,) term ids, one part after the other
    counts: Doubles  # (n_entries,) occurrences


class _PartPositions(NamedTuple):
    """Where the parts of vectors are among the entries of all vectors."""

    lengths: Integers  # (n_parts,) the position of the part's length, which begins it; the average follows
    terms: Integers  # (n_entries,) the position of each term's weight
    part_of_term: Integers  # (n_entries,) the number of the part that the term is in


class _VectorEntries(NamedTuple):
    """The entries of the vectors of several documents."""

    keys: Integers  # each joins a document (upper half) and an id of its vector (lower half)
    values: Doubles
    norms: Doubles  # K of the part of a term; 0 for a value that is stored as it is

    def sort(self) -> _VectorEntries:
        """Return the entries ordered by key; two terms with one key count as one."""
        order = np.argsort(self.keys)
        keys, values, norms = self.keys[order], self.values[order], self.norms[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        if len(first) == len(keys):
            return _VectorEntries(keys, values, norms)
        return _VectorEntries(keys[first], np.add.reduceat(values, first), norms[first])


class _Part(NamedTuple):
    """One field of one document."""

    row: int  # the document
    field: str
    length: int  # number of its terms in the document's main language
    hashes: list[int]  # one for each occurrence of a term, those in second languages last


class _TermCounts(NamedTuple):
    """How often each distinct term occurs in each part; the arrays have one item for each such pair."""

    parts: Integers  # the number of the part
    hashes: Integers  # the hash of the term
    counts: Integers


class Layout:
    """Maps the terms of each field to ids of a sparse vector, and weighs them."""

    def __init__(self, fields: Sequence[str], *, k1: float = 1.2, b: float = 0.75) -> None:
        if not fields or len(set(fields)) < len(fields):
            raise StoreError(f"an index needs one or more fields, each once; got {list(fields)}")
        if not (0 < k1 < math.inf and 0 <= b <= 1):  # false for NaN, too
            raise StoreError(f"BM25 needs k1 > 0 and 0 <= b <= 1; got k1={k1} and b={b}")
        self.fields = tuple(fields)
        self.k1 = k1
        self.b = b
        self.span = 2**32 // len(fields)
        reserved = np.arange(len(fields))[:, None] * self.span + np.arange(_RESERVED)
        self._lengths: Ids = reserved.ravel().astype(np.uint32)

    def field(self, name: str) -> int:
        """Return the number of a field; raise StoreError if it is not indexed."""
        try:
            return self.fields.index(name)
        except ValueError:
            raise StoreError(f"no field {name!r} is indexed; {', '.join(self.fields)} are") from None

    def ids(self, field: int | Integers, hashes: Iterable[int] | Integers) -> Ids:
        """Return the ids of terms: their hashes folded into the field's share of the 2^32 ids, so no table is stored.

        With two fields, 1,000,000 terms share 2^31 ids: a term has odds of 0.05 % to share its id with another,
        which then count as one term.
        """
        return np.asarray(field * self.span + self.fold(hashes)).astype(np.uint32)

    def fold(self, hashes: Iterable[int] | Integers) -> Integers:
        """Return the offsets of terms in the share of each field."""
        return np.asarray(hashes, np.int64) % (self.span - _RESERVED) + _RESERVED

    def count_terms(self, documents: Sequence[tuple[str, Mapping[str, Sequence[str]]]]) -> CountedTerms:
        """Count how often each term occurs in each field of documents.

        Text of a field in a second language (`text@en` beside `text`, if that is not a field of its own) is counted in
        that language's terms as well, together with `LANGUAGE_SIGNS`. It does not add to the length of the field.

        :param documents: the main language of each document, and its terms in reading order by field.
        :return: the counts; the average lengths are zeros, to be set by the caller.
        """
        parts = self._list_parts(documents)  # a part is one field of one document
        fields = np.array([self.field(part.field) for part in parts], np.int64)  # (n_parts,)
        entries = _count_hashes([part.hashes for part in parts])  # one for each term of each part
        return CountedTerms(
            rows=len(documents),
            row=np.array([part.row for part in parts], np.int64),
            field=fields,
            length=np.array([part.length for part in parts], np.float64),
            average=np.zeros(len(parts)),
            size=np.bincount(entries.parts, minlength=len(parts)),
            ids=self.ids(fields[entries.parts], entries.hashes),
            counts=entries.counts.astype(np.float64),
        )

    def _list_parts(self, documents: Sequence[tuple[str, Mapping[str, Sequence[str]]]]) -> list[_Part]:
        """List the fields of documents that have terms, document by document."""
        parts = []
        for row, (lang, terms_by_field) in enumerate(documents):
            for field, terms in terms_by_field.items():
                is_second_language = "@" in field and field not in self.fields
                if terms and not is_second_language:
                    hashes = [*map(term_hashes(lang).__getitem__, terms)]
                    hashes += self._hash_second_languages(terms_by_field, field)
                    parts.append(_Part(row, field, len(terms), hashes))
        return parts

    def _hash_second_languages(self, terms_by_field: Mapping[str, Sequence[str]], field: str) -> Iterator[int]:
        """Yield the hashes of a field's terms in second languages, and of the signs of those languages."""
        if len(terms_by_field) == 1:
            return
        for name, terms in terms_by_field.items():
            own_name, _, lang = name.partition("@")
            if own_name == field and lang and terms and name not in self.fields:
                yield from map(term_hashes(lang).__getitem__, (*LANGUAGE_SIGNS, *terms))

    def norms(self, bags: CountedTerms) -> Doubles:
        """Return K of each part; (n_parts,)."""
        return self._compute_norms(bags.length, bags.average)

    def _compute_norms(self, lengths: Doubles, averages: Doubles) -> Doubles:
        return self.k1 * (1 - self.b + self.b * lengths / averages)

    def pack(self, bags: CountedTerms) -> list[SparseVector]:
        """Return the vector of each document: the BM25 weights of its terms, and the lengths of its fields.

        Of each field the vector also holds the average length that it was weighed with.
        """
        entries = self._list_entries(bags).sort()
        weights = np.where(entries.norms > 0, entries.values / (entries.values + entries.norms), entries.values)
        values = weights.astype(np.float32)
        indices = entries.keys.astype(np.uint32)  # the key without its document is the id
        edges = np.searchsorted(entries.keys, np.arange(bags.rows + 1) << 32)
        return [SparseVector(indices[start:end], values[start:end]) for start, end in pairwise(edges)]

    def _list_entries(self, bags: CountedTerms) -> _VectorEntries:
        """Return the entries of all vectors: lengths and averages, which are stored as they are, then terms."""
        row, first_id = bags.row << 32, bags.field * self.span
        length_keys, average_keys = row | (first_id + _LENGTH), row | (first_id + _AVERAGE)
        term_keys = np.repeat(row, bags.size) | bags.ids
        return _VectorEntries(
            keys=np.concatenate([length_keys, average_keys, term_keys]),
            values=np.concatenate([bags.length, bags.average, bags.counts]),
            norms=np.concatenate([np.zeros(2 * len(row)), np.repeat(self.norms(bags), bags.size)]),
        )

    def unpack(self, vectors: Sequence[SparseVector]) -> CountedTerms:
        """Recover the term counts from vectors that `pack` has made.

        Lengths and averages are exact, counts up to about 2,000 in one document: float32 does not distinguish larger
        ones, nor does a score.
        """
        sizes = np.array([len(vector.indices) for vector in vectors], np.int64)
        indices = np.concatenate([np.zeros(0, np.uint32), *(vector.indices for vector in vectors)])
        values = np.concatenate([np.zeros(0, np.float32), *(vector.values for vector in vectors)])
        return self.unpack_rows(SparseRows(sizes, indices, values))

    def with_lengths(self, ids: Ids) -> Ids:
        """Add the ids of lengths and averages to those of terms: what scoring reads of a vector."""
        return np.concatenate([ids, self._lengths])

    def unpack_rows(self, rows: SparseRows) -> CountedTerms:
        """Recover the term counts of documents from their BM25 vectors, which `pack` has made.

        In a vector each part, that is each field of the document, begins with two entries: its length and the average
        length that it was weighed with. The weights of its terms follow.

        :param rows: the vectors in flat arrays, one behind the other.
        """
        positions = self._locate_parts(rows.indices)
        document_ends = rows.sizes.cumsum()  # (n_documents,)
        lengths = rows.values[positions.lengths].astype(np.float64)  # (n_parts,)
        averages = rows.values[positions.lengths + 1].astype(np.float64)  # (n_parts,)
        norms = self._compute_norms(lengths, averages)  # (n_parts,)
        weights = rows.values[positions.terms].astype(np.float64)  # (n_entries,)
        return CountedTerms(
            rows=len(rows.sizes),
            row=document_ends.searchsorted(positions.lengths, side="right"),
            field=rows.indices[positions.lengths].astype(np.int64) // self.span,
            length=lengths,
            average=averages,
            size=np.bincount(positions.part_of_term, minlength=len(lengths)),
            ids=rows.indices[positions.terms],
            counts=_recover_counts(weights, norms[positions.part_of_term]),
        )

    def _locate_parts(self, indices: Ids) -> _PartPositions:
        """Find where the parts of vectors begin, and where their terms are.

        :param indices: the indices of the vectors, one vector behind the other.
        """
        offsets = indices  # of each index within the ids of its field; there is one field if it has all ids
        if self.span < 1 << 32:
            offsets = indices % np.uint32(self.span)
        begins_part = offsets == _LENGTH
        terms = np.flatnonzero(offsets >= _RESERVED)
        return _PartPositions(np.flatnonzero(begins_part), terms, begins_part.cumsum()[terms] - 1)


def _count_hashes(hashes_of_parts: Sequence[Sequence[int]]) -> _TermCounts:
    """Count how often each hash occurs in each part."""
    part_of_term = list_groups([len(hashes) for hashes in hashes_of_parts])
    hashes = np.fromiter(chain.from_iterable(hashes_of_parts), np.int64, len(part_of_term))
    # Each key joins a part (upper half) and a hash (lower half).
    keys, counts = np.unique(part_of_term << 32 | hashes, return_counts=True)
    return _TermCounts(keys >> 32, keys & 0xFFFFFFFF, counts)


def _recover_counts(weights: Doubles, norms: Doubles) -> Doubles:
    """Return tf, given tf / (tf + K) and K."""
    weights = np.minimum(weights, _MAX_WEIGHT)
    return np.rint(norms * weights / (1 - weights))


@cache
def term_hashes(lang: str) -> Mapping[str, int]:
    """Return the hash of every term of a language, as a mapping that computes them when they are first read."""
    return _Hashes(lang)


class _Hashes(dict[str, int]):
    """Caches the hash of each term of a language."""

    def __init__(self, lang: str) -> None:
        super().__init__()
        self._lang = lang

    def __missing__(self, term: str) -> int:
        if len(self) > MAX_CACHED_HASHES:
            self.clear()
        key = f"{self._lang}\0{term}".encode("utf-8", "surrogatepass")
        self[term] = value = int.from_bytes(blake2b(key, digest_size=4).digest(), "little")
        return value


def concatenate_ranges(starts: Integers, sizes: Integers) -> Integers:
    """Return the numbers of several ranges, one after the other."""
    totals = sizes.cumsum()
    return np.asarray((starts - totals + sizes).repeat(sizes) + np.arange(totals[-1] if len(totals) else 0))


def concatenate_rows(parts: Sequence[SparseRows]) -> SparseRows:
    """Join the rows of several vectors, one part after the other."""
    return SparseRows(
        np.concatenate([np.zeros(0, np.int64), *(part.sizes for part in parts)]),
        np.concatenate([np.zeros(0, np.uint32), *(part.indices for part in parts)]),
        np.concatenate([np.zeros(0, np.float32), *(part.values for part in parts)]),
    )


def filter_entries(rows: SparseRows, ids: Ids) -> SparseRows:
    """Return the vectors with only the entries of some ids, and of a few that share their bucket."""
    is_wanted_bucket = np.zeros(FILTER_BUCKETS, bool)
    is_wanted_bucket[ids & (FILTER_BUCKETS - 1)] = True
    positions = np.flatnonzero(is_wanted_bucket.take(rows.indices & (FILTER_BUCKETS - 1)))
    row_ends = np.searchsorted(positions, np.cumsum(rows.sizes))
    return SparseRows(np.diff(row_ends, prepend=0), rows.indices[positions], rows.values[positions])


def make_sparse_vector(entries: Mapping[int, float]) -> SparseVector:
    """Return a vector with these entries, without those that are zero."""
    ids = sorted(id for id, value in entries.items() if value)
    return SparseVector(np.array(ids, np.uint32), np.array([entries[id] for id in ids], np.float32))


def dot(a: SparseVector, b: SparseVector) -> float:
    """Return the dot product of two vectors."""
    if not len(b.indices):
        return 0.0
    positions = np.minimum(b.indices.searchsorted(a.indices), len(b.indices) - 1)
    shared = np.flatnonzero(b.indices[positions] == a.indices)
    return float(a.values[shared].astype(np.float64) @ b.values[positions[shared]].astype(np.float64))
