"""A foreign text with what its words may mean in the reader's language. Knows nothing of searching or of pages.

The reader's glossary wins over everything. Then the lexicon speaks (`reading`), together with what the collection's own
dictionaries and tables say, each by how far it is trusted; the default model and the nearest words of bag models are
asked only for words that nobody else knows, and what they say is a guess. A meaning that is one of the reader's own
query words counts more, since the text was found for them, and one that keeps company with what the other words of the
sentence may mean (English: `company`). What is left is a name: it is written as the English one that sounds like it, or
in Latin letters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from paragloss.analysis import analyzer
from paragloss.analysis.sentences import sentences
from paragloss.errors import LanguageError
from paragloss.gloss import company, lookup, names, pivoting, rendering
from paragloss.gloss import lexicon as lexicons
from paragloss.gloss.lexicon import Entry, Lexicon
from paragloss.languages import scripts
from paragloss.translation import default as default_model
from paragloss.translation.default import Default
from paragloss.translation.embedding import Embedding
from paragloss.translation.glossary import Corrected, Pairs
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
#: The least share, beside the best, of a meaning that the company of other words may bring to the front: what is only
#: on the same subject is in good company too.
COMPANY = 0.4
#: How sure a meaning is that was found for a part of an unknown word, beside one of the word itself; and how much of
#: the word the part must be, for the rest to be an ending.
PART, MOST_OF = 0.5, 0.7
#: Who speaks of a word that is taken for an English one by its letters.
SOUND = "sound"
#: So many sentences are remembered, up to so many characters long, each for so many questions: about 35 MB.
_SENTENCES, _SHORT, _QUESTIONS = 2_000, 400, 4
#: As the server writes it.
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
#: Texts longer than this are glossed up to here; a page of a book has 3,000 characters.
REACH = 50_000


class Meaning(NamedTuple):
    """What a word may mean, how likely, and who says so; `kind` is its part of speech where that is known."""

    text: str
    weight: float
    source: str
    kind: str = ""


class Word(NamedTuple):
    """A word or phrase of the text: text[start:end]. `kind` is "word", "name", "stop" or "other" (numbers);
    `confidence` is how likely the first meaning is, and `sure` says whether it is more than a guess; `romanised` is
    how a word in a foreign script is written in Latin letters, where it has no meaning; `before` are small words that
    its ending or what is attached to it says."""

    start: int
    end: int
    text: str
    kind: str
    meanings: tuple[Meaning, ...] = ()
    confidence: float = 0.0
    romanised: str = ""
    sure: bool = False
    before: str = ""


class Sentence:
    """The words of a sentence, placed from its beginning, and a rough rendering of them. It is written as JSON once, as
    people see the same sentences again."""

    def __init__(self, words: Sequence[Word], rendering: str) -> None:
        self.words, self.rendering = words, rendering

    @cached_property
    def as_json(self) -> list[tuple[int, int, str]]:
        """Where each word starts and ends, and all else of it that JSON says."""
        return [(word.start, word.end, _JSON.encode(_as_json(word))[1:]) for word in self.words]


class Gloss(NamedTuple):
    """A text, sentence by sentence, each with where it begins; what is a guess has ~ before it."""

    lang: str
    to: str
    sentences: Sequence[tuple[int, Sentence]]

    @property
    def words(self) -> tuple[Word, ...]:
        return tuple(
            Word(at + word.start, at + word.end, *word[2:]) for at, said in self.sentences for word in said.words
        )

    @property
    def rendering(self) -> str:
        """All of it, roughly."""
        return " ".join(said.rendering for _, said in self.sentences if said.rendering)

    def as_json(self) -> dict[str, Any]:
        words = [{"start": word.start, "end": word.end, **_as_json(word)} for word in self.words]
        return {"lang": self.lang, "to": self.to, "words": words, "rendering": self.rendering}

    def written(self) -> str:
        """The same as text."""
        words = ",".join(
            f'{{"start":{at + start},"end":{at + end},{rest}'
            for at, said in self.sentences
            for start, end, rest in said.as_json
        )
        lang, to, rendering = map(_JSON.encode, (self.lang, self.to, self.rendering))
        return f'{{"lang":{lang},"to":{to},"words":[{words}],"rendering":{rendering}}}'


def _as_json(word: Word) -> dict[str, Any]:
    """All but its place."""
    _, _, text, kind, meanings, confidence, romanised, sure, before = word
    each = [{"text": said, "weight": weight, "source": by, "kind": of} for said, weight, by, of in meanings]
    told = {"text": text, "kind": kind, "meanings": each, "confidence": confidence}
    told |= {"romanised": romanised, "sure": sure} if romanised else {"sure": sure}
    return told | {"before": before} if before else told


def gloss(text: str, lang: str, to: str, sources: Mapping[str, Translator | Lexicon], *, asked: str = "") -> Gloss:
    """What the words of a text mean in the language `to`. `asked` is what the reader was looking for, in that language.

    Sources that don't know the two languages are passed over; with none, words have no meanings.
    """
    return glosses([(text, lang)], to, sources, asked=asked)[0]


def glosses(
    texts: Iterable[tuple[str, str]], to: str, sources: Mapping[str, Translator | Lexicon], *, asked: str = ""
) -> list[Gloss]:
    """The same of several texts, each with its language: what is the same for all of them is done once. Of those in the
    reader's own language nothing is said."""
    wanted = frozenset(analyzer(to).terms(asked)) if asked else frozenset[str]()
    boxes: dict[str, tuple[_Box, dict[str, Translator]]] = {}
    read: list[tuple[str, list[tuple[int, _Read]]]] = []
    for whole, lang in texts:
        if lang not in boxes:
            boxes[lang] = _asked_of(lang, to, sources if lang != to else {})
        text, some = whole[:REACH], list[tuple[int, _Read]]()
        for start, end in sentences(text, lang):
            some.append((start, _read(text[start:end], *boxes[lang])))
        read.append((lang, some))
    every = {one for _, some in read for _, one in some}
    known = {one: said for one in every if (said := one.said(wanted))}
    new = {one: one.words(wanted) for one in every if one not in known}
    _in_company(list(new.values()), to)
    for one, words in new.items():
        known[one] = one.say(wanted, Sentence(words, _rendered(one.text, words, one.box.lang, to)))
    return [Gloss(lang, to, [(start, known[one]) for start, one in some]) for lang, some in read]


