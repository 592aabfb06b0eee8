"""A query in, documents out: which language it is in, what is found for it, and how that is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from paragloss import languages
from paragloss.collection import calibration, coverage
from paragloss.collection.backfill import best_passages
from paragloss.collection.coverage import Understood
from paragloss.collection.display import Result, Said, result
from paragloss.collection.query_language import HUB, Guess, bounded, checked, expected, likely
from paragloss.collection.query_language import guesses as guessed
from paragloss.collection.spelling import suggestion
from paragloss.collection.state import Held
from paragloss.errors import InputError
from paragloss.search import pipeline as pipelines
from paragloss.search.all_languages import Everywhere
from paragloss.search.calibrated import Calibrated, standing
from paragloss.search.deadline import Deadline
from paragloss.search.lexical import Lexical
from paragloss.types import Query, Ranking, Searcher, Where

#: Of each document its evidence, and how far it stands out.
Standing: TypeAlias = dict[str, tuple[float, float]]
#: Languages in which words are compared with known ones.
MOST_LANGS = 3


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

    def as_json(self) -> dict[str, Any]:
        words: dict[str, Any] = {"words": self.understood.words, "unknown": list(self.understood.unknown)}
        words |= {"searched": dict(self.searched)} if self.searched else {}
        words |= {"suggestion": self.suggestion} if self.suggestion else {}
        return {
            "query": {"text": self.query.text, "lang": self.query.lang, "others": list(self.others), **words},
            "results": [{**result._asdict(), "meta": dict(result.meta)} for result in self.results],
        }


def search(
    held: Held,
    text: str,
    *,
    lang: str | None = None,
    to: Sequence[str] | None = None,
    k: int = 10,
    pipeline: str | None = None,
    where: Where | None = None,
    deadline: Deadline | None = None,
    reader: str = "",
) -> Answer:
    """Find documents for a query and show what matched; names alone are taken for words of the reader's language."""
    held.index.catch_up()
    query, shares = understood(held, Query("", text, lang or ""), reader or HUB)
    how: dict[str, Any] = {"k": k, "to": to, "pipeline": pipeline, "where": where, "deadline": deadline}
    standings: list[Standing] = []
    (ranking,) = _ranked(held, [(query, shares)], standings=standings, **how)
    parts, targets = held.parts(deadline), targets_of(held, to)
    words = coverage.understood(query, parts.translators.values(), held.index.statistics, targets)
    meant = suggested(held, query, said=bool(lang))
    fits = ranking and len(words.unknown) < words.words and (lang or query.lang in held.langs)
    shown = query
    if meant and not fits:
        shown = meant
        (other,) = _ranked(held, [(meant, [Guess(meant.lang, 1.0)])], standings=standings, **how)
        ranking = expected([(1.0, ranking), (1.0, other)], k)
    here = {record.document.id: record for record in held.records([hit.id for hit in ranking])}
    found = [(here[hit.id], hit.score) for hit in ranking if hit.id in here]  # others were deleted meanwhile
    best = pipelines.attainable(parts, pipeline, source=shown.lang, targets=targets)
    models = {**held.models, **parts.translators}
    passages = best_passages(held.models, shown, [record for record, _ in found])
    results, said, answered = [], Said(shown, models), False
    for record, score in found:
        if deadline:
            deadline.check()
        document = record.document
        most = best.get(document.lang) or max(ranking[0].score, 1e-9)
        number = held.index.statistics.documents("text", document.lang)
        stood = max((s[document.id] for s in standings if document.id in s), default=None)  # None: it was not fused
        fit = calibration.fit(stood, most, number) if stood else score / most
        answered |= not stood or calibration.answers(stood, most, number)
        results.append(result(said, record, score, fit, passage=passages.get(document.id)))
    results = results if answered else []
    searched = coverage.searched(query, parts.translators.values(), targets) if not results else {}
    others = tuple(guess.lang for guess in shares[1:])
    return Answer(query, results, others, words, searched, meant.text if meant else "")


def suggested(held: Held, query: Query, *, said: bool) -> Query | None:
    """The query as it may have been meant, where nobody knows words of it: in its language where that was said or
    is one of the collection's, else in those and the hub's."""
    statistics, model = held.index.statistics, held.default
    here = dict.fromkeys([*([query.lang] if query.lang in held.langs else []), HUB, *held.langs])
    return suggestion(query, [query.lang] if said else list(here)[:MOST_LANGS], statistics, model)


