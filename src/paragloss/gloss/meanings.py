"""What a word may mean in the reader's language, by itself. Knows nothing of sentences or texts.

The reader's glossary wins over everything. Then the lexicon speaks (`lookup`), together with what the collection's own
dictionaries and tables say, each by how far it is trusted; the default model and the nearest words of bag models are
asked only for words that nobody else knows, and what they say is a guess. A meaning that is one of the reader's own
query words counts more, since the text was found for them. What is left is a name: it is written as the English one
that sounds like it, or in Latin letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from paragloss.analysis import analyzer
from paragloss.errors import LanguageError
from paragloss.gloss import lookup, names
from paragloss.gloss.glossed_text import Meaning, Word
from paragloss.gloss.lexicon import Entry, Lexicon
from paragloss.languages import scripts
from paragloss.translation import default as default_model
from paragloss.translation.default import DefaultModel
from paragloss.translation.glossary import CorrectedTranslator, UserGlossary
from paragloss.types import Alternative, Query, Span, Translation, Translator

#: How far sources are trusted beside each other; any other is trusted 1. What the lexicon is not sure of counts less.
TRUST = {"glossary": 100.0, "dictionary": 2.0, "lexicon": 3.0, "lexicon, unsure": 1.0, "default, seconds": 2.5}
#: How much more a meaning counts that the reader has asked for, if it is so likely beside the best: a question about
#: bees does not make bees of all insects.
ASKED, LIKELY = 2.0, 0.6
#: How many meanings are shown, and the least share of one; the least share of a word that is said to mean itself, since
#: sources let names and unknown words stand with some share.
MOST, LEAST, LEAST_ITSELF = 5, 0.03, 0.2
#: The least share of a meaning that only the table knows, of a word that the lexicon has too.
SECONDED = 0.25
#: The least share of a guess: below it no meaning is shown.
FLOOR = 0.2
#: How sure a meaning is that was found for a part of an unknown word, beside one of the word itself; and how much of
#: the word the part must be, for the rest to be an ending.
PART, MOST_OF = 0.5, 0.7
#: Who speaks of a word that is taken for an English one by its letters.
SOUND = "sound"


class Box(NamedTuple):
    """Who is asked about words that no other source speaks of: the lexicon, then `weak` sources."""

    lang: str
    to: str
    lexicon: Lexicon | None
    weak: tuple[tuple[str, Translator], ...]

    @property
    def lasting(self) -> bool:
        """Whether what it says stays the same."""
        return all(isinstance(bare(source), DefaultModel) for _, source in self.weak)


class Place(NamedTuple):
    """A word or phrase of a sentence, its term unless it is a stop word, and what the lexicon has of it."""

    written: str
    term: str | None
    begins: bool
    entries: tuple[Entry, ...]
    before: str
    phrase: bool


@lru_cache(maxsize=20_000)
def alone(place: Place, box: Box, wanted: frozenset[str] = frozenset()) -> tuple[Word, frozenset[str]]:
    """A word of which nobody but the lexicon and the default model has spoken: the same each time, whatever was asked,
    unless that is one of the terms of what it likely means."""
    return described(place, box, wanted, {}, {})


def described(
    place: Place,
    box: Box,
    wanted: frozenset[str],
    said: Mapping[str, Mapping[str, float]],
    sources: Mapping[str, Translator],
) -> tuple[Word, frozenset[str]]:
    """A word by itself, at the beginning of the text, and the terms of what it likely means. `said`: what other sources
    say, meaning -> source -> weight."""
    (written, term, begins, entries, before, phrase), (lang, to, lexicon, weak) = place, box
    told = {meaning: dict(who) for meaning, who in said.items()}
    for one in entries:
        told.setdefault(one.text, {})["lexicon" if one.sure else "lexicon, unsure"] = one.weight
    if to == "en" and term is not None and entries and not phrase:
        _seconded(told, term, lang, dict(weak).get("default"))
    if not told and weak and term is not None and _has_letters(written):
        told = _guessed(written, term, lang, to, weak, begins)
    meanings, likely = _weighed(told, written, wanted, to)
    if not meanings and term is not None and not weak and (begins or not written[:1].isupper()):
        meanings = _by_parts(term, lang, to, sources)
    if not meanings and lexicon and to == "en" and term is not None and (begins or not written[:1].isupper()):
        loan = names.named(written, lang, lexicon, default_model.open())
        meanings = [Meaning(*loan, SOUND)] if loan and loan[0].islower() else []
    word = as_word(Span(0, len(written), ""), written, meanings, lang, to, lexicon, begins=begins)
    return _told(word, entries, weak, stop=term is None, before=before), likely


def bare(source: Translator) -> Translator:
    """A translator without the reader's glossary before it."""
    return source.translator if isinstance(source, CorrectedTranslator) else source


