"""Translated queries as structures: the alternatives of one source term make one clause. Four meanings of it:

- `Synonymous`: they count as one term, tf summed, df of their union (Pirkola, SIGIR 1998);
- `Tempered`: likewise, but of those that the collection holds likelier and rarer ones count a little more;
- `Probabilistic`: tf and df are sums weighted by translation probability (Darwish and Oard, SIGIR 2003, "PSQ");
- `Nested`: (a1 OR a2) AND (b1 OR b2): a document must match every clause; the score is the plain sum.

`lexical.Lexical` is the fifth: every alternative for itself, with its weight. None of them knows how a query
was translated. A query without clauses has one for each of its terms: all but `Nested` are then plain BM25.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.bm25 import HELD, Bags, Doubles, Ids, Integers, dot, sparse
from paragloss.ranking import rank, top
from paragloss.search.evidence import words
from paragloss.search.indexed_fields import INNER
from paragloss.search.matches import Met
from paragloss.statistics import POWER, RARER, Statistics, rarity, summed, tempered
from paragloss.translation.inner import MARK, PART, WITHIN
from paragloss.types import (
    Account,
    Analyzer,
    Document,
    Found,
    Hit,
    Known,
    Query,
    Ranking,
    SparseRows,
    SparseVector,
    Store,
    Where,
)

#: Candidates looked at closely for each query, or as many as are wanted. On held-out titles of two collections 100
#: gave the same reciprocal ranks as 1,000 at a fifth of the time.
CANDIDATES = 200
#: In one language twice as many as are wanted will do, and at least so many.
_LEAST = 40
#: So many vectors are put to the store at once.
_AT_ONCE = 64


class Choice(NamedTuple):
    """One alternative of a clause: its words, all of which are meant, its weight, and that of its clause."""

    words: tuple[str, ...]
    weight: float
    clause: float = 1.0


class _Structured:
    def __init__(
        self,
        store: Store,
        statistics: Statistics,
        *,
        weights: Mapping[str, float] | None = None,
        candidates: int = CANDIDATES,
        proportional: bool = False,
        name: str = "terms",
        analyze: Callable[[str], Analyzer] = analyzer,
    ) -> None:
        layout = statistics.layout
        every = [field for field in layout.fields if field != INNER]
        weights = dict.fromkeys(every, 1.0) if weights is None else dict(weights)
        self._weights = weights
        self._store = store
        self._statistics = statistics
        self._factors = np.zeros(len(layout.fields))
        for field, weight in weights.items():
            self._factors[layout.field(field)] = weight
        self._number = candidates
        self._proportional = proportional
        self._name = name
        self._analyze = analyze

    @property
    def hears(self) -> bool:
        """Whether what words hold inside and how they sound is looked at: it counts as words of the text do."""
        return INNER in self._statistics.layout.fields and bool(self._weights.get("text"))

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Found]:
        rankings = zip(queries, self._rankings(queries, k, where), strict=True)
        return [Found(ranking, partial(self._account, query)) for query, ranking in rankings]

    def best(self, lang: str) -> float:
        return 1.0 if self._proportional else math.inf

    def _rankings(self, queries: Sequence[Query], k: int, where: Where | None) -> list[Ranking]:
        raise NotImplementedError

    def met(self, query: Query, id: str) -> list[Met]:
        """What every word gives a document of the query's language; all of them sum to its score."""
        raise NotImplementedError

    def _account(self, query: Query, document: Document, score: float, known: Known) -> Account:
        return words(self.met(query, document.id), query, score, known.origins)

    def clauses(self, query: Query) -> list[list[Choice]]:
        """Each source term's alternatives, cut into words; what is only stop words is left out."""
        return [choices for _, choices in self._sourced(query)]

    def _sourced(self, query: Query) -> list[tuple[str, list[Choice]]]:
        """The same with the source terms."""
        terms = self._analyze(query.lang).terms
        if not query.clauses:
            return [(word, [Choice((word,), 1.0)]) for word in terms(query.text)]
        cut = [
            (
                clause.source,
                [
                    Choice(words, weight, clause.weight)
                    for text, weight, known in clause.alternatives
                    if (words := known or tuple(terms(text)))
                ],
            )
            for clause in query.clauses
        ]
        return [(source, choices) for source, choices in cut if choices]

    def _candidates(self, vector: SparseVector, number: int, where: Where | None) -> Ranking:
        return self._store.search_sparse(self._name, [vector], number, where)[0] if len(vector.indices) else []


