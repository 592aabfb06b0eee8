"""Where a document's score came from: every searcher accounts for what it gave, and the accounts sum to the score.

Words account for themselves exactly (`met`), wrappers pass on what they made of their inner searchers' scores, and
`nearness` accounts for vectors and rerankers. docs/understand/why.md derives it. Knows nothing of how an account is
shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import singledispatch
from types import MappingProxyType
from typing import NamedTuple, Protocol

from paragloss.analysis import analyzer
from paragloss.search import calibrated
from paragloss.search.all_languages import Everywhere
from paragloss.search.calibrated import Calibrated
from paragloss.search.dense import Dense
from paragloss.search.expanded import Expanded
from paragloss.search.fused import Fused
from paragloss.search.lexical import Lexical
from paragloss.search.matches import Met, Share
from paragloss.search.merged import Merged
from paragloss.search.reranked import Reranked
from paragloss.search.structured import Nested, Probabilistic, Synonymous
from paragloss.search.translated import Reworded, Translated
from paragloss.search.vector_evidence import near, reread
from paragloss.translation.inner import MARK, WITHIN
from paragloss.translation.origins import Origins, origins
from paragloss.types import Document, Query, Ranking, Scorer, Searcher, Translator, Where

#: What words that stand as they are were met through.
AS_THEY_STAND = "bm25"
#: What names were met through that were heard, and what is said of words that stand inside longer ones.
BY_SOUND, INSIDE = "by sound", ", inside"


class Asking(NamedTuple):
    """A question that was asked of a searcher, the document that is looked at, and what translators are called."""

    query: Query
    document: Document
    k: int
    where: Where | None = None
    names: Mapping[int, str] = MappingProxyType({})
    by: Origins = MappingProxyType({})  # of words that were translated already


class Account(NamedTuple):
    """A document's score and its parts by name, or the shares of words in it; `exact` unless words were left out to see
    what they carry."""

    score: float
    shares: tuple[Share, ...] = ()
    exact: bool = True
    parts: tuple[tuple[str, Account], ...] = ()

    def scaled(self, score: float) -> Account:
        """The same proportions of another score."""
        factor = score / self.score if self.score else 0.0
        shares = tuple(share._replace(score=share.score * factor) for share in self.shares)
        parts = tuple((name, part.scaled(part.score * factor)) for name, part in self.parts)
        return self._replace(score=score, shares=shares, parts=parts)

    def flat(self) -> tuple[Share, ...]:
        """All shares, of the parts too."""
        return self.shares + tuple(share for _, part in self.parts for share in part.flat())


NOTHING = Account(0.0)


class Likely(Protocol):
    """A language that a query may be in."""

    @property
    def lang(self) -> str: ...

    @property
    def share(self) -> float: ...


def called(translators: Mapping[str, Translator]) -> dict[int, str]:
    """The names of translators, for `Asking`."""
    return {id(translator): name for name, translator in translators.items()}


def expected(searchers: Iterable[tuple[Searcher, Likely]], asking: Asking) -> Account:
    """The account of a query that may be in several languages, each with its searcher: what is to be expected."""
    each = []
    for searcher, guess in searchers:
        told = account(searcher, asking._replace(query=asking.query._replace(lang=guess.lang)))
        each.append(told.scaled(guess.share * told.score))
    return added(each)


def added(accounts: Iterable[Account]) -> Account:
    """Accounts of one document that add up, part by part."""
    some = [account for account in accounts if account.score]
    if len(some) == 1:
        return some[0]
    parts: dict[str, list[Account]] = {}
    for account in some:
        for name, part in account.parts:
            parts.setdefault(name, []).append(part)
    return Account(
        sum(account.score for account in some),
        tuple(share for account in some for share in account.shares),
        all(account.exact for account in some),
        tuple((name, added(each)) for name, each in parts.items()),
    )


def account(searcher: Searcher, asking: Asking) -> Account:
    """What a searcher gave a document, as its own ranking has it; nothing where it did not find it."""
    ranking = searcher.search([asking.query], asking.k, asking.where)[0]
    score = _score(ranking, asking)
    return _told(searcher, asking, score) if score else NOTHING


@singledispatch
def _told(searcher: Searcher, asking: Asking, score: float) -> Account:
    """What is known of a score; of a searcher that can't be looked into, nothing more."""
    return Account(score, (Share("", "", type(searcher).__name__.lower(), score),), exact=False)


@_told.register(Calibrated)
def _(searcher: Calibrated, asking: Asking, score: float) -> Account:
    """The parts by what they carried of their kind, as `calibrated.contributions` has it."""
    said = searcher.said(asking.query, asking.k, asking.where)
    id, lang = asking.document.id, asking.document.lang
    found = {str(n): (words, weight * by.get(id, 0.0)) for n, (_, words, weight, by) in enumerate(said)}
    carried = calibrated.contributions(found, score)
    depth, here = searcher.depth(asking.k), {**(asking.where or {}), "lang": [lang]}
    parts = []
    for number, (inner, _, _, _) in enumerate(said):
        if share := carried[str(number)]:
            part = _of_any(inner, asking._replace(k=depth, where=here))
            parts.append((searcher.names[number] if searcher.names else str(number), part.scaled(share)))
    return Account(score, exact=all(part.exact for _, part in parts), parts=tuple(parts))


