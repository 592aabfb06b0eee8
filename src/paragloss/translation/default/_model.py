"""The translator that comes with the package: some forty languages, each with a table to English and one back, so that
any pair goes through English: P(y | x) = sum over e of P(y | e) P(e | x). Everything stays in files, memory-mapped.

Knows nothing of how it was learned (studies/default_model.py) or of searching.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache, cached_property, lru_cache, wraps
from itertools import islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from paragloss import artefacts
from paragloss.analysis import analyzer
from paragloss.errors import LanguageError, ModelError
from paragloss.languages import normalise, scripts
from paragloss.translation.compounds import (
    COMPOUND_LINKERS,
    MIN_UNSPACED_PART,
    find_known_parts,
    join_words,
    split_compound,
)
from paragloss.translation.default._rows import Rows
from paragloss.translation.packed_words import PackedWordList
from paragloss.types import Alternative, Query, Translation

KIND = "default"
FALLBACK = "en"
#: Alternatives of one word; English words that a word of another language goes through.
_MOST, _VIA = 12, 6
#: What is less likely than this among a word's translations is left out.
_LEAST = 0.015
#: How much of a word's clause its phrase decides: "prime" in "prime minister".
_PHRASE = 0.3
_LONGEST_PHRASE = 3
#: Translations of a word that are tried as a part of a compound.
_JOINED = 2
#: What a word as it stands has of its clause: names and terms of art are often the same, known or not.
_ITSELF = 0.1

#: Words whose translations are remembered, some kilobyte for each language.
_REMEMBERED = 1_000
#: Up to so many words, each counted for every language, are quicker looked up one by one.
_FEW = 3
#: Where each array of rows begins and ends is noted once for those of one length.
_KEPT = {"sizes": "sizes", "starts": "starts", "targets": "cells", "weights": "cells"}

Ids = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]
#: What a word may be: words of a language by number, each with how likely it is, the best first.
_Ranked: TypeAlias = Sequence[tuple[float, int]]
_SHARE = itemgetter(0)
P = ParamSpec("P")
T = TypeVar("T")


class _Language(NamedTuple):
    """One language's words and, unless it is English, its rows from and to the English words it knows."""

    words: PackedWordList
    english: Ids
    there: Rows | None
    back: Rows | None
    begin: tuple[int, ...]  # where the sizes, starts and entries of `there` begin among those of all languages

    def rows(self, english: Ids) -> Ids:
        """The rows of English words, -1 for those it does not know."""
        at = np.searchsorted(self.english, english)
        return np.where(self.english.take(at, mode="clip") == english, at, -1)


class Piece(NamedTuple):
    """A word of a query: as written, its term, and which English words it may be, with shares. No English: unknown."""

    written: str
    term: str
    english: Ids
    shares: Shares


