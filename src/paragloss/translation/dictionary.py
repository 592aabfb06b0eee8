"""Translation word by word from a bilingual dictionary: every word, the best one, or one at random.

Longest entries match first, so phrases of the dictionary are phrases of the query. Choosing by what occurs together
in the target collection is `cooccurrence.Disambiguated`. Knows nothing of file formats: it takes entries.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from paragloss import artefacts
from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError, ModelError
from paragloss.translation.alternative_selection import CHOICES, choose_alternatives
from paragloss.types import Alternative, Query, Span, Translation

KIND = "dictionary"


class EntryLike(Protocol):
    """What `formats.dictionaries` reads: one way to say a word or phrase."""

    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def weight(self) -> float: ...


class Sense(NamedTuple):
    """One translation of a headword."""

    text: str
    weight: float


class Dictionary:
    """A Translator for one pair of languages.

    `choose`: "every" translation (weights shared out among them), the "best" one (highest weight, the earlier of
    equals), or one at "random", always the same for the same query and `seed`. `stem`: a word that is no headword
    is looked up by its stem (Oard 1998); it finds more and errs more. `carry` makes a word that has no entry
    legible in the target's script; without it the word stays as it is.
    """

    #: What it counts beside the model in the box. A dictionary knows rare words and does not say how likely a sense is:
    #: counting as much as a table of one's own it costs questions what it brings keywords (docs/understand/log.md).
    trust = 1.5

    def __init__(
        self,
        senses: Mapping[tuple[str, ...], Sequence[Sense]],
        source: str,
        target: str,
        *,
        choose: str = "every",
        stem: bool = True,
        carry: Callable[[str, str], str] | None = None,
        most: int = 20,
        seed: int = 0,
    ) -> None:
        if choose not in CHOICES:
            raise InputError(f"choose {choose!r}: expected one of {', '.join(CHOICES)}")
        self.source, self.target = source, target
        self.senses = dict(senses)
        self.choose, self.stem, self.most, self.seed = choose, stem, most, seed
        self._carry = carry
        self._plain = analyzer(source, stem=False, stop=False)
        self._terms = analyzer(source)
        self._stemmed = _by_stem(self.senses, self._terms.terms) if stem else {}
        self._longest = max(map(len, self.senses), default=1)

    @classmethod
    def build(
        cls,
        entries: Iterable[EntryLike],
        source: str,
        target: str,
        **settings: Any,
    ) -> Dictionary:
        """Gather entries under their headwords, cut and lower-cased as queries are; equal entries add up. `settings`
        are those of a Dictionary."""
        cut = analyzer(source, stem=False, stop=False).terms
        gathered: dict[tuple[str, ...], dict[str, float]] = {}
        for entry in entries:
            key, text = tuple(cut(entry.source)), entry.target.strip()
            if key and text and entry.weight > 0:
                found = gathered.setdefault(key, {})
                found[text] = found.get(text, 0.0) + entry.weight
        senses = {key: [Sense(*sense) for sense in found.items()] for key, found in gathered.items()}
        return cls(senses, source, target, **settings)

    def __len__(self) -> int:
        return len(self.senses)

    @property
    def langs(self) -> tuple[str, ...]:
        """The language it can be asked in."""
        return (self.source,)

    def knows(self, source: str, target: str) -> bool:
        return (source, target) == (self.source, self.target)

    def has_term(self, term: str, lang: str) -> bool:
        """Whether an analysed term is a headword."""
        return lang == self.source and ((term,) in self.senses or (term,) in self._stemmed)

    def translate(self, query: Query, to: str) -> list[Translation]:
        if not self.knows(query.lang, to):
            raise LanguageError(f"no dictionary for {query.lang}->{to}; this one is {self.source}->{self.target}")
        spans = self._plain.spans(query.text)
        wanted = {span.start for span in self._terms.spans(query.text)}  # stop words translate inside phrases only
        translations = []
        place = 0
        while place < len(spans):
            length, senses = self._match(spans, place)
            if length > 1 or spans[place].start in wanted:
                written = query.text[spans[place].start : spans[place + length - 1].end]
                translations.append(Translation(written, self._alternatives(written, senses, query.text)))
            place += length
        return translations

    def _match(self, spans: Sequence[Span], place: int) -> tuple[int, Sequence[Sense]]:
        """How many words the longest headword that begins here has, and what it means."""
        words = tuple(span.term for span in spans[place : place + self._longest])
        for length in range(len(words), 0, -1):
            if found := self.senses.get(words[:length]):
                return length, found
            if self.stem:
                stems = tuple(self._terms.terms(" ".join(words[:length])))
                if len(stems) == length and (found := self._stemmed.get(stems)):
                    return length, found
        return 1, ()

    def _alternatives(self, written: str, senses: Sequence[Sense], query: str) -> tuple[Alternative, ...]:
        if not senses:
            return (Alternative(self._carry(written, self.target) if self._carry else written, 1.0),)
        merged: dict[str, float] = {}
        for sense in senses:
            merged[sense.text] = merged.get(sense.text, 0.0) + sense.weight
        ranked = sorted(merged.items(), key=lambda item: -item[1])[: self.most]
        total = sum(weight for _, weight in ranked)
        every = tuple(Alternative(text, weight / total) for text, weight in ranked)
        return choose_alternatives(every, self.choose, seed=self.seed, within=query, of=written)

    def varied(self, *, stem: bool = True, carry: Callable[[str, str], str] | None = None) -> Dictionary:
        """The same dictionary, looked up another way."""
        other = copy.copy(self)
        other.stem, other._carry = stem and self.stem, carry or self._carry
        return other

    def save(self, path: str | Path) -> None:
        """`carry` is a function and not saved: give it to `load` again."""
        flat = [(" ".join(key), *sense) for key, senses in self.senses.items() for sense in senses]
        meta = {"source": self.source, "target": self.target, "choose": self.choose, "stem": self.stem,
                "most": self.most, "seed": self.seed}  # fmt: skip
        words = {"headwords": [row[0] for row in flat], "texts": [_line(row[1]) for row in flat]}
        artefacts.save(path, KIND, meta=meta, words=words, arrays={"weight": np.array([row[2] for row in flat])})

    @classmethod
    def load(cls, path: str | Path, *, carry: Callable[[str, str], str] | None = None) -> Dictionary:
        saved = artefacts.load(path, kind=KIND)
        if type(saved.meta["most"]) is not int:
            raise ModelError(f"{path} is damaged ('most' is {saved.meta['most']!r}): make or copy the dictionary again")
        senses: dict[tuple[str, ...], list[Sense]] = {}
        rows = zip(saved.words["headwords"], saved.words["texts"], saved.arrays["weight"], strict=True)
        for headword, text, weight in rows:
            senses.setdefault(tuple(headword.split(" ")), []).append(Sense(text, float(weight)))
        settings = {**saved.meta, "most": int(saved.meta["most"]), "seed": int(saved.meta["seed"])}
        return cls(senses, carry=carry, **settings)


def load(path: str | Path) -> Dictionary:
    return Dictionary.load(path)


class WatchedDictionary:
    """A Translator over a file that people edit: read again whenever it has changed, so an edit counts from the next
    query on. `read` makes a Dictionary of it; a file that can't be read leaves the last good one in place and warns.
    """

    def __init__(self, path: str | Path, read: Callable[[Path], Dictionary]) -> None:
        self._path, self._read = Path(path), read
        self._seen = self._stamp()
        self._dictionary = read(self._path)

    def knows(self, source: str, target: str) -> bool:
        return self.current().knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        return self.current().translate(query, to)

    def current(self) -> Dictionary:
        stamp = self._stamp()
        if stamp != self._seen:
            try:
                self._dictionary = self._read(self._path)
            except (InputError, OSError) as error:
                warnings.warn(f"{self._path} was not reloaded: {error}", stacklevel=3)
            self._seen = stamp
        return self._dictionary

    def _stamp(self) -> tuple[int, int] | None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        return status.st_mtime_ns, status.st_size


def _by_stem(
    senses: Mapping[tuple[str, ...], Sequence[Sense]], terms: Callable[[str], list[str]]
) -> dict[tuple[str, ...], list[Sense]]:
    found: dict[tuple[str, ...], list[Sense]] = {}
    for key, values in senses.items():
        stems = tuple(terms(" ".join(key)))
        if len(stems) == len(key):
            found.setdefault(stems, []).extend(values)
    return found


def _line(text: str) -> str:
    return " ".join(text.split())