def _of_any(searcher: Searcher, asking: Asking) -> Account:
    """As `account`, also of a document that the searcher did not find but can score."""
    found = account(searcher, asking)
    if found.score or not isinstance(searcher, Scorer):
        return found
    id, lang = asking.document.id, asking.document.lang
    score = searcher.scores(asking.query, [id], [lang]).get(id, 0.0)
    return _told(searcher, asking, score) if score else NOTHING


@_told.register(Fused)
def _(searcher: Fused, asking: Asking, score: float) -> Account:
    """Every fusion is a sum over its searchers."""
    parts = []
    for number, (inner, given) in enumerate(searcher.given(asking.query, asking.k, asking.where)):
        if share := given.get(asking.document.id, 0.0):
            part = account(inner, asking._replace(k=searcher.depth(asking.k)))
            parts.append((str(number + 1), part.scaled(share)))
    return Account(score, exact=all(part.exact for _, part in parts), parts=tuple(parts))


@_told.register(Lexical)
@_told.register(Nested)
@_told.register(Probabilistic)
@_told.register(Synonymous)
def _(searcher: Lexical | Nested | Probabilistic | Synonymous, asking: Asking, score: float) -> Account:
    return _worded(searcher.met(asking.query, asking.document.id), asking.query, score, asking.by)


@_told.register(Everywhere)
def _(searcher: Everywhere, asking: Asking, score: float) -> Account:
    lang = asking.document.lang
    said = next(query for query in searcher.translations(asking.query, [lang]) if query.lang == lang)
    return _translated(searcher.searcher, searcher.translator, asking, score, said)


@_told.register(Translated)
def _(searcher: Translated, asking: Asking, score: float) -> Account:
    here = asking._replace(where={**(asking.where or {}), "lang": [asking.document.lang]})
    return _translated(searcher.searcher, searcher.translator, here, score, searcher.translate(asking.query))


@_told.register(Reworded)
def _(searcher: Reworded, asking: Asking, score: float) -> Account:
    return _translated(searcher.searcher, searcher.translator, asking, score, searcher.translate(asking.query))


@_told.register(Merged)
def _(searcher: Merged, asking: Asking, score: float) -> Account:
    for inner in searcher.searchers:
        if (found := account(inner, asking)).score:
            return found.scaled(score)
    return NOTHING


@_told.register(Expanded)
def _(searcher: Expanded, asking: Asking, score: float) -> Account:
    again = searcher.again(asking.query, asking.where)
    return account(searcher.searcher, asking._replace(query=again)).scaled(score)


@_told.register(Dense)
def _(searcher: Dense, asking: Asking, score: float) -> Account:
    shares, exact = near(searcher, asking.query, asking.document, score)
    return Account(score, tuple(shares), exact)


@_told.register(Reranked)
def _(searcher: Reranked, asking: Asking, score: float) -> Account:
    shares, exact = reread(searcher, asking.query, asking.document, score, k=asking.k, where=asking.where)
    return Account(score, tuple(shares), exact)


def _translated(searcher: Searcher, translator: Translator, asking: Asking, score: float, said: Query) -> Account:
    """Words met in translation, each with those that translated it so."""
    by = origins(translator, asking.query, said.lang, asking.names) if said.clauses else {}
    if isinstance(searcher, Lexical | Nested | Probabilistic | Synonymous):
        return _worded(searcher.met(said, asking.document.id), said, score, by)
    inner = account(searcher, asking._replace(query=said, by=by))
    return inner.scaled(score)


def _worded(met: list[Met], query: Query, score: float, by: Origins) -> Account:
    """Pairs of words; one that several translators know is shared among them by the weights they gave it."""
    words = _who(query, by)
    shares = []
    for source, word, given in met:
        bare = word.removeprefix(WITHIN)
        knowing = {BY_SOUND: 1.0} if word[0] == MARK else words.get((source, bare)) or {AS_THEY_STAND: 1.0}
        total, how = sum(knowing.values()), "" if bare == word else INSIDE
        shares += [Share(source, word, name + how, given * part / total) for name, part in knowing.items()]
    return Account(score, tuple(shares))


def _who(query: Query, by: Origins) -> dict[tuple[str, str], dict[str, float]]:
    """For every word of a translated query who knows it, with how much weight; a phrase's words share its weight."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    terms = analyzer(query.lang).terms
    for clause in query.clauses:
        for alternative in clause.alternatives:
            words = alternative.terms or tuple(terms(alternative.text))
            for name, weight in by.get((clause.source, alternative.text), {}).items():
                for word in words:
                    here = found.setdefault((clause.source, word), {})
                    here[name] = here.get(name, 0.0) + weight / len(words)
    return found


def _score(ranking: Ranking, asking: Asking) -> float:
    return next((hit.score for hit in ranking if hit.id == asking.document.id), 0.0)
