"""Several searchers over documents of several languages, one ranking, without a weight that somebody chose.

Each part's scores become shares of what is possible, query by query and language by language; parts that look at words
and parts that look at meaning are two kinds of evidence; languages meet by how sure each is of its own documents.
docs/fusion.md derives it. Knows nothing of what the parts are made of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from paragloss.ranking import rank
from paragloss.types import Hit, Query, Ranking, Searcher, Where

#: How fast a language's belief falls below its best document; chosen on held-out passages (docs/fusion.md).
SHARPNESS = 80.0
#: How many hits of each part are looked at in each language.
DEPTH = 100
#: So many documents of a language count as much as all languages' for where its field lies.
_FEW = 10


class Calibrated:
    """`words` give shares of the query's weight (`proportional`), `meanings` cosines; every part may have a weight.

    A part that finds nothing in a language says nothing about it, and a document that a part does not find has nothing
    from it. `langs` are searched one by one, unless the filter names others.
    """

    def __init__(
        self,
        words: Sequence[tuple[Searcher, float]],
        meanings: Sequence[tuple[Searcher, float]],
        *,
        langs: Sequence[str],
        depth: int = DEPTH,
        names: Sequence[str] = (),
    ) -> None:
        self._words = [searcher for searcher, _ in words]
        self._meanings = [searcher for searcher, _ in meanings]
        self._weights = [weight for _, weight in (*words, *meanings)]
        self._langs, self._depth = tuple(langs), depth
        #: What the parts are called, words first; nobody needs to know who only searches.
        self.names = tuple(names)

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Ranking]:
        depth, filters = self.depth(k), self._filters(where)
        words = [[searcher.search(queries, depth, here) for here in filters] for searcher in self._words]
        meanings = [[searcher.search(queries, depth, here) for here in filters] for searcher in self._meanings]
        return [
            merged(
                self._evidence(
                    [[lang[i] for lang in part] for part in words], [[lang[i] for lang in part] for part in meanings]
                ),
                k,
            )
            for i in range(len(queries))
        ]

    def depth(self, k: int) -> int:
        """How many hits of each part are looked at."""
        return max(k, self._depth)

    def said(
        self, query: Query, k: int, where: Where | None = None
    ) -> list[tuple[Searcher, bool, float, dict[str, float]]]:
        """For each part whether it looks at words, its weight, and what it says of each document."""
        found = []
        for number, (searcher, weight) in enumerate(zip((*self._words, *self._meanings), self._weights, strict=True)):
            rankings = [searcher.search([query], self.depth(k), here)[0] for here in self._filters(where)]
            words = number < len(self._words)
            by = [shares(ranking) for ranking in rankings] if words else ways(rankings)
            found.append((searcher, words, weight, {id: said for each in by for id, said in each.items()}))
        return found

    def _filters(self, where: Where | None) -> list[dict[str, Any]]:
        langs = [str(lang) for lang in (where or {}).get("lang", self._langs)]
        return [{**(where or {}), "lang": [lang]} for lang in dict.fromkeys(langs)]

    def _evidence(
        self, words: Sequence[Sequence[Ranking]], meanings: Sequence[Sequence[Ranking]]
    ) -> list[dict[str, float]]:
        """One query's documents with their evidence, language by language, from each part's rankings."""
        shared = [[shares(ranking) for ranking in part] for part in words]
        gone = [ways(part) for part in meanings]
        number, first = len((words or meanings)[0]), len(words)
        return [
            evidence(
                [(part[i], weight) for part, weight in zip(shared, self._weights[:first], strict=True)],
                [(part[i], weight) for part, weight in zip(gone, self._weights[first:], strict=True)],
            )
            for i in range(number)
        ]


def shares(ranking: Ranking) -> dict[str, float]:
    """Scores that are shares of the query's weight already; below nothing counts as nothing."""
    return {hit.id: max(hit.score, 0.0) for hit in ranking}


def ways(rankings: Sequence[Ranking]) -> list[dict[str, float]]:
    """How much of the way from the field to a perfect match each document has come, in each language. The field is the
    last hit: what a cosine is worth differs from model to model, from query to query and from language to language. A
    language with few documents leans on the field of all; one document alone stands out from nothing."""
    hits = [hit.score for ranking in rankings for hit in ranking]
    if not hits:
        return [{} for _ in rankings]
    lowest, perfect = min(hits), max(1.0, *hits)
    found = []
    for ranking in rankings:
        last = ranking[-1].score if ranking else lowest
        field = (len(ranking) * last + _FEW * lowest) / (len(ranking) + _FEW)
        whole = perfect - field if perfect > field else 1.0
        found.append({hit.id: max(hit.score - field, 0.0) / whole for hit in ranking})
    return found


def evidence(
    words: Sequence[tuple[Mapping[str, float], float]], meanings: Sequence[tuple[Mapping[str, float], float]]
) -> dict[str, float]:
    """Of one kind the parts say much the same, each for what it knows: root of the sum of squares, between their
    greatest and their sum. The two kinds know different things: they are added."""
    total: dict[str, float] = {}
    for kind in (words, meanings):
        both: dict[str, float] = {}
        for part, weight in kind:
            for id, score in part.items():
                both[id] = math.hypot(both.get(id, 0.0), weight * score)
        for id, score in both.items():
            total[id] = total.get(id, 0.0) + score
    return total


def contributions(parts: Mapping[str, tuple[bool, float]], score: float) -> dict[str, float]:
    """How much of a document's score each part carried; `parts` have their kind (words or not) and what they said of
    it. Within a kind by squares, so that all sum to the score."""
    whole = {kind: math.hypot(*(said for words, said in parts.values() if words == kind)) for kind in (True, False)}
    carried = {name: said * said / whole[words] if whole[words] else 0.0 for name, (words, said) in parts.items()}
    total = sum(carried.values())
    return {name: share * score / total if total else 0.0 for name, share in carried.items()}


def merged(languages: Sequence[Mapping[str, float]], k: int) -> Ranking:
    """One ranking of documents in several languages: a document's evidence times its language's belief in it (the
    beliefs of a language sum to one). Languages whose scores run high gain nothing by it, and one that has nothing
    that stands out can't push in. One language alone keeps its evidence."""
    spoken = [scores for scores in languages if scores]
    if len(spoken) == 1:
        return rank((Hit(id, score) for id, score in spoken[0].items()), k)
    hits = []
    for scores in spoken:
        top = max(scores.values())
        belief = {id: math.exp(SHARPNESS * (score - top)) for id, score in scores.items()}
        whole = sum(belief.values())
        hits += [Hit(id, score * belief[id] / whole) for id, score in scores.items()]
    return rank(hits, k)
