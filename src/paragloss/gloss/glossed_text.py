"""What a gloss says: the words of a text with their meanings, a rough rendering, and both as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

#: As the server writes it.
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


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
