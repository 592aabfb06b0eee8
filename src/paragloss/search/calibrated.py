"""Several searchers over documents of several languages, one ranking, without judgments to learn weights from.

Each part's scores become shares of what is possible, query by query and language by language; what one part finds the
others score too; parts that look at words and parts that look at meaning are two kinds of evidence; languages meet by
how sure each is of its own documents. docs/understand/fusion.md derives it. Knows nothing of what the parts are made
of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from paragloss.ranking import rank, top
from paragloss.types import Account, Document, Found, Hit, Polyglot, Query, QueryForms, Ranking, Searcher, Where

N = TypeVar("N")

#: A question to a part: for each query a ranking of each language.
Asked: TypeAlias = Callable[[], list[list[Found]]]
#: How fast a language's belief falls below its best document; chosen on held-out passages (docs/understand/fusion.md).
SHARPNESS = 80.0
#: How many hits of each part are looked at in each language.
DEPTH = 100
#: Beside parts of another kind so many of them, or as many as are wanted, and their scores by every part.
_CLOSELY = 50
#: So many languages are many, and so many hits of each are then enough: the same best one as with a hundred for all
#: of 150 titles in fifteen languages and .973 of the best ten (with thirty .979, in 1.4 times the time).
_MANY, _ENOUGH = 4, 20
#: So many documents of a language count as much as all languages' for where its field lies.
_FEW = 10
#: A language's document of this place is what its best ones are held against; what is below it counts this much.
_TENTH, _BELOW = 10, 0.01
#: What documents in the query's own language count beside others: what is not translated is surer, and the page that
#: was asked for stands before its translations (docs/understand/fusion.md).
OWN = 1.1


class Gathered(NamedTuple):
    """What the parts of a search found for a query in the language `asked`: each part's rankings, the scores of
    documents that only others found, and what each says of documents, all of them language by language."""

    asked: str
    langs: Sequence[str]
    rankings: Sequence[Sequence[Found]]
    scored: Sequence[Sequence[Mapping[str, float]]]
    shares: Sequence[Sequence[Mapping[str, float]]]

    def explain(self, part: int, document: Document) -> Account:
        """What one part says of a document: in its own language, else in another that it holds."""
        each = zip(self.langs, self.rankings[part], self.scored[part], strict=True)
        for _, ranking, scores in sorted(each, key=lambda item: item[0] != document.lang):
            if (account := ranking.explain(document, score=scores.get(document.id))).score:
                return account
        return Account(0.0)


class Calibrated:
    """`words` give shares of the query's weight (`proportional`), `meanings` cosines; every part may have a weight.

    A part that finds nothing in a language says nothing about it. Where both kinds are, a document that one part found
    is scored by every part that can (`Found.scores`); of the others it has nothing. `langs` are searched one by one,
    unless the filter names others. `at_once` puts the parts' questions: one after the other, or side by side.
    """

    def __init__(
        self,
        words: Sequence[tuple[Searcher, float]],
        meanings: Sequence[tuple[Searcher, float]],
        *,
        langs: Sequence[str],
        depth: int = DEPTH,
        names: Sequence[str] = (),
        at_once: Callable[[Sequence[Asked]], list[list[list[Found]]]] | None = None,
    ) -> None:
        self._words = [searcher for searcher, _ in words]
        self._meanings = [searcher for searcher, _ in meanings]
        self._weights = [weight for _, weight in (*words, *meanings)]
        self._langs, self._depth = tuple(langs), depth
        self._at_once = at_once or _in_turn
        #: What the parts are called, words first; nobody needs to know who only searches.
        self.names = tuple(names)

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Found]:
        return [self._merged(gathered, k) for gathered in self.gather(queries, k, where)]

    def best(self, lang: str) -> float:
        """Words and meaning each give at most their share."""
        parts = list(zip([*self._words, *self._meanings], self._weights, strict=True))
        kinds = parts[: len(self._words)], parts[len(self._words) :]
        return sum(max((weight for part, weight in kind if part.best(lang)), default=0.0) for kind in kinds)

    @property
    def weights(self) -> tuple[float, ...]:
        """What each part counts: words, then meanings."""
        return tuple(self._weights)

    def gather(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Gathered]:
        """For each query what each part says of its documents, language by language."""
        langs = list(dict.fromkeys(str(lang) for lang in (where or {}).get("lang", self._langs)))
        parts = [*self._words, *self._meanings]
        found = self._at_once([partial(by_language, part, queries, self.depth(k), langs, where) for part in parts])
        return [self._calibrated(query.lang, k, langs, [part[i] for part in found]) for i, query in enumerate(queries)]

    def depth(self, k: int) -> int:
        """How many hits of each part are looked at; of words in many languages fewer of each."""
        many = len(self._langs) >= _MANY and not self._meanings
        return max(k, min(self._depth, _ENOUGH) if many else self._depth)

    def _merged(self, gathered: Gathered, k: int) -> Found:
        langs = self.weighed(gathered.shares, self.weights)
        stood = dict[str, tuple[float, float]]()
        for lang in langs:
            stood.update(standing(lang))
        counting = [OWN if lang == gathered.asked else 1.0 for lang in gathered.langs]
        whole = partial(merged, langs, len(stood), counting)
        forms = QueryForms.joined(ranking.forms for part in gathered.rankings for ranking in part)
        return Found(
            merged(langs, k, counting), partial(self._account, gathered), forms=forms, standing=stood, whole=whole
        )

    def _account(self, gathered: Gathered, document: Document, score: float) -> Account:
        """The parts by what they carried of their kind, as `contributions` has it."""
        each = [[lang[document.id] for lang in part if document.id in lang] for part in gathered.shares]
        weighed = [weight * (some or [0.0])[-1] for some, weight in zip(each, self._weights, strict=True)]
        carried = contributions({n: (n < len(self._words), share) for n, share in enumerate(weighed)}, score)
        parts = []
        for number, share in carried.items():
            if share:
                part = gathered.explain(number, document).scaled(share)
                parts.append((self.names[number] if self.names else str(number), part))
        return Account(score, exact=all(part.exact for _, part in parts), parts=tuple(parts))

    def weighed(
        self, given: Sequence[Sequence[Mapping[str, float]]], weights: Sequence[float]
    ) -> list[dict[str, float]]:
        """One query's documents with their evidence, language by language."""
        first, weighed = len(self._words), list(zip(given, weights, strict=True))
        return [
            evidence([(part[i], w) for part, w in weighed[:first]], [(part[i], w) for part, w in weighed[first:]])
            for i in range(len(given[0]))
        ]

    def _calibrated(self, asked: str, k: int, langs: Sequence[str], found: Sequence[Sequence[Found]]) -> Gathered:
        """Where both kinds are, of documents that some part has among its best: every part that can scores them."""
        if not (self._words and self._meanings):
            each = [[shares(ranking) for ranking in part] if self._words else ways(part) for part in found]
            return Gathered(asked, langs, found, [[{} for _ in langs] for _ in found], each)
        words, best = len(self._words), max(k, _CLOSELY)
        union = [
            dict.fromkeys(hit.id for ranking in here for hit in ranking[:best]) for here in zip(*found, strict=True)
        ]
        given, scored = [], []
        for number, rankings in enumerate(found):
            more = self._filled(langs, rankings, union, self.depth(k))
            part = _shares(rankings, more) if number < words else ways(rankings, more)
            given.append([{id: lang[id] for id in ids if id in lang} for ids, lang in zip(union, part, strict=True)])
            scored.append(more)
        return Gathered(asked, langs, found, scored, given)

    def _filled(
        self,
        langs: Sequence[str],
        rankings: Sequence[Found],
        union: Sequence[Mapping[str, None]],
        depth: int,
    ) -> list[dict[str, float]]:
        """What a part says of documents that only others found, language by language. One that found fewer than it was
        asked for has found all it knows."""
        has = [
            {hit.id for hit in ranking} if len(ranking) >= depth else set(ids)
            for ranking, ids in zip(rankings, union, strict=True)
        ]
        lacking = [[id for id in ids if id not in mine] for ids, mine in zip(union, has, strict=True)]
        asked = [id for ids in lacking for id in ids]
        if not asked:
            return [{} for _ in langs]
        scores = rankings[0].scores(asked, [lang for lang, ids in zip(langs, lacking, strict=True) if ids])
        return [{id: scores[id] for id in ids if id in scores} for ids in lacking]