class DefaultModel:
    """A Translator between any two of its languages."""

    def __init__(self, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._meta, self._arrays = dict(meta), dict(arrays)
        self.langs: tuple[str, ...] = tuple(meta["langs"])
        self._open = lru_cache(maxsize=None)(_told(self._opened))
        self._term = lru_cache(maxsize=20_000)(_told(self._english_of))
        self._entry = lru_cache(maxsize=20_000)(_told(self._entry_of))
        self._number = lru_cache(maxsize=20_000)(_told(self._number_of))
        self._pairs = _told(self._pairs_of)
        self._into, self._one = _told(self._into_all), _told(self._into_one)
        self._remembered: dict[tuple[str, str, bytes, bytes, str], dict[str, Translation]] = {}

    @property
    def meta(self) -> dict[str, Any]:
        """Languages with how many words each has, and what is said of the whole; shown by `paragloss info`."""
        words = {lang: self._meta["langs"][lang]["words"] for lang in self.langs}
        return {"words": words, **{key: value for key, value in self._meta.items() if key != "langs"}}

    def knows(self, source: str, target: str) -> bool:
        try:
            return bool(self._code(source) and self._code(target))
        except LanguageError:
            return False

    def translate(self, query: Query, to: str) -> list[Translation]:
        lang, code = self._code(query.lang), self._code(to)
        words = [(piece, self._one(piece, code) if code != lang else ()) for piece in self.pieces(query.text, lang)]
        return self._clauses([self._translation(piece, found, lang, code) for piece, found in words], lang, code)

    def translate_many(self, query: Query, targets: Sequence[str]) -> dict[str, list[Translation]]:
        """The query in several languages; its words are looked up once, and translated into all of them at once."""
        lang = self._code(query.lang)
        codes = {target: self._code(target) for target in targets}
        words = self._translated(self.pieces(query.text, lang), lang, set(codes.values()))
        return {target: self._clauses([word[code] for word in words], lang, code) for target, code in codes.items()}

    def alternatives(self, term: str, source: str, target: str) -> tuple[Alternative, ...]:
        """What one analysed term may be, best first; empty when it is not known."""
        source, target = self._code(source), self._code(target)
        return self._alternatives(self._one(Piece(term, term, *self._term(source, term)), target), target)

    def english(self, term: str, lang: str) -> list[tuple[int, float]]:
        """Which English words, by number, an analysed term may be, with shares; none when it is not known, or the model
        does not have its language."""
        return self._pairs(lang, term) if lang in self.langs else []

    def english_word_ids(self, term: str, lang: str) -> list[int]:
        """The numbers of the English words that are a term's `alternatives`, best first."""
        pairs = [(share, number) for number, share in self.english(term, lang)]
        return [number for _, number in _likely(sorted(pairs, key=_SHARE, reverse=True))]

    def english_spelling(self, number: int) -> str:
        """An English word as it is most often spelled."""
        return self._entry(FALLBACK, number)[1]

    def has_term(self, term: str, lang: str) -> bool:
        """Whether an analysed term, or phrase, is among a language's own words; English words it may borrow are not."""
        return self._open(self._code(lang)).words.find(term) >= 0

    def has_terms(self, terms: Sequence[str], lang: str) -> list[bool]:
        """The same of many."""
        return self._open(self._code(lang)).words.have(terms)

    def vocabulary(self, lang: str) -> Set[str]:
        """All of a language's own words, some megabytes of them: for those who ask for very many."""
        return self._open(self._code(lang)).words.known()

    def joined_vocabulary(self, lang: str) -> str:
        """All of a language's own words between spaces, small: as terms, and as they are spelled."""
        return self._open(self._code(lang)).words.written().lower()

    def sample_spellings(self, lang: str, number: int) -> list[str]:
        """Some of a language's own words, as they are spelled."""
        words = self._open(self._code(lang)).words
        return [words.entry(i)[1] for i in range(0, len(words), max(1, len(words) // number))]

    def find_known_parts(self, term: str, lang: str, knows: Callable[[str], bool] | None = None) -> list[str]:
        """The known words that an unknown term holds; where words are not written apart, the number that any does."""
        lang = self._code(lang)
        if lang in MIN_UNSPACED_PART and (numbers := _number().findall(term)):
            return [] if term.isdigit() else numbers
        known = knows or (lambda part: self.has_term(part, lang))
        return [] if known(term) else find_known_parts(term, lang, known)

    def spelling(self, term: str, lang: str) -> str:
        """How a term is most often spelled; "" where it is not known."""
        lang = self._code(lang)
        number = self._number(lang, term)
        return self._entry(lang, number)[1] if number >= 0 else ""

    def is_capitalized(self, term: str, lang: str) -> bool:
        """Whether a term is known with a capital letter, as names are."""
        return self.spelling(term, lang)[:1].isupper()

    def pieces(self, text: str, lang: str) -> list[Piece]:
        """The words of a text with the English they may be. A word inside a known phrase is also what the phrase is;
        an unknown compound gives its parts."""
        spans = analyzer(lang).spans(text)
        terms = [span.term for span in spans]
        phrases = self._phrases(terms, lang)
        found = []
        for place, span in enumerate(spans):
            written = text[span.start : span.end]
            english = self._term(lang, span.term)
            if place in phrases:
                english = _mixed([(*english, 1 - _PHRASE), (*phrases[place], _PHRASE)])
            if not len(english[0]) and lang in COMPOUND_LINKERS:
                compound_parts = split_compound(span.term, lang, lambda term: self.has_term(term, lang))
                found += [Piece(part, part, *self._term(lang, part)) for part in compound_parts]
                if compound_parts:
                    continue
            found.append(Piece(written, span.term, *english))
        return found

    def _phrases(self, terms: Sequence[str], lang: str) -> dict[int, tuple[Ids, Shares]]:
        """Of each place inside a phrase what the phrase is in English; the longest first, from the left."""
        found: dict[int, tuple[Ids, Shares]] = {}
        place = 0
        while place < len(terms):
            for length in range(min(_LONGEST_PHRASE, len(terms) - place), 1, -1):
                english = self._term(lang, " ".join(terms[place : place + length]))
                if len(english[0]):
                    found.update(dict.fromkeys(range(place, place + length), english))
                    place += length - 1
                    break
            place += 1
        return found

    def _clauses(self, clauses: list[Translation], lang: str, to: str) -> list[Translation]:
        """A clause for each word, and in languages that write words together one for each known word that two
        neighbours make: train delay, Zugverspätung."""
        if to not in COMPOUND_LINKERS or lang == to:
            return clauses
        every = clauses[:1]
        for first, second in pairwise(clauses):
            every.append(second)
            parts_of = [[a.terms[0] for a in one.alternatives if a.terms][:_JOINED] for one in (first, second)]
            words = join_words(parts_of[0], parts_of[1], to)
            entries = [self._entry(to, number) for word in words if (number := self._number(to, word)) >= 0]
            if entries:
                made = tuple(Alternative(text, 1 / len(entries), (term,)) for term, text in entries)
                every.append(Translation(f"{first.source} {second.source}", made))
        return every

    def _translated(self, pieces: Sequence[Piece], lang: str, to: Set[str]) -> list[dict[str, Translation]]:
        """Each word in some languages. Words are remembered: people ask for the same ones again."""
        keys = [(piece.written, piece.term, piece.english.tobytes(), piece.shares.tobytes(), lang) for piece in pieces]
        words = {key: dict(self._remembered.pop(key, {})) for key in keys}
        lacking = {key: piece for key, piece in zip(keys, pieces, strict=True) if not words[key].keys() >= to}
        found = self._into(list(lacking.values()), to - {lang})
        for place, (key, piece) in enumerate(lacking.items()):
            each = {code: found[code][place] if code in found else () for code in to}
            words[key] |= {code: self._translation(piece, some, lang, code) for code, some in each.items()}
        self._remembered.update(words)  # those asked for last stand last
        for key in list(islice(self._remembered, max(0, len(self._remembered) - _REMEMBERED))):
            self._remembered.pop(key, None)
        return [words[key] for key in keys]

    def _translation(self, piece: Piece, found: _Ranked, lang: str, to: str) -> Translation:
        """Its alternatives, best first, the word itself among them where both languages might write it."""
        itself = piece.term.isascii() or _alike(lang, to)
        number = piece.term.isdigit()
        alternatives = () if number else self._alternatives(found, to, 1 - _ITSELF if itself else 1.0)
        if not alternatives:
            return Translation(piece.written, (Alternative(piece.written, 1.0),))
        if itself:
            place = sum(a.weight >= _ITSELF for a in alternatives)
            alternatives = (*alternatives[:place], Alternative(piece.written, _ITSELF), *alternatives[place:])
        return Translation(piece.written, alternatives)

    def _alternatives(self, found: _Ranked, to: str, mass: float = 1.0) -> tuple[Alternative, ...]:
        """A word in another language, best first, with weights that sum to `mass`."""
        kept = [(weight, self._entry(to, number)) for weight, number in _likely(found)]
        scale = mass / sum([weight for weight, _ in kept]) if kept else 0.0
        return tuple([Alternative(spelling, scale * weight, (term,)) for weight, (term, spelling) in kept])

    def _into_one(self, piece: Piece, to: str) -> _Ranked:
        """What a word may be in a language, the best first."""
        language = self._open(to)
        numbers, weights = piece.english, piece.shares
        if language.there is not None:
            places = zip(language.rows(piece.english).tolist(), piece.shares.tolist(), strict=True)
            numbers, weights = _mixed([(*language.there.row(at), share) for at, share in places if at >= 0])
        pairs = zip(weights.tolist(), numbers.tolist(), strict=True)
        return sorted(pairs, key=lambda pair: -pair[0])[:_MOST]

    def _into_all(self, pieces: Sequence[Piece], to: Set[str]) -> dict[str, list[_Ranked]]:
        """The same of several words for each of several languages: all rows of all words at once, if they are many."""
        langs = [lang for lang in to if lang != FALLBACK] if len(pieces) * len(to) > _FEW else []
        every = {lang: [self._into_one(piece, lang) for piece in pieces] for lang in to - set(langs)}
        if not langs:
            return every
        english = np.concatenate([piece.english for piece in pieces])
        share = np.concatenate([piece.shares for piece in pieces])
        piece_of = np.repeat(np.arange(len(pieces)), [len(piece.english) for piece in pieces])
        known = [self._open(lang) for lang in langs]
        at = np.stack([language.rows(english) for language in known])
        lang, word = np.nonzero(at >= 0)
        begin = np.array([language.begin for language in known]).T
        sizes, numbers, weights = self._every.many(at[lang, word], begin[:, lang])
        row, owner = np.repeat(np.arange(len(sizes)), sizes), lang * len(pieces) + piece_of[word]
        # A row that is alone has all to say, and stays in its order; others are added up by number.
        alone = np.bincount(owner[sizes > 0], minlength=len(langs) * len(pieces))[owner] == 1
        weights = weights * np.where(alone, 1.0, share[word])[row]
        place = np.arange(len(row)) - (np.cumsum(sizes) - sizes)[row]
        key, first, same = np.unique(
            owner[row] << 32 | np.where(alone[row], place, numbers), return_index=True, return_inverse=True
        )
        total = np.bincount(same.ravel(), weights)
        order = np.lexsort((-total, key >> 32))
        pairs = list(zip(total[order].tolist(), numbers[first][order].tolist(), strict=True))
        edges = np.searchsorted(key >> 32, np.arange(len(langs) * len(pieces) + 1)).tolist()
        ranked = iter([pairs[start : min(end, start + _MOST)] for start, end in pairwise(edges)])
        return every | {lang: list(islice(ranked, len(pieces))) for lang in langs}

    def _english_of(self, lang: str, term: str) -> tuple[Ids, Shares]:
        found = self._pairs_of(lang, term)
        return np.array([number for number, _ in found], np.int64), np.array([share for _, share in found], np.float64)

    def _pairs_of(self, lang: str, term: str) -> list[tuple[int, float]]:
        """The English words a term may be; of an ASCII word of another language without a translation, the same one."""
        language = self._open(lang)
        number = language.words.find(term)
        if number >= 0 and language.back is not None and (found := language.back.pairs(number, _VIA)):
            return [(language.english.item(target), share) for target, share in found]
        if language.back is not None:  # nothing is kept of a word that is the same in English
            number = self._number(FALLBACK, term) if term.isascii() else -1
        return [(number, 1.0)] if number >= 0 else []

    def _entry_of(self, lang: str, number: int) -> tuple[str, str]:
        return self._open(lang).words.entry(number)

    def _number_of(self, lang: str, term: str) -> int:
        return self._open(lang).words.find(term)

    def _code(self, lang: str) -> str:
        code = lang if lang in self._meta["langs"] else normalise(lang)
        if code not in self._meta["langs"]:
            have = " ".join(self.langs)
            raise LanguageError(
                f"the default model has no {lang!r}; it has {have} (paragloss train table learns others)"
            )
        return code

    def _opened(self, lang: str) -> _Language:
        where = self._meta["langs"][lang]
        words = PackedWordList(
            self._slice("words", where["text"]), self._slice("groups", where["groups"]), where["words"]
        )
        if lang == FALLBACK:
            return _Language(words, np.zeros(0, np.int64), None, None, ())
        english = np.flatnonzero(np.unpackbits(self._slice("english", where["english"])))
        begin = tuple(where["there"][name][0] for name in ("sizes", "starts", "cells"))
        return _Language(words, english, self._rows(where["there"]), self._rows(where["back"]), begin)

    def _rows(self, where: Mapping[str, Sequence[int]]) -> Rows:
        return Rows(**{name: self._slice(name, where[place]) for name, place in _KEPT.items()})

    @cached_property
    def _every(self) -> Rows:
        """The rows of all languages, one after the other."""
        return Rows(**{name: np.asarray(self._arrays[name]) for name in _KEPT})

    def _slice(self, name: str, where: Sequence[int]) -> npt.NDArray[Any]:
        return np.asarray(self._arrays[name])[where[0] : where[1]]

    def save(self, path: str | Path) -> None:
        artefacts.save(path, KIND, meta=self._meta, arrays=self._arrays)

    @classmethod
    def load(cls, path: str | Path) -> DefaultModel:
        saved = artefacts.load(path, kind=KIND)
        return cls(saved.meta, saved.arrays)


def _told(look: Callable[P, T]) -> Callable[P, T]:
    """Nothing is unpacked before it is needed, so damage shows only when words are looked up: say so."""

    @wraps(look)
    def looked(*args: P.args, **options: P.kwargs) -> T:
        try:
            return look(*args, **options)
        except (IndexError, KeyError, TypeError, ValueError, StopIteration, AttributeError, OverflowError) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise ModelError(f"the model's packed words are damaged ({reason}): install or copy it again") from error

    return looked


@cache
def _number() -> re.Pattern[str]:
    return re.compile(r"\d+")


@cache
def _alike(one: str, other: str) -> bool:
    """Whether two languages share a script."""
    return bool(set(scripts(one)) & set(scripts(other)))


def _likely(found: _Ranked) -> _Ranked:
    """Those of a word's translations that are not unlikely among them."""
    least = _LEAST * sum([weight for weight, _ in found])
    return [one for one in found if one[0] >= least]


def _mixed(rows: Iterable[tuple[Ids, Shares, float]]) -> tuple[Ids, Shares]:
    """Rows of (numbers, shares) added up by the weight of each; a row without numbers has no say."""
    kept = [row for row in rows if len(row[0])]
    if not kept:
        return np.zeros(0, np.int64), np.zeros(0)
    if len(kept) == 1:
        return kept[0][0], kept[0][1]
    numbers, place = np.unique(np.concatenate([row[0] for row in kept]), return_inverse=True)
    weights = np.concatenate([row[1] * row[2] for row in kept])
    return numbers, np.asarray(np.bincount(place, weights), np.float64)
