"""A foreign text with what its words may mean in the reader's language. Knows nothing of searching or of pages.

Every source says what a word may be and how likely; sources are added up by how far they are trusted. A meaning that is
one of the reader's own query words counts more, since the text was found for them, and one that keeps company with what
the other words of the sentence may mean (English: `company`); phrases and compounds come from the sources, which read
the whole sentence. A word that no source knows is read without its ending where that gives a known one;
what is left is a name, and is romanised where its script is foreign.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import Any, NamedTuple

from paragloss.analysis import analyzer
from paragloss.analysis.romanisation import romanised
from paragloss.analysis.sentences import sentences
from paragloss.errors import LanguageError
from paragloss.gloss import company
from paragloss.languages import scripts
from paragloss.translation.default import Default
from paragloss.types import Alternative, Query, Span, Translation, Translator

#: How far sources are trusted beside each other; any other is trusted 1.
TRUST = {"glossary": 8.0, "dictionary": 2.0}
#: How much more a meaning counts that the reader has asked for, if it is so likely beside the best: a question about
#: bees does not make bees of all insects.
ASKED, LIKELY = 2.0, 0.6
#: How many meanings are shown, and the least share of one; the least share of a word that is said to mean itself, since
#: sources let names and unknown words stand with some share.
MOST, LEAST, LEAST_ITSELF = 4, 0.05, 0.2
#: The least share, beside the best, of a meaning that the company of other words may bring to the front: what is only
#: on the same subject is in good company too.
COMPANY = 0.4
#: How sure a meaning is that was found for a part of an unknown word, beside one of the word itself; and how much of
#: the word the part must be, for the rest to be an ending.
PART, MOST_OF = 0.5, 0.7
#: Texts longer than this are glossed up to here; a page of a book has 3,000 characters.
REACH = 50_000


class Meaning(NamedTuple):
    """What a word may mean, how likely, and who says so."""

    text: str
    weight: float
    source: str


class Word(NamedTuple):
    """A word of the text: text[start:end]. `kind` is "word", "name", "stop" or "other" (numbers); `confidence` is how
    sure the first meaning is; `romanised` how a word in a foreign script sounds, where it has no meaning."""

    start: int
    end: int
    text: str
    kind: str
    meanings: tuple[Meaning, ...] = ()
    confidence: float = 0.0
    romanised: str = ""


class Gloss(NamedTuple):
    """A text, word by word, and a rough rendering of it: the best meanings in the order of the text."""

    lang: str
    to: str
    words: tuple[Word, ...]
    rendering: str

    def as_json(self) -> dict[str, Any]:
        words = []
        for word in self.words:
            told = word._asdict() | {"meanings": [meaning._asdict() for meaning in word.meanings]}
            words.append({key: value for key, value in told.items() if key != "romanised" or value})
        return {"lang": self.lang, "to": self.to, "words": words, "rendering": self.rendering}


def gloss(text: str, lang: str, to: str, sources: Mapping[str, Translator], *, asked: str = "") -> Gloss:
    """What the words of a text mean in the language `to`. `asked` is what the reader was looking for, in that language.

    Sources that don't know the two languages are passed over; with none, words have no meanings.
    """
    text = text[:REACH]
    wanted = frozenset(analyzer(to).terms(asked)) if asked else frozenset[str]()
    words: list[Word] = []
    for start, end in sentences(text, lang):
        words += _sentence(text[start:end], start, lang, to, sources, wanted)
    return Gloss(lang, to, tuple(words), _rendering(text, words))


def _sentence(
    text: str, offset: int, lang: str, to: str, sources: Mapping[str, Translator], wanted: frozenset[str]
) -> list[Word]:
    content = analyzer(lang).spans(text)
    places = {span.start: span.term for span in content}
    said: dict[int, dict[str, dict[str, float]]] = {}  # where a word starts -> meaning -> source -> weight
    for name, source in sources.items():
        with suppress(LanguageError):
            for span, alternatives in _aligned(text, content, source.translate(Query("", text, lang), to)):
                for alternative in alternatives:
                    said.setdefault(span.start, {}).setdefault(alternative.text, {})[name] = alternative.weight
    first = next((span.start for span in content), -1)
    words = []
    for span in analyzer(lang, stem=False, stop=False).spans(text):
        written = text[span.start : span.end]
        if span.start not in places:
            word = Word(span.start, span.end, written, "stop")
        else:
            found = _weighed(said.get(span.start, {}), written, wanted, to)
            begins = span.start == first
            if not found and (begins or not written[:1].isupper()):
                found = _by_parts(places[span.start], lang, to, sources)
            word = _word(span, written, found, to, begins=begins)
        words.append(word._replace(start=word.start + offset, end=word.end + offset))
    return _in_company(words, to)


def _in_company(words: list[Word], to: str) -> list[Word]:
    """Meanings that suit what the other words may mean come first, of words that only the model in the box knows: the
    reader's own word is not argued with, and a collection's models speak of its subject as it is."""
    open_ = [place for place, word in enumerate(words) if word.meanings]
    if to != company.LANG or len(open_) < 2:
        return words
    swayed = company.open().sways([[(m.text, m.weight) for m in words[place].meanings] for place in open_])
    for place, sways in zip(open_, swayed, strict=True):
        meanings = words[place].meanings
        if any(meaning.source != "default" for meaning in meanings):
            continue
        mass = sum(meaning.weight for meaning in meanings)
        near = COMPANY * meanings[0].weight
        usual = min(sways)
        shares = [
            meaning.weight * (sway if meaning.weight >= near else usual)
            for meaning, sway in zip(meanings, sways, strict=True)
        ]
        ranked = sorted(zip(shares, meanings, strict=True), key=lambda one: -one[0])
        told = tuple(meaning._replace(weight=mass * share / sum(shares)) for share, meaning in ranked)
        words[place] = words[place]._replace(meanings=told, confidence=min(told[0].weight, words[place].confidence))
    return words


def _by_parts(term: str, lang: str, to: str, sources: Mapping[str, Translator]) -> list[Meaning]:
    """Meanings of the longest known word inside one that nobody knows."""
    for name, source in sources.items():
        if isinstance(source, Default) and {lang, to} <= set(source.langs):
            part = max(source.inside(term, lang), key=len, default="")
            found = source.alternatives(part, lang, to)[:MOST] if len(part) >= MOST_OF * len(term) else ()
            if found:
                return [Meaning(one.text, PART * one.weight, name) for one in found if one.weight >= LEAST]
    return []


def _word(span: Span, written: str, meanings: Sequence[Meaning], to: str, *, begins: bool) -> Word:
    if not any(char.isalpha() for char in written):
        return Word(span.start, span.end, written, "other")
    if meanings:
        return Word(span.start, span.end, written, "word", tuple(meanings), meanings[0].weight)
    named = written[:1].isupper() or written[:1].lower() == written[:1].upper()
    kind = "name" if named and not begins else "word"
    sound = romanised(written) if "Latn" in scripts(to) else written
    return Word(span.start, span.end, written, kind, romanised="" if sound == written else sound)


def _weighed(said: Mapping[str, Mapping[str, float]], written: str, wanted: frozenset[str], to: str) -> list[Meaning]:
    """Meanings by share, best first. A word alone is no meaning of itself: so do sources let unknown ones be."""
    trust = {name: TRUST.get(name, 1.0) for weights in said.values() for name in weights}
    known = {name for text, weights in said.items() if text.casefold() != written.casefold() for name in weights}
    scores: dict[str, tuple[float, str]] = {}
    for text, told in said.items():
        weights = told
        if text.casefold() == written.casefold():
            sure = {name for name, weight in told.items() if name in known and weight >= LEAST_ITSELF}
            weights = {name: told[name] for name in told if name in sure or name == "glossary"}
        if not weights:
            continue
        score = sum(trust[name] * weight for name, weight in weights.items())
        scores[text] = score, max(weights, key=lambda name: trust[name] * weights[name])
    best = max((score for score, _ in scores.values()), default=0.0)
    for text, (score, who) in scores.items() if wanted else ():
        if score >= LIKELY * best and wanted & set(analyzer(to).terms(text)):
            scores[text] = score * ASKED, who
    total = sum(score for score, _ in scores.values())
    ranked = sorted(scores.items(), key=lambda entry: (-entry[1][0], entry[0]))
    return [Meaning(text, score / total, who) for text, (score, who) in ranked if score >= LEAST * total][:MOST]


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


def _rendering(text: str, words: Sequence[Word]) -> str:
    """Best meanings, names and numbers in the order of the text; the ends of sentences stay."""
    said: list[str] = []
    for word, following in zip_longest(words, words[1:]):
        if word.kind != "stop":
            known = word.meanings[0].text if word.meanings else word.romanised or word.text
            if not said or said[-1].casefold() != known.casefold():  # the two words of one phrase
                said.append(known)
        between = text[word.end : following.start if following else word.end + 2]
        if said and (mark := next((char for char in between if char in ".!?。！？।؟;:"), "")):
            said[-1] = said[-1].rstrip(".!?;:") + {"。": ".", "！": "!", "？": "?", "।": ".", "؟": "?"}.get(mark, mark)
    return " ".join(said)
