"""Term statistics of every field and language of a collection. Knows nothing of stores, analyzers or searching.

N, df and the average length are those of the document's own language: a language with few documents is not
drowned by one with many. Everything here can be recounted from the documents' vectors (`bm25.Layout`).
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from paragloss.bm25 import LANGUAGE_SIGNS, Bags, Doubles, Ids, Integers, Layout, hashed
from paragloss.errors import StoreError
from paragloss.languages import known_codes
from paragloss.types import SparseRows, SparseVector

FORMAT = 1
#: How far, relatively, an average length may move before weights made with the old one are rewritten.
DRIFT = 0.05
#: How much a translation's probability counts, and how much its rarity: docs/understand/model.md.
POWER, RARER = 0.2, 0.1
#: Terms of a language whose weight is remembered.
_MEMO = 50_000
#: So many times, as a power of two, more endings of ids are told apart than there are ids.
_SPARSE = 4
#: The table of endings is made when so many look-ups have cost as much: a command asks for less, and search processes
#: take in new statistics twice a second.
_OFTEN = 100
_ANY = np.ones(1, bool)
#: Sets of languages of which it is remembered what is usual in them.
_MANY = 100

_Key: TypeAlias = tuple[str, str]  # field, language
_Given: TypeAlias = tuple[list[tuple[int, float]], float]  # a term's ids and weights, and the most it can give


class Statistics:
    """How many documents each field has in each language, how long they are, how many hold each term."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._documents: Counter[_Key] = Counter()
        self._lengths: Counter[_Key] = Counter()
        #: how many documents of each field and language were weighed with which average
        self._averages: dict[_Key, Counter[float]] = {}
        self._df = Frequencies(span=layout.span)
        #: How many documents that are mainly in another language hold some of each: as long as nothing is counted.
        self._beside: dict[str, int] | None = None
        #: What each plain term gives, by language and what fields count: as long as nothing is counted.
        self._given: dict[tuple[Any, ...], dict[str, _Given]] = {}
        #: What is usual in languages that were asked for together: as long as nothing is counted.
        self._usual: dict[tuple[str, ...], tuple[Doubles, Doubles, Doubles]] = {}
        #: How many documents the collection had when these were written down, where that was said.
        self.records: int | None = None

    @property
    def langs(self) -> tuple[str, ...]:
        return tuple(sorted({lang for _, lang in list(self._documents)}))

    def documents(self, field: str, lang: str) -> int:
        """How many documents of a language have any term in a field."""
        return self._documents[field, lang]

    @property
    def beside(self) -> Mapping[str, int]:
        """For each language that documents hold beside their own, how many do."""
        if self._beside is None and "text" not in self.layout.fields:
            self._beside = {}
        if self._beside is None:
            hashes = [hashed(lang)[term] for lang in known_codes() for term in LANGUAGE_SIGNS]
            df = self.df_of(self.layout.ids(self.layout.field("text"), hashes)).reshape(-1, len(LANGUAGE_SIGNS))
            self._beside = {lang: int(n) for lang, n, m in zip(known_codes(), *df.T, strict=True) if n and n == m}
        return self._beside

    def usual(self, langs: tuple[str, ...]) -> tuple[Doubles, Doubles, Doubles]:
        """(fields, langs) how many documents of each language have each field, those that hold it beside another among
        them; which share that is of the field that most have; and how long it is on average."""
        if (usual_terms := self._usual.get(langs)) is not None:
            return usual_terms
        fields, there = self.layout.fields, self._documents
        numbers = np.array([[there[field, lang] for lang in langs] for field in fields], np.float64)
        for place, lang in enumerate(langs if self.beside else ()):
            numbers[:, place] += self.beside.get(lang, 0)
        averages = np.array([[self.average(field, lang) for lang in langs] for field in fields], np.float64)
        found = numbers, numbers / np.maximum(numbers.max(axis=0, initial=0), 1), averages
        if len(self._usual) >= _MANY:
            self._usual = {}
        self._usual[langs] = found
        return found

    def average(self, field: str, lang: str) -> float:
        """The average length now, in terms; as a float32, since vectors carry it."""
        return float(np.float32(self._lengths[field, lang] / max(self._documents[field, lang], 1)))

    def df(self, field: str, lang: str, terms: Sequence[str]) -> Integers:
        """In how many documents each term stands."""
        return self.df_of(self.ids(field, lang, terms))

    def df_of(self, ids: npt.ArrayLike) -> Integers:
        """The same, for terms known by id."""
        return self._df.of(np.asarray(ids, np.uint32))

    def somewhere(self, hashes: Integers) -> npt.NDArray[np.bool_]:
        """Whether some document may have a term, in any field; of most that none has it is known."""
        return self._df.somewhere(self.layout.place(hashes))

    def idf(self, field: str, lang: str, df: npt.ArrayLike) -> Doubles:
        """ln(1 + (N - df + 0.5) / (df + 0.5)): Lucene's, never negative."""
        return rarity(self.documents(field, lang), df)

    def ids(self, field: str, lang: str, terms: Sequence[str]) -> Ids:
        hashes = hashed(lang)
        return self.layout.ids(self.layout.field(field), [hashes[term] for term in terms])

    def query(self, lang: str, terms: Mapping[str, float], weights: Mapping[str, float]) -> SparseVector:
        """What to ask for documents of a language: idf times the weight of each term and field.

        Its dot product with a document's vector is BM25. Terms that no document holds are left out.
        """
        return self.queries([(lang, terms)], weights)[0][0]

    def queries(
        self, asked: Sequence[tuple[str, Mapping[str, float]]], weights: Mapping[str, float]
    ) -> list[tuple[SparseVector, float]]:
        """`query` for several languages at once, and what a document of each would score that says every term without
        end; terms that no document has count too. A field counts as far as documents have it: the few that have more
        do not make the others worse."""
        if len(asked) == 1 and set(asked[0][1].values()) == {1.0}:
            return [self._plain(asked[0][0], list(asked[0][1]), weights)]
        return self._weighed(asked, weights)

    def _plain(self, lang: str, terms: Sequence[str], weights: Mapping[str, float]) -> tuple[SparseVector, float]:
        """Words of one language, each once: what each gives by itself is remembered until something is counted."""
        kind = lang, *weights.items()
        given_weights = self._given.setdefault(kind, {})
        fresh: dict[str, _Given] = {}
        if new := [term for term in terms if term not in given_weights]:
            for term, (vector, most) in zip(new, self._weighed([(lang, {t: 1.0}) for t in new], weights), strict=True):
                fresh[term] = list(zip(vector.indices.tolist(), vector.values.tolist(), strict=True)), most
            if len(given_weights) < _MEMO:
                given_weights.update(fresh)
            else:
                self._given[kind] = dict(fresh)
        entries: list[tuple[int, float]] = []
        whole = 0.0
        for term in terms:
            some, most = fresh.get(term) or given_weights[term]
            entries += some
            whole += most
        entries.sort()
        ids, values = zip(*entries, strict=True) if entries else ((), ())
        if len(set(ids)) < len(ids):  # two terms with one id
            return self._weighed([(lang, dict.fromkeys(terms, 1.0))], weights)[0]
        return SparseVector(np.array(ids, np.uint32), np.array(values, np.float32)), whole

    def _weighed(
        self, asked: Sequence[tuple[str, Mapping[str, float]]], weights: Mapping[str, float]
    ) -> list[tuple[SparseVector, float]]:
        langs, sizes = [lang for lang, _ in asked], [len(terms) for _, terms in asked]
        of = np.repeat(np.arange(len(asked)), sizes)  # (terms,) which language
        wanted = np.array([weight for _, terms in asked for weight in terms.values()], np.float64)
        hashes = [*chain.from_iterable(map(hashed(lang).__getitem__, terms) for lang, terms in asked)]
        fields = np.array([self.layout.field(field) for field in weights], np.int64)
        ids = self.layout.ids(fields[:, None], hashes)  # (fields, terms)
        df = self.df_of(ids.ravel()).reshape(ids.shape)
        documents, share = (each[fields] for each in self.usual(tuple(langs))[:2])
        values = np.array(list(weights.values()))[:, None] * wanted * rarity(documents[:, of], df)  # (fields, terms)
        most = np.bincount(of, (values * share[:, of]).sum(axis=0), len(asked))
        here = df > 0
        keys, total = summed(((of << 32) + ids)[here], values[here])
        edges = keys.searchsorted(np.arange(len(asked) + 1) << 32).tolist() if len(asked) != 1 else [0, len(keys)]
        indices, amounts = keys.astype(np.uint32), total.astype(np.float32)  # the key without its language is the id
        return [
            (SparseVector(indices[start:end], amounts[start:end]), whole)
            for (start, end), whole in zip(pairwise(edges), most.tolist(), strict=True)
        ]

    def weigh(self, langs: Sequence[str], bags: Bags) -> list[SparseVector]:
        """A vector for each document, given the documents' languages and counted terms. Counts nothing yet.

        All of one call are weighed with the same average: the one most documents have been weighed with if it
        is still within DRIFT, otherwise the one the collection has with these documents in it.
        """
        keys = self._keys(langs, bags)
        lengths, numbers = Counter(self._lengths), Counter(self._documents)
        for key, length in zip(keys, bags.length.tolist(), strict=True):
            lengths[key] += int(length)
            numbers[key] += 1
        pivot = {key: self._pivot(key, lengths[key] / numbers[key]) for key in numbers}
        return self.layout.pack(bags._replace(average=np.array([pivot[key] for key in keys], np.float64)))

    def reweigh(self, lang: str, vectors: SparseRows) -> tuple[dict[int, SparseVector], Bags]:
        """Those of a language's vectors that become others with the averages of now, by their place among them; and the
        terms of all as they were weighed, for `recast`. Changes nothing here."""
        bags = self.layout.unpack_rows(vectors)
        now = self._now(lang, bags)
        new, changed = self.layout.pack(now), np.unique(bags.row[bags.average != now.average])
        return {place: new[place] for place in changed.tolist()}, bags

    def count(self, langs: Sequence[str], vectors: Sequence[SparseVector], *, sign: int = 1) -> None:
        """Take documents in, or with sign=-1 out again."""
        bags = self.layout.unpack(vectors)
        for key, length in zip(self._keys(langs, bags), bags.length.tolist(), strict=True):
            self._documents[key] += sign
            self._lengths[key] += sign * int(length)
            if not self._documents[key]:
                del self._documents[key], self._lengths[key]
        self._tally(langs, bags, sign)
        self._df.add(bags.ids, sign)
        self._given, self._beside, self._usual = {}, None, {}

    def merge(self, parts: Sequence[tuple[Statistics, int]]) -> None:
        """Take in what others counted, or with -1 out again: all of it as one sum, so that order does not matter."""
        for other, sign in parts:
            for key, number in other._documents.items():
                self._documents[key] += sign * number
                self._lengths[key] += sign * other._lengths[key]
            for key, made in other._averages.items():
                mine = self._averages.setdefault(key, Counter())
                for average, number in made.items():
                    mine[average] += sign * number
            self._df.merge(*other._df.arrays(), sign)
        for key in [key for key, number in self._documents.items() if not number]:
            del self._documents[key], self._lengths[key]
        for key, made in list(self._averages.items()):
            self._averages[key] = Counter({average: number for average, number in made.items() if number})
            if not self._averages[key]:
                del self._averages[key]
        self._given, self._beside, self._usual = {}, None, {}

    def recast(self, lang: str, old: Bags) -> None:
        """Note that documents have been weighed anew; nothing else about them has changed."""
        langs = [lang] * old.rows
        self._tally(langs, old, -1)
        self._tally(langs, self._now(lang, old), 1)

    def _now(self, lang: str, bags: Bags) -> Bags:
        averages = np.array([self.average(field, lang) for field in self.layout.fields])
        return bags._replace(average=averages[bags.field])

    def stale(self, tolerance: float = DRIFT) -> set[str]:
        """Languages with documents whose weights were made with an average that is off by more than `tolerance`.

        With average A' in place of A, tf / (tf + k1 (1 - b + b length / A')) is off by a factor between 1 and
        A' / A, whatever tf and length; so is a sum of such weights. A drift of 5 % moves no score by more than 5 %.
        """
        return {
            lang
            for (field, lang), made in self._averages.items()
            for average in made
            if abs(average / self.average(field, lang) - 1) > tolerance
        }

    def clear(self) -> None:
        """Forget every document."""
        self.__init__(self.layout)  # type: ignore[misc]

    def to_bytes(self, *, records: int | None = None) -> bytes:
        """`records` is how many documents the collection has, those without a single term included."""
        ids, df = self._df.arrays()
        languages = [
            [*key, number, self._lengths[key], sorted(self._averages[key].items())]
            for key, number in sorted(self._documents.items())
        ]
        header = self._header() | {"terms": len(ids), "languages": languages, "records": records}
        return json.dumps(header).encode() + b"\n" + ids.astype("<u4").tobytes() + df.astype("<u4").tobytes()

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
            found = cls(Layout(header["fields"], k1=header["k1"], b=header["b"]))
            if "terms" not in header:
                return found, False
            terms, found.records = header["terms"], header.get("records")
            ids, df = np.frombuffer(arrays, "<u4", terms), np.frombuffer(arrays, "<u4", terms, 4 * terms)
            for field, lang, number, length, averages in header["languages"]:
                found._documents[field, lang] = number
                found._lengths[field, lang] = length
                found._averages[field, lang] = Counter(dict(averages))
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"the collection's term statistics are damaged ({error}): index again") from None
        found._df = Frequencies(ids, df.astype(np.int64), span=found.layout.span)
        return found, True

    def _header(self) -> dict[str, Any]:
        return {"format": FORMAT, "fields": list(self.layout.fields), "k1": self.layout.k1, "b": self.layout.b}

    def _keys(self, langs: Sequence[str], bags: Bags) -> list[_Key]:
        return [
            (self.layout.fields[field], langs[row])
            for field, row in zip(bags.field.tolist(), bags.row.tolist(), strict=True)
        ]

    def _tally(self, langs: Sequence[str], bags: Bags, sign: int) -> None:
        for (key, average), number in Counter(zip(self._keys(langs, bags), bags.average.tolist(), strict=True)).items():
            made = self._averages.setdefault(key, Counter())
            made[average] += sign * number
            if not made[average]:
                del made[average]
            if not made:
                del self._averages[key]

    def _pivot(self, key: _Key, average: float) -> float:
        made = self._averages.get(key)
        if made:
            usual = max(made, key=lambda a: (made[a], a))
            if abs(usual / average - 1) <= DRIFT:
                return usual
        return float(np.float32(average))