class Reader:
    """The lexicon and the default model as a Translator: what the words of a text may be, as a gloss says it."""

    def knows(self, source: str, target: str) -> bool:
        return True

    def translate(self, query: Query, to: str) -> list[Translation]:
        found = gloss(query.text, query.lang, to, {"default": default_model.open(), "lexicon": lexicons.open()})
        return [
            Translation(word.text, tuple(Alternative(one.text, one.weight) for one in word.meanings))
            if word.meanings
            else Translation(word.text, (Alternative(word.romanised or word.text, 1.0),))
            for word in found.words
        ]


class _Box(NamedTuple):
    """Who is asked about words that no other source speaks of: the lexicon, then `weak` sources."""

    lang: str
    to: str
    lexicon: Lexicon | None
    weak: tuple[tuple[str, Translator], ...]

    @property
    def lasting(self) -> bool:
        """Whether what it says stays the same."""
        return all(isinstance(_bare(source), Default) for _, source in self.weak)


def _asked_of(lang: str, to: str, sources: Mapping[str, Translator | Lexicon]) -> tuple[_Box, dict[str, Translator]]:
    """Who is asked about a language: the box, and before it sources that speak of it."""
    known = {lang, to} - {"en"}
    lexicon = next((one for one in sources.values() if isinstance(one, Lexicon) and known & one.langs), None)
    speaking, weak = dict[str, Translator](), list[tuple[str, Translator]]()
    for name, source in sources.items():
        if isinstance(source, Lexicon) or (isinstance(source, Pairs) and not source.knows(lang, to)):
            continue
        if lexicon and (name == "default" or isinstance(source, Embedding)):
            weak.append((name, source))
        else:
            speaking[name] = source
    return _Box(lang, to, lexicon, tuple(weak)), speaking


class _Place(NamedTuple):
    """A word or phrase of a sentence, its term unless it is a stop word, and what the lexicon has of it."""

    written: str
    term: str | None
    begins: bool
    entries: tuple[Entry, ...]
    before: str
    phrase: bool


