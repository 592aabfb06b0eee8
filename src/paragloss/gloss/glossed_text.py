"""What a gloss says: the words of a text with their meanings and a rough rendering, also as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Meaning(NamedTuple):
    """A meaning of a word, its share among the word's meanings and its source; `kind` is its part of speech or ""."""

    text: str
    weight: float
    source: str
    kind: str = ""


class Word(NamedTuple):
    """A word or phrase of a text: text[start:end].

    `kind` is "word", "unknown" (a word without a meaning), "name", "stop" or "other" (numbers). `confidence` is the
    share of the first meaning, `sure` whether it is more than a guess. `romanised` is the word in Latin letters, if it
    has no meaning and another script.
    `before` are small English words for its ending or for particles attached to it.
    """

    start: int
    end: int
    text: str
    kind: str
    meanings: tuple[Meaning, ...] = ()
    confidence: float = 0.0
    romanised: str = ""
    sure: bool = False
    before: str = ""

    def move(self, offset: int) -> Word:
        """Return the same word, `offset` characters further on."""
        return Word(self.start + offset, self.end + offset, *self[2:])

    def as_json(self) -> dict[str, Any]:
        """Return the fields that the HTTP API shows; `romanised` and `before` only where they are not empty."""
        fields = {**self._asdict(), "meanings": [meaning._asdict() for meaning in self.meanings]}
        return {name: value for name, value in fields.items() if value or name not in ("romanised", "before")}


class GlossedSentence(NamedTuple):
    """The words of a sentence, with offsets from its beginning, and a rough rendering of it.

    `rendered_spans` has for each word the offsets of its meaning in the rendering, or None if it is not rendered.
    """

    words: Sequence[Word]
    rendering: str
    rendered_spans: Sequence[tuple[int, int] | None] = ()


class Gloss(NamedTuple):
    """A glossed text: each sentence with its offset. In renderings `~` stands before a guess."""

    lang: str
    to: str
    sentences: Sequence[tuple[int, GlossedSentence]]

    @property
    def words(self) -> tuple[Word, ...]:
        """All words, with offsets from the beginning of the text."""
        return tuple(word.move(offset) for offset, sentence in self.sentences for word in sentence.words)

    @property
    def rendering(self) -> str:
        """The renderings of all sentences as one line."""
        return " ".join(sentence.rendering for _, sentence in self.sentences if sentence.rendering)

    @property
    def rendered_spans(self) -> list[tuple[int, int] | None]:
        """For each of `words` the offsets of its meaning in `rendering`, or None if it is not rendered."""
        spans: list[tuple[int, int] | None] = []
        sentence_start = 0
        for _, sentence in self.sentences:
            for span in sentence.rendered_spans:
                spans.append((span[0] + sentence_start, span[1] + sentence_start) if span else None)
            if sentence.rendering:
                sentence_start += len(sentence.rendering) + 1
        return spans

    def as_json(self) -> dict[str, Any]:
        """Return the gloss as the HTTP API shows it; a word that is rendered has its place in the rendering."""
        words = [word.as_json() for word in self.words]
        for word, span in zip(words, self.rendered_spans, strict=True):
            if span:
                word["rendered"] = list(span)
        return {"lang": self.lang, "to": self.to, "words": words, "rendering": self.rendering}