def rank(
    held: Held,
    queries: Sequence[Query],
    *,
    k: int,
    to: Sequence[str] | None = None,
    pipeline: str | None = None,
    where: Where | None = None,
    deadline: Deadline | None = None,
) -> list[Ranking]:
    """One ranking per query: what `search` shows, without the showing."""
    held.index.catch_up()
    asked = [understood(held, query) for query in queries]
    return _ranked(held, asked, k=k, to=to, pipeline=pipeline, where=where, deadline=deadline)


def spread(
    held: Held, text: str, *, lang: str | None, k: int, where: Where | None, deadline: Deadline | None = None
) -> tuple[Query, Counter[str]]:
    """How many of the best documents are in which language; their texts are not read."""
    held.index.catch_up()
    query, shares = understood(held, Query("", text, lang or ""))
    (ranking,) = _ranked(held, [(query, shares)], k=k, to=None, pipeline=None, where=where, deadline=deadline)
    records = held.store.get([hit.id for hit in ranking], text=False)
    return query, Counter(record.document.lang for record in records if record)


def guesses(held: Held, text: str) -> list[Guess]:
    """The languages a query may be in, likeliest first, with how likely each is."""
    return guessed(text, held.index.statistics, {**held.translators(), **held.models})


def understood(held: Held, query: Query, reader: str = HUB) -> tuple[Query, list[Guess]]:
    """The query with its language, and which it may be in: as said, or found out, with doubt more than one."""
    query = checked(query)
    models = {**held.translators(), **held.models}
    found = [Guess(query.lang, 1.0)] if query.lang else likely(guesses(held, query.text), query.text, models, reader)
    return bounded(query._replace(lang=found[0].lang)), found


def searcher(
    held: Held, pipeline: str | None, source: str, targets: Sequence[str], deadline: Deadline | None = None
) -> Searcher:
    """What a pipeline nests to search this collection."""
    return pipelines.build(held.parts(deadline), pipeline, source=source, targets=targets)


def targets_of(held: Held, to: Sequence[str] | None) -> list[str]:
    """The languages that are searched: all of the collection's where none is said."""
    if isinstance(to, str):
        raise InputError(f"`to` takes a list of languages, got {to!r}: write to=[{to!r}]")
    return [languages.normalise(lang) for lang in to] if to is not None else list(held.langs)


def _ranked(
    held: Held,
    asked: Sequence[tuple[Query, Sequence[Guess]]],
    *,
    k: int,
    to: Sequence[str] | None,
    pipeline: str | None,
    where: Where | None,
    deadline: Deadline | None,
    standings: list[Standing] | None = None,
) -> list[Ranking]:
    """A query that may be in one of several languages is searched in each, and a document has the score it is to be
    expected to have. Where no document meets the conditions nobody need search. What stood behind each ranking is added
    to `standings`."""
    targets = targets_of(held, to)
    nothing = bool(where) and next(held.store.scroll(where, batch=1, text=False), None) is None
    if to is not None:
        where = {**(where or {}), "lang": targets}
    found: list[list[tuple[float, Ranking]]] = [[] for _ in asked]
    behind: list[Standing] = [{} for _ in asked]
    for source in dict.fromkeys(guess.lang for _, shares in asked for guess in shares):
        which = [(i, g.share) for i, (_, shares) in enumerate(asked) for g in shares if g.lang == source]
        queries = [asked[i][0]._replace(lang=source) for i, _ in which]
        made = searcher(held, pipeline, source, targets, deadline)
        words = standings is not None and isinstance(made, Lexical | Everywhere)
        # One more, to see how far the last stands out.
        rankings: list[Ranking] = [[] for _ in queries] if nothing else made.search(queries, k + words, where)
        told: list[Standing] = [{} for _ in rankings]
        if isinstance(made, Calibrated) and not nothing:
            told = made.standings
        elif words:
            told = [standing({hit.id: hit.score for hit in ranking}) for ranking in rankings]
            rankings = [ranking[:k] for ranking in rankings]
        for (i, share), ranking, stood in zip(which, rankings, told, strict=True):
            found[i].append((share, ranking))
            for id, said in stood.items():  # of readings in several languages the one that says most
                behind[i][id] = max(behind[i].get(id, said), said)
    if standings is not None:
        standings += behind
    return [rankings[0][1] if len(rankings) == 1 else expected(rankings, k) for rankings in found]