class _Asked(NamedTuple):
    """Queries, each said in a language, as numbers. A key is a query's place and a term's id in one number, so that a
    document is only asked for words of its own language."""

    langs: tuple[str, ...]
    keys: Integers  # (keys,) ascending
    shares: Doubles  # (keys, clauses) how much of a term counts for each clause
    gain: Doubles  # (langs, fields, clauses) field weight times the clause's idf
    most: Doubles  # (langs,) what a document full of the query's words would get
    weights: Doubles  # (keys,) what each counts where the store is asked

    @property
    def ids(self) -> Ids:
        """The terms that are asked for."""
        return (self.keys & 0xFFFFFFFF).astype(np.uint32)

    def linear(self, places: Sequence[int]) -> SparseVector:
        """What the store is asked: the words of some languages at once, which stand one after the other."""
        first, last = np.searchsorted(self.keys, np.array([min(places), max(places) + 1]) << 32) if places else (0, 0)
        ids, weights = (self.keys[first:last] & 0xFFFFFFFF).astype(np.uint32), self.weights[first:last]
        if len(places) > 1:
            return _summed(ids, weights)
        return SparseVector(ids[weights != 0], weights[weights != 0].astype(np.float32))

    def places(self, langs: Sequence[str]) -> Integers:
        """Of documents' languages, where each is said once."""
        known = {code: place for place, code in enumerate(self.langs)}
        return np.array([known.get(code, -1) for code in langs], np.int64)


class _Felt(NamedTuple):
    """What some documents have of a query's words: parts are fields of documents, entries words that were met."""

    bags: Bags
    lang: Integers  # (parts,) which of the query's languages, -1 for none
    norms: Doubles  # (parts,)
    part: Integers  # (entries,)
    place: Integers  # (entries,) which of the query's keys
    times: Doubles  # (entries,) how often it stands there
    tf: Doubles  # (parts, clauses)


class _Kept(NamedTuple):
    """Which documents answer a question: those in one of its languages, and those that hold one beside a language that
    has no question of its own."""

    homes: frozenset[str]
    every: frozenset[str]