def summed(keys: Integers, values: Doubles) -> tuple[Integers, Doubles]:
    """Entries in order of their keys; those with one key add up, those that are zero are left out."""
    order = keys.argsort(kind="stable")
    keys, values = keys[order], values[order]
    new = keys[1:] != keys[:-1]
    if not new.all():
        first = np.flatnonzero(np.concatenate([[True], new]))
        keys, values = keys[first], np.add.reduceat(values, first)
    here = values != 0
    return (keys, values) if here.all() else (keys[here], values[here])


def rarity(documents: npt.ArrayLike, df: npt.ArrayLike) -> Doubles:
    """The idf of terms that stand in `df` of so many documents."""
    df = np.asarray(df, np.float64)
    return np.asarray(np.log1p((np.asarray(documents) - df + 0.5) / (df + 0.5)))


def tempered(
    shares: Doubles, df: Doubles, first: Integers, documents: Doubles, *, power: float = POWER, rarer: float = RARER
) -> tuple[Doubles, Doubles]:
    """Of clauses of alternatives how much each alternative counts, and each clause's df. Alternatives have shares and
    df (fields, alternatives), clauses begin at `first` and have so many documents (fields, clauses). Shares are raised
    to a power, and so are frequencies: the best of those that any document holds counts 1."""
    of, highest = np.arange(len(first)).repeat(np.append(first[1:], len(shares)) - first), df.max(axis=0)
    counts = np.where(highest > 0, shares**power * np.maximum(highest, 1.0) ** -rarer, 0.0)
    best = np.maximum.reduceat(counts, first)
    counts /= np.where(best > 0, best, 1.0)[of]
    without = 1 - counts * df / np.maximum(documents, 1).take(of, axis=1)
    return counts, np.asarray(documents * (1 - np.multiply.reduceat(without, first, axis=1)))


