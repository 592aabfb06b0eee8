"""A foreign text with what its words may mean in the reader's language, sentence by sentence. Knows nothing of
searching or of pages. A meaning counts more that keeps company with what the other words of the sentence may mean
(English: `company`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from types import MappingProxyType

import numpy as np

from paragloss.analysis import analyzer
from paragloss.analysis.sentences import sentences
from paragloss.gloss import lexicon as lexicons
from paragloss.gloss import lookup, pivoting, rendering, word_associations
from paragloss.gloss.glossed_text import Gloss, Meaning, Sentence, Word
from paragloss.gloss.lexicon import Entry, Lexicon
from paragloss.gloss.meanings import Box, Place, alone, as_word, ask, described, in_the_box
from paragloss.translation import default as default_model
from paragloss.translation.embedding import EmbeddingTranslator
from paragloss.translation.glossary import UserGlossary
from paragloss.types import Alternative, Query, Span, Translation, Translator

#: So many sentences are remembered, up to so many characters long, each for so many questions: about 35 MB.
_SENTENCES, _SHORT, _QUESTIONS = 2_000, 400, 4
#: Texts longer than this are glossed up to here; a page of a book has 3,000 characters.
REACH = 50_000


#: The least share, beside the best, of a meaning that the company of other words may bring to the front: what is only
#: on the same subject is in good company too.
COMPANY = 0.4


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
    boxes: dict[str, tuple[Box, dict[str, Translator]]] = {}
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


def _asked_of(lang: str, to: str, sources: Mapping[str, Translator | Lexicon]) -> tuple[Box, dict[str, Translator]]:
    """Who is asked about a language: the box, and before it sources that speak of it."""
    known = {lang, to} - {"en"}
    lexicon = next((one for one in sources.values() if isinstance(one, Lexicon) and known & one.langs), None)
    speaking, weak = dict[str, Translator](), list[tuple[str, Translator]]()
    for name, source in sources.items():
        if isinstance(source, Lexicon) or (isinstance(source, UserGlossary) and not source.knows(lang, to)):
            continue
        if lexicon and (name == "default" or isinstance(source, EmbeddingTranslator)):
            weak.append((name, source))
        else:
            speaking[name] = source
    return Box(lang, to, lexicon, tuple(weak)), speaking


class _Read:
    """A sentence as it was read, with what is said of it, by which of the terms of its likely meanings were asked for.
    `speaking` are sources to be asked about it, beside the box."""

    def __init__(self, text: str, box: Box, speaking: Mapping[str, Translator] = MappingProxyType({})) -> None:
        self.text, self.box, self._speaking = text, box, speaking
        lang, to = box.lang, box.to
        tokens = analyzer(lang).tokens(text)
        pieces = [piece for _, _, piece in tokens]
        terms = analyzer(lang).named(pieces)
        others = (piece for piece, term in zip(pieces, terms, strict=True) if not term)  # stop words, and signs
        words = iter(analyzer(lang, stem=False, stop=False).named([*others]))
        spans = [(start, end, term) for (start, end, _), term in zip(tokens, terms, strict=True) if term or next(words)]
        self._told: dict[int, dict[str, dict[str, float]]] = {}  # where a word starts -> meaning -> source -> weight
        own: list[tuple[int, int]] = []  # what the reader's own glossary speaks of
        for one in speaking.items():
            content = [Span(*span) for span in spans if span[2]]
            own += ask(*one, text, content, Query("", text, lang), to, self._told)
        lasting = box.lasting and (bool(box.weak) or not speaking)
        self._places: list[tuple[int, int, Place, Word | None, frozenset[str]]] = []
        for first, last, entries, before in _looked_up(text, spans, box, own):
            start, end, term = spans[first][0], spans[last - 1][1], spans[first][2] or None
            place = Place(text[start:end], term, first == 0, entries, before, last > first + 1)
            known = alone(place, box) if lasting and start not in self._told else (None, frozenset[str]())
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
                word = described(place, self.box, wanted, self._told.get(start, {}), self._speaking)[0]
            elif not wanted.isdisjoint(likely):
                word = alone(place, self.box, wanted & likely)[0]
            words.append(Word(start, end, *word[2:]))
        return _hyphened(self.text, words, self.box) if "-" in self.text else words


_remembered = lru_cache(maxsize=_SENTENCES)(_Read)


def _read(text: str, box: Box, speaking: Mapping[str, Translator]) -> _Read:
    """A sentence; one that only the box speaks of is the same when it is seen again."""
    lasting = box.lasting and not speaking and len(text) <= _SHORT
    return _remembered(text, box) if lasting else _Read(text, box, speaking)


def _looked_up(
    text: str, spans: Sequence[tuple[int, int, str]], box: Box, own: Sequence[tuple[int, int]]
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


def _hyphened(text: str, words: list[Word], box: Box) -> list[Word]:
    """What is joined to a name by a hyphen is one too, though it may be a word: Saffir-Simpson."""
    for one, other in ((a, b) for i in range(len(words) - 1) for a, b in ((i, i + 1), (i + 1, i))):
        near, far = words[one], words[other]
        between = text[min(near.end, far.end) : max(near.start, far.start)]
        named = near.romanised if near.kind == "name" else near.meanings and near.meanings[0].text[:1].isupper()
        if between == "-" and named and far.meanings and not far.text.isascii():
            words[other] = as_word(
                Span(far.start, far.end, ""), far.text, (), box.lang, box.to, box.lexicon, begins=False
            )
    return words


def _in_company(every: Sequence[list[Word]], to: str) -> None:
    """Meanings that suit what the other words of a sentence may mean come first, of words that only the model in the
    box knows: the reader's own word is not argued with, and a collection's models speak of its subject as it is."""
    places = [[i for i, word in enumerate(words) if word.meanings and word.kind != "stop"] for words in every]
    some = [(words, there) for words, there in zip(every, places, strict=True) if len(there) > 1]
    if to != word_associations.LANG or not some:
        return
    counts = [len(words[place].meanings) for words, there in some for place in there]
    texts, given, sources, kinds = zip(
        *chain.from_iterable(words[place].meanings for words, there in some for place in there), strict=True
    )
    of, weights = np.repeat(np.arange(len(counts)), counts), np.array(given)
    ends = np.cumsum(counts)
    starts = ends - np.array(counts)
    sways = word_associations.open().sways(texts, weights, starts, [len(there) for _, there in some])
    near, usual = COMPANY * weights[starts][of], np.minimum.reduceat(sways, starts)[of]
    shares = weights * np.where(weights >= near, sways, usual)
    shares *= (np.bincount(of, weights) / np.bincount(of, shares))[of]
    order = np.lexsort((-shares, of)).tolist()
    ranked = [
        Meaning(texts[i], weight, sources[i], kinds[i]) for i, weight in zip(order, shares[order].tolist(), strict=True)
    ]
    boxed = np.logical_and.reduceat([*map(in_the_box, sources)], starts).tolist()
    told = iter(zip(boxed, starts.tolist(), ends.tolist(), strict=True))
    for words, there in some:
        for place, (here, start, end) in zip(there, told, strict=False):
            if here:
                word, meanings = words[place], tuple(ranked[start:end])
                words[place] = word._replace(meanings=meanings, confidence=min(meanings[0].weight, word.confidence))


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