class _OneTerm(_Structured):
    """A clause is one term. Its tf is a weighted sum over alternatives, which a dot product can't saturate: a dot
    product that saturates each alternative by itself picks `candidates` documents, which are then scored exactly
    from their stored vectors. A document outside the candidates is missed; with one alternative to a clause both
    scores are the same and none is. `proportional` is as in `Lexical`."""

    def _weighed(self, shares: Doubles, df: Doubles, first: Integers, documents: Doubles) -> tuple[Doubles, Doubles]:
        """How much each term counts, and each clause's df, given the terms' probabilities, their df (fields, terms),
        where each clause's begin, and how many documents there are (fields, clauses)."""
        raise NotImplementedError

    def _rankings(self, queries: Sequence[Query], k: int, where: Where | None) -> list[Ranking]:
        return self.together([[query] for query in queries], k, where)

    def together(self, questions: Sequence[Sequence[Query]], k: int, where: Where | None = None) -> list[Ranking]:
        """One ranking for each query said in several languages, each of which finds documents of its own: one question
        to the store however many there are, and every document scored by its own language's statistics."""
        rest = dict(where or {})
        wanted = rest.pop("lang", None)  # terms' ids are those of a language: the store need not filter by it as well
        number = self._number if wanted is None or len(wanted) > 1 else self._few(k)
        said = [[query for query in queries if self._wanted(query, wanted)] for queries in questions]
        homes, every = None if wanted is None else frozenset(map(str, wanted)), list[Ranking]()
        for start in range(0, len(said), _AT_ONCE):
            some = said[start : start + _AT_ONCE]
            ends = np.cumsum([len(queries) for queries in some]).tolist()
            places = [range(end - len(queries), end) for queries, end in zip(some, ends, strict=True)]
            flat = [query for queries in some for query in queries]
            kept = [_Kept(homes, homes)] * len(some) if homes is not None else None
            every += self._looked_at(flat, places, max(number, k), k, rest, kept)
        return every

    def _wanted(self, query: Query, langs: Container[object] | None) -> bool:
        """Whether a query is asked where documents of some languages are: those may hold words of others."""
        return langs is None or query.lang in langs or query.lang in self._statistics.beside

    def apart(
        self, questions: Sequence[Sequence[Query]], k: int, langs: Sequence[str], where: Where | None = None
    ) -> list[list[Ranking]]:
        """For each query said in several languages a ranking of each language's documents, all of them at once: one
        question to the store, and what it found is read once."""
        rest = {field: values for field, values in (where or {}).items() if field != "lang"}
        every, some = [], max(1, _AT_ONCE // max(len(langs), 1))
        beside = self._statistics.beside
        for start in range(0, len(questions), some):
            said = [[query for query in queries if query.lang in langs] for queries in questions[start : start + some]]
            flat, places, kept = list[Query](), list[range](), list[_Kept]()
            for queries, all_ in zip(said, questions[start : start + some], strict=True):
                for query in queries:
                    both = [query, *(other for other in all_ if other.lang in beside and other.lang != query.lang)]
                    places.append(range(len(flat), len(flat) + len(both)))
                    flat += both
                    kept.append(_Kept(frozenset([query.lang]), frozenset(langs)))
            found = iter(self._looked_at(flat, places, max(self._few(k), k), k, rest, kept if beside else None))
            for queries in said:
                mine = {query.lang: next(found) for query in queries}
                every.append([mine.get(lang, []) for lang in langs])
        return every

    def _few(self, k: int) -> int:
        """How many candidates are looked at where one language is searched."""
        return min(self._number, max(2 * k, _LEAST))

    def _looked_at(
        self,
        said: Sequence[Query],
        questions: Sequence[Sequence[int]],
        number: int,
        k: int,
        where: Where,
        kept: Sequence[_Kept] | None = None,
    ) -> list[Ranking]:
        """For each question, which is some of what is said, put as one, the k best of `number` candidates. All are
        scored at once."""
        asked = self._asked(said)
        if asked is None:
            return [[] for _ in questions]
        vectors = [asked.linear(places) for places in questions]
        told = [i for i, vector in enumerate(vectors) if len(vector.indices)]
        looked = self._store.look(self._name, [vectors[i] for i in told], number, where or None)
        signs = [self._statistics.ids("text", lang, HELD[:1]) for lang in self._statistics.beside]
        rows = self._statistics.layout.among(looked.rows, np.concatenate([asked.ids, *signs]))
        codes = {code: i for i, code in enumerate(dict.fromkeys(looked.langs))}
        lang = np.array([codes[code] for code in looked.langs], np.int64)
        spoken = np.full((len(told), len(codes)), -1)  # what each question says in each language
        for row, i in enumerate(told):
            for place in questions[i]:
                if asked.langs[place] in codes:
                    spoken[row, codes[asked.langs[place]]] = place
        which = np.concatenate([np.zeros(0, np.int64), *looked.found])
        owner = np.repeat(np.arange(len(told)), [len(found) for found in looked.found])
        places = spoken[owner, lang[which]]
        which, owner, places = which[places >= 0], owner[places >= 0], places[places >= 0]
        if self._statistics.beside:
            for place, holds in self._beside(asked.langs, rows):
                for row, i in enumerate(told):
                    if place in questions[i]:
                        more = looked.found[row][holds[looked.found[row]]]
                        which, owner = np.append(which, more), np.append(owner, np.full(len(more), row))
                        places = np.append(places, np.full(len(more), place))
            if kept is not None:
                own = [looked.langs[at] for at in which.tolist()]
                each = zip(own, [kept[told[row]] for row in owner.tolist()], places.tolist(), strict=True)
                here = [home in s.homes or (asked.langs[p] in s.homes and home not in s.every) for home, s, p in each]
                which, owner, places = which[here], owner[here], places[here]
        scores = self._scores(asked, places, taken(rows, which))
        if self._statistics.beside:
            which, owner, scores = _best(which, owner, scores)
        rankings: list[Ranking] = [[] for _ in questions]
        for i, (start, end) in zip(told, pairwise(np.searchsorted(owner, np.arange(len(told) + 1))), strict=True):
            mine, these = scores[start:end], which[start:end]
            rankings[i] = top(mine[mine > 0], [looked.ids[at] for at in these[mine > 0].tolist()], k)
        return rankings

    def scores(self, query: Query, ids: Sequence[str], langs: Sequence[str]) -> dict[str, float]:
        """Of documents of the query's language, whether or not they would be found."""
        return self.scores_together([query] if query.lang in langs else [], ids)

    def scores_together(self, queries: Sequence[Query], ids: Sequence[str]) -> dict[str, float]:
        """As `together` scores; nothing of documents in a language in which the query was not said."""
        asked = self._asked(queries) if ids else None
        if asked is None:
            return {}
        langs, rows = self._store.read_sparse(self._name, ids)
        places = asked.places(langs)
        scores, said = self._scores(asked, places, rows), places >= 0
        for place, holds in self._beside(asked.langs, rows):
            scores = np.maximum(scores, self._scores(asked, np.where(holds, place, -1), rows))
            said = said | holds
        return {id: score for id, score, here in zip(ids, scores.tolist(), said.tolist(), strict=True) if here}

    def _beside(self, langs: Sequence[str], rows: SparseRows) -> Iterator[tuple[int, npt.NDArray[np.bool_]]]:
        """For each language that some documents hold beside their own, where it is said, and which of these do."""
        holds: dict[str, npt.NDArray[np.bool_]] = {}
        ends = np.cumsum(rows.sizes)
        for place, lang in enumerate(langs):
            if lang in self._statistics.beside:
                if lang not in holds:
                    sign = self._statistics.ids("text", lang, HELD[:1])[0]
                    row = np.searchsorted(ends, np.flatnonzero(rows.indices == sign), side="right")
                    holds[lang] = np.bincount(row, minlength=len(ends)).astype(bool)
                yield place, holds[lang]

    def _asked(self, queries: Sequence[Query]) -> _Asked | None:
        statistics, layout = self._statistics, self._statistics.layout
        hashes: list[int] = []
        parts: list[float] = []  # (terms,) their probabilities
        inside: list[float] = []  # (terms,) what a word counts that another holds inside: nothing in its own language
        sizes: list[int] = []  # terms of each clause, language after language
        owner: list[tuple[int, int]] = []  # (clauses,) language, number
        importance: list[float] = []  # (clauses,)
        said: dict[int, list[tuple[dict[str, float], float]]] = {}  # one query may be asked for several languages
        for place, query in enumerate(queries):
            known = layout.hashes(query.lang)
            if id(query) not in said:
                said[id(query)] = [(_probabilities(each), each[0].clause) for each in self.clauses(query)]
            for number, (terms, weight) in enumerate(said[id(query)]):
                hashes.extend(map(known.__getitem__, terms))
                parts += terms.values()
                inside += [(1.0 if word[0] == MARK else PART) if query.clauses else 0.0 for word in terms]
                sizes.append(len(terms))
                owner.append((place, number))
                importance.append(weight)
        if not owner or not self._factors.any():
            return None
        lang, clause = np.array(owner).T
        of = np.repeat(np.arange(len(owner)), sizes)  # (terms,) which clause
        langs = tuple(query.lang for query in queries)
        fields = np.flatnonzero(self._factors)
        ids = layout.ids(fields[:, None], hashes)  # (fields, terms)
        documents, usual = (each[fields][:, lang] for each in statistics.held(langs))  # (fields, clauses)
        df = statistics.df_of(ids.ravel()).reshape(ids.shape).astype(float)
        held = layout.ids(layout.field(INNER), hashes) if self.hears else ids[0, :0]
        within, home = np.array(inside)[: len(held)], 0
        if len(held):  # it counts as words of the text do
            home = fields.tolist().index(layout.field("text"))
            df[home] = np.minimum(df[home] + within * statistics.df_of(held), documents[home, of])
        share, df = self._weighed(np.array(parts), df, np.cumsum([0, *sizes[:-1]]), documents)
        idf = self._factors[fields, None] * np.array(importance) * rarity(documents, df)  # (fields, clauses)
        most = np.bincount(lang, (idf * usual).sum(axis=0), len(langs)).astype(float)  # of words nobody has, too
        most = np.where(most > 0, most, 1.0)
        gain = np.zeros((len(langs), len(layout.fields), clause.max() + 1))
        gain[lang[:, None], fields, clause[:, None]] = np.where(df > 0, idf, 0.0).T
        scale = most if self._proportional else np.ones(len(langs))
        given = np.where(df > 0, idf, 0.0)[:, of] / scale[lang[of]]  # (fields, terms) of a whole share
        every = np.concatenate([ids.ravel(), held])
        counted = np.concatenate([np.tile(share, len(fields)), share[: len(held)] * within])
        weighed = np.concatenate([given.ravel(), given[home, : len(held)]])
        which = np.resize(of, len(every))
        keys, row = np.unique((lang[which] << 32) + every.astype(np.int64), return_inverse=True)
        table = np.zeros((len(keys), gain.shape[2]))
        np.add.at(table, (row.ravel(), clause[which]), counted)
        weights = np.bincount(row.ravel(), counted * weighed, len(keys)).astype(float)
        return _Asked(langs, keys, table, gain, most, weights)

    def met(self, query: Query, id: str) -> list[Met]:
        """A clause saturates as a whole: what it gives is shared out by what each word adds to its tf."""
        asked = self._asked([query])
        langs, rows = self._store.read_sparse(self._name, [id])
        if asked is None or (langs != [query.lang] and not any(here[0] for _, here in self._beside(asked.langs, rows))):
            return []
        felt = self._felt(asked, np.zeros(1, np.int64), rows)
        gained = asked.gain[0, felt.bags.field] / (felt.tf + felt.norms[:, None])  # (parts, clauses) for a tf of one
        each = felt.times[:, None] * asked.shares[felt.place]  # (entries, clauses) what it adds to each clause's tf
        given = gained[felt.part] * each / (asked.most[0] if self._proportional else 1.0)
        fields = np.flatnonzero(self._factors)
        totals: dict[tuple[str, str], float] = {}
        for number, (source, choices) in enumerate(self._sourced(query)):
            for word in _probabilities(choices):
                ids = self._statistics.layout.ids(fields, [self._statistics.layout.hashes(query.lang)[word]])
                here = np.isin(asked.keys[felt.place], ids.astype(np.int64))
                totals[source, word] = totals.get((source, word), 0.0) + float(given[here, number].sum())
                if self.hears:
                    here = asked.keys[felt.place] == self._statistics.ids(INNER, query.lang, [word]).astype(np.int64)
                    held = word if word[0] == MARK else WITHIN + word
                    totals[source, held] = totals.get((source, held), 0.0) + float(given[here, number].sum())
        return [Met(source, word, score) for (source, word), score in totals.items() if score]

    def _scores(self, asked: _Asked, places: Integers, rows: SparseRows) -> Doubles:
        bags, lang, norms, _, _, _, tf = self._felt(asked, places, rows)
        given = asked.gain[lang, bags.field] * tf / (tf + norms[:, None])
        parts = np.ascontiguousarray(given.T).sum(axis=0)  # one after the other: the same however many are asked
        if self._proportional:
            parts /= asked.most[lang]
        return np.asarray(np.bincount(bags.row, np.where(lang >= 0, parts, 0.0), bags.rows), np.float64)

    def _felt(self, asked: _Asked, places: Integers, rows: SparseRows) -> _Felt:
        """Of some documents, each in one of the query's languages (-1: none)."""
        statistics, layout = self._statistics, self._statistics.layout
        bags = layout.unpack_rows(layout.among(rows, asked.ids))
        lang = places[bags.row]
        usual = {code: [statistics.average(field, code) for field in layout.fields] for code in set(asked.langs)}
        averages = np.array([usual[code] for code in asked.langs])
        average = averages[lang, bags.field]
        average = np.where((lang >= 0) & (average > 0), average, bags.average)
        norms = layout.norms(bags._replace(average=average))
        part = np.repeat(np.arange(len(bags.row)), bags.size)  # (entries,)
        keys = (lang[part] << 32) + bags.ids.astype(np.int64)
        place = np.minimum(np.searchsorted(asked.keys, keys), len(asked.keys) - 1)
        here = np.flatnonzero(asked.keys[place] == keys)
        part, place, times = self._home(bags)[part[here]], place[here], bags.counts[here]
        key, clause = np.nonzero(asked.shares)
        many = np.bincount(key, minlength=len(asked.keys))  # most words stand for one word of the query
        which = _ranges((np.cumsum(many) - many)[place], many[place])
        entry, clauses = np.repeat(np.arange(len(place)), many[place]), asked.gain.shape[2]
        added = times[entry] * asked.shares[key[which], clause[which]]
        tf = np.bincount(part[entry] * clauses + clause[which], added, len(bags.row) * clauses)
        return _Felt(bags, lang, norms, part, place, times, tf.astype(np.float64).reshape(-1, clauses))

    def _home(self, bags: Bags) -> Integers:
        """Where the entries of each part count: those of `inner` in the same document's text."""
        place = np.arange(len(bags.row))
        if self.hears:
            layout = self._statistics.layout
            text = np.full(bags.rows, -1)
            mine = bags.field == layout.field("text")
            text[bags.row[mine]] = place[mine]
            inner = bags.field == layout.field(INNER)
            place[inner] = np.where(text[bags.row[inner]] >= 0, text[bags.row[inner]], place[inner])
        return place


class Synonymous(_OneTerm):
    """The alternatives of a clause count as one term, whatever their weights.

    The df of a union is estimated as if alternatives stood in documents independently of each other; it lies
    between the largest df and the sum, as the true one does.
    """

    power = rarer = 0.0

    def _weighed(self, shares: Doubles, df: Doubles, first: Integers, documents: Doubles) -> tuple[Doubles, Doubles]:
        return tempered(shares, df, first, documents, power=self.power, rarer=self.rarer)


class Tempered(Synonymous):
    """Likelier alternatives count more, and so do rarer ones; the best that the collection holds counts whole. A word's
    probabilities are those of other texts: what is unlikely there may be the only sense here.
    docs/understand/model.md."""

    power, rarer = POWER, RARER


class Probabilistic(_OneTerm):
    """The weights of a clause's alternatives, made to sum to one, are the probabilities of its translations."""

    def _weighed(self, shares: Doubles, df: Doubles, first: Integers, documents: Doubles) -> tuple[Doubles, Doubles]:
        return shares, np.minimum(np.add.reduceat(df * shares, first, axis=1), documents)


class Nested(_Structured):
    """Every clause must match, in any field; a phrase matches when all its words are there. Exact.

    The score is the plain sum of BM25 over all alternatives, whatever their weights; what was added to the query
    (clauses that are not `required`) need not match, and counts with its weight. It is a dot product, so
    what is wanted is a subsequence of the plain ranking: its head is gone through first. Where that does not hold k
    documents, all documents of the rarest clause are.
    """

    def _rankings(self, queries: Sequence[Query], k: int, where: Where | None) -> list[Ranking]:
        return [self._one(query, k, where) for query in queries]

    def _one(self, query: Query, k: int, where: Where | None) -> Ranking:
        needed, said = self._said(query)
        clauses, words = [choices for _, choices in needed], dict[str, float]()
        for _, word, weight in said:
            words[word] = words.get(word, 0.0) + weight
        linear = self._statistics.query(query.lang, words, self._fields())
        needs = [[[self._anywhere(w, query.lang) for w in choice.words] for choice in choices] for choices in clauses]
        number = 10 * k + 100
        head = self._candidates(linear, number, where)
        matching = {id for id, _ in self._matching([hit.id for hit in head], needs)}
        found = [hit for hit in head if hit.id in matching]
        if len(found) >= k or len(head) < number:
            return found[:k]
        rarest, df = self._rarest(clauses, query.lang)
        ids = [hit.id for hit in self._candidates(rarest, df, where)]
        return rank((Hit(id, dot(linear, vector)) for id, vector in self._matching(ids, needs)), k)

    def met(self, query: Query, id: str) -> list[Met]:
        langs, rows = self._store.read_sparse(self._name, [id])
        vector = SparseVector(rows.indices, rows.values)
        if langs != [query.lang]:
            return []
        found = []
        for source, word, weight in self._said(query)[1]:
            linear = self._statistics.query(query.lang, {word: weight}, self._fields())
            found.append(Met(source, word, dot(linear, vector)))
        return [met for met in found if met.score]

    def _said(self, query: Query) -> tuple[list[tuple[str, list[Choice]]], list[tuple[str, str, float]]]:
        """The clauses that must match, and every word with its source and its weight."""
        added = tuple(clause for clause in query.clauses if not clause.required)
        asked = query._replace(clauses=tuple(clause for clause in query.clauses if clause.required))
        needed = self._sourced(asked if asked.clauses or not added else query)
        more = self._sourced(query._replace(clauses=added)) if added and asked.clauses else []
        plain = [(source, choice._replace(weight=1.0)) for source, choices in needed for choice in choices]
        every = [*plain, *((source, choice) for source, choices in more for choice in choices)]
        return needed, [(s, word, c.clause * c.weight / len(c.words)) for s, c in every for word in c.words]

    def _fields(self) -> dict[str, float]:
        weights = zip(self._statistics.layout.fields, self._factors.tolist(), strict=True)
        return {field: weight for field, weight in weights if weight}

    def _anywhere(self, word: str, lang: str) -> frozenset[int]:
        """The ids of a word in the fields that count."""
        return frozenset(int(self._statistics.ids(field, lang, [word])[0]) for field in self._fields())

    def _matching(
        self, ids: Sequence[str], needs: Sequence[Sequence[Sequence[frozenset[int]]]]
    ) -> Iterator[tuple[str, SparseVector]]:
        """Documents that hold all the words of some alternative of every clause."""
        for start in range(0, len(ids), CANDIDATES):
            some = ids[start : start + CANDIDATES]
            rows = self._store.read_sparse(self._name, some)[1]
            ends = np.cumsum(rows.sizes)
            for id, start, end in zip(some, (ends - rows.sizes).tolist(), ends.tolist(), strict=True):
                vector = SparseVector(rows.indices[start:end], rows.values[start:end])
                here = set(vector.indices.tolist())
                if all(any(all(word & here for word in choice) for choice in choices) for choices in needs):
                    yield id, vector

    def _rarest(self, clauses: Sequence[Sequence[Choice]], lang: str) -> tuple[SparseVector, int]:
        """The clause with the fewest documents, as a question for all of them, and how many there may be."""
        questions = []
        for choices in clauses:
            words = {word for choice in choices for word in choice.words}
            ids = sorted(frozenset[int]().union(*(self._anywhere(word, lang) for word in words)))
            questions.append((sparse(dict.fromkeys(ids, 1.0)), int(self._statistics.df_of(ids).sum())))
        return min(questions, key=lambda question: question[1])


def _probabilities(choices: Sequence[Choice]) -> dict[str, float]:
    """The words of a clause, whose shares sum to one; those of a phrase have equal parts of its."""
    total, words = sum([choice.weight for choice in choices]), dict[str, float]()
    for choice in choices:
        for word in choice.words:
            words[word] = words.get(word, 0.0) + choice.weight / (total * len(choice.words))
    return words


def _best(which: Integers, owner: Integers, scores: Doubles) -> tuple[Integers, Integers, Doubles]:
    """Question by question every document once, with the best of its scores."""
    order = np.lexsort((-scores, which, owner))
    new = np.diff(owner[order], prepend=-1).astype(bool) | np.diff(which[order], prepend=-1).astype(bool)
    return which[order[new]], owner[order[new]], scores[order[new]]


def taken(rows: SparseRows, which: Integers) -> SparseRows:
    """Some of the rows, in another order."""
    start, sizes = np.cumsum(rows.sizes) - rows.sizes, rows.sizes[which]
    entries = _ranges(start[which], sizes)
    return SparseRows(sizes, rows.indices.take(entries), rows.values.take(entries))


def _ranges(starts: Integers, sizes: Integers) -> Integers:
    """The numbers of several ranges, one after the other."""
    first = np.cumsum(sizes) - sizes
    return np.asarray(np.repeat(starts - first, sizes) + np.arange(int(sizes.sum())))


def _summed(ids: Ids, weights: Doubles) -> SparseVector:
    """A vector from entries in any order; those with one id add up, those that are zero are left out."""
    keys, total = summed(ids.astype(np.int64), weights)
    return SparseVector(keys.astype(np.uint32), total.astype(np.float32))
