"""Is a ranking over several languages fair to each of them? Exposure of a language's relevant documents, against their
share of all relevant ones; after Yang et al., "Language Fairness in Multilingual Information Retrieval" (SIGIR 2024),
whose PEER tests ranks where this measures exposure.

A relevant document at rank r has exposure 1 / log2(1 + r), nothing below the cut. With e(l) the exposure of the
relevant documents of language l, and n(l) their number, the ideal list exposes them evenly: E = sum over ranks 1..N of
1 / log2(1 + r), N = sum of n(l). A language's share of what it could have is a(l) = (e(l) / n(l)) / (E / N), and

    fairness = min over l of a(l) / max over l of a(l)

1: a relevant document is as easy to find in any language. 0: in one language none is found while in another some are.
Fairness alone is easy (find nothing anywhere): it stands beside the exposure itself, the mean of a(l).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from paragloss.types import Qrels, Ranking, Run


class Fairness(NamedTuple):
    """Over all queries: each language's exposure, their mean, and the least over the greatest."""

    exposure: dict[str, float]
    mean: float
    fairness: float


def measure(run: Run, qrels: Qrels, langs: Mapping[str, str], *, cut: int = 100) -> Fairness:
    """`langs` says the language of every relevant document. Each language is averaged over the queries that have
    relevant documents in it."""
    sums: dict[str, list[float]] = {}
    for query, judged in qrels.items():
        relevant = {id for id, grade in judged.items() if grade > 0}
        for lang, share in exposures(run.get(query, []), relevant, langs, cut=cut).items():
            sums.setdefault(lang, []).append(share)
    exposure = {lang: sum(shares) / len(shares) for lang, shares in sorted(sums.items())}
    if not exposure:
        return Fairness({}, 0.0, 0.0)
    most = max(exposure.values())
    fair = min(exposure.values()) / most if most else 0.0
    return Fairness(exposure, sum(exposure.values()) / len(exposure), fair)


def exposures(ranking: Ranking, relevant: set[str], langs: Mapping[str, str], *, cut: int = 100) -> dict[str, float]:
    """One query: for each language that has relevant documents a(l), at most as much as an even list can give."""
    number: dict[str, int] = {}
    for id in relevant:
        number[langs[id]] = number.get(langs[id], 0) + 1
    ideal = sum(_seen(rank) for rank in range(1, min(len(relevant), cut) + 1)) / max(len(relevant), 1)
    found = dict.fromkeys(number, 0.0)
    for rank, hit in enumerate(ranking[:cut], start=1):
        if hit.id in relevant:
            found[langs[hit.id]] += _seen(rank)
    return {lang: found[lang] / number[lang] / ideal for lang in number}


def first(run: Run, qrels: Qrels, langs: Mapping[str, str], *, at: int) -> dict[str, float]:
    """The share of each language's relevant documents that stand among the first `at`."""
    found: dict[str, list[bool]] = {}
    for query, judged in qrels.items():
        seen = {hit.id for hit in run.get(query, [])[:at]}
        for id, grade in judged.items():
            if grade > 0:
                found.setdefault(langs[id], []).append(id in seen)
    return {lang: sum(there) / len(there) for lang, there in sorted(found.items())}


def _seen(rank: int) -> float:
    return 1.0 / math.log2(1 + rank)
