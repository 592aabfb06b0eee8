"""Combine several translators: one may know what another does not, and what two agree on counts more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from paragloss.errors import InputError, LanguageError
from paragloss.types import Alternative, ManyTranslator, Origin, Query, Translation, Translator


class CombinedTranslator:
    """Mixes the alternatives of every term by the weights of the translators that know it.

    Translators that leave the term as it is, or do not know the language, do not count. A phrase that one translator
    knows replaces its words.
    """

    def __init__(
        self,
        translators: Sequence[Translator],
        *,
        weights: Sequence[float] | None = None,
        names: Sequence[str] = (),
        most: int = 20,
    ) -> None:
        """Combine translators.

        :param weights: how much each counts; 1 by default, and those with 0 are left out.
        :param names: what each is called in explanations; by default the name of its class.
        :param most: the number of alternatives that are kept of a term.
        :raises InputError: if there are translators, but none with a weight above 0.
        """
        if weights is None:
            weights = [1.0] * len(translators)
        if len(weights) != len(translators):
            raise ValueError(f"{len(weights)} weights for {len(translators)} translators")
        used = [index for index, weight in enumerate(weights) if weight > 0]
        if translators and not used:
            raise InputError("no translator of the mix counts: give one of them a weight above 0")
        names = names or [type(translator).__name__.lower() for translator in translators]
        self._translators = [translators[index] for index in used]
        self._weights = [weights[index] for index in used]
        self._names = [names[index] for index in used]
        self._max_alternatives = most

    def knows(self, source: str, target: str) -> bool:
        """Say whether any of the translators knows the two languages."""
        return any(translator.knows(source, target) for translator in self._translators)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate a query with all translators that know its language; raise LanguageError if none does."""
        answers: list[_Answer] = []
        refusals: list[str] = []
        for index, translator in enumerate(self._translators):
            try:
                answers.append(_Answer(index, translator.translate(query, to)))
            except LanguageError as error:
                refusals.append(str(error))
        if not answers:
            raise LanguageError("; ".join(refusals) or f"no translator for {query.lang}->{to}")
        return self._merge_answers(query, answers)

    def translate_many(self, query: Query, targets: Sequence[str]) -> dict[str, list[Translation]]:
        """Translate a query into several languages, with one call of each translator.

        :raises LanguageError: for a language that no translator knows
        """
        answers_by_lang: dict[str, list[_Answer]] = {lang: [] for lang in targets}
        for index, translator in enumerate(self._translators):
            known_targets = list_known_targets(translator, query.lang, targets)
            clauses_by_lang = translate_many(translator, query, known_targets) if known_targets else {}
            for lang, clauses in clauses_by_lang.items():
                answers_by_lang[lang].append(_Answer(index, clauses))
        translations = {}
        for lang, answers in answers_by_lang.items():
            if answers:
                translations[lang] = self._merge_answers(query, answers)
            else:
                translations[lang] = self.translate(query, lang)  # raises an error that says what is missing
        return translations

    def _merge_answers(self, query: Query, answers: Sequence[_Answer]) -> list[Translation]:
        """Merge the clauses of several translators, in the order of the query.

        Clauses for the same word or phrase are mixed into one. Those of a single translator stay as they are, and only
        get their origins.
        """
        if len(answers) == 1:
            translator, clauses = answers[0]
            return [clause._replace(origins=self._list_origins(clause, translator)) for clause in clauses]
        clauses_by_source: dict[str, list[_ClauseOfTranslator]] = {}
        sources_by_translator = []
        for translator, clauses in answers:
            sources_by_translator.append([clause.source for clause in clauses])
            for clause in clauses:
                clauses_by_source.setdefault(clause.source, []).append(_ClauseOfTranslator(translator, clause))
        sources = _drop_words_of_phrases(sources_by_translator)
        sources.sort(key=query.text.find)
        return [self._mix_clauses(source, clauses_by_source[source]) for source in sources]

    def _mix_clauses(self, source: str, clauses: Sequence[_ClauseOfTranslator]) -> Translation:
        """Mix the clauses that several translators have for one word or phrase into one clause.

        Translators that leave the word as it is do not count if another one translates it.
        """
        counted = [clause for clause in clauses if _is_translated(clause.clause)] or clauses
        origins: list[Origin] = []
        for translator, clause in counted:
            origins += self._list_origins(clause, translator)
        return Translation(source, tuple(self._mix_alternatives(counted)), origins=tuple(origins))

    def _mix_alternatives(self, clauses: Sequence[_ClauseOfTranslator]) -> list[Alternative]:
        """Return the best alternatives of one word, each weighted by the translators that have it.

        A translator's alternatives share its weight in proportion to their own weights; what several translators give
        to the same text is added up. All shares sum to one before the worst alternatives are dropped.

        :param clauses: the clauses of several translators for the word, each with the index of its translator.
        """
        total_weight = sum(self._weights[translator] for translator, _ in clauses)
        mixed: dict[str, Alternative] = {}  # by text
        for translator, clause in clauses:
            clause_weight = _sum_weights(clause)
            for text, weight, terms in clause.alternatives:
                share = self._weights[translator] * weight / (total_weight * clause_weight)
                previous = mixed.get(text, Alternative(text, 0.0))
                mixed[text] = Alternative(text, previous.weight + share, terms or previous.terms)
        best_first = sorted(mixed.values(), key=lambda alternative: -alternative.weight)[: self._max_alternatives]
        return [alternative._replace(weight=min(alternative.weight, 1.0)) for alternative in best_first]

    def _list_origins(self, clause: Translation, translator: int) -> tuple[Origin, ...]:
        """Say where a clause is from: the translator itself or those within it, with the weight of each."""
        factor = self._weights[translator] / (_sum_weights(clause) or 1.0)
        origins = clause.origins or ((self._names[translator], 1.0, clause.alternatives),)
        return tuple((name, factor * share, alternatives) for name, share, alternatives in origins)


