"""A reader's own words: pairs of any languages that count in both directions and overrule every other translator.

Kept as text, one `lang<TAB>word<TAB>lang<TAB>meaning` a line, so that it can be edited by hand as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from paragloss.errors import InputError, LanguageError
from paragloss.languages import normalise
from paragloss.translation.combined import translate_many
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Query, Translation, Translator

#: What it is called where it stands among translators.
NAME = "glossary"
#: More than anyone keeps by hand; a list this long wants to be a dictionary.
MOST = 20_000


class Pair(NamedTuple):
    """A word or phrase of one language and what it is in another."""

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
        self.pairs = [_checked(pair) for pair in pairs]
        if len(self.pairs) > MOST:
            raise InputError(f"{len(self.pairs):,} pairs in the glossary; at most {MOST:,} (make a dictionary of them)")
        entries: dict[tuple[str, str], list[_Entry]] = {}
        for lang, word, to, meaning in self.pairs:
            entries.setdefault((lang, to), []).append(_Entry(word, meaning))
            entries.setdefault((to, lang), []).append(_Entry(meaning, word))
        self._dictionaries = {
            (source, target): Dictionary.build(some, source, target) for (source, target), some in entries.items()
        }

    @classmethod
    def from_text(cls, text: str) -> UserGlossary:
        rows = [line.split("\t") for line in text.splitlines() if line.strip() and not line.startswith("#")]
        for number, row in enumerate(rows, start=1):
            if len(row) != 4:
                raise InputError(
                    f"entry {number} of the glossary has {len(row)} columns: write lang, word, lang, meaning"
                )
        return cls(Pair(*row) for row in rows)

    def to_text(self) -> str:
        return "".join("\t".join(pair) + "\n" for pair in self.pairs)

    def knows(self, source: str, target: str) -> bool:
        return (source, target) in self._dictionaries

    def translate(self, query: Query, to: str) -> list[Translation]:
        if not self.knows(query.lang, to):
            raise LanguageError(f"the glossary has no pairs of {query.lang} and {to}")
        return self._dictionaries[query.lang, to].translate(query, to)

    def translate_known_words(self, query: Query, to: str) -> list[Translation]:
        """Only what stands in the glossary."""
        if not self.knows(query.lang, to):
            return []
        own = [c for c in self.translate(query, to) if [a.text for a in c.alternatives] != [c.source]]
        return [clause._replace(origins=((NAME, 1.0, clause.alternatives),)) for clause in own]


class CorrectedTranslator:
    """A Translator whose answers the glossary overrules, word for word. Each request makes one of its own: those of one
    translator and one glossary are equal, so what was remembered of one is found again."""

    def __init__(self, translator: Translator, glossary: UserGlossary) -> None:
        self.translator, self.glossary = translator, glossary

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CorrectedTranslator) and self._of() == other._of()

    def __hash__(self) -> int:
        return hash(self._of())

    def _of(self) -> tuple[int, int]:
        return id(self.translator), id(self.glossary)

    def knows(self, source: str, target: str) -> bool:
        return self.translator.knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        return self._overruled(self.translator.translate(query, to), query, to)

    def translate_many(self, query: Query, targets: Sequence[str]) -> dict[str, list[Translation]]:
        translated = translate_many(self.translator, query, targets)
        return {lang: self._overruled(clauses, query, lang) for lang, clauses in translated.items()}

    def _overruled(self, clauses: list[Translation], query: Query, to: str) -> list[Translation]:
        corrections = self.glossary.translate_known_words(query, to)
        if not corrections:
            return clauses
        others = [c for c in clauses if not any(f" {c.source} " in f" {own.source} " for own in corrections)]
        return sorted([*corrections, *others], key=lambda clause: query.text.find(clause.source))


class GlossaryFallback:
    """The glossary for pairs of languages that none of the translators knows."""

    def __init__(self, glossary: UserGlossary, translators: Sequence[Translator]) -> None:
        self._glossary, self._translators = glossary, list(translators)

    def knows(self, source: str, target: str) -> bool:
        return self._glossary.knows(source, target) and not any(t.knows(source, target) for t in self._translators)

    def translate(self, query: Query, to: str) -> list[Translation]:
        if any(translator.knows(query.lang, to) for translator in self._translators):
            raise LanguageError(f"{query.lang}->{to} is translated by another model, which the glossary corrects")
        return self._glossary.translate(query, to)


def apply_glossary(translators: Mapping[str, Translator], glossary: UserGlossary) -> dict[str, Translator]:
    """Translators that the glossary corrects; it joins them under its own name, for what none of them knows."""
    if not glossary.pairs:
        return dict(translators)
    ours: dict[str, Translator] = {
        other: CorrectedTranslator(translator, glossary) for other, translator in translators.items()
    }
    return {**ours, NAME: GlossaryFallback(glossary, list(translators.values()))}


def _checked(pair: Pair) -> Pair:
    word, meaning = (" ".join(text.split()) for text in (pair.word, pair.meaning))
    lang, to = normalise(pair.lang), normalise(pair.to)
    if not word or not meaning:
        raise InputError(f"the glossary pair {pair.word!r} = {pair.meaning!r} needs a word on both sides")
    if lang == to:
        raise InputError(f"the glossary pair {word!r} = {meaning!r} has {lang!r} on both sides; it needs two languages")
    return Pair(lang, word, to, meaning)
