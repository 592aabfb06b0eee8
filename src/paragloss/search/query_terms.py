"""Queries of several languages as arrays, so that many documents are scored for many of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from paragloss.bm25 import Doubles, Ids, Integers
from paragloss.search.clauses import Shares
from paragloss.search.indexed_fields import INNER
from paragloss.statistics import Statistics, rarity, summed
from paragloss.translation.inner import MARK, PART
from paragloss.types import Query, SparseVector

#: How much each term counts, and each clause's df, given the terms' probabilities, their df (fields, terms), where each
#: clause's begin, and how many documents there are (fields, clauses).
Weigh: TypeAlias = Callable[[Doubles, Doubles, Integers, Doubles], tuple[Doubles, Doubles]]


class QueryTerms(NamedTuple):
    """Queries, each said in a language, as numbers. A key is a query's place and a term's id in one number, so that a
    document is only asked for words of its own language."""

    langs: tuple[str, ...]
    keys: Integers  # (keys,) ascending
    shares: Doubles  # (keys, clauses) how much of a term counts for each clause
    gain: Doubles  # (langs, fields, clauses) field weight times the clause's idf
    average: Doubles  # (langs, fields) how long documents are
    most: Doubles  # (langs,) what a document full of the query's words would get
    weights: Doubles  # (keys,) what each counts where the store is asked

    @property
    def ids(self) -> Ids:
        """The terms that are asked for."""
        return (self.keys & 0xFFFFFFFF).astype(np.uint32)

    def linear(self, places: Sequence[int]) -> SparseVector:
        """What the store is asked: the words of some languages at once."""
        edges = np.searchsorted(self.keys, np.array([*places, *(place + 1 for place in places)]) << 32).tolist()
        which = [slice(*edge) for edge in zip(edges, edges[len(places) :], strict=False)]
        keys, weights = (np.concatenate([one[:0], *(one[some] for some in which)]) for one in (self.keys, self.weights))
        ids = (keys & 0xFFFFFFFF).astype(np.uint32)
        if len(places) > 1:
            return _summed(ids, weights)
        return SparseVector(ids[weights != 0], weights[weights != 0].astype(np.float32))

    def places(self, langs: Sequence[str]) -> Integers:
        """Of documents' languages, where each is said once."""
        known = {code: place for place, code in enumerate(self.langs)}
        return np.array([known.get(code, -1) for code in langs], np.int64)


class _Clauses(NamedTuple):
    """The terms of all clauses one after the other, language after language."""

    hashes: list[int]  # (terms,)
    shares: Doubles  # (terms,) their probabilities
    inside: Doubles  # (terms,) what a word counts that another holds inside: nothing in its own language
    sizes: list[int]  # (clauses,) terms of each
    lang: Integers  # (clauses,)
    number: Integers  # (clauses,) of those of its query
    importance: Doubles  # (clauses,)

    @property
    def of(self) -> Integers:
        """(terms,) which clause"""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


def query_terms(
    queries: Sequence[Query],
    cut: Callable[[Query], list[Shares]],
    statistics: Statistics,
    factors: Doubles,
    weigh: Weigh,
    *,
    proportional: bool,
    inside: bool,
) -> QueryTerms | None:
    """Queries, `cut` into their clauses; None where none has a word. `factors` are what fields count, `weigh` what
    terms do; words that others hold `inside` count as words of the text do."""
    layout, fields = statistics.layout, np.flatnonzero(factors)
    clauses = _flat(queries, cut, statistics)
    if clauses is None or not len(fields):
        return None
    lang, of, langs = clauses.lang, clauses.of, tuple(query.lang for query in queries)
    ids = layout.ids(fields[:, None], clauses.hashes)  # (fields, terms)
    documents, usual = (each[fields][:, lang] for each in statistics.usual_shares(langs))  # (fields, clauses)
    df = statistics.df_of(ids.ravel()).reshape(ids.shape).astype(float)
    inner = layout.ids(layout.field(INNER), clauses.hashes) if inside else ids[0, :0]
    within, home = clauses.inside[: len(inner)], 0
    if len(inner):
        home = fields.tolist().index(layout.field("text"))
        df[home] = np.minimum(df[home] + within * statistics.df_of(inner), documents[home, of])
    share, df = weigh(clauses.shares, df, np.cumsum([0, *clauses.sizes[:-1]]), documents)
    idf = factors[fields, None] * clauses.importance * rarity(documents, df)  # (fields, clauses)
    most = np.bincount(lang, (idf * usual).sum(axis=0), len(langs)).astype(float)  # of words nobody has, too
    most = np.where(most > 0, most, 1.0)
    gain = np.zeros((len(langs), len(layout.fields), clauses.number.max() + 1))
    gain[lang[:, None], fields, clauses.number[:, None]] = np.where(df > 0, idf, 0.0).T
    scale = most if proportional else np.ones(len(langs))
    weight = np.where(df > 0, idf, 0.0)[:, of] / scale[lang[of]]  # (fields, terms) of a whole share
    every = np.concatenate([ids.ravel(), inner])
    counted = np.concatenate([np.tile(share, len(fields)), share[: len(inner)] * within])
    weighed = np.concatenate([weight.ravel(), weight[home, : len(inner)]])
    which = np.resize(of, len(every))
    keys, row = np.unique((lang[which] << 32) + every.astype(np.int64), return_inverse=True)
    table = np.zeros((len(keys), gain.shape[2]))
    np.add.at(table, (row.ravel(), clauses.number[which]), counted)
    weights = np.bincount(row.ravel(), counted * weighed, len(keys)).astype(float)
    usually = {code: [statistics.average(field, code) for field in layout.fields] for code in set(langs)}
    return QueryTerms(langs, keys, table, gain, np.array([usually[code] for code in langs]), most, weights)


def _flat(queries: Sequence[Query], cut: Callable[[Query], list[Shares]], statistics: Statistics) -> _Clauses | None:
    hashes, shares, inside, sizes = list[int](), list[float](), list[float](), list[int]()
    owner, importance = list[tuple[int, int]](), list[float]()
    for place, query in enumerate(queries):
        known = statistics.layout.hashes(query.lang)
        for number, (_, words, weight) in enumerate(cut(query)):
            hashes.extend(map(known.__getitem__, words))
            shares += words.values()
            inside += [(1.0 if word[0] == MARK else PART) if query.clauses else 0.0 for word in words]
            sizes.append(len(words))
            owner.append((place, number))
            importance.append(weight)
    if not owner:
        return None
    lang, numbers = np.array(owner).T
    return _Clauses(hashes, np.array(shares), np.array(inside), sizes, lang, numbers, np.array(importance))


def _summed(ids: Ids, weights: Doubles) -> SparseVector:
    """A vector from entries in any order; those with one id add up, those that are zero are left out."""
    keys, total = summed(ids.astype(np.int64), weights)
    return SparseVector(keys.astype(np.uint32), total.astype(np.float32))
