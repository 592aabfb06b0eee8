"""Explain scores: split what words contributed, and add up explanations of several searchers.

Every searcher explains the score that it gave, and the parts of an explanation sum to the score. Vectors and rerankers
are explained in `encoders.explanations`. docs/understand/why.md derives it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from paragloss.analysis import analyzer
from paragloss.translation.subword_terms import SOUND_PREFIX, SUBWORD_PREFIX
from paragloss.types import Alternative, Contribution, Document, Query, RankedList, ScoreExplanation

#: The translator that explanations name for words that were searched as they are.
UNTRANSLATED = "bm25"
#: The translator that explanations name for names that were compared by sound.
BY_SOUND = "by sound"
#: Follows the name of the translator where a word matched inside a longer one.
COMPOUND_SUFFIX = ", inside"
#: The part of an explanation for what a score loses because the query may be in several languages.
DOUBT = "language of the query"


class Match(NamedTuple):
    """A term of the query, the word of the document that it matched, and what that added to the score."""

    source: str
    word: str
    score: float


def add_explanations(explanations: Iterable[ScoreExplanation]) -> ScoreExplanation:
    """Add up explanations of one document: their scores, and the parts that have the same name.

    :return: the sum, which is exact if all of its terms are; explanations with a score of 0 are left out.
    """
    nonzero = [explanation for explanation in explanations if explanation.score]
    if len(nonzero) == 1:
        return nonzero[0]
    parts_by_name: dict[str, list[ScoreExplanation]] = {}
    for explanation in nonzero:
        for name, part in explanation.parts:
            parts_by_name.setdefault(name, []).append(part)
    return ScoreExplanation(
        score=sum(explanation.score for explanation in nonzero),
        contributions=tuple(chain.from_iterable(explanation.contributions for explanation in nonzero)),
        exact=all(explanation.exact for explanation in nonzero),
        parts=tuple((name, add_explanations(parts)) for name, parts in parts_by_name.items()),
    )


def explain_mixture(
    weighted_rankings: Sequence[tuple[float, RankedList]], document: Document, score: float
) -> ScoreExplanation:
    """Explain the expected score of a document when it is not certain which of several rankings is the right one.

    A query may be in one of two languages, for example: there is a ranking for each reading of it.

    :param weighted_rankings: each ranking with the probability that it is the right one.
    :param score: the expected score: the sum of probability times score over the rankings.
    :return: parts of the explanations of all rankings, scaled by their probabilities; or, if scores are probabilities,
        the explanation by one ranking and a part for the doubt.
    """
    if any(ranking.has_probabilities for _, ranking in weighted_rankings):
        return _explain_expected_probability(weighted_rankings, document, score)
    explanations = [(share, ranking.explain(document)) for share, ranking in weighted_rankings]
    return add_explanations(explanation.scale_to(share * explanation.score) for share, explanation in explanations)


def _explain_expected_probability(
    weighted_rankings: Sequence[tuple[float, RankedList]], document: Document, score: float
) -> ScoreExplanation:
    """Explain an expected probability by the ranking that contributes most to it.

    Explanations of probabilities split log-odds, and log-odds of several rankings do not add up. So one part more
    (DOUBT) is the difference between the log-odds of the expected probability and those in that ranking.

    :param weighted_rankings: each ranking with the probability that it is the right one.
    :param score: the expected probability.
    """
    expected_scores = [share * ranking.score_of(document.id) for share, ranking in weighted_rankings]
    main_number = expected_scores.index(max(expected_scores))
    _, main_ranking = weighted_rankings[main_number]
    explanation = main_ranking.explain(document)
    expected_log_odds = math.log(score / (1 - score))
    doubt = expected_log_odds - explanation.score
    doubt_contribution = Contribution(query="", document="", source=DOUBT, score=doubt)
    doubt_part = ScoreExplanation(doubt, contributions=(doubt_contribution,))
    return explanation._replace(score=explanation.score + doubt, parts=(*explanation.parts, (DOUBT, doubt_part)))


def explain_matches(
    matches: Sequence[Match], origins: Mapping[tuple[str, str], Mapping[str, float]], score: float
) -> ScoreExplanation:
    """Explain the score of a document by the pairs of a query term and a word of the document that match.

    What a pair adds to the score is divided among the translators that gave the word for the term, by their weights.

    :param matches: the pairs, with what each adds to the score.
    :param origins: for each pair of query term and translated term the weights of its translators, by their names.
    :param score: the score of the document.
    """
    contributions = []
    for source, word, gain in matches:
        weight_by_translator = _weigh_translators(source, word, origins)
        total_weight = sum(weight_by_translator.values())
        for translator_name, weight in weight_by_translator.items():
            contributions.append(Contribution(source, word, translator_name, gain * weight / total_weight))
    return ScoreExplanation(score, tuple(contributions))


def _weigh_translators(
    source: str, word: str, origins: Mapping[tuple[str, str], Mapping[str, float]]
) -> Mapping[str, float]:
    """Return the translators that gave a word for a term of the query, by name, with their weights.

    :param source: the term of the query.
    :param word: the word of the document, with a prefix if it matched by its sound or inside a longer word.
    :param origins: the weights of the translators of each pair, see `list_origins`.
    :return: names of translators, or BY_SOUND or UNTRANSLATED; COMPOUND_SUFFIX follows for a match inside a word.
    """
    if word.startswith(SOUND_PREFIX):
        return {BY_SOUND: 1.0}
    plain_word = word.removeprefix(SUBWORD_PREFIX)
    weights = origins.get((source, plain_word)) or {UNTRANSLATED: 1.0}
    if word == plain_word:
        return weights
    return {name + COMPOUND_SUFFIX: weight for name, weight in weights.items()}


def list_origins(query: Query) -> dict[tuple[str, str], dict[str, float]]:
    """Return which translators gave each translated term for each query term, with their weights.

    :param query: a translated query, whose clauses say what each translator gave for them.
    :return: for each pair of query term and translated term the weights of its translators, by their names.
    """
    origins: dict[tuple[str, str], dict[str, float]] = {}
    for clause in query.clauses:
        for translator_name, share, alternatives in clause.origins:
            for term, weight in _list_weighted_terms(alternatives, share, query.lang):
                weights = origins.setdefault((clause.source, term), {})
                weights[translator_name] = weights.get(translator_name, 0.0) + weight
    return origins


def _list_weighted_terms(alternatives: Iterable[Alternative], share: float, lang: str) -> Iterator[tuple[str, float]]:
    """Yield the terms of translations with their weights; the terms of a phrase share its weight.

    :param share: the weight of the translator that gave them, by which all are multiplied.
    :param lang: the language of the translations.
    """
    analyze = analyzer(lang).terms
    for alternative in alternatives:
        terms = alternative.terms or tuple(analyze(alternative.text))
        for term in terms:
            yield term, share * alternative.weight / len(terms)
