"""What a gloss says: the words of a text with their meanings, a rough rendering, and both as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

#: As `json` writes texts and numbers.
_quoted, _number = json.encoder.encode_basestring, float.__repr__


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
    def written(self) -> list[tuple[int, int, str]]:
        """Where each word starts and ends, and all else of it as JSON."""
        return [(word.start, word.end, _written(word)) for word in self.words]


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
        told: dict[str, Any] = json.loads(self.written())
        return told

    def written(self) -> str:
        """As JSON."""
        words = ",".join(
            [
                f'{{"start":{at + start},"end":{at + end},{rest}'
                for at, said in self.sentences
                for start, end, rest in said.written
            ]
        )
        lang, to, rendering = map(_quoted, (self.lang, self.to, self.rendering))
        return f'{{"lang":{lang},"to":{to},"words":[{words}],"rendering":{rendering}}}'


def _written(word: Word) -> str:
    """All but its place: `json` makes an encoder for each word, which takes twice as long."""
    _, _, text, kind, meanings, confidence, romanised, sure, before = word
    each = [
        f'{{"text":{_quoted(said)},"weight":{_number(weight)},"source":{_quoted(by)},"kind":{_quoted(of)}}}'
        for said, weight, by, of in meanings
    ]
    roman = f'"romanised":{_quoted(romanised)},' if romanised else ""
    small = f',"before":{_quoted(before)}' if before else ""
    return (
        f'"text":{_quoted(text)},"kind":{_quoted(kind)},"meanings":[{",".join(each)}],'
        f'"confidence":{_number(confidence)},{roman}"sure":{"true" if sure else "false"}{small}}}'
    )
