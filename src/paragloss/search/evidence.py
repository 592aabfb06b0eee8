"""Explain scores: split what words contributed, and add up explanations of several searchers.

Every searcher explains the score that it gave, and the parts of an explanation sum to the score. Vectors and rerankers
are explained in `encoders.explanations`. docs/understand/why.md derives it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from paragloss.analysis import analyzer
from paragloss.translation.subword_terms import SOUND_PREFIX, SUBWORD_PREFIX
from paragloss.types import Contribution, Document, Query, RankedList, ScoreExplanation

#: What words that stand as they are were met through.
AS_THEY_STAND = "bm25"
#: What names were met through that were compared by sound, and what is said of words that stand inside longer ones.
BY_SOUND, INSIDE = "by sound", ", inside"
NOTHING = ScoreExplanation(0.0)
#: The part of an explanation that says what it costs that the query may be in several languages.
DOUBT = "language of the query"


class Match(NamedTuple):
    """A term of the query, the word of the document that it matched, and what that added to the score."""

    source: str
    word: str
    score: float


def add_explanations(accounts: Iterable[ScoreExplanation]) -> ScoreExplanation:
    """Add explanations of one document, part by part."""
    nonzero = [account for account in accounts if account.score]
    if len(nonzero) == 1:
        return nonzero[0]
    parts: dict[str, list[ScoreExplanation]] = {}
    for account in nonzero:
        for name, part in account.parts:
            parts.setdefault(name, []).append(part)
    return ScoreExplanation(
        sum(account.score for account in nonzero),
        tuple(share for account in nonzero for share in account.contributions),
        all(account.exact for account in nonzero),
        tuple((name, add_explanations(same_part)) for name, same_part in parts.items()),
    )


def explain_mixture(weighted: Sequence[tuple[float, RankedList]], document: Document, score: float) -> ScoreExplanation:
    """Explain the expected score of a document over several rankings, given how likely each is the right one.

    Scores add up. Log-odds don't: a probability is explained by the ranking that contributes most to it, and by one
    part more for the doubt which ranking is the right one.
    """
    if not any(ranking.has_probabilities for _, ranking in weighted):
        accounts = [(share, ranking.explain(document)) for share, ranking in weighted]
        return add_explanations(account.scale_to(share * account.score) for share, account in accounts)
    ranking = max(weighted, key=lambda pair: pair[0] * pair[1].score_of(document.id))[1]
    account = ranking.explain(document)
    doubt = math.log(score / (1 - score)) - account.score
    return account._replace(
        score=account.score + doubt,
        parts=(*account.parts, (DOUBT, ScoreExplanation(doubt, (Contribution("", "", DOUBT, doubt),)))),
    )


def attribute_clauses(query: Query, name: str) -> Query:
    """Name the translator of each clause of a query, unless the clause names the translators that it is from."""
    clauses = [
        clause if clause.origins else clause._replace(origins=((name, 1.0, clause.alternatives),))
        for clause in query.clauses
    ]
    return query._replace(clauses=tuple(clauses))


def explain_matches(
    matches: Sequence[Match], origins: Mapping[tuple[str, str], Mapping[str, float]], score: float
) -> ScoreExplanation:
    """Explain a score by pairs of words; a pair that several translators know is divided by their weights.

    `origins` has the weights of the translators of each pair, see `list_origins`.
    """
    shares = []
    for source, word, gain in matches:
        plain_word = word.removeprefix(SUBWORD_PREFIX)
        is_sound = word.startswith(SOUND_PREFIX)
        weights = {BY_SOUND: 1.0} if is_sound else origins.get((source, plain_word)) or {AS_THEY_STAND: 1.0}
        total, suffix = sum(weights.values()), "" if plain_word == word else INSIDE
        shares += [Contribution(source, word, name + suffix, gain * weight / total) for name, weight in weights.items()]
    return ScoreExplanation(score, tuple(shares))


def list_origins(query: Query) -> dict[tuple[str, str], dict[str, float]]:
    """List for every pair of query term and translated term the weights of the translators that know it; the words of
    a phrase share its weight."""
    origins: dict[tuple[str, str], dict[str, float]] = {}
    analyze = analyzer(query.lang).terms
    for clause in query.clauses:
        for name, share, alternatives in clause.origins:
            for alternative in alternatives:
                terms = alternative.terms or tuple(analyze(alternative.text))
                for term in terms:
                    weights = origins.setdefault((clause.source, term), {})
                    weights[name] = weights.get(name, 0.0) + share * alternative.weight / len(terms)
    return origins
