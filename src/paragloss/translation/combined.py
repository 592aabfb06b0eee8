"""Several translators, one answer: what one does not know another may, and what two agree on weighs more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paragloss.errors import InputError, LanguageError
from paragloss.types import Alternative, ManyTranslator, Origin, Query, Translation, Translator


class CombinedTranslator:
    """Mixes the alternatives of every term by the `weights` of the translators that know it; those that leave the
    term as it is, or don't know the language, have no say. A phrase that one translator knows stands for its words.
    """

    def __init__(
        self,
        translators: Sequence[Translator],
        *,
        weights: Sequence[float] | None = None,
        names: Sequence[str] = (),
        most: int = 20,
    ) -> None:
        weights = [1.0] * len(translators) if weights is None else list(weights)
        if len(weights) != len(translators):
            raise ValueError(f"{len(weights)} weights for {len(translators)} translators")
        names = names or [type(translator).__name__.lower() for translator in translators]
        counting = [number for number, weight in enumerate(weights) if weight > 0]
        if translators and not counting:
            raise InputError("no translator of the mix counts: give one of them a weight above 0")
        self._translators = [translators[number] for number in counting]
        self._weights, self._names = [weights[number] for number in counting], [names[number] for number in counting]
        self._most = most

    def knows(self, source: str, target: str) -> bool:
        return any(translator.knows(source, target) for translator in self._translators)

    def translate(self, query: Query, to: str) -> list[Translation]:
        answers, refused = [], []
        for number, translator in enumerate(self._translators):
            try:
                answers.append((number, translator.translate(query, to)))
            except LanguageError as error:
                refused.append(str(error))
        if not answers:
            raise LanguageError("; ".join(refused) or f"no translator for {query.lang}->{to}")
        return self._together(query, answers)

    def translate_many(self, query: Query, targets: Sequence[str]) -> dict[str, list[Translation]]:
        """The query in several languages, each of which some translator knows."""
        answers: dict[str, list[tuple[int, list[Translation]]]] = {lang: [] for lang in targets}
        for number, translator in enumerate(self._translators):
            if some := list_known_targets(translator, query.lang, targets):
                for lang, clauses in translate_many(translator, query, some).items():
                    answers[lang].append((number, clauses))
        return {
            lang: self._together(query, some) if some else self.translate(query, lang)  # which says what is missing
            for lang, some in answers.items()
        }

    def _together(self, query: Query, answers: Sequence[tuple[int, list[Translation]]]) -> list[Translation]:
        if len(answers) == 1:
            ((number, clauses),) = answers
            return [clause._replace(origins=self._origins(clause, number)) for clause in clauses]
        by_source: dict[str, list[tuple[Translation, int]]] = {}
        for number, clauses in answers:
            for clause in clauses:
                by_source.setdefault(clause.source, []).append((clause, number))
        whole = _standing([[clause.source for clause in clauses] for _, clauses in answers])
        return [self._mixed(source, by_source[source]) for source in sorted(whole, key=query.text.find)]

    def _mixed(self, source: str, clauses: Sequence[tuple[Translation, int]]) -> Translation:
        knowing = [(c, n) for c, n in clauses if any(a.text != source for a in c.alternatives)] or clauses
        total = sum(self._weights[number] for _, number in knowing)
        mixed: dict[str, float] = {}
        terms: dict[str, tuple[str, ...]] = {}
        for clause, number in knowing:
            mass = sum(a.weight for a in clause.alternatives)
            for alternative in clause.alternatives:
                share = self._weights[number] * alternative.weight / (total * mass)
                mixed[alternative.text] = mixed.get(alternative.text, 0.0) + share
                terms[alternative.text] = alternative.terms or terms.get(alternative.text, ())
        ranked = sorted(mixed.items(), key=lambda item: -item[1])[: self._most]
        alternatives = tuple(Alternative(text, min(weight, 1.0), terms[text]) for text, weight in ranked)
        origins = tuple(one for clause, number in knowing for one in self._origins(clause, number))
        return Translation(source, alternatives, origins=origins)

    def _origins(self, clause: Translation, number: int) -> tuple[Origin, ...]:
        """Who gave a clause: the translator itself or those within it, with what each counts."""
        factor = self._weights[number] / (sum(alternative.weight for alternative in clause.alternatives) or 1.0)
        within = clause.origins or ((self._names[number], 1.0, clause.alternatives),)
        return tuple((name, factor * share, alternatives) for name, share, alternatives in within)


def _standing(answers: Sequence[Sequence[str]]) -> list[str]:
    """Of the words and phrases of each translator those that count: a phrase stands for its words, unless whoever
    knows it has its words as well, as it is with compounds."""
    phrases = [one for sources in answers for one in sources if not any(_inside(other, one) for other in sources)]
    every = dict.fromkeys(source for sources in answers for source in sources)
    return [source for source in every if not any(_inside(source, phrase) for phrase in phrases)]


def _inside(word: str, phrase: str) -> bool:
    return word != phrase and f" {word} " in f" {phrase} "


def translate_many(translator: Translator, query: Query, targets: Sequence[str]) -> Mapping[str, list[Translation]]:
    """A query in several languages; a translator that looks words up once for all of them is asked to."""
    if isinstance(translator, ManyTranslator):
        return translator.translate_many(query, targets)
    return {lang: translator.translate(query, lang) for lang in targets}


def list_known_targets(translator: Translator, source: str, targets: Sequence[str]) -> list[str]:
    """The other languages of some that a translator can translate into."""
    return [target for target in targets if target != source and translator.knows(source, target)]
