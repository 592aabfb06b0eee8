"""Translated queries as structures: the alternatives of one source term make one clause. Four meanings of it:

- `Synonymous`: they count as one term, tf summed, df of their union (Pirkola, SIGIR 1998);
- `Tempered`: likewise, but of those that the collection holds likelier and rarer ones count a little more;
- `Probabilistic`: tf and df are sums weighted by translation probability (Darwish and Oard, SIGIR 2003, "PSQ");
- `nested.Nested`: (a1 OR a2) AND (b1 OR b2): a document must match every clause; the score is the plain sum.

`lexical.Lexical` is the fifth: every alternative for itself, with its weight. None of them knows how a query
was translated. A query without clauses has one for each of its terms: all but `Nested` are then plain BM25.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from functools import cache
from itertools import compress, pairwise
from operator import is_
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.bm25 import LANGUAGE_SIGNS, Bags, Doubles, Ids, Integers, hashed, ranges, sieved
from paragloss.ranking import ranked
from paragloss.search.clauses import ClauseSearcher
from paragloss.search.indexed_fields import INNER
from paragloss.search.matches import Match
from paragloss.search.query_terms import QueryTerms, query_terms
from paragloss.statistics import POWER, RARER, tempered
from paragloss.translation.inner import MARK, WITHIN
from paragloss.types import Looked, Query, Ranking, SparseRows, Where

#: In one language twice as many candidates as are wanted will do, and at least so many.
_LEAST = 40
#: So many vectors are put to the store at once.
_AT_ONCE = 64


class _Matches(NamedTuple):
    """What some documents have of a query's words: parts are fields of documents, entries words that were met."""

    bags: Bags
    lang: Integers  # (parts,) which of the query's languages, -1 for none
    norms: Doubles  # (parts,)
    part: Integers  # (entries,)
    place: Integers  # (entries,) which of the query's keys
    times: Doubles  # (entries,) how often it stands there
    tf: Doubles  # (parts, clauses)


class _Kept(NamedTuple):
    """Which documents answer each question: those in one of its languages, and those that hold one beside a language
    that has no question of its own."""

    homes: list[frozenset[str]]
    every: frozenset[str]


