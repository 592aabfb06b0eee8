"""Queries of several languages as arrays, so that many documents are scored for many of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from paragloss.bm25 import Doubles, Ids, Integers, ranges
from paragloss.search.clauses import Shares
from paragloss.search.indexed_fields import INNER
from paragloss.statistics import Statistics, rarity, summed
from paragloss.types import Query, SparseVector

#: How much each term counts, and each clause's df, given the terms' probabilities, their df (fields, terms), where each
#: clause's begin, and how many documents there are (fields, clauses).
Weigh: TypeAlias = Callable[[Doubles, Doubles, Integers, Doubles], tuple[Doubles, Doubles]]


class QueryTerms(NamedTuple):
    """Queries, each said in a language, as numbers. A key is a query's place and a term's id in one number, so that a
    document is only asked for words of its own language."""

    langs: tuple[str, ...]
    keys: Integers  # (keys,) of terms that some document has, ascending; the last is nobody's
    shares: Doubles  # (keys, clauses) how much of a term counts for each clause
    cells: Integers  # where shares are above nothing, key after key: most words stand for one word of the query
    many: Integers  # (keys,) how many cells each has
    gain: Doubles  # (langs, fields, clauses) field weight times the clause's idf
    average: Doubles  # (langs, fields) how long documents are
    most: Doubles  # (langs,) what a document full of the query's words would get
    weights: Doubles  # (keys,) what each counts where the store is asked

    @property
    def ids(self) -> Ids:
        """The terms that are asked for."""
        return (self.keys & 0xFFFFFFFF).astype(np.uint32)

    def linear(self, questions: Sequence[Sequence[int]]) -> list[SparseVector]:
        """What the store is asked for each question: the words of some languages at once."""
        places = np.array([*chain.from_iterable(questions)], np.int64)
        first, last = np.searchsorted(self.keys, np.stack([places, places + 1]) << 32)
        owner = np.repeat(np.repeat(np.arange(len(questions)), [*map(len, questions)]), last - first)
        which = ranges(first, last - first)
        keys, weights = summed((owner << 32) + (self.keys[which] & 0xFFFFFFFF), self.weights[which])
        edges = np.searchsorted(keys, np.arange(len(questions) + 1) << 32).tolist()
        ids, values = keys.astype(np.uint32), weights.astype(np.float32)  # the key without its question is the id
        return [SparseVector(ids[start:end], values[start:end]) for start, end in pairwise(edges)]

    def places(self, langs: Sequence[str]) -> Integers:
        """Of documents' languages, where each is said once."""
        known = {code: place for place, code in enumerate(self.langs)}
        return np.array([known.get(code, -1) for code in langs], np.int64)


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
    layout, fields = statistics.layout, factors.nonzero()[0]
    cuts, langs = [cut(query) for query in queries], tuple([query.lang for query in queries])
    clauses = [*chain.from_iterable(cuts)]
    if not clauses or not len(fields):
        return None
    each = np.array([*map(len, cuts)])
    lang = np.arange(len(each)).repeat(each)  # (clauses,) language after language
    number = ranges(np.zeros_like(each), each)  # (clauses,) which of its language's
    numbers = np.concatenate([one.numbers for one in clauses], axis=1)  # (3, terms) of one clause after the other
    of = np.arange(len(clauses)).repeat([len(one.words) for one in clauses])  # (terms,) which clause
    some = statistics.somewhere(numbers[0].astype(np.int64))
    some[of.searchsorted(np.arange(len(clauses)))] = True  # one of each clause, and what documents have: a quarter
    (hashes, chances, within), of = numbers[:, some], of[some]
    first = of.searchsorted(np.arange(len(clauses)))
    home = fields.tolist().index(layout.field("text")) if inside else -1
    looked = np.append(fields, layout.field(INNER)) if inside else fields
    ids = layout.ids(looked[:, None], hashes.astype(np.int64))  # (fields, terms)
    held = statistics.df_of(ids.ravel()).reshape(ids.shape)
    df = held[: len(fields)].astype(float)
    there, shares, average = statistics.usual(langs)
    documents, usual = there[fields][:, lang], shares[fields][:, lang]  # (fields, clauses)
    if inside:
        df[home] = np.minimum(df[home] + within * held[-1], documents[home, of])
    share, df = weigh(chances, df, first, documents)
    importance = np.array([one.weight for one in clauses])
    idf = factors[fields, None] * importance * rarity(documents, df)  # (fields, clauses)
    most = np.bincount(lang, (idf * usual).sum(axis=0), len(langs)).astype(float)  # of words nobody has, too
    most = np.where(most > 0, most, 1.0)
    idf = np.where(df > 0, idf, 0.0)
    gain = np.zeros((len(langs), len(layout.fields), number.max() + 1))
    gain[lang[:, None], fields, number[:, None]] = idf.T
    field, term = held.nonzero()
    clause, inner = of[term], field == len(fields)
    counted = np.where(inner, share[term] * within[term], share[term])
    weighed = idf[np.where(inner, home, field), clause] / (most if proportional else np.ones(len(langs)))[lang[clause]]
    every = np.append((lang[clause] << 32) + ids[field, term], len(langs) << 32)
    order = every.argsort()
    each = every[order]
    new = np.append(True, each[1:] != each[:-1])
    keys, row = each[new], np.empty(len(every), np.int64)
    row[order] = new.cumsum() - 1
    cells = row[:-1] * gain.shape[2] + number[clause]
    table = np.bincount(cells, counted, len(keys) * gain.shape[2]).astype(float).reshape(len(keys), -1)
    weights = np.bincount(row[:-1], counted * weighed, len(keys)).astype(float)
    used = np.flatnonzero(table)
    many = np.bincount(used // gain.shape[2], minlength=len(keys))
    return QueryTerms(langs, keys, table, used, many, gain, average.T, most, weights)
