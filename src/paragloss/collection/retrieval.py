"""A query in, documents out: which language it is in, what is found for it, and how that is shown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from paragloss import languages
from paragloss.analysis.cuts import kept
from paragloss.collection import coverage, explanation
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.coverage import Understood
from paragloss.collection.display import Matcher, Result, result
from paragloss.collection.query_language import FALLBACK, Guess, bounded, checked, expected, likely
from paragloss.collection.query_language import guesses as guessed
from paragloss.collection.spelling import suggestion
from paragloss.collection.state import State
from paragloss.errors import InputError
from paragloss.formats.numbers import get_document_day
from paragloss.search import pipeline as pipelines
from paragloss.search import plan
from paragloss.search.deadline import Deadline
from paragloss.search.default_search import DefaultSearcher
from paragloss.search.evidence import added
from paragloss.search.scoring import Candidates
from paragloss.types import Account, Cut, Document, Found, Query, QueryForms, Ranking, Record, Searcher

#: Languages in which words are compared with known ones.
MOST_LANGS = 3
#: Results of a pipeline that are searched for the one that is to be explained.
DEPTH = 100
#: Where no document is more likely to answer than this, nothing is shown.
MIN_PROBABILITY = 0.02


class Evidence(NamedTuple):
    """What a search met on the way: nothing is searched again to tell of it."""

    query: Query
    found: Found
    shown: Mapping[str, tuple[Record, Sequence[Cut]]]
    pipeline: str

    def why(self, document: Document, cut: Cut) -> dict[str, Any]:
        return explanation.why(self.query, document, cut, self.found.explain(document), name=self.pipeline)


class Answer(NamedTuple):
    """What was understood and what was found."""

    query: Query
    results: list[Result]
    #: Other languages the query may have been in, likeliest first; they were searched as well.
    others: tuple[str, ...] = ()
    #: How many words the query has, and which of them nobody understood.
    understood: Understood = Understood(0, ())
    #: Where nothing was found: what was searched for in each language.
    searched: Mapping[str, str] = MappingProxyType({})
    #: The query as it may have been meant, where words of it are nobody's; searched as well where nothing else fits.
    suggestion: str = ""
    #: What was met on the way to the results.
    evidence: Evidence | None = None

    def why(self, id: str) -> dict[str, Any]:
        """Which words of the query met which of a result, through what, and how much of the score that carried."""
        if self.evidence is None or id not in self.evidence.shown:
            raise InputError(f"no document {id!r} among the results: give the id of one that was found")
        record, cuts = self.evidence.shown[id]
        return self.evidence.why(record.document, cuts[0])

    def as_json(self) -> dict[str, Any]:
        words: dict[str, Any] = {"words": self.understood.words, "unknown": list(self.understood.unknown)}
        words |= {"searched": dict(self.searched)} if self.searched else {}
        words |= {"suggestion": self.suggestion} if self.suggestion else {}
        return {
            "query": {"text": self.query.text, "lang": self.query.lang, "others": list(self.others), **words},
            "results": [{**result._asdict(), "meta": dict(result.meta)} for result in self.results],
        }


def search(state: State, text: str, options: SearchOptions) -> Answer:
    """Find documents for a query and show what matched; names alone are taken for words of the reader's language."""
    state.index.catch_up()
    query, shares = understood(state, Query("", text, options.lang or ""), options.reader or FALLBACK)
    parts, targets = state.parts(options.deadline), targets_of(state, options.to)
    options, k = replace(options, k=max(options.k, options.newest)), options.k
    ((found, searcher),) = _found(state, parts, [(query, shares)], options)
    words = coverage.understood(query, found.forms, state.index.statistics, targets)
    meant = suggested(state, query, certain=bool(options.lang))
    fits = found and len(words.unknown) < words.words and (options.lang or query.lang in state.langs)
    shown = query
    if meant and not fits:
        shown = meant
        ((other, searcher),) = _found(state, parts, [(meant, [Guess(meant.lang, 1.0)])], options)
        found = _expected([(1.0, other), (1.0, found)], options.k)
    every = {each.id: each for each in _without_texts(state, found)} if options.newest else {}
    newest = sorted(every, key=lambda id: get_document_day(every[id].meta) or 0.0, reverse=True)
    ids = newest[:k] if options.newest else [hit.id for hit in found]
    cut = {record.document.id: (record, kept(record)) for record in state.records(ids)}
    every = every or {id: record.document for id, (record, _) in cut.items()}
    results = _results(state, searcher, shown, found, every, list(cut.values()), options.deadline)
    searched = coverage.searched(query, found.forms, targets) if not results else {}
    others = tuple(guess.lang for guess in shares[1:])
    evidence = Evidence(query, found, cut, options.pipeline or "bm25")
    return Answer(query, results, others, words, searched, meant.text if meant else "", evidence)