class _OneTerm(ClauseSearcher):
    """A clause is one term. Its tf is a weighted sum over alternatives, which a dot product can't saturate: a dot
    product that saturates each alternative by itself picks `candidates` documents, which are then scored exactly
    from their stored vectors. A document outside the candidates is missed; with one alternative to a clause both
    scores are the same and none is. `proportional` is as in `Lexical`."""

    #: What was searched last, as arrays: results are explained by the same.
    _last: tuple[Sequence[Query], QueryTerms | None] = (), None

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
        wanted_of = [[query for query in queries if self._wanted(query, wanted)] for queries in questions]
        homes, every = frozenset(map(str, wanted or ())), list[Ranking]()
        for start in range(0, len(wanted_of), _AT_ONCE):
            some = wanted_of[start : start + _AT_ONCE]
            ends = np.cumsum([len(queries) for queries in some]).tolist()
            places = [range(end - len(queries), end) for queries, end in zip(some, ends, strict=True)]
            flat = [query for queries in some for query in queries]
            kept = None if wanted is None else _Kept([homes] * len(some), homes)
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
            flat, places, kept = list[Query](), list[list[int]](), _Kept([], frozenset(langs))
            for queries in questions[start : start + some]:
                said = [query for query in queries if query.lang in langs or query.lang in beside]
                at = {query.lang: place for place, query in enumerate(said, start=len(flat))}
                others = [lang for lang in at if lang in beside]
                own = [lang for lang in at if lang in langs]
                places += [[at[lang], *(at[other] for other in others if other != lang)] for lang in own]
                kept.homes.extend(frozenset([lang]) for lang in own)
                flat += said
            found = iter(self._looked_at(flat, places, max(self._few(k), k), k, rest, kept if beside else None))
            for queries in questions[start : start + some]:
                mine = {query.lang: next(found) for query in queries if query.lang in langs}
                every.append([mine.get(lang, []) for lang in langs])
        return every

    def _few(self, k: int) -> int:
        """How many candidates are looked at where one language is searched."""
        return min(self._number, max(2 * k, _LEAST))

    def _looked_at(
        self,
        queries: Sequence[Query],
        questions: Sequence[Sequence[int]],
        number: int,
        k: int,
        where: Where,
        kept: _Kept | None = None,
    ) -> list[Ranking]:
        """For each question, which is some of what is said, put as one, the k best of `number` candidates. All are
        scored at once."""
        asked = self._asked(queries)
        self._last = queries, asked
        vectors = asked.linear(questions) if asked else []
        told = [i for i, vector in enumerate(vectors) if len(vector.indices)]
        if asked is None or not told:
            return [[] for _ in questions]
        among = self._statistics.layout.with_lengths(np.concatenate([asked.ids, self._signs()]))
        looked = self._store.look(self._name, [vectors[i] for i in told], number, where or None, among)
        mine = kept and _Kept([kept.homes[i] for i in told], kept.every)
        which, owner, places = self._pairs(asked, looked, [questions[i] for i in told], mine)
        scores = self._scores(asked, places, taken(looked.rows, which))
        if self._statistics.beside:
            which, owner, scores = _best(which, owner, scores)
        rankings: list[Ranking] = [[] for _ in questions]
        here = np.flatnonzero(scores > 0)
        order = here[np.lexsort((-scores[here], owner[here]))]
        ids, values = [looked.ids[at] for at in which[order].tolist()], scores[order].tolist()
        edges = np.searchsorted(owner[order], np.arange(len(told) + 1)).tolist()
        for i, (start, end) in zip(told, pairwise(edges), strict=True):
            rankings[i] = ranked(ids[start:end], values[start:end], k)
        return rankings

    def _pairs(
        self,
        asked: QueryTerms,
        looked: Looked,
        questions: Sequence[Sequence[int]],
        kept: _Kept | None,
    ) -> tuple[Integers, Integers, Integers]:
        """What is scored: documents, each with a question it was found for, and which of its queries it is held
        against: that of its own language, and those of others that it holds."""
        codes = {code: i for i, code in enumerate(dict.fromkeys(looked.langs))}
        lang = np.array([*map(codes.__getitem__, looked.langs)], np.int64)
        which = np.concatenate([np.zeros(0, np.int64), *looked.found])
        owner = np.arange(len(questions)).repeat([*map(len, looked.found)])
        beside = self._statistics.beside
        home = np.zeros((len(questions), len(codes)), bool)  # whether documents of a language answer a question
        if kept is not None and beside:
            for row, homes in enumerate(kept.homes):
                home[row, [codes[code] for code in homes if code in codes]] = True
            elsewhere = np.array([code not in kept.every for code in codes], bool)
            here = (home | elsewhere)[owner, lang[which]].nonzero()[0]
            which, owner = which[here], owner[here]
        spoken = np.full((len(questions), len(codes)), -1)  # what each question says in each language
        for row, places in enumerate(questions):
            for place in places:
                if asked.langs[place] in codes:
                    spoken[row, codes[asked.langs[place]]] = place
        own = spoken[owner, lang[which]]
        some = [(which, owner, own)]
        for place, holds in self._beside(asked.langs, looked.rows):
            here = (holds[which] & np.array([place in places for places in questions])[owner]).nonzero()[0]
            some.append((which[here], owner[here], np.full(len(here), place)))
        which, owner, own = (np.concatenate(parts) for parts in zip(*some, strict=True))
        here = own >= 0
        if kept is not None and beside:
            strange = (~home[owner, lang[which]]).nonzero()[0]  # of these only what was asked in a question's languages
            said = zip(owner[strange].tolist(), own[strange].tolist(), strict=True)
            here[strange] &= np.array([asked.langs[place] in kept.homes[row] for row, place in said], bool)
        return which[here], owner[here], own[here]

    def scores_together(self, queries: Sequence[Query], ids: Sequence[str]) -> dict[str, float]:
        """As `together` scores; nothing of documents in a language in which the query was not said."""
        asked = self._asked(queries) if ids else None
        if asked is None:
            return {}
        langs, every = self._store.read_sparse(self._name, ids)
        rows = self._among(every, asked)
        places = asked.places(langs)
        scores, asked_in = self._scores(asked, places, rows), places >= 0
        for place, holds in self._beside(asked.langs, rows):
            scores = np.maximum(scores, self._scores(asked, np.where(holds, place, -1), rows))
            asked_in = asked_in | holds
        return {id: score for id, score, here in zip(ids, scores.tolist(), asked_in.tolist(), strict=True) if here}

    def _among(self, rows: SparseRows, asked: QueryTerms) -> SparseRows:
        """The entries of a query's terms, and what says which languages documents hold."""
        return sieved(rows, self._statistics.layout.with_lengths(np.concatenate([asked.ids, self._signs()])))

    def _signs(self) -> Ids:
        """What stands for each language in documents that hold it beside their own."""
        layout, beside = self._statistics.layout, self._statistics.beside
        hashes = [hashed(lang)[LANGUAGE_SIGNS[0]] for lang in beside]
        return layout.ids(layout.field("text") if beside else 0, hashes)

    def _beside(self, langs: Sequence[str], rows: SparseRows) -> Iterator[tuple[int, npt.NDArray[np.bool_]]]:
        """For each language that some of these hold beside their own, where it is said, and which of them do."""
        holds: dict[str, npt.NDArray[np.bool_]] = {}
        ends, signs = rows.sizes.cumsum(), dict(zip(self._statistics.beside, self._signs(), strict=True))
        for place, lang in enumerate(langs):
            if lang in signs:
                if lang not in holds:
                    row = ends.searchsorted((rows.indices == signs[lang]).nonzero()[0], side="right")
                    holds[lang] = np.zeros(len(ends) if len(row) else 0, bool)
                    holds[lang][row] = True
                if len(holds[lang]):
                    yield place, holds[lang]

    def _asked(self, queries: Sequence[Query]) -> QueryTerms | None:
        how = {"proportional": self._proportional, "inside": self.looks_inside}
        return query_terms(queries, self.shares, self._statistics, self._factors, self._weighed, **how)

    def matches(self, query: Query, id: str) -> list[Match]:
        return self.held([query])(id, [query.lang])[1]

    def held(self, queries: Sequence[Query]) -> Callable[[str, Container[str]], tuple[Query, list[Match]]]:
        """What holds a query, said in several languages, against one document after the other, given a document's id
        and the languages that count: the query that gives it most, and what each word does. Queries become arrays
        once."""
        last, terms = self._last
        same = len(last) == len(queries) and all(map(is_, last, queries))
        asked = cache(lambda: terms if same else self._asked(queries))
        cut = cache(lambda place: self._cut(queries[place]))

        def against(id: str, langs: Container[str]) -> tuple[Query, list[Match]]:
            (own,), rows = self._store.read_sparse(self._name, [id])
            signs = self._signs()
            here = np.append(rows.indices, np.uint32(0))[rows.indices.searchsorted(signs)] == signs
            held = {own, *compress(self._statistics.beside, here.tolist())}
            said = [place for place, query in enumerate(queries) if query.lang in langs and query.lang in held]
            every = asked() if said else None
            found = [(queries[i], self._shared(every, i, *cut(i), rows)) for i in said] if every else []
            return max(found, key=lambda pair: sum(match.score for match in pair[1]), default=(Query("", "", ""), []))

        return against

    def _cut(self, query: Query) -> tuple[list[tuple[int, str, str]], Ids]:
        """The words of a query with their clauses and what they stand for, and their ids (words, fields)."""
        cut = self.shares(query)
        words = [(number, one.source, word) for number, one in enumerate(cut) for word in one.words]
        layout, fields = self._statistics.layout, np.flatnonzero(self._factors).tolist()
        fields += [layout.field(INNER)] if self.looks_inside else []
        hashes = np.concatenate([np.zeros(0), *(one.numbers[0] for one in cut)])
        return words, layout.ids(np.array(fields)[:, None], hashes.astype(np.int64)).T

    def _shared(
        self, asked: QueryTerms, place: int, words: Sequence[tuple[int, str, str]], ids: Ids, rows: SparseRows
    ) -> list[Match]:
        """What each word of a query gives a document. A clause saturates as a whole: what it gives is shared out by
        what each word adds to its tf."""
        found = self._matches(asked, np.array([place]), sieved(rows, self._statistics.layout.with_lengths(ids.ravel())))
        gained = asked.gain[place, found.bags.field] / (found.tf + found.norms[:, None])  # (parts, clauses), for one
        each = found.times[:, None] * asked.shares[found.place]  # (entries, clauses) what it adds to each clause's tf
        given = gained[found.part] * each / (asked.most[place] if self._proportional else 1.0)
        met = asked.keys[found.place].astype(np.uint32)  # the key without its query is the id
        gains = dict(zip(met.tolist(), given.tolist(), strict=True))  # what each term gives each clause
        totals: dict[tuple[str, str], float] = {}
        there = np.append(met, np.uint32(0))[met.searchsorted(ids)] == ids
        for here in np.flatnonzero(there.any(axis=1)).tolist():
            (number, source, word), those = words[here], ids[here].tolist()
            inner = [(word if word[0] == MARK else WITHIN + word, [those.pop()])] if self.looks_inside else []
            for term, some in ((word, those), *inner):
                more = sum(gains[id][number] for id in some if id in gains)
                totals[source, term] = totals.get((source, term), 0.0) + more
        return [Match(source, word, score) for (source, word), score in totals.items() if score]

    def _scores(self, asked: QueryTerms, places: Integers, rows: SparseRows) -> Doubles:
        bags, lang, norms, _, _, _, tf = self._matches(asked, places, rows)
        given = asked.gain[lang, bags.field] * tf / (tf + norms[:, None])
        parts = np.ascontiguousarray(given.T).sum(axis=0)  # one after the other: the same however many are asked
        if self._proportional:
            parts /= asked.most[lang]
        return np.asarray(np.bincount(bags.row, np.where(lang >= 0, parts, 0.0), bags.rows), np.float64)

    def _matches(self, asked: QueryTerms, places: Integers, rows: SparseRows) -> _Matches:
        """Of some documents, each in one of the query's languages (-1: none), given their entries of its terms."""
        layout = self._statistics.layout
        bags = layout.unpack_rows(rows)
        lang = places[bags.row]
        average = asked.average[lang, bags.field]
        average = np.where((lang >= 0) & (average > 0), average, bags.average)
        norms = layout.norms(bags._replace(average=average))
        part = np.repeat(np.arange(len(bags.row)), bags.size)  # (entries,)
        keys = (lang[part] << 32) + bags.ids
        place = asked.keys.searchsorted(keys)
        here = np.flatnonzero(asked.keys[place] == keys)
        part, place, times = self._home(bags)[part[here]], place[here], bags.counts[here]
        clauses, many = asked.gain.shape[2], asked.many[place]
        cells = asked.cells[ranges((np.cumsum(asked.many) - asked.many)[place], many)]
        entry = np.repeat(np.arange(len(place)), many)
        added = times[entry] * asked.shares.take(cells)
        tf = np.bincount(part[entry] * clauses + cells % clauses, added, len(bags.row) * clauses)
        return _Matches(bags, lang, norms, part, place, times, tf.astype(np.float64).reshape(-1, clauses))

    def _home(self, bags: Bags) -> Integers:
        """Where the entries of each part count: those of `inner` in the same document's text."""
        place = np.arange(len(bags.row))
        if self.looks_inside:
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


def _best(which: Integers, owner: Integers, scores: Doubles) -> tuple[Integers, Integers, Doubles]:
    """Question by question every document once, with the best of its scores."""
    pair = (owner << 32) + which
    order = np.lexsort((-scores, pair))
    pair = pair[order]
    first = order[np.append(pair[:1] >= 0, pair[1:] != pair[:-1])]
    return which[first], owner[first], scores[first]


def taken(rows: SparseRows, which: Integers) -> SparseRows:
    """Some of the rows, in another order."""
    starts, sizes = rows.sizes.cumsum() - rows.sizes, rows.sizes[which]
    entries = ranges(starts[which], sizes)
    return SparseRows(sizes, rows.indices.take(entries), rows.values.take(entries))
