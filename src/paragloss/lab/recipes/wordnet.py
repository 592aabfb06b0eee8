"""Synonyms from WordNet's own database files (Miller 1995; format: wndb(5WN)). English, as the files are.

Knows nothing of translating into another language: put it before a translator with `expansion.Chained`.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError
from paragloss.types import Alternative, Query, Translation

_PARTS = ("noun", "verb", "adj", "adv")
#: Endings and what they stand for, as WordNet's own morphology has them.
_ENDINGS = {
    "noun": "s: ses:s xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}
_PLACES = ("/usr/share/wordnet", "/usr/local/share/wordnet", "/usr/share/WordNet", "/opt/local/share/WordNet-3.0/dict")


class WordNet:
    """A Translator from English to English: each word, then its synonyms, which share `weight` among them.

    `senses`: how many meanings are taken, the most frequent first; more bring words from other topics.
    """

    def __init__(
        self, path: str | Path | None = None, *, senses: int = 1, most: int = 5, weight: float = 0.3, lang: str = "en"
    ) -> None:
        self.path = Path(path) if path is not None else _found()
        self.senses, self.most, self.weight, self.lang = senses, most, weight, lang
        try:
            self._index = {part: _index(self.path / f"index.{part}") for part in _PARTS}
            self._data = {part: (self.path / f"data.{part}").read_bytes() for part in _PARTS}
            self._exceptions = {part: _exceptions(self.path / f"{part}.exc") for part in _PARTS}
        except FileNotFoundError as error:
            raise InputError(f"{self.path} is no WordNet database: {error.filename} is missing") from None

    def knows(self, source: str, target: str) -> bool:
        return source == target == self.lang

    def translate(self, query: Query, to: str) -> list[Translation]:
        if not self.knows(query.lang, to):
            raise LanguageError(f"this WordNet expands {self.lang}; it can't take {query.lang}->{to}")
        clauses = []
        for span in analyzer(query.lang).spans(query.text):
            word = query.text[span.start : span.end]
            others = self.synonyms(word)
            more = tuple(Alternative(text, self.weight / len(others)) for text in others)
            clauses.append(Translation(word, (Alternative(word, 1.0), *more)))
        return clauses

    def synonyms(self, word: str) -> list[str]:
        """Other words for the first senses of each part of speech, the most frequent sense first."""
        found: dict[str, None] = {}
        lower = word.lower()
        for sense in range(self.senses):
            for part in _PARTS:
                for lemma in self.lemmas(lower.replace(" ", "_"), part):
                    offsets = self._index[part][lemma]
                    if sense < len(offsets):
                        found.update(dict.fromkeys(self._synset(part, offsets[sense])))
        own = {lower, *(lemma.replace("_", " ") for part in _PARTS for lemma in self.lemmas(lower, part))}
        return [text for text in found if text.lower() not in own][: self.most]

    def lemmas(self, word: str, part: str) -> list[str]:
        """The forms of a word that are entries: itself, its irregular base, or what its ending leaves."""
        index = self._index[part]
        candidates = [word, *self._exceptions[part].get(word, ())]
        for rule in _ENDINGS[part].split():
            ending, base = rule.split(":")
            if word.endswith(ending) and len(word) > len(ending):
                candidates.append(word[: -len(ending)] + base)
        return [lemma for lemma in dict.fromkeys(candidates) if lemma in index][:1]

    @lru_cache(maxsize=10_000)  # noqa: B019 - a WordNet is kept as long as it is used
    def _synset(self, part: str, offset: int) -> tuple[str, ...]:
        data = self._data[part]
        fields = data[offset : data.index(b"\n", offset)].decode().split(" ")
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        return tuple(word.split("(")[0].replace("_", " ") for word in words)  # "galore(ip)": where it may stand


def _index(path: Path) -> dict[str, tuple[int, ...]]:
    """Lemma to the places of its senses: `lemma pos synsets pointers [pointer...] senses tagged offset...`."""
    found = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith(" "):  # the licence
                fields = line.split()
                found[fields[0]] = tuple(map(int, fields[-int(fields[2]) :]))
    return found


def _exceptions(path: Path) -> dict[str, list[str]]:
    with path.open(encoding="utf-8") as lines:
        return {fields[0]: fields[1:] for fields in map(str.split, lines) if fields}


def _found() -> Path:
    for place in (os.environ.get("WNSEARCHDIR", ""), *_PLACES):
        if place and (Path(place) / "index.noun").is_file():
            return Path(place)
    raise InputError("no WordNet on this machine: install it (Debian: wordnet-base) or give the folder of data.noun")