def _results(
    state: State,
    searcher: Searcher,
    query: Query,
    found: Found,
    documents: Mapping[str, Document],
    shown: Sequence[tuple[Record, Sequence[Cut]]],
    deadline: Deadline | None,
) -> list[Result]:
    """Those that are shown of what a searcher found, as a person sees them; nothing where no document answers."""
    fits = dict[str, tuple[float, float]]()
    for id, score in [hit for hit in found if hit.id in documents]:  # others were deleted meanwhile
        best = searcher.best(documents[id].lang)
        most = best if 0 < best < math.inf else max(found[0].score, 1e-9)
        fits[id] = score, score / most
    is_answered = not isinstance(searcher, DefaultSearcher) or (bool(found) and found[0].score >= MIN_PROBABILITY)
    matcher = Matcher(query, found.forms, state, [record.document.id for record, _ in shown])
    results = list[Result]()
    for record, cuts in shown if is_answered else ():
        if deadline:
            deadline.check()
        results.append(result(matcher, record, cuts, *fits[record.document.id]))
    return results


def why(state: State, query: Query, id: str, options: SearchOptions) -> dict[str, Any]:
    """Why a search finds a document, among its best hundred at least; one search."""
    state.index.catch_up()
    query, shares = understood(state, query, options.reader or FALLBACK)
    record = next(iter(state.records([id])), None)
    if record is None:
        raise InputError(f"no document {id!r} in this collection: give the id of one that was found")
    parts = state.parts(options.deadline)
    ((found, _),) = _found(state, parts, [(query, shares)], options, depth=DEPTH)
    return Evidence(query, found, {}, options.pipeline or "bm25").why(record.document, kept(record)[0])


def matcher(state: State, text: str, id: str, options: SearchOptions) -> Matcher:
    """What says which words of a document speak for a query, as a search for it does."""
    query, shares = understood(state, Query("", text, options.lang or ""))
    ((found, _),) = _found(state, state.parts(options.deadline), [(query, shares)], options)
    return Matcher(query, found.forms, state, [id])


def suggested(state: State, query: Query, *, certain: bool) -> Query | None:
    """The query as it may have been meant, where nobody knows words of it: in its language where that was said or
    is one of the collection's, else in those and in the fallback."""
    statistics, model = state.index.statistics, state.default
    here = dict.fromkeys([*([query.lang] if query.lang in state.langs else []), FALLBACK, *state.langs])
    return suggestion(query, [query.lang] if certain else list(here)[:MOST_LANGS], statistics, model)


def rank(state: State, queries: Sequence[Query], options: SearchOptions) -> list[Ranking]:
    """One ranking per query: what `search` shows, without the showing."""
    state.index.catch_up()
    asked = [query if query.lang else query._replace(lang=options.lang or "") for query in queries]
    found = _found(state, state.parts(options.deadline), [understood(state, query) for query in asked], options)
    return [list(ranking) for ranking, _ in found]


def collect_candidates(state: State, text: str, options: SearchOptions) -> Candidates:
    """Return the candidates of the default search for a query, with the features that they are scored by.

    The query is taken to be in its likeliest language. See `search.scoring` for what the features are.
    """
    state.index.catch_up()
    query, _ = understood(state, Query("", text, options.lang or ""))
    targets = targets_of(state, options.to)
    searcher = pipelines.build(state.parts(options.deadline), None, source=query.lang, targets=targets)
    assert isinstance(searcher, DefaultSearcher)
    where = {**(options.where or {}), "lang": targets} if options.to is not None else options.where
    return searcher.collect(query, options.k, where).candidates


