"""Documents' terms as sparse vectors of BM25 weights, and back. Knows nothing of stores, analyzers or statistics.

BM25 as in Lucene 8 and later (Kamphuis et al., "Which BM25 do you mean?", ECIR 2020, "Lucene (accurate)"):
    idf(t) * tf / (tf + K),  K = k1 * (1 - b + b * length / average)
without the constant factor k1 + 1, which never changes a ranking. A vector holds tf / (tf + K) for each term of
each field; idf is the query's business. It also holds each field's length and the average it was weighed with,
so that it describes itself: term counts come back out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from paragloss.errors import StoreError
from paragloss.types import SparseRows, SparseVector

Ids: TypeAlias = npt.NDArray[np.uint32]
Integers: TypeAlias = npt.NDArray[np.int64]
Doubles: TypeAlias = npt.NDArray[np.float64]

_LENGTH, _AVERAGE, _RESERVED = 0, 1, 2  # the first ids of each field
#: Terms look alike whose ids leave the same rest: a table of so many is quicker than a search among sorted ids.
_ALIKE = np.uint32(1 << 16)
#: The terms that stand for a language in a document that is mainly in another: two, since among millions of terms some
#: will share its id with one of so many languages.
LANGUAGE_SIGNS = ("", " ")
_MEMO = 500_000  # hashes remembered per language: about 60 MB


class Bags(NamedTuple):
    """The terms of many documents: some of their fields, one after the other, and the entries of each in turn."""

    rows: int  # documents
    row: Integers  # (fields,) which document
    field: Integers  # (fields,) which field
    length: Doubles  # (fields,) in terms, repetitions counted
    average: Doubles  # (fields,) what lengths are compared with
    size: Integers  # (fields,) how many entries
    ids: Ids  # (entries,)
    counts: Doubles  # (entries,)


class Layout:
    """Where the terms of each field stand in a vector, and how they are weighed."""

    def __init__(self, fields: Sequence[str], *, k1: float = 1.2, b: float = 0.75) -> None:
        if not fields or len(set(fields)) < len(fields):
            raise StoreError(f"an index needs one or more fields, each once; got {list(fields)}")
        if k1 <= 0 or not 0 <= b <= 1:
            raise StoreError(f"BM25 needs k1 > 0 and 0 <= b <= 1; got k1={k1} and b={b}")
        self.fields = tuple(fields)
        self.k1 = k1
        self.b = b
        self.span = 2**32 // len(fields)
        own = np.arange(len(fields))[:, None] * self.span + np.arange(_RESERVED)
        self._lengths: Ids = own.ravel().astype(np.uint32)

    def field(self, name: str) -> int:
        try:
            return self.fields.index(name)
        except ValueError:
            raise StoreError(f"no field {name!r} is indexed; {', '.join(self.fields)} are") from None

    def ids(self, field: int | Integers, hashes: Iterable[int] | Integers) -> Ids:
        """Where terms stand: their hashes folded into the field's share of the 2^32 ids, so no table is kept.

        With two fields, 1,000,000 terms share 2^31 ids: a term has odds of 0.05 % to share its id with another,
        which then count as one term.
        """
        return np.asarray(field * self.span + self.place(hashes)).astype(np.uint32)

    def place(self, hashes: Iterable[int] | Integers) -> Integers:
        """Where terms stand in each field's share."""
        return np.asarray(hashes, np.int64) % (self.span - _RESERVED) + _RESERVED

    def bags(self, documents: Sequence[tuple[str, Mapping[str, Sequence[str]]]]) -> Bags:
        """Documents, given as their language and their terms by field, counted; not yet compared with any average.

        What a field says in another language (`text@en` beside `text`, where that is no field) is counted again in that
        language's terms, and with them `LANGUAGE_SIGNS`. It makes the field no longer."""
        parts = [
            (row, field, lang, terms)
            for row, (lang, texts) in enumerate(documents)
            for field, terms in texts.items()
            if terms and (field in self.fields or "@" not in field)
        ]
        hashes: list[int] = []
        ends: list[int] = []
        for row, field, lang, terms in parts:
            hashes += map(hashed(lang).__getitem__, terms)
            for name, others in documents[row][1].items() if len(documents[row][1]) > 1 else ():
                at, _, other = name.partition("@")
                if at == field and other and others and name not in self.fields:
                    hashes += map(hashed(other).__getitem__, (*LANGUAGE_SIGNS, *others))
            ends.append(len(hashes))
        part = np.repeat(np.arange(len(parts)), [end - start for start, end in pairwise((0, *ends))])
        keys, counts = np.unique(part << 32 | np.array(hashes, np.int64), return_counts=True)
        part = keys >> 32
        fields = np.array([self.field(name) for _, name, _, _ in parts], np.int64)
        return Bags(
            rows=len(documents),
            row=np.array([row for row, _, _, _ in parts], np.int64),
            field=fields,
            length=np.array([len(terms) for _, _, _, terms in parts], np.float64),
            average=np.zeros(len(parts)),
            size=np.bincount(part, minlength=len(parts)),
            ids=self.ids(fields[part], keys & 0xFFFFFFFF),
            counts=counts.astype(np.float64),
        )

    def norms(self, bags: Bags) -> Doubles:
        """K of each field."""
        return self.k1 * (1 - self.b + self.b * bags.length / bags.average)

    def pack(self, bags: Bags) -> list[SparseVector]:
        """One vector per document."""
        row, base = bags.row << 32, bags.field * self.span
        keys = np.concatenate([row | base, row | base + _AVERAGE, np.repeat(row, bags.size) | bags.ids])
        values = np.concatenate([bags.length, bags.average, bags.counts])
        norms = np.concatenate([np.zeros(2 * len(row)), np.repeat(self.norms(bags), bags.size)])
        order = np.argsort(keys)
        keys, values, norms = keys[order], values[order], norms[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        if len(first) < len(keys):  # two terms with one id count as one
            keys, values, norms = keys[first], np.add.reduceat(values, first), norms[first]
        values = np.where(norms > 0, values / (values + norms), values)
        edges = np.searchsorted(keys, np.arange(bags.rows + 1) << 32)
        indices, weights = keys.astype(np.uint32), values.astype(np.float32)  # the key without its row is the id
        return [SparseVector(indices[start:end], weights[start:end]) for start, end in pairwise(edges)]

    def unpack(self, vectors: Sequence[SparseVector]) -> Bags:
        """What `pack` was given: lengths and averages exactly, counts exactly up to about 2,000 in one document
        (beyond that float32 does not tell them apart, nor does a score)."""
        return self.unpack_rows(
            SparseRows(
                np.array([len(vector.indices) for vector in vectors], np.int64),
                np.concatenate([np.zeros(0, np.uint32), *(vector.indices for vector in vectors)]),
                np.concatenate([np.zeros(0, np.float32), *(vector.values for vector in vectors)]),
            )
        )

    def with_lengths(self, ids: Ids) -> Ids:
        """Those of some terms, and those under which lengths are kept: what scoring reads of a vector."""
        return np.concatenate([ids, self._lengths])

    def unpack_rows(self, rows: SparseRows) -> Bags:
        """`unpack`, for vectors that lie one after the other."""
        indices, values = rows.indices, rows.values
        place = indices % np.uint32(self.span) if self.span < 1 << 32 else indices
        begins = place == _LENGTH
        start, here = begins.nonzero()[0], (place >= _RESERVED).nonzero()[0]
        part = begins.cumsum()[here] - 1
        bags = Bags(
            rows=len(rows.sizes),
            row=rows.sizes.cumsum().searchsorted(start, side="right"),
            field=indices[start].astype(np.int64) // self.span,
            length=values[start].astype(np.float64),
            average=values[start + 1].astype(np.float64),
            size=np.bincount(part, minlength=len(start)),
            ids=indices[here],
            counts=np.zeros(0),
        )
        weights = np.minimum(values[here].astype(np.float64), 1 - 2.0**-24)  # a very large count may be rounded to 1
        return bags._replace(counts=np.rint(self.norms(bags)[part] * weights / (1 - weights)))


@cache
def hashed(lang: str) -> Mapping[str, int]:
    """What each term of a language is known by; every term has a hash."""
    return _Hashes(lang)


class _Hashes(dict[str, int]):
    """The hash of each term of a language, made once."""

    def __init__(self, lang: str) -> None:
        super().__init__()
        self._lang = lang

    def __missing__(self, term: str) -> int:
        if len(self) > _MEMO:
            self.clear()
        key = f"{self._lang}\0{term}".encode("utf-8", "surrogatepass")
        self[term] = value = int.from_bytes(blake2b(key, digest_size=4).digest(), "little")
        return value


def ranges(starts: Integers, sizes: Integers) -> Integers:
    """The numbers of several ranges, one after the other."""
    ends = sizes.cumsum()
    return np.asarray((starts - ends + sizes).repeat(sizes) + np.arange(ends[-1] if len(ends) else 0))


def sieve(ids: Ids) -> Callable[[Ids], Integers]:
    """Says where some ids, and some that look alike, stand among others: nothing is computed of most."""
    alike = np.zeros(_ALIKE, bool)
    alike[ids & (_ALIKE - 1)] = True
    return lambda indices: np.flatnonzero(alike.take(indices & (_ALIKE - 1)))


def sieved(rows: SparseRows, ids: Ids) -> SparseRows:
    """The same vectors with the entries of some ids, and of some that look alike."""
    here = sieve(ids)(rows.indices)
    ends = np.searchsorted(here, np.cumsum(rows.sizes))
    return SparseRows(np.diff(ends, prepend=0), rows.indices[here], rows.values[here])


def sparse(entries: Mapping[int, float]) -> SparseVector:
    """A vector from its entries, in order; those that are zero are left out."""
    ids = sorted(id for id, value in entries.items() if value)
    return SparseVector(np.array(ids, np.uint32), np.array([entries[id] for id in ids], np.float32))


def dot(one: SparseVector, other: SparseVector) -> float:
    if not len(other.indices):
        return 0.0
    there = np.minimum(other.indices.searchsorted(one.indices), len(other.indices) - 1)
    here = np.flatnonzero(other.indices[there] == one.indices)
    return float(one.values[here].astype(np.float64) @ other.values[there[here]].astype(np.float64))
