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
from itertools import chain, compress, pairwise
from operator import is_
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.bm25 import LANGUAGE_SIGNS, Bags, Doubles, Ids, Integers, hashed, ranges, sieve, sieved
from paragloss.ranking import ranked
from paragloss.search.clauses import ClauseSearcher
from paragloss.search.indexed_fields import INNER
from paragloss.search.matches import Match
from paragloss.search.query_terms import QueryTerms, query_terms
from paragloss.statistics import POWER, RARER, tempered
from paragloss.translation.subword_terms import SOUND_PREFIX, SUBWORD_PREFIX
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


class _QueryWords(NamedTuple):
    """The words of a query, each with what it stands for."""

    words: Sequence[tuple[str, str]]
    clauses: Integers  # (words,) which of the query's clauses
    ids: Ids  # (words, fields)
    among: Callable[[Ids], Integers]  # where they stand among the entries of a document, with its lengths


class _Scored(NamedTuple):
    """Documents that were found, each for a question and as one of a language's."""

    ids: list[str]  # of all that were read
    which: Integers  # of these
    question: Integers
    home: Integers  # which of the languages that are wanted
    scores: Doubles

    def rankings(self, owner: Integers, number: int, k: int) -> list[Ranking]:
        """So many rankings of the k best, given whose each document is."""
        here = np.flatnonzero(self.scores > 0)
        order = here[np.lexsort((-self.scores[here], owner[here]))]
        ids, values = [self.ids[at] for at in self.which[order].tolist()], self.scores[order].tolist()
        edges = np.searchsorted(owner[order], np.arange(number + 1)).tolist()
        return [ranked(ids[start:end], values[start:end], k) for start, end in pairwise(edges)]


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
        wanted = (where or {}).get("lang")
        langs = None if wanted is None else [*map(str, wanted)]
        number, every = self._number if langs is None or len(langs) > 1 else self._few(k), list[Ranking]()
        for start in range(0, len(questions), _AT_ONCE):
            some = questions[start : start + _AT_ONCE]
            scored = self._scored(some, max(number, k), langs, where, alone=False)
            every += scored.rankings(scored.question, len(some), k)
        return every

    def apart(
        self, questions: Sequence[Sequence[Query]], k: int, langs: Sequence[str], where: Where | None = None
    ) -> list[list[Ranking]]:
        """For each query said in several languages a ranking of each language's documents, all of them at once: what
        is said in a language is put to the store once, and what that found is read once. A document that holds two
        languages is looked at if one of them finds it."""
        every, said = list[list[Ranking]](), max(map(len, questions), default=0)
        for start in range(0, len(questions), some := max(1, _AT_ONCE // max(said, 1))):
            number = len(questions[start : start + some])
            scored = self._scored(questions[start : start + some], max(self._few(k), k), langs, where, alone=True)
            flat = scored.rankings(scored.question * len(langs) + scored.home, number * len(langs), k)
            every += [flat[i * len(langs) : (i + 1) * len(langs)] for i in range(number)]
        return every

    def _few(self, k: int) -> int:
        """How many candidates are looked at where one language is searched."""
        return min(self._number, max(2 * k, _LEAST))

    def _scored(
        self,
        questions: Sequence[Sequence[Query]],
        number: int,
        langs: Sequence[str] | None,
        where: Where | None,
        *,
        alone: bool,
    ) -> _Scored:
        """Of each question, and of each of its languages `alone` or of all together, `number` candidates; documents of
        some languages, or of any. All are scored at once."""
        beside = self._statistics.beside  # documents of the languages that are wanted may hold words of others
        said = [[one for one in some if langs is None or one.lang in langs or one.lang in beside] for some in questions]
        queries = [*chain.from_iterable(said)]
        ends = np.cumsum([*map(len, said)]).tolist()
        places = [range(end - len(some), end) for some, end in zip(said, ends, strict=True)]
        groups = [[place] for place in range(len(queries))] if alone else places
        of = np.repeat(np.arange(len(said)), [*map(len, said)]) if alone else np.arange(len(said))
        asked = self._asked(queries)
        self._last = queries, asked
        vectors = asked.linear(groups) if asked else []
        told = [i for i, vector in enumerate(vectors) if len(vector.indices)]
        if asked is None or not told:
            none = np.zeros(0, np.int64)
            return _Scored([], none, none, none, np.zeros(0))
        rest = {field: values for field, values in (where or {}).items() if field != "lang"}  # terms tell it already
        among = self._statistics.layout.with_lengths(np.concatenate([asked.ids, self._signs()]))
        looked = self._store.look(self._name, [vectors[i] for i in told], number, rest or None, among)
        which = np.concatenate([np.zeros(0, np.int64), *looked.found])
        found = np.unique(np.repeat(of[told], [*map(len, looked.found)]) << 32 | which)  # several may find one
        which, question, place = self._pairs(asked, looked, found & 0xFFFFFFFF, found >> 32, places)
        home = np.zeros(len(which), np.int64)
        if langs is not None:
            at = {code: i for i, code in enumerate(langs)}
            own = np.array([at.get(code, -1) for code in looked.langs], np.int64)[which]
            home = np.where(own >= 0, own, np.array([at.get(code, -1) for code in asked.langs], np.int64)[place])
            here = np.flatnonzero(home >= 0)
            which, question, place = which[here], question[here], place[here]
            home = home[here] if alone else np.zeros(len(here), np.int64)  # in one ranking a document stands once
        scores = self._scores(asked, place, taken(looked.rows, which))
        best = _best(which, question, home, scores) if beside else slice(None)
        return _Scored(looked.ids, which[best], question[best], home[best], scores[best])

    def _pairs(
        self, asked: QueryTerms, looked: Looked, which: Integers, question: Integers, questions: Sequence[range]
    ) -> tuple[Integers, Integers, Integers]:
        """What is scored: documents, each with a question it was found for, and which of its queries it is held
        against: that of its own language, and those of others that it holds."""
        codes = {code: i for i, code in enumerate(dict.fromkeys(looked.langs))}
        lang = np.array([*map(codes.__getitem__, looked.langs)], np.int64)
        spoken = np.full((len(questions), len(codes)), -1)  # what each question says in each language
        for row, places in enumerate(questions):
            for place in places:
                if asked.langs[place] in codes:
                    spoken[row, codes[asked.langs[place]]] = place
        own = spoken[question, lang[which]]
        here = np.flatnonzero(own >= 0)
        some = [(which[here], question[here], own[here])]
        for place, holds in self._beside(asked.langs, looked.rows):
            row = next(row for row, places in enumerate(questions) if place in places)
            here = np.flatnonzero(holds[which] & (question == row))
            some.append((which[here], question[here], np.full(len(here), place)))
        which, question, own = (np.concatenate(parts) for parts in zip(*some, strict=True))
        return which, question, own

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
        signs = self._signs()

        def against(id: str, langs: Container[str]) -> tuple[Query, list[Match]]:
            (own,), rows = self._store.read_sparse(self._name, [id])
            here = np.append(rows.indices, np.uint32(0))[rows.indices.searchsorted(signs)] == signs
            held = {own, *compress(self._statistics.beside, here.tolist())}
            said = [place for place, query in enumerate(queries) if query.lang in langs and query.lang in held]
            every = asked() if said else None
            shared = self._shared(every, said, [*map(cut, said)], rows) if every else []
            found = zip([queries[place] for place in said], shared, strict=False)
            return max(found, key=lambda pair: sum(match.score for match in pair[1]), default=(Query("", "", ""), []))

        return against

    def _cut(self, query: Query) -> _QueryWords:
        cut = self.shares(query)
        words = [(one.source, word) for one in cut for word in one.words]
        clauses = np.repeat(np.arange(len(cut)), [len(one.words) for one in cut])
        layout, fields = self._statistics.layout, np.flatnonzero(self._factors).tolist()
        fields += [layout.field(INNER)] if self.looks_inside else []
        hashes = np.concatenate([np.zeros(0), *(one.numbers[0] for one in cut)]).astype(np.int64)
        ids = layout.ids(np.array(fields)[:, None], hashes).T
        return _QueryWords(words, clauses, ids, sieve(layout.with_lengths(ids.ravel())))

    def _shared(
        self, asked: QueryTerms, places: Sequence[int], cuts: Sequence[_QueryWords], rows: SparseRows
    ) -> list[list[Match]]:
        """What each word of some queries gives a document. A clause saturates as a whole: what it gives is shared out
        by what each word adds to its tf."""
        theirs = [cut.among(rows.indices) for cut in cuts]
        here = np.concatenate(theirs)
        own = SparseRows(np.array([*map(len, theirs)]), rows.indices[here], rows.values[here])  # once for each query
        found = self._matches(asked, np.array(places), own)
        if not len(found.place):
            return [[] for _ in places]
        gained = asked.gain[found.lang, found.bags.field] / (
            found.tf + found.norms[:, None]
        )  # (parts, clauses), for one
        each = found.times[:, None] * asked.shares[found.place]  # (entries, clauses) what it adds to each clause's tf
        most = asked.most[found.lang[found.part]][:, None] if self._proportional else 1.0
        given, met = gained[found.part] * each / most, asked.keys[found.place]
        return [self._given(given, met, place, cut) for place, cut in zip(places, cuts, strict=True)]

    def _given(self, given: Doubles, met: Integers, place: int, cut: _QueryWords) -> list[Match]:
        """The words of one of the queries with what each gives, given what terms (keys, ascending) give clauses."""
        keys = (place << 32) + cut.ids.astype(np.int64)  # (words, fields)
        at = np.minimum(met.searchsorted(keys), len(met) - 1)
        there = met[at] == keys
        some = np.flatnonzero(there.any(axis=1))
        gains = np.where(there[some], given[at[some], cut.clauses[some, None]], 0.0)  # what each word gives its clause
        totals: dict[tuple[str, str], float] = {}
        for (source, word), each in zip([cut.words[i] for i in some.tolist()], gains.tolist(), strict=True):
            inner = (
                [(word if word[0] == SOUND_PREFIX else SUBWORD_PREFIX + word, [each.pop()])]
                if self.looks_inside
                else []
            )
            for term, gained in ((word, each), *inner):
                totals[source, term] = totals.get((source, term), 0.0) + sum(gained)
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


def _best(which: Integers, question: Integers, home: Integers, scores: Doubles) -> Integers:
    """Where every document stands once a question and language, with the best of its scores."""
    order = np.lexsort((-scores, home, which, question))
    new = np.zeros(len(order), bool)
    for part in (which, question, home):
        new |= np.diff(part[order], prepend=-1).astype(bool)
    return np.asarray(order[new])


def taken(rows: SparseRows, which: Integers) -> SparseRows:
    """Some of the rows, in another order."""
    starts, sizes = rows.sizes.cumsum() - rows.sizes, rows.sizes[which]
    entries = ranges(starts[which], sizes)
    return SparseRows(sizes, rows.indices.take(entries), rows.values.take(entries))
