"""The lexicon that glosses are read from: words and phrases of each language as written, with their English meanings,
how likely each is, where it comes from and whether it is sure. Compiled by studies/lexicon.py
(docs/understand/gloss.md).

A key is kept as 32 bits of hash, so an unknown word is taken for a known one once in a hundred thousand; a meaning
takes four bytes. Everything is memory-mapped. Knows nothing of sentences.
"""

from __future__ import annotations

import unicodedata
import zlib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss import artefacts
from paragloss.errors import ModelError
from paragloss.translation.packed_words import PackedWordList, pack_words

KIND = "lexicon"
#: What keys are kept as, encoded; what was made of the beginning of one may be handed on to go on with.
hashed = zlib.crc32
#: Where a meaning comes from: written by hand, in dictionaries, in aligned texts, in both.
SOURCES = ("hand", "dictionary", "texts", "dictionary and texts")
#: The pseudo-language of English names, by how they sound.
NAMES = "names"
#: Parts of speech, as far as English texts tell them.
KINDS = ("", "noun", "verb", "adjective")
_GROUP, _WEIGHTS = 16, 63
_PLACE = Path(__file__).parent / "lexicon"
_SPELLED = str.maketrans({"’": "'", "ʼ": "'", "ş": "ș", "ţ": "ț"})
_MARKS = str.maketrans(
    "", "", "\u0640\u200c\u200d\u0301" + "".join(map(chr, [*range(0x591, 0x5C8), *range(0x64B, 0x653), 0x670]))
)
_LOOSE = str.maketrans({"ё": "е", "أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه", "ك": "ک", "ي": "ی"})


class Entry(NamedTuple):
    """A meaning in English; `weight` is its share among the word's, `kind` its part of speech or ""."""

    text: str
    weight: float
    source: str
    sure: bool
    kind: str = ""


class Rule(NamedTuple):
    """An ending and the one it is exchanged for to find a known form; what becomes of the English (s, ed, ing: added; a
    small word: put before it), and how often both forms mean the same."""

    ending: str
    base: str
    effect: str
    share: float


@lru_cache(maxsize=50_000)
def spelled(word: str, lang: str = "") -> str:
    """A word as the lexicon keys it: marks that only help reading are off, letters are as they are; case stays."""
    plain = unicodedata.normalize("NFC", word).translate(_MARKS)
    return plain.translate(_SPELLED) if lang == "ro" else plain.replace("’", "'")


def loosened(word: str) -> str:
    """What careless writing makes of a word: ё as е, Arabic letters without what sits on them."""
    return word.translate(_LOOSE)