class _Answer(NamedTuple):
    """What one of the translators, given by its index, says of a query."""

    translator: int
    clauses: Sequence[Translation]


class _ClauseOfTranslator(NamedTuple):
    """What one of the translators, given by its index, says of a word or phrase."""

    translator: int
    clause: Translation


def _is_translated(clause: Translation) -> bool:
    """Tell whether a clause has an alternative that is not its source."""
    return any(alternative.text != clause.source for alternative in clause.alternatives)


def _sum_weights(clause: Translation) -> float:
    return sum(alternative.weight for alternative in clause.alternatives)


def _drop_words_of_phrases(sources_by_translator: Sequence[Sequence[str]]) -> list[str]:
    """Return the different words and phrases that translators have, without the words of phrases that replace them.

    A phrase replaces its words unless the translator that knows it gives its words as well, as it is with compounds:
    of ["red", "web", "server"] and ["red", "web server"] remain "red" and "web server".

    :param sources_by_translator: for each translator the words and phrases of a query as it divides it.
    """
    phrases = []
    for sources in sources_by_translator:
        for phrase in sources:
            if not any(_is_part(word, phrase) for word in sources):
                phrases.append(phrase)
    unique_sources = dict.fromkeys(source for sources in sources_by_translator for source in sources)
    return [source for source in unique_sources if not any(_is_part(source, phrase) for phrase in phrases)]


def _is_part(word: str, phrase: str) -> bool:
    """Tell whether a phrase contains a word, or several words in a row, but is more than these."""
    return word != phrase and f" {word} " in f" {phrase} "


def translate_many(translator: Translator, query: Query, targets: Sequence[str]) -> Mapping[str, list[Translation]]:
    """Translate a query into several languages, at once if the translator can do that."""
    if isinstance(translator, ManyTranslator):
        return translator.translate_many(query, targets)
    return {lang: translator.translate(query, lang) for lang in targets}


def list_known_targets(translator: Translator, source: str, targets: Sequence[str]) -> list[str]:
    """Return the other languages among `targets` that a translator can translate into."""
    return [target for target in targets if target != source and translator.knows(source, target)]
