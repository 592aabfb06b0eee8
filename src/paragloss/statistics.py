"""Term statistics of every field and language of a collection, and the BM25 vectors that carry them.

A document's vector describes itself: beside the weight of each term it holds the length of each field and the
average length its weights were made with, so statistics can be recounted, and term counts recovered, from
vectors alone. Knows nothing of stores, analyzers or searching.

BM25 as in Lucene 8 and later (Kamphuis et al., "Which BM25 do you mean?", ECIR 2020, "Lucene (accurate)"):
    idf(t) * tf / (tf + k1 * (1 - b + b * length / average)),  idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5))
without the constant factor k1 + 1, which never changes a ranking. N, df and the average are those of the
document's own language: a language with few documents is not drowned by one with many.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.errors import StoreError
from paragloss.frequencies import Counts, Frequencies, Hashes, Ids
from paragloss.types import SparseVector

FORMAT = 1

#: How far, relatively, the average length may move before weights made with the old one are rewritten.
#: A score is then never off by more than this fraction; see `Statistics.average`.
DRIFT = 0.05

_LENGTH, _AVERAGE, _RESERVED = 0, 1, 2  # the first slots of each field's range of ids


class Terms(NamedTuple):
    """The terms of one field of one document."""

    field: str
    lang: str
    ids: Ids
    counts: Counts
    length: int


class Statistics:
    """How many documents each field has in each language, how long they are, how many hold each term."""

    def __init__(self, fields: Sequence[str], *, k1: float = 1.2, b: float = 0.75) -> None:
        if not fields or len(set(fields)) < len(fields):
            raise StoreError(f"statistics need one or more different fields, got {list(fields)}")
        if k1 <= 0 or not 0 <= b <= 1:
            raise StoreError(f"BM25 needs k1 > 0 and 0 <= b <= 1, got k1={k1} and b={b}")
        self.fields = tuple(fields)
        self.k1 = k1
        self.b = b
        self._span = 2**32 // len(fields)
        self._documents: Counter[tuple[str, str]] = Counter()
        self._lengths: Counter[tuple[str, str]] = Counter()
        #: for each field and language, how many documents were weighed with which average
        self._averages: dict[tuple[str, str], Counter[float]] = {}
        self._df = Frequencies()
        self._memo: dict[str, Hashes] = {}

    # What is known of the documents

    @property
    def langs(self) -> tuple[str, ...]:
        return tuple(sorted({lang for _, lang in self._documents}))

    def documents(self, field: str, lang: str) -> int:
        """How many documents of a language have any term in a field."""
        return self._documents[field, lang]

    def average(self, field: str, lang: str) -> float:
        """The average length now, in terms."""
        return self._lengths[field, lang] / max(self._documents[field, lang], 1)

    def df(self, ids: Ids) -> Counts:
        """In how many documents each term stands."""
        return self._df.of(ids)

    def idf(self, field: str, lang: str, df: npt.ArrayLike) -> npt.NDArray[np.float64]:
        df = np.asarray(df, np.float64)
        return np.asarray(np.log1p((self.documents(field, lang) - df + 0.5) / (df + 0.5)))

    def query(self, lang: str, terms: Mapping[str, float], weights: Mapping[str, float]) -> SparseVector:
        """What to ask for documents of a language: idf times the weights of each term and field.

        Its dot product with a document's vector is BM25. Terms that no document holds are left out.
        """
        parts: dict[int, float] = {}
        wanted = np.fromiter(terms.values(), np.float64, len(terms))
        for field, weight in weights.items():
            ids = self.ids(field, lang, terms)
            df = self.df(ids)
            values = weight * wanted * self.idf(field, lang, df)
            for id, value in zip(ids[df > 0].tolist(), values[df > 0].tolist(), strict=True):
                parts[id] = parts.get(id, 0.0) + value
        return sparse(parts)

    # Terms and vectors

    def ids(self, field: str, lang: str, terms: Iterable[str]) -> Ids:
        """Where terms stand in vectors: a hash into the field's share of the 2^32 ids, so no table is kept.

        With two fields, 1,000,000 terms share 2^31 ids: a term has odds of 0.05 % to share its id with another,
        which then count as one term.
        """
        hashes = self._hashes(lang)
        return self._places(np.array([hashes[term] for term in terms], np.uint64), self._base(field))

    def weigh(self, documents: Sequence[tuple[str, Mapping[str, Sequence[str]]]]) -> list[SparseVector]:
        """A vector for each document, given as its language and its terms by field.

        All of one call are weighed with the same average: the one most documents have been weighed with if it
        is still within DRIFT, otherwise the one the collection has with these documents in it.
        """
        lengths: Counter[tuple[str, str]] = Counter()
        numbers: Counter[tuple[str, str]] = Counter()
        found = [(row, field, lang, terms) for row, (lang, bag) in enumerate(documents) for field, terms in bag.items()]
        for _, field, lang, terms in found:
            if terms:
                lengths[field, lang] += len(terms)
                numbers[field, lang] += 1
        pivot = {
            key: self._pivot(*key, (self._lengths[key] + total) / (self._documents[key] + numbers[key]))
            for key, total in lengths.items()
        }
        hashes: list[int] = []
        counts: list[int] = []
        parts = []
        for row, field, lang, terms in found:
            if terms:
                bag = Counter(terms)
                hashes.extend(map(self._hashes(lang).__getitem__, bag))
                counts.extend(bag.values())
                parts.append(_Part(row, self._base(field), len(bag), len(terms), pivot[field, lang]))
        bases = np.repeat(np.array([part.base for part in parts], np.uint64), [part.size for part in parts])
        ids = self._places(np.array(hashes, np.uint64), bases)
        return self._vectors(len(documents), parts, ids, np.array(counts, np.float64))

    def count(self, langs: Sequence[str], vectors: Sequence[SparseVector], *, sign: int = 1) -> None:
        """Take documents in, or with sign=-1 out again."""
        if not vectors:
            return
        for lang, vector in zip(langs, vectors, strict=True):
            for field, length, average in self._reserved(vector):
                key = field, lang
                self._documents[key] += sign
                self._lengths[key] += sign * length
                self._tally(field, lang, average, sign)
                if not self._documents[key]:
                    del self._documents[key], self._lengths[key]
        self._df.add(np.concatenate([vector.indices for vector in vectors]), sign)

    def recast(self, lang: str, old: Sequence[SparseVector], new: Sequence[SparseVector]) -> None:
        """Note that documents have been weighed anew; nothing else about them has changed."""
        for before, after in zip(old, new, strict=True):
            for (field, _, was), (_, _, now) in zip(self._reserved(before), self._reserved(after), strict=True):
                self._tally(field, lang, was, -1)
                self._tally(field, lang, now, 1)

    def clear(self) -> None:
        """Forget every document."""
        self._documents.clear()
        self._lengths.clear()
        self._averages.clear()
        self._df = Frequencies()

    def reweigh(self, lang: str, vectors: Sequence[SparseVector]) -> list[SparseVector]:
        """The same documents' vectors, weighed with the average of now."""
        parts, ids, counts = [], [np.zeros(0, np.uint32)], [np.zeros(0, np.int64)]
        for row, vector in enumerate(vectors):
            for terms in self.terms(lang, vector):
                average = float(np.float32(self.average(terms.field, lang)))
                parts.append(_Part(row, self._base(terms.field), len(terms.ids), terms.length, average))
                ids.append(terms.ids)
                counts.append(terms.counts)
        return self._vectors(len(vectors), parts, np.concatenate(ids), np.concatenate(counts).astype(np.float64))

    def terms(self, lang: str, vector: SparseVector) -> list[Terms]:
        """The term counts a vector was made of, by field. Exact up to counts of about 2,000 in one document."""
        found = []
        for field, length, average in self._reserved(vector):
            base = self._base(field)
            start, end = np.searchsorted(vector.indices, [base + _RESERVED, base + self._span])
            weights = vector.values[start:end].astype(np.float64)
            K = self.k1 * (1 - self.b + self.b * length / average)
            weights = np.minimum(weights, 1 - 2.0**-24)  # a count so large that its weight was rounded to 1
            counts = np.rint(K * weights / (1 - weights)).astype(np.int64)
            found.append(Terms(field, lang, vector.indices[start:end], counts, length))
        return found

    def stale(self, tolerance: float = DRIFT) -> set[str]:
        """Languages with documents whose weights were made with an average that is off by more than `tolerance`.

        With average A' in place of A, tf / (tf + k1 (1 - b + b length / A')) is off by a factor between 1 and
        A' / A, whatever tf and length; so is a sum of such weights. A drift of 5 % moves no score by more than 5 %.
        """
        return {
            lang
            for (field, lang), made in self._averages.items()
            for average in made
            if abs(average / np.float32(self.average(field, lang)) - 1) > tolerance
        }

    # As bytes

    def to_bytes(self) -> bytes:
        ids, df = self._df.arrays()
        header = self._header() | {
            "terms": len(ids),
            "languages": [
                [*key, n, self._lengths[key], sorted(self._averages[key].items())]
                for key, n in sorted(self._documents.items())
            ],
        }
        return json.dumps(header).encode() + b"\n" + ids.tobytes() + df.astype("<u4").tobytes()

    def unfinished(self) -> bytes:
        """What stands in place of the statistics while documents are being written: they must be recounted."""
        return json.dumps(self._header()).encode() + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes) -> tuple[Statistics, bool]:
        """The statistics, and whether they are whole; if not they are empty and must be recounted."""
        try:
            line, _, arrays = data.partition(b"\n")
            header = json.loads(line)
            if header["format"] != FORMAT:
                raise StoreError(f"the statistics have format {header['format']}, this version reads {FORMAT}")
            found = cls(header["fields"], k1=header["k1"], b=header["b"])
            if "terms" not in header:
                return found, False
            n = header["terms"]
            ids, df = np.frombuffer(arrays, "<u4", n), np.frombuffer(arrays, "<u4", n, 4 * n)
            for field, lang, number, length, averages in header["languages"]:
                found._documents[field, lang] = number
                found._lengths[field, lang] = length
                found._averages[field, lang] = Counter(dict(averages))
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"the collection's term statistics are damaged ({error}): index again") from None
        found._df = Frequencies(ids, df.astype(np.int64))
        return found, True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Statistics) and self.to_bytes() == other.to_bytes()

    def _header(self) -> dict[str, Any]:
        return {"format": FORMAT, "fields": list(self.fields), "k1": self.k1, "b": self.b}

    def _base(self, field: str) -> int:
        try:
            return self.fields.index(field) * self._span
        except ValueError:
            raise StoreError(f"no field {field!r} is indexed; {', '.join(self.fields)} are") from None

    def _reserved(self, vector: SparseVector) -> list[tuple[str, int, float]]:
        """Each field of a document with its length and the average it was weighed with."""
        bases = np.arange(len(self.fields)) * self._span
        places = np.searchsorted(vector.indices, bases)
        return [
            (field, int(vector.values[place]), float(vector.values[place + 1]))
            for field, base, place in zip(self.fields, bases, places, strict=True)
            if place < len(vector.indices) and vector.indices[place] == base
        ]

    def _hashes(self, lang: str) -> Hashes:
        if lang not in self._memo:
            self._memo[lang] = Hashes(lang)
        return self._memo[lang]

    def _places(self, hashes: npt.NDArray[np.uint64], bases: npt.NDArray[np.uint64] | int) -> Ids:
        return (hashes % np.uint64(self._span - _RESERVED) + np.uint64(_RESERVED) + np.uint64(bases)).astype(np.uint32)

    def _vectors(self, rows: int, parts: Sequence[_Part], ids: Ids, tf: npt.NDArray[np.float64]) -> list[SparseVector]:
        """Weigh and sort the entries of many documents in one go."""
        row = np.array([part.row for part in parts], np.uint64) << np.uint64(32)
        base = np.array([part.base for part in parts], np.uint64)
        size = np.array([part.size for part in parts], np.int64)
        length = np.array([part.length for part in parts], np.float64)
        average = np.array([part.average for part in parts], np.float64)
        K = self.k1 * (1 - self.b + self.b * length / average)
        keys = np.concatenate([row | base, row | base + np.uint64(_AVERAGE), np.repeat(row, size) | ids])
        values = np.concatenate([length, average, tf])
        norms = np.concatenate([np.zeros(2 * len(parts)), np.repeat(K, size)])
        keys, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        values = np.bincount(inverse, values, len(keys))  # two terms with one id count as one
        norms = norms[first]
        values = np.where(norms > 0, values / (values + norms), values).astype(np.float32)
        edges = np.searchsorted(keys, np.arange(rows + 1, dtype=np.uint64) << np.uint64(32))
        indices = keys.astype(np.uint32)  # drops the row
        return [SparseVector(indices[a:z], values[a:z]) for a, z in pairwise(edges)]

    def _tally(self, field: str, lang: str, average: float, sign: int) -> None:
        made = self._averages.setdefault((field, lang), Counter())
        made[average] += sign
        if not made[average]:
            del made[average]
        if not made:
            del self._averages[field, lang]

    def _pivot(self, field: str, lang: str, average: float) -> float:
        made = self._averages.get((field, lang))
        average = float(np.float32(average))
        if made:
            usual = max(made, key=lambda a: (made[a], a))
            if abs(usual / average - 1) <= DRIFT:
                return usual
        return average


class _Part(NamedTuple):
    """One field of one document: which row it goes to, where its ids begin, how many it has."""

    row: int
    base: int
    size: int
    length: int
    average: float


def sparse(entries: Mapping[int, float]) -> SparseVector:
    """A vector from its entries, in order; those that are zero are left out."""
    ids = sorted(id for id, value in entries.items() if value)
    return SparseVector(np.array(ids, np.uint32), np.array([entries[id] for id in ids], np.float32))
