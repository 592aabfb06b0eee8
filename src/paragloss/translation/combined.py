"""Several translators, one answer: what one does not know another may, and what two agree on weighs more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paragloss.errors import InputError, LanguageError
from paragloss.types import Alternative, ManyTranslator, Query, Translation, Translator


class Combined:
    """Mixes the alternatives of every term by the `weights` of the translators that know it; those that leave the
    term as it is, or don't know the language, have no say. A phrase that one translator knows stands for its words.
    """

    def __init__(
        self, translators: Sequence[Translator], *, weights: Sequence[float] | None = None, most: int = 20
    ) -> None:
        weights = [1.0] * len(translators) if weights is None else list(weights)
        if len(weights) != len(translators):
            raise ValueError(f"{len(weights)} weights for {len(translators)} translators")
        counting = [(one, weight) for one, weight in zip(translators, weights, strict=True) if weight > 0]
        if translators and not counting:
            raise InputError("no translator of the mix counts: give one of them a weight above 0")
        self._translators, self._weights = [one for one, _ in counting], [weight for _, weight in counting]
        self._most = most

    @property
    def parts(self) -> list[tuple[Translator, float]]:
        """The translators with their weights."""
        return list(zip(self._translators, self._weights, strict=True))

    def knows(self, source: str, target: str) -> bool:
        return any(translator.knows(source, target) for translator in self._translators)

    def translate(self, query: Query, to: str) -> list[Translation]:
        answers, refused = [], []
        for translator, weight in zip(self._translators, self._weights, strict=True):
            try:
                answers.append((translator.translate(query, to), weight))
            except LanguageError as error:
                refused.append(str(error))
        if not answers:
            raise LanguageError("; ".join(refused) or f"no translator for {query.lang}->{to}")
        return self._together(query, answers)

    def translate_many(self, query: Query, targets: Sequence[str]) -> dict[str, list[Translation]]:
        """The query in several languages, each of which some translator knows."""
        answers: dict[str, list[tuple[list[Translation], float]]] = {lang: [] for lang in targets}
        for translator, weight in zip(self._translators, self._weights, strict=True):
            if some := known(translator, query.lang, targets):
                for lang, clauses in translate_many(translator, query, some).items():
                    answers[lang].append((clauses, weight))
        return {
            lang: self._together(query, said) if said else self.translate(query, lang)  # which says what is missing
            for lang, said in answers.items()
        }

    def _together(self, query: Query, answers: Sequence[tuple[list[Translation], float]]) -> list[Translation]:
        if len(answers) == 1:
            return answers[0][0]
        said: dict[str, list[tuple[Translation, float]]] = {}
        for clauses, weight in answers:
            for clause in clauses:
                said.setdefault(clause.source, []).append((clause, weight))
        whole = _outermost(said)
        return [self._mixed(source, said[source]) for source in sorted(whole, key=query.text.find)]

    def _mixed(self, source: str, said: Sequence[tuple[Translation, float]]) -> Translation:
        knowing = [(c, w) for c, w in said if any(a.text != source for a in c.alternatives)] or said
        total = sum(weight for _, weight in knowing)
        mixed: dict[str, float] = {}
        terms: dict[str, tuple[str, ...]] = {}
        for clause, weight in knowing:
            mass = sum(a.weight for a in clause.alternatives)
            for alternative in clause.alternatives:
                share = weight * alternative.weight / (total * mass)
                mixed[alternative.text] = mixed.get(alternative.text, 0.0) + share
                terms[alternative.text] = alternative.terms or terms.get(alternative.text, ())
        ranked = sorted(mixed.items(), key=lambda item: -item[1])[: self._most]
        return Translation(source, tuple(Alternative(text, min(weight, 1.0), terms[text]) for text, weight in ranked))


def _outermost(sources: Sequence[str] | dict[str, list[tuple[Translation, float]]]) -> list[str]:
    """Without the words that stand inside a phrase that is also there."""
    return [
        source
        for source in sources
        if not any(source != other and f" {source} " in f" {other} " for other in sources)
    ]  # fmt: skip


def translate_many(translator: Translator, query: Query, targets: Sequence[str]) -> Mapping[str, list[Translation]]:
    """A query in several languages; a translator that looks words up once for all of them is asked to."""
    if isinstance(translator, ManyTranslator):
        return translator.translate_many(query, targets)
    return {lang: translator.translate(query, lang) for lang in targets}


def known(translator: Translator, source: str, targets: Sequence[str]) -> list[str]:
    """The other languages of some that a translator can translate into."""
    return [target for target in targets if target != source and translator.knows(source, target)]