def _seconded(told: dict[str, dict[str, float]], term: str, lang: str, source: Translator | None) -> None:
    """Let the table weigh the meanings of a word that the lexicon has, and bring up others behind them."""
    model = bare(source) if source else None
    if isinstance(model, DefaultModel) and lang in model.langs:
        same = {(terms_of(text, "en") or (text,))[-1]: text for text in reversed(told)}
        for one in _alternatives(model, term, lang):
            text = same.get(one.terms[-1] if one.terms else one.text, "")
            if not text and one.weight < SECONDED:
                continue
            name = "default, seconds" if text else "default"
            who = told.setdefault(text or one.text, {})
            who[name] = who.get(name, 0.0) + one.weight


@lru_cache(maxsize=20_000)
def _alternatives(model: DefaultModel, term: str, lang: str) -> tuple[Alternative, ...]:
    return model.alternatives(term, lang, "en")[:MOST]


@lru_cache(maxsize=50_000)
def terms_of(text: str, lang: str) -> tuple[str, ...]:
    """The terms of a meaning."""
    return tuple(analyzer(lang).terms(text))


def ask(
    name: str,
    source: Translator,
    text: str,
    content: Sequence[Span],
    query: Query,
    to: str,
    said: dict[int, dict[str, dict[str, float]]],
) -> list[tuple[int, int]]:
    """Note what a source says of the words of a text; where a glossary spoke."""
    places: list[tuple[int, int]] = []
    with suppress(LanguageError):
        clauses = (
            source.translate_known_words(query, to) if isinstance(source, UserGlossary) else source.translate(query, to)
        )
        for clause in clauses if isinstance(source, UserGlossary) else ():
            at = text.casefold().find(clause.source.casefold())
            if at >= 0:
                places.append((at, at + len(clause.source)))
        for span, alternatives in _aligned(text, content, clauses):
            for alternative in alternatives:
                said.setdefault(span.start, {}).setdefault(alternative.text, {})[name] = alternative.weight
    return places


def _guessed(
    written: str, term: str, lang: str, to: str, weak: tuple[tuple[str, Translator], ...], begins: bool
) -> dict[str, dict[str, float]]:
    """What sources that are often wrong say of a word that nobody else knows, if they are sure enough of it."""
    said: dict[int, dict[str, dict[str, float]]] = {}
    for name, source in weak:
        ask(name, source, written, [Span(0, len(written), term)], Query("", written, lang), to, said)
    told = said.get(0, {})
    if not any(text.casefold() != written.casefold() for text in told) and (begins or not written[:1].isupper()):
        return {one.text: {one.source: one.weight} for one in _by_parts(term, lang, to, dict(weak))}
    best = max((max(who.values()) for text, who in told.items() if text.casefold() != written.casefold()), default=0.0)
    return told if best >= FLOOR else {}


def _told(
    word: Word, entries: Sequence[Entry], weak: Sequence[tuple[str, Translator]], *, stop: bool, before: str
) -> Word:
    """With parts of speech, and whether the first meaning is sure: by the lexicon, or by the reader's own sources."""
    if not word.meanings:
        return word._replace(kind="stop") if stop and word.kind != "other" else word
    known = {one.text: one for one in entries}
    meanings = tuple(
        [
            Meaning(m.text, m.weight, f"lexicon, {one.source}", one.kind)
            if (one := known.get(m.text)) and in_the_box(m.source)
            else m
            for m in word.meanings
        ]
    )
    first = word.meanings[0]
    sure = known[first.text].sure if first.text in known else first.source not in (SOUND, *(name for name, _ in weak))
    return Word(*word[:3], "stop" if stop else word.kind, meanings, word.confidence, word.romanised, sure, before)


@lru_cache(maxsize=1_000)
def in_the_box(source: str) -> bool:
    """Whether a meaning is from the lexicon or the default model."""
    return source.split(",")[0] in ("default", "lexicon")


