"""The user's glossary: pairs of words of any languages that count in both directions and overrule all translators.

It is stored as text, one `lang<TAB>word<TAB>lang<TAB>meaning` a line, so that it can be edited by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paragloss.errors import InputError, LanguageError
from paragloss.languages import normalise
from paragloss.translation.combined import translate_many
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Query, Translation, Translator

#: Its name among translators.
NAME = "glossary"
#: Longer lists are dictionaries.
MAX_PAIRS = 20_000


class Pair(NamedTuple):
    """A pair of a user's glossary: a word or phrase and its translation, used in both directions.

    :param lang: the language of the word.
    :param word: the word or phrase.
    :param to: the language of the translation.
    :param meaning: the translation.

    >>> Pair("en", "bill", "de", "Gesetzentwurf").meaning
    'Gesetzentwurf'
    """

    lang: str
    word: str
    to: str
    meaning: str


class _Entry(NamedTuple):
    source: str
    target: str
    weight: float = 1.0


class UserGlossary:
    """A Translator for the words it has; any other word stays as it is."""

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        """Make a dictionary for each direction of each two languages.

        :param pairs: each (language, word, other language, meaning); a pair is used in both directions
        :raises InputError: for a wrong pair, or for more than MAX_PAIRS
        """
        self.pairs = [_validate_pair(pair) for pair in pairs]
        if len(self.pairs) > MAX_PAIRS:
            raise InputError(
                f"{len(self.pairs):,} pairs in the glossary; at most {MAX_PAIRS:,} (make a dictionary of them)"
            )
        entries: dict[tuple[str, str], list[_Entry]] = {}
        for lang, word, to, meaning in self.pairs:
            entries.setdefault((lang, to), []).append(_Entry(word, meaning))
            entries.setdefault((to, lang), []).append(_Entry(meaning, word))
        self._dictionaries: dict[tuple[str, str], Dictionary] = {}
        for (source, target), entries_of_direction in entries.items():
            self._dictionaries[source, target] = Dictionary.build(entries_of_direction, source, target)

    @classmethod
    def from_text(cls, text: str) -> UserGlossary:
        """Parse a glossary; raise InputError for a line that does not have four columns."""
        rows = [line.split("\t") for line in text.splitlines() if line.strip() and not line.startswith("#")]
        for number, row in enumerate(rows, start=1):
            if len(row) != 4:
                raise InputError(
                    f"entry {number} of the glossary has {len(row)} columns: write lang, word, lang, meaning"
                )
        return cls(Pair(*row) for row in rows)

    def to_text(self) -> str:
        """Return the glossary as `from_text` reads it."""
        return "".join("\t".join(pair) + "\n" for pair in self.pairs)

    def knows(self, source: str, target: str) -> bool:
        """Say whether the glossary has pairs of the two languages."""
        return (source, target) in self._dictionaries

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate a query; words that are not in the glossary stay as they are."""
        if not self.knows(query.lang, to):
            raise LanguageError(f"the glossary has no pairs of {query.lang} and {to}")
        return self._dictionaries[query.lang, to].translate(query, to)

    def translate_known_words(self, query: Query, to: str) -> list[Translation]:
        """Translate only the words and phrases of a query that are in the glossary."""
        if not self.knows(query.lang, to):
            return []
        clauses = []
        for clause in self.translate(query, to):
            if [alternative.text for alternative in clause.alternatives] != [clause.source]:
                clauses.append(clause._replace(origins=((NAME, 1.0, clause.alternatives),)))
        return clauses


@dataclass(frozen=True)
class CorrectedTranslator:
    """A Translator whose answers the glossary overrules, word for word.

    Each request makes one of its own; two with the same translator and glossary are equal, so that caches serve both.
    """

    translator: Translator
    glossary: UserGlossary

    def knows(self, source: str, target: str) -> bool:
        """Say whether the wrapped translator knows the two languages."""
        return self.translator.knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate a query and replace what the glossary has."""
        return self._overrule(self.translator.translate(query, to), query, to)

    def translate_many(self, query: Query, targets: Sequence[str]) -> dict[str, list[Translation]]:
        """Translate a query into several languages and replace what the glossary has."""
        translated = translate_many(self.translator, query, targets)
        return {lang: self._overrule(clauses, query, lang) for lang, clauses in translated.items()}

    def _overrule(self, clauses: list[Translation], query: Query, to: str) -> list[Translation]:
        """Replace the clauses of words that the glossary has, also inside its phrases; in the order of the query."""
        corrections = self.glossary.translate_known_words(query, to)
        if not corrections:
            return clauses
        phrases = [f" {correction.source} " for correction in corrections]
        uncorrected = [clause for clause in clauses if not any(f" {clause.source} " in phrase for phrase in phrases)]
        return sorted([*corrections, *uncorrected], key=lambda clause: query.text.find(clause.source))


class GlossaryFallback:
    """A Translator by the glossary for pairs of languages that none of the translators knows."""

    def __init__(self, glossary: UserGlossary, translators: Sequence[Translator]) -> None:
        self._glossary, self._translators = glossary, list(translators)

    def knows(self, source: str, target: str) -> bool:
        """Say whether the glossary, and no translator, knows the two languages."""
        return self._glossary.knows(source, target) and not any(t.knows(source, target) for t in self._translators)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate a query by the glossary; raise LanguageError if a translator knows the languages."""
        if any(translator.knows(query.lang, to) for translator in self._translators):
            raise LanguageError(f"{query.lang}->{to} is translated by another model, which the glossary corrects")
        return self._glossary.translate(query, to)


def apply_glossary(translators: Mapping[str, Translator], glossary: UserGlossary) -> dict[str, Translator]:
    """Let the glossary overrule translators, and add it under its own name for languages that none of them knows."""
    if not glossary.pairs:
        return dict(translators)
    corrected: dict[str, Translator] = {
        name: CorrectedTranslator(translator, glossary) for name, translator in translators.items()
    }
    return {**corrected, NAME: GlossaryFallback(glossary, list(translators.values()))}


def _validate_pair(pair: Pair) -> Pair:
    """Return a pair with normalised languages and white space; raise InputError if it cannot be used."""
    word, meaning = (" ".join(text.split()) for text in (pair.word, pair.meaning))
    lang, to = normalise(pair.lang), normalise(pair.to)
    if not word or not meaning:
        raise InputError(f"the glossary pair {pair.word!r} = {pair.meaning!r} needs a word on both sides")
    if lang == to:
        raise InputError(f"the glossary pair {word!r} = {meaning!r} has {lang!r} on both sides; it needs two languages")
    return Pair(lang, word, to, meaning)