def candidates(state: State, text: str, options: SearchOptions) -> tuple[Query, list[Document]]:
    """The best documents, without their texts."""
    state.index.catch_up()
    query, shares = understood(state, Query("", text, options.lang or ""))
    ((ranking, _),) = _found(state, state.parts(options.deadline), [(query, shares)], options)
    return query, _without_texts(state, ranking)


def _without_texts(state: State, ranking: Ranking) -> list[Document]:
    there = state.store.get([hit.id for hit in ranking], text=False)
    return [record.document for record in there if record is not None]


def guesses(state: State, text: str) -> list[Guess]:
    """The languages a query may be in, likeliest first, with how likely each is."""
    return guessed(text, state.index.statistics, {**state.translators(), **state.models})


def understood(state: State, query: Query, reader: str = FALLBACK) -> tuple[Query, list[Guess]]:
    """The query with its language, and which it may be in: as said, or found out, with doubt more than one."""
    query = checked(query)
    models = {**state.translators(), **state.models}
    found = [Guess(query.lang, 1.0)] if query.lang else likely(guesses(state, query.text), query.text, models, reader)
    return bounded(query._replace(lang=found[0].lang)), found


def searcher(
    state: State, pipeline: str | None, source: str, targets: Sequence[str], deadline: Deadline | None = None
) -> Searcher:
    """What a pipeline nests to search this collection."""
    return pipelines.build(state.parts(deadline), pipeline, source=source, targets=targets)


def targets_of(state: State, to: Sequence[str] | None) -> list[str]:
    """The languages that are searched: all of the collection's where none is said."""
    if isinstance(to, str):
        raise InputError(f"`to` takes a list of languages, got {to!r}: write to=[{to!r}]")
    return [languages.normalise(lang) for lang in to] if to is not None else list(state.langs)


def _found(
    state: State,
    parts: pipelines.Parts,
    asked: Sequence[tuple[Query, Sequence[Guess]]],
    options: SearchOptions,
    *,
    depth: int = 0,
) -> list[tuple[Found, Searcher]]:
    """For each query what is found, and the searcher of its likeliest language. A query that may be in one of several
    languages is searched in each, and a document has the score it is to be expected to have. Where no document meets
    the conditions nobody need search. At least `depth` hits are looked at."""
    targets, where, k = targets_of(state, options.to), options.where, options.k
    nothing = bool(where) and next(state.store.scroll(where, batch=1, text=False), None) is None
    if options.to is not None:
        where = {**(where or {}), "lang": targets}
    found: list[list[tuple[float, Found]]] = [[] for _ in asked]
    searchers: dict[str, Searcher] = {}
    for source in dict.fromkeys(guess.lang for _, shares in asked for guess in shares):
        which = [(i, g.share) for i, (_, shares) in enumerate(asked) for g in shares if g.lang == source]
        queries = [asked[i][0]._replace(lang=source) for i, _ in which]
        searcher = searchers[source] = pipelines.build(parts, options.pipeline, source=source, targets=targets)
        unasked = [Found(forms=plan.forms(searcher, query)) for query in queries] if nothing else []
        rankings = unasked or searcher.search(queries, max(k, depth), where)
        for (i, share), ranking in zip(which, rankings, strict=True):
            found[i].append((share, ranking))
    return [
        (_expected(rankings, k), searchers[shares[0].lang]) for rankings, (_, shares) in zip(found, asked, strict=True)
    ]


def _expected(found: Sequence[tuple[float, Found]], k: int) -> Found:
    """Of rankings with how likely each is the right one: every document with the score that is to be expected. Of
    how far it stands out, what says most."""
    if len(found) == 1:
        return found[0][1]

    def account(document: Document, _: float) -> Account:
        hit = any(ranking.score(document.id) for _, ranking in found)
        scores = [ranking.score(document.id) if hit else None for _, ranking in found]
        each = [ranking.explain(document, score=s) for (_, ranking), s in zip(found, scores, strict=True)]
        return added(one.scaled(share * one.score) for (share, _), one in zip(found, each, strict=True))

    def whole() -> Ranking:
        every = [(share, ranking.whole()) for share, ranking in found]
        return expected(every, sum(len(ranking) for _, ranking in every))

    forms = QueryForms.joined(ranking.forms for _, ranking in found)
    return Found(expected(found, k), account, forms=forms, whole=whole)