class _Read:
    """A sentence as it was read, with what is said of it, by which of the terms of its likely meanings were asked for.
    `speaking` are sources to be asked about it, beside the box."""

    def __init__(self, text: str, box: _Box, speaking: Mapping[str, Translator] = MappingProxyType({})) -> None:
        self.text, self.box, self._speaking = text, box, speaking
        lang, to = box.lang, box.to
        tokens = analyzer(lang).tokens(text)
        pieces = [piece for _, _, piece in tokens]
        terms, plain = (analyzer(lang, stem=full, stop=full).named(pieces) for full in (True, False))
        spans = [(start, end, term) for (start, end, _), term, word in zip(tokens, terms, plain, strict=True) if word]
        self._told: dict[int, dict[str, dict[str, float]]] = {}  # where a word starts -> meaning -> source -> weight
        own: list[tuple[int, int]] = []  # what the reader's own glossary speaks of
        for one in speaking.items():
            content = [Span(*span) for span in spans if span[2]]
            own += _ask(*one, text, content, Query("", text, lang), to, self._told)
        lasting = box.lasting and (bool(box.weak) or not speaking)
        self._places: list[tuple[int, int, _Place, Word | None, frozenset[str]]] = []
        for first, last, entries, before in _looked_up(text, spans, box, own):
            start, end, term = spans[first][0], spans[last - 1][1], spans[first][2] or None
            place = _Place(text[start:end], term, first == 0, entries, before, last > first + 1)
            known = _alone(place, box) if lasting and start not in self._told else (None, frozenset[str]())
            self._places.append((start, end, place, *known))
        self._likely = frozenset[str]().union(*(likely for *_, likely in self._places))
        self._said: dict[frozenset[str], Sentence] = {}

    def said(self, wanted: frozenset[str]) -> Sentence | None:
        return self._said.get(wanted & self._likely)

    def say(self, wanted: frozenset[str], said: Sentence) -> Sentence:
        if len(self._said) >= _QUESTIONS:
            self._said = {}
        self._said[wanted & self._likely] = said
        return said

    def words(self, wanted: frozenset[str]) -> list[Word]:
        words = []
        for start, end, place, known, likely in self._places:
            word = known
            if word is None:
                word = _described(place, self.box, wanted, self._told.get(start, {}), self._speaking)[0]
            elif not wanted.isdisjoint(likely):
                word = _alone(place, self.box, wanted & likely)[0]
            words.append(Word(start, end, *word[2:]))
        return _hyphened(self.text, words, self.box) if "-" in self.text else words


_remembered = lru_cache(maxsize=_SENTENCES)(_Read)


def _read(text: str, box: _Box, speaking: Mapping[str, Translator]) -> _Read:
    """A sentence; one that only the box speaks of is the same when it is seen again."""
    lasting = box.lasting and not speaking and len(text) <= _SHORT
    return _remembered(text, box) if lasting else _Read(text, box, speaking)


@lru_cache(maxsize=20_000)
def _alone(place: _Place, box: _Box, wanted: frozenset[str] = frozenset()) -> tuple[Word, frozenset[str]]:
    """A word of which nobody but the lexicon and the default model has spoken: the same each time, whatever was asked,
    unless that is one of the terms of what it likely means."""
    return _described(place, box, wanted, {}, {})