def _by_parts(term: str, lang: str, to: str, sources: Mapping[str, Translator]) -> list[Meaning]:
    """Meanings of the longest known word inside one that nobody knows."""
    for name, source in sources.items():
        if isinstance(source, DefaultModel) and {lang, to} <= set(source.langs):
            part = max(source.find_known_parts(term, lang), key=len, default="")
            rest = term.removeprefix(part) if lang == "ko" else term
            enough = len(part) >= MOST_OF * len(term) or (len(part) > 1 and lookup.behind_noun(rest))
            found = source.alternatives(part, lang, to)[:MOST] if enough else ()
            if found:
                return [Meaning(one.text, PART * one.weight, name) for one in found if one.weight >= LEAST]
    return []


def as_word(
    span: Span, written: str, meanings: Sequence[Meaning], lang: str, to: str, lexicon: Lexicon | None, *, begins: bool
) -> Word:
    if not _has_letters(written):
        return Word(span.start, span.end, written, "other")
    if meanings:
        return Word(span.start, span.end, written, "word", tuple(meanings), meanings[0].weight)
    named = written[:1].isupper() or written[:1].lower() == written[:1].upper()
    kind = "name" if named and not begins else "word"
    roman = names.latin(written, lang) if "Latn" in scripts(to) else written
    found = names.named(written, lang, lexicon, default_model.open()) if lexicon and roman != written else None
    if found and (found[0][:1].isupper() or written[:1].isupper()):
        kind, roman = "name", found[0]
    if kind == "name" and roman != written:
        roman = roman[:1].upper() + roman[1:]
    return Word(span.start, span.end, written, kind, romanised="" if roman == written else roman)


def _weighed(
    said: Mapping[str, Mapping[str, float]], written: str, wanted: frozenset[str], to: str
) -> tuple[list[Meaning], frozenset[str]]:
    """Meanings by share, best first, and the terms of likely ones. A word alone is no meaning of itself: so do sources
    let unknown ones be."""
    own = written.casefold()
    itself = {text for text in said if text.casefold() == own}
    known = {name for text, weights in said.items() if text not in itself for name in weights} if itself else ()
    scores: dict[str, tuple[float, str]] = {}
    for text, told in said.items():
        weights = told
        if text in itself:
            sure = {name for name, weight in told.items() if name in known and weight >= LEAST_ITSELF}
            weights = {n: told[n] for n in told if n in sure or n in ("glossary", "lexicon", "lexicon, unsure")}
        if weights:
            each = [(TRUST.get(name, 1.0) * weight, name) for name, weight in weights.items()]
            scores[text] = sum([score for score, _ in each]), max(each, key=_score)[1]
    best = max(scores.values(), key=_score, default=(0.0, ""))[0]
    likely = {text: terms_of(text, to) for text, (score, _) in scores.items() if score >= LIKELY * best}
    for text, terms in likely.items() if wanted else ():
        if not wanted.isdisjoint(terms):
            scores[text] = scores[text][0] * ASKED, scores[text][1]
    total = sum([score for score, _ in scores.values()])
    ranked = sorted([(-score, text, who) for text, (score, who) in scores.items()])[:MOST]
    shown = [Meaning(text, -score / total, who) for score, text, who in ranked if -score >= LEAST * total]
    return shown, frozenset(chain.from_iterable(likely.values()))


_score = itemgetter(0)


def _has_letters(word: str) -> bool:
    return word.isalpha() or any(map(str.isalpha, word))


def _aligned(
    text: str, spans: Sequence[Span], clauses: Iterable[Translation]
) -> Iterable[tuple[Span, Sequence[Alternative]]]:
    """Each word with its alternatives. A source speaks of words in the order of the text: one clause a word, one for
    the words of a phrase, or one for every part of a compound, whose meanings are then said together."""
    place, parts = 0, list[Translation]()
    for clause in clauses:
        here = next((i for i in range(place, len(spans)) if text.startswith(clause.source, spans[i].start)), None)
        if here is None:
            parts.append(clause)
            continue
        if parts and place < len(spans):
            yield spans[place], _together(parts)
            parts = []
        end = spans[here].start + len(clause.source)
        place = here
        while place < len(spans) and spans[place].end <= end:
            yield spans[place], clause.alternatives
            place += 1
    if parts and place < len(spans):
        yield spans[place], _together(parts)


def _together(parts: Sequence[Translation]) -> list[Alternative]:
    best = [part.alternatives[0] for part in parts]
    weight = 1.0
    for alternative in best:
        weight *= alternative.weight
    return [Alternative(" ".join(alternative.text for alternative in best), weight)]