class Lexicon:
    """Look-ups by language and key."""

    def __init__(self, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._meta, self._arrays = dict(meta), {name: np.asarray(array) for name, array in arrays.items()}
        self.langs = frozenset(meta["langs"])
        places = {lang: one["place"] for lang, one in meta["langs"].items()}
        self._keys = {lang: (first, self._arrays["keys"][first:last]) for lang, (first, last) in places.items()}
        self._views = {name: array.data for name, array in self._arrays.items()}  # one number of one costs a tenth
        self._words = PackedWordList(self._arrays["english"], self._arrays["groups"], int(meta["english"]))
        self.look = lru_cache(maxsize=50_000)(self._look)
        self._text = lru_cache(maxsize=50_000)(lambda number: self._words.entry(number)[1])
        self.rules = lru_cache(maxsize=None)(self._rules)

    def _look(self, key: str, lang: str) -> tuple[Entry, ...]:
        """What a key means, likeliest first; nothing if it is not known."""
        first, keys = self._keys.get(lang, (0, None))
        if keys is None:
            return ()
        wanted, views = hashed(key.encode("utf-8", "replace")), self._views
        at = bisect_left(views["keys"], wanted, first, first + len(keys))
        if at == first + len(keys) or views["keys"][at] != wanted:
            return ()
        group = at // _GROUP
        sizes = views["sizes"][group * _GROUP : at + 1].tolist()
        end = views["starts"][group] + sum(sizes)
        return tuple([self._entry(cell) for cell in views["cells"][end - sizes[-1] : end].tolist()])

    def _entry(self, cell: int) -> Entry:
        number = cell & 0xFFFFF
        kind = KINDS[self._views["kinds"][number]]
        return Entry(
            self._text(number), (cell >> 20 & 63) / _WEIGHTS, SOURCES[cell >> 26 & 3], bool(cell >> 28 & 1), kind
        )

    def have(self, hashes: Sequence[int], lang: str) -> list[bool]:
        """Of keys, given as their hashes, whether each is known: all of them are looked for at once."""
        there, wanted = self._keys[lang][1], np.array(hashes, np.uint32)
        return [*(there[np.minimum(there.searchsorted(wanted), len(there) - 1)] == wanted).tolist()]

    def says(self, text: str) -> bool:
        """Whether some word means exactly this."""
        return self._words.find(text) >= 0

    def _rules(self, lang: str) -> dict[str, tuple[Rule, ...]]:
        """By ending, the best first."""
        found: dict[str, list[Rule]] = {}
        for one in self._meta["langs"].get(lang, {}).get("rules", ()):
            found.setdefault(one[0], []).append(Rule(*one))
        return {ending: tuple(rules) for ending, rules in found.items()}

    @property
    def meta(self) -> dict[str, Any]:
        keys = {lang: one["place"][1] - one["place"][0] for lang, one in self._meta["langs"].items()}
        return {"keys": keys, **{name: value for name, value in self._meta.items() if name != "langs"}}

    def save(self, path: str | Path) -> None:
        artefacts.save(path, KIND, meta=self._meta, arrays=self._arrays)

    @classmethod
    def load(cls, path: str | Path) -> Lexicon:
        saved = artefacts.load(path, kind=KIND)
        return cls(saved.meta, saved.arrays)


@cache
def open() -> Lexicon:
    """The lexicon that is part of the package, opened once a process."""
    if not (_PLACE / "meta.json").is_file():
        raise ModelError(
            f"the lexicon is not at {_PLACE}: install paragloss again, or build it (python studies/lexicon.py)"
        )
    return Lexicon.load(_PLACE)


def pack(
    entries: Mapping[str, Mapping[str, Sequence[Entry]]],
    rules: Mapping[str, Sequence[Rule]] | None = None,
    kinds: Mapping[str, str] | None = None,
    about: Mapping[str, Any] | None = None,
) -> Lexicon:
    """A lexicon of words with their meanings, by language. `kinds`: parts of speech of English words."""
    texts = sorted({one.text for words in entries.values() for some in words.values() for one in some}, key=str.encode)
    number = {text: place for place, text in enumerate(texts)}
    keys: list[int] = []
    cells: list[int] = []
    sizes: list[int] = []
    langs: dict[str, Any] = {}
    for lang, words in sorted(entries.items()):
        by_hash: dict[int, Sequence[Entry]] = {}
        for word, some in words.items():
            by_hash.setdefault(hashed(word.encode()), some)  # of two with one hash the first stays
        langs[lang] = {"place": [len(keys), len(keys) + len(by_hash)], "rules": list((rules or {}).get(lang, ()))}
        for key in sorted(by_hash):
            keys.append(key)
            sizes.append(len(by_hash[key]))
            cells += [_cell(one, number[one.text]) for one in by_hash[key]]
    starts = np.concatenate([[0], np.cumsum(np.array(sizes, np.int64))])[: len(sizes) : _GROUP]
    english, groups = pack_words(texts, texts)
    arrays: dict[str, npt.NDArray[Any]] = {
        "keys": np.array(keys, np.uint32),
        "sizes": np.array(sizes, np.uint8),
        "starts": starts.astype(np.uint32),
        "cells": np.array(cells, np.uint32),
        "english": english,
        "groups": groups,
        "kinds": np.array([KINDS.index((kinds or {}).get(text, "")) for text in texts], np.uint8),
    }
    return Lexicon({**(about or {}), "langs": langs, "english": len(texts)}, arrays)


def _cell(one: Entry, number: int) -> int:
    weight = min(max(round(one.weight * _WEIGHTS), 0), _WEIGHTS)
    return number | weight << 20 | SOURCES.index(one.source) << 26 | int(one.sure) << 28