class Frequencies:
    """Document frequencies by id: sorted arrays, the first with all that was folded together, and after it what changed
    since, each at most half as long as the one before: few to look into, and joining them costs little per document.
    Most words that are asked for stand nowhere: the last bits of an id, and of its place in its `span`, say so of
    nearly all of them."""

    def __init__(self, ids: Ids | None = None, df: Integers | None = None, *, span: int = 1 << 32) -> None:
        self._span = span
        ids = np.zeros(0, np.uint32) if ids is None else ids
        self._parts: tuple[tuple[Ids, Integers], ...] = ((ids, np.zeros(0, np.int64) if df is None else df),)
        self._ends: npt.NDArray[np.bool_] | None = None  # whether some id here ends so
        self._asked = 0
        self._turn = threading.Lock()  # one thread may look up while another counts

    def of(self, ids: Ids) -> Integers:
        found, (parts, ends) = np.zeros(len(ids), np.int64), self._now()
        here = ends.take(ids & np.uint32(len(ends) - 1)).nonzero()[0]
        some = ids[here]
        order = some.argsort()  # what lies together is found in half the time
        here, some = here[order], some[order]
        for held, df in parts:
            if len(held):
                place = np.minimum(held.searchsorted(some), len(held) - 1)
                found[here] += np.where(held[place] == some, df[place], 0)
        return found

    def _now(self) -> tuple[tuple[tuple[Ids, Integers], ...], npt.NDArray[np.bool_]]:
        with self._turn:
            self._asked += 1
            if self._ends is None and self._asked < _OFTEN:
                return self._parts, _ANY
            if self._ends is None:
                size = sum(len(ids) for ids, _ in self._parts)
                self._ends = np.zeros(1 << (size.bit_length() + _SPARSE), bool)
                for ids, _ in self._parts:
                    self._note(ids, self._ends)
            return self._parts, self._ends

    def _note(self, ids: Ids, ends: npt.NDArray[np.bool_]) -> None:
        ends[ids & np.uint32(len(ends) - 1)] = True
        ends[ids.astype(np.int64) % self._span & len(ends) - 1] = True

    def somewhere(self, places: Integers) -> npt.NDArray[np.bool_]:
        """Whether some span may have an id at each of these places; of most that none has it is known."""
        ends = self._now()[1]
        return ends.take(places & (len(ends) - 1))

    def add(self, ids: Ids, sign: int) -> None:
        self.merge(ids, np.ones(len(ids), np.int64), sign)

    def merge(self, ids: Ids, df: Integers, sign: int) -> None:
        """Add frequencies, perhaps counted elsewhere."""
        parts = [*self._parts, _joined([(ids, sign * df)])]
        while len(parts) > 1 and 2 * len(parts[-1][0]) > len(parts[-2][0]):
            parts[-2:] = [_joined(parts[-2:])]
        with self._turn:
            if self._ends is not None and len(parts) > 1:
                self._note(ids, self._ends)
            else:
                self._ends = None
            self._parts = tuple(parts)

    def arrays(self) -> tuple[Ids, Integers]:
        """All ids in order, and their frequencies; none is zero."""
        ids, df = _joined(self._parts)
        if not df.all():
            ids, df = ids[df != 0], df[df != 0]
        self._parts = ((ids, df),)
        return ids, df


def _joined(parts: Sequence[tuple[Ids, Integers]]) -> tuple[Ids, Integers]:
    """All ids in order, once, each with the sum of its numbers."""
    if len(parts) == 1 and (parts[0][0][1:] > parts[0][0][:-1]).all():
        return parts[0]
    ids = np.concatenate([ids for ids, _ in parts])
    numbers = np.concatenate([numbers for _, numbers in parts])
    order = ids.argsort(kind="stable")
    ids, numbers = ids[order], numbers[order]
    first = np.flatnonzero(np.concatenate([np.ones(min(len(ids), 1), bool), ids[1:] != ids[:-1]]))
    return ids[first], np.add.reduceat(numbers, first) if len(first) else numbers