def _described(
    place: _Place,
    box: _Box,
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
    if not told and weak and term is not None and any(char.isalpha() for char in written):
        told = _guessed(written, term, lang, to, weak, begins)
    meanings, likely = _weighed(told, written, wanted, to)
    if not meanings and term is not None and not weak and (begins or not written[:1].isupper()):
        meanings = _by_parts(term, lang, to, sources)
    if not meanings and lexicon and to == "en" and term is not None and (begins or not written[:1].isupper()):
        loan = names.named(written, lang, lexicon, default_model.open())
        meanings = [Meaning(*loan, SOUND)] if loan and loan[0].islower() else []
    word = _word(Span(0, len(written), ""), written, meanings, lang, to, lexicon, begins=begins)
    guesses = frozenset([SOUND, *(name for name, _ in weak)])
    return _told(word, entries, guesses, stop=term is None, before=before), likely


def _bare(source: Translator) -> Translator:
    """A translator without the reader's glossary before it."""
    return source.translator if isinstance(source, Corrected) else source


def _seconded(told: dict[str, dict[str, float]], term: str, lang: str, source: Translator | None) -> None:
    """Let the table weigh the meanings of a word that the lexicon has, and bring up others behind them."""
    model = _bare(source) if source else None
    if isinstance(model, Default) and lang in model.langs:
        same = {(_terms(text, "en") or (text,))[-1]: text for text in reversed(told)}
        for one in _alternatives(model, term, lang):
            text = same.get(one.terms[-1] if one.terms else one.text, "")
            if not text and one.weight < SECONDED:
                continue
            name = "default, seconds" if text else "default"
            who = told.setdefault(text or one.text, {})
            who[name] = who.get(name, 0.0) + one.weight


@lru_cache(maxsize=20_000)
def _alternatives(model: Default, term: str, lang: str) -> tuple[Alternative, ...]:
    return model.alternatives(term, lang, "en")[:MOST]


@lru_cache(maxsize=50_000)
def _terms(text: str, lang: str) -> tuple[str, ...]:
    """The terms of a meaning."""
    return tuple(analyzer(lang).terms(text))


def _ask(
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
        clauses = source.known(query, to) if isinstance(source, Pairs) else source.translate(query, to)
        for clause in clauses if isinstance(source, Pairs) else ():
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
        _ask(name, source, written, [Span(0, len(written), term)], Query("", written, lang), to, said)
    told = said.get(0, {})
    if not any(text.casefold() != written.casefold() for text in told) and (begins or not written[:1].isupper()):
        return {one.text: {one.source: one.weight} for one in _by_parts(term, lang, to, dict(weak))}
    best = max((max(who.values()) for text, who in told.items() if text.casefold() != written.casefold()), default=0.0)
    return told if best >= FLOOR else {}


def _looked_up(
    text: str, spans: Sequence[tuple[int, int, str]], box: _Box, own: Sequence[tuple[int, int]]
) -> list[lookup.Reading]:
    """The words and phrases of a sentence with what the lexicon says; no phrase across what the glossary has."""
    lang, to, lexicon, _ = box
    if not lexicon:
        return [lookup.Reading(place, place + 1) for place in range(len(spans))]
    words = [text[start:end] for start, end, _ in spans]
    if lang == "en":
        read = [lookup.Reading(i, i + 1, (Entry(word.lower(), 1.0, "texts", True),)) for i, word in enumerate(words)]
    else:
        between = [text[end:start] for (_, end, _), (start, _, _) in pairwise(spans)]
        joined = [gap == " " or not gap.strip() for gap in between] + [False]
        for place, (start, _, _) in enumerate(spans if own else ()):
            if any(a <= start < b for a, b in own):
                joined[max(place - 1, 0)] = joined[place] = False
        read = lookup.read(words, joined, lang, lexicon)
    if to == "en":
        return read
    model = default_model.open()
    return [
        one._replace(entries=pivoting.into(one.entries, to, model, lexicon), before="") if one.entries else one
        for one in read
    ]


def _told(word: Word, entries: Sequence[Entry], weak: frozenset[str], *, stop: bool, before: str) -> Word:
    """With parts of speech, and whether the first meaning is sure: by the lexicon, or by the reader's own sources."""
    if not word.meanings:
        return word._replace(kind="stop") if stop and word.kind != "other" else word
    known = {one.text: one for one in entries}
    meanings = tuple(
        m._replace(kind=known[m.text].kind, source=f"lexicon, {known[m.text].source}")
        if m.text in known and m.source.split(",")[0] in ("default", "lexicon")
        else m
        for m in word.meanings
    )
    first = word.meanings[0]
    sure = known[first.text].sure if first.text in known else first.source not in weak
    return word._replace(kind="stop" if stop else word.kind, meanings=meanings, sure=sure, before=before)


def _hyphened(text: str, words: list[Word], box: _Box) -> list[Word]:
    """What is joined to a name by a hyphen is one too, though it may be a word: Saffir-Simpson."""
    for one, other in ((a, b) for i in range(len(words) - 1) for a, b in ((i, i + 1), (i + 1, i))):
        near, far = words[one], words[other]
        between = text[min(near.end, far.end) : max(near.start, far.start)]
        named = near.romanised if near.kind == "name" else near.meanings and near.meanings[0].text[:1].isupper()
        if between == "-" and named and far.meanings and not far.text.isascii():
            words[other] = _word(
                Span(far.start, far.end, ""), far.text, (), box.lang, box.to, box.lexicon, begins=False
            )
    return words


def _in_company(every: Sequence[list[Word]], to: str) -> None:
    """Meanings that suit what the other words of a sentence may mean come first, of words that only the model in the
    box knows: the reader's own word is not argued with, and a collection's models speak of its subject as it is."""
    places = [[i for i, word in enumerate(words) if word.meanings and word.kind != "stop"] for words in every]
    some = [(words, there) for words, there in zip(every, places, strict=True) if len(there) > 1]
    if to != company.LANG or not some:
        return
    counts = [len(words[place].meanings) for words, there in some for place in there]
    texts, given, sources, kinds = zip(
        *chain.from_iterable(words[place].meanings for words, there in some for place in there), strict=True
    )
    of, weights = np.repeat(np.arange(len(counts)), counts), np.array(given)
    ends = np.cumsum(counts)
    starts = ends - np.array(counts)
    sways = company.open().sways(texts, weights, starts, [len(there) for _, there in some])
    near, usual = COMPANY * weights[starts][of], np.minimum.reduceat(sways, starts)[of]
    shares = weights * np.where(weights >= near, sways, usual)
    shares *= (np.bincount(of, weights) / np.bincount(of, shares))[of]
    order = np.lexsort((-shares, of)).tolist()
    ranked = [
        Meaning(texts[i], weight, sources[i], kinds[i]) for i, weight in zip(order, shares[order].tolist(), strict=True)
    ]
    boxed = np.logical_and.reduceat([*map(_in_the_box, sources)], starts).tolist()
    told = iter(zip(boxed, starts.tolist(), ends.tolist(), strict=True))
    for words, there in some:
        for place, (here, start, end) in zip(there, told, strict=False):
            if here:
                word, meanings = words[place], tuple(ranked[start:end])
                words[place] = word._replace(meanings=meanings, confidence=min(meanings[0].weight, word.confidence))


@lru_cache(maxsize=1_000)
def _in_the_box(source: str) -> bool:
    return source.split(",")[0] in ("default", "lexicon")


def _by_parts(term: str, lang: str, to: str, sources: Mapping[str, Translator]) -> list[Meaning]:
    """Meanings of the longest known word inside one that nobody knows."""
    for name, source in sources.items():
        if isinstance(source, Default) and {lang, to} <= set(source.langs):
            part = max(source.inside(term, lang), key=len, default="")
            rest = term.removeprefix(part) if lang == "ko" else term
            enough = len(part) >= MOST_OF * len(term) or (len(part) > 1 and lookup.behind_noun(rest))
            found = source.alternatives(part, lang, to)[:MOST] if enough else ()
            if found:
                return [Meaning(one.text, PART * one.weight, name) for one in found if one.weight >= LEAST]
    return []


def _word(
    span: Span, written: str, meanings: Sequence[Meaning], lang: str, to: str, lexicon: Lexicon | None, *, begins: bool
) -> Word:
    if not any(char.isalpha() for char in written):
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
    trust = {name: TRUST.get(name, 1.0) for weights in said.values() for name in weights}
    known = {name for text, weights in said.items() if text.casefold() != written.casefold() for name in weights}
    scores: dict[str, tuple[float, str]] = {}
    for text, told in said.items():
        weights = told
        if text.casefold() == written.casefold():
            sure = {name for name, weight in told.items() if name in known and weight >= LEAST_ITSELF}
            weights = {n: told[n] for n in told if n in sure or n in ("glossary", "lexicon", "lexicon, unsure")}
        if not weights:
            continue
        score = sum(trust[name] * weight for name, weight in weights.items())
        scores[text] = score, max(weights, key=lambda name: trust[name] * weights[name])
    best = max((score for score, _ in scores.values()), default=0.0)
    likely = {text: _terms(text, to) for text, (score, _) in scores.items() if score >= LIKELY * best}
    for text, terms in likely.items():
        if not wanted.isdisjoint(terms):
            scores[text] = scores[text][0] * ASKED, scores[text][1]
    total = sum(score for score, _ in scores.values())
    ranked = sorted(scores.items(), key=lambda entry: (-entry[1][0], entry[0]))
    shown = [Meaning(text, score / total, who) for text, (score, who) in ranked if score >= LEAST * total][:MOST]
    return shown, frozenset(chain.from_iterable(likely.values()))


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


def _rendered(text: str, words: Sequence[Word], lang: str, to: str) -> str:
    """Best meanings, names and numbers of a sentence; small words that have a meaning."""
    items = []
    following = [word.start for word in words[1:]] + [word.end + 2 for word in words[-1:]]
    for (_, end, written, kind, meanings, _, romanised, sure, before), then in zip(words, following, strict=True):
        said, of = "" if kind == "stop" else romanised or written, ""
        if meanings:
            said, _, _, of = meanings[0]
            said = said if sure else f"{rendering.GUESS}{said}"
            said = f"{before} {said}" if before else said
        items.append(rendering.Item(said, of, written, rendering.sign(text[end:then])))
    return rendering.rendered(items, lang, to)