def _in_turn(asks: Sequence[Asked]) -> list[list[list[Found]]]:
    return [ask() for ask in asks]


def by_language(
    searcher: Searcher, queries: Sequence[Query], k: int, langs: Sequence[str], where: Where | None
) -> list[list[Found]]:
    """For each query a ranking of each language's documents: all at once where the searcher can."""
    if isinstance(searcher, Polyglot):
        return searcher.by_language(queries, k, langs, where)
    each = [searcher.search(queries, k, {**(where or {}), "lang": [lang]}) for lang in langs]
    return [list(rankings) for rankings in zip(*each, strict=True)] if each else [[] for _ in queries]


def shares(ranking: Ranking) -> dict[str, float]:
    """Scores that are shares of the query's weight already; below nothing counts as nothing."""
    return {id: score if score > 0 else 0.0 for id, score in ranking}


def _shares(rankings: Sequence[Ranking], more: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    return [{**shares(ranking), **others} for ranking, others in zip(rankings, more, strict=True)]


def ways(rankings: Sequence[Ranking], more: Sequence[Mapping[str, float]] = ()) -> list[dict[str, float]]:
    """How much of the way from the field to a perfect match each document has come, in each language; one that is
    below the field (`more`: scores of documents this part did not find) has gone back. The field is the last hit: what
    a cosine is worth differs from model to model, from query to query and from language to language. A
    language with few documents leans on the field of all; one document alone stands out from nothing."""
    hits = [hit.score for ranking in rankings for hit in ranking]
    if not hits:
        return [{} for _ in rankings]
    lowest, perfect = min(hits), max(1.0, *hits)
    found = []
    for ranking, others in zip(rankings, more or [{} for _ in rankings], strict=True):
        last = ranking[-1].score if ranking else lowest
        field = (len(ranking) * last + _FEW * lowest) / (len(ranking) + _FEW)
        whole = perfect - field if perfect > field else 1.0
        above = {hit.id: max(hit.score - field, 0.0) / whole for hit in ranking}
        found.append({**above, **{id: (score - field) / whole for id, score in others.items()}})
    return found


def evidence(
    words: Sequence[tuple[Mapping[str, float], float]], meanings: Sequence[tuple[Mapping[str, float], float]]
) -> dict[str, float]:
    """Of one kind the parts say much the same, each for what it knows: root of the sum of squares, between their
    greatest and their sum. The two kinds know different things: they are added."""
    total: dict[str, float] = {}
    for kind in (words, meanings):
        some = [(part, weight) for part, weight in kind if part]
        if len(some) == 1:
            joined = {id: weight * score for part, weight in some for id, score in part.items()}
        else:
            joined = _joined(some)
        total = {**total, **{id: total.get(id, 0.0) + score for id, score in joined.items()}} if total else joined
    return total


def _joined(parts: Sequence[tuple[Mapping[str, float], float]]) -> dict[str, float]:
    """What speaks for each document, less what speaks against it."""
    speaking: dict[str, float] = {}
    against: dict[str, float] = {}
    for part, weight in parts:
        for id, score in part.items():
            weighed = weight * score
            side = speaking if weighed >= 0 else against
            side[id] = side.get(id, 0.0) + weighed * weighed
    joined = {id: math.sqrt(square) for id, square in speaking.items()}
    for id, square in against.items():
        joined[id] = joined.get(id, 0.0) - math.sqrt(square)
    return joined


def contributions(parts: Mapping[N, tuple[bool, float]], score: float) -> dict[N, float]:
    """How much of a document's score each part carried; `parts` have their kind (words or not) and what they said of
    it. Within a kind by squares, so that all sum to the score; what spoke against it is below nothing."""
    carried = dict.fromkeys(parts, 0.0)
    for kind, sign in ((True, 1), (True, -1), (False, 1), (False, -1)):
        some = {name: given for name, (words, given) in parts.items() if words == kind and sign * given > 0}
        whole = math.hypot(*some.values())
        carried |= {name: sign * given * given / whole for name, given in some.items()}
    total = sum(carried.values())
    return {name: share * score / total if total else 0.0 for name, share in carried.items()}


def standing(scores: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Of documents of one language each one's evidence, and how far it is above the best of the others, or below."""
    best = sorted(scores.values(), reverse=True)[:2]
    first, second = (*best, 0.0, 0.0)[:2]
    return {id: (score, score - (second if score == first else first)) for id, score in scores.items()}


def merged(languages: Sequence[Mapping[str, float]], k: int, counting: Sequence[float] = ()) -> Ranking:
    """One ranking of documents in several languages: how far a document's evidence is above that of its language's
    tenth, times the language's belief in it (the beliefs of a language sum to one), times what the language counts.
    Languages whose scores run high gain nothing by it, and one where nothing stands out can't push in. One language
    alone keeps its evidence."""
    each = zip(languages, counting or [1.0] * len(languages), strict=True)
    spoken = [(scores, counts) for scores, counts in each if scores]
    if len(spoken) < 2:
        return rank((Hit(id, score) for scores, _ in spoken for id, score in scores.items()), k)
    ids = [*chain.from_iterable(scores for scores, _ in spoken)]
    values = np.array([*chain.from_iterable(scores.values() for scores, _ in spoken)])
    sizes = np.array([len(scores) for scores, _ in spoken])
    of, first = np.repeat(np.arange(len(sizes)), sizes), np.cumsum(sizes) - sizes
    best = values[np.lexsort((-values, of))]  # language after language
    tenth = np.where(sizes >= _TENTH, best[np.minimum(first + _TENTH, len(best)) - 1], 0.0)
    belief = np.exp(SHARPNESS * (values - best[first][of]))
    above = np.maximum(values - np.maximum(tenth, 0.0)[of], 0.0) + _BELOW * np.maximum(values, 0.0)
    found = np.array([counts for _, counts in spoken])[of] * above * belief / np.bincount(of, belief)[of]
    if len(set(ids)) < len(ids):  # one that holds two languages may be in both
        order = np.argsort(found, kind="stable").tolist()
        most = {ids[i]: i for i in order}
        ids, found = list(most), found[list(most.values())]
    return top(found, ids, k)
