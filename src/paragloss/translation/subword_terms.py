"""What the words of a document hold inside, kept beside its terms for queries that were translated: how names sound,
and the words that longer ones are made of.

A table of translations knows neither every name nor every compound. So a document's unknown words are also kept as the
known words they hold (Zugverspätung: Zug, Verspätung) and as their consonants, and names as their consonants whether
known or not; a query's names are asked for by what they may sound like in the document's language. Plain search by
words sees nothing of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, compress, count

from paragloss.analysis.sound import sound
from paragloss.languages import scripts
from paragloss.translation import default, sounds
from paragloss.types import Alternative, Cut, Translation

#: What sounds begin with, so that no word is taken for one.
SOUND_PREFIX = "≈"
#: What a word begins with that was met inside another, where both are told apart.
SUBWORD_PREFIX = "…"
#: How much a word counts that stands inside another.
SUBWORD_WEIGHT = 0.8
#: What the sound of a word has of its clause: a word that nobody knows, and one that is written large; and how much of
#: that where both languages have one script, and names mostly stay as they are.
UNKNOWN, NAMED, ALIKE = 0.5, 0.2, 0.5
#: English words looked at to see whether a word is the same name.
_LIKELY = 4
#: Characters of a name that was cut into pieces, and how many pieces.
_SHORTEST, _LONGEST, _PIECES = 3, 7, 4
#: Words remembered for each language, and how many are many.
_MEMO, _MANY = 500_000, 300


def list_subword_terms(terms: Sequence[str], lang: str, written: Sequence[str] = ()) -> list[str]:
    """What the terms of a document hold: nothing in a language that the default model does not speak. With how they are
    `written`, a name is kept as its stem sounds and as it stands: stemmers take letters off names."""
    if lang not in default.open().langs:
        return []
    known = _inner_terms(lang)
    found = list(chain.from_iterable(map(known.__getitem__, terms)))
    found += chain.from_iterable(map(known.heard.__getitem__, zip(terms, written, strict=False)))
    return found + sounds_of_split_names(terms, lang) if sounds.read_name_characters(lang) else found


def find_subword_matches(cut: Cut, lang: str, wanted: Iterable[str]) -> list[tuple[str, int]]:
    """What is wanted of what the words of a text hold, with which of its distinct words holds it. Only terms that may
    hold some of it are taken apart: what one holds is written in it, or how it sounds."""
    wanted = frozenset(wanted)
    if not wanted or lang not in default.open().langs:
        return []
    known = _inner_terms(lang)
    asked = {one.removeprefix(SOUND_PREFIX) for one in wanted if one.startswith(SOUND_PREFIX)}
    lines = "\n".join(cut.terms) + "\n"
    likely = {line for part in wanted if len(part) > 1 or part.isdigit() for line in _lines_with(part, lines)}
    if asked:
        likely.update(compress(count(), map(asked.__contains__, map(sound, cut.terms))))
    inner = [(one, word) for word in sorted(likely) for one in known[cut.terms[word]] if one in wanted]
    if asked and has_spoken_spellings(lang):
        words = cut.words()
        heard = compress(enumerate(zip(cut.terms, words, strict=True)), map(asked.__contains__, map(sound, words)))
        inner += [(one, word) for word, pair in heard for one in known.spoken(*pair) if one in wanted]
    return inner


def _lines_with(part: str, lines: str) -> Iterator[int]:
    number = end = 0
    while (place := lines.find(part, end)) >= 0:
        number += lines.count("\n", end, place)
        yield number
        end = lines.index("\n", place)


@cache
def has_spoken_spellings(lang: str) -> bool:
    """Whether names should be heard as they are written, too: where they are written in another script than English."""
    return "Latn" not in scripts(lang)


def add_sound_alternatives(clauses: Iterable[Translation], source: str, target: str) -> list[Translation]:
    """Clauses with how their names may sound in a language among the alternatives."""
    return [_with_sound(clause, source, target) for clause in clauses]


def _share(clause: Translation, source: str, target: str) -> float:
    """What its sound has of a clause."""
    word = clause.source
    if " " in word:
        return 0.0
    unknown = all(alternative.text == word for alternative in clause.alternatives)
    return (UNKNOWN if unknown else NAMED if word[:1].isupper() else 0.0) * (ALIKE if _alike(source, target) else 1.0)


@cache
def _alike(one: str, other: str) -> bool:
    return bool(set(scripts(one)) & set(scripts(other)))


@lru_cache(maxsize=20_000)
def _with_sound(clause: Translation, source: str, target: str) -> Translation:
    part = _share(clause, source, target)
    ways = sounds.list_pronunciations(clause.source, source, target) if part else ()
    if not ways:
        return clause
    scale = (1 - part) / sum(alternative.weight for alternative in clause.alternatives)
    kept = [alternative._replace(weight=scale * alternative.weight) for alternative in clause.alternatives]
    added = [Alternative(SOUND_PREFIX + symbols, part * weight, (SOUND_PREFIX + symbols,)) for symbols, weight in ways]
    return clause._replace(alternatives=(*kept, *added))


def sounds_of_split_names(terms: Sequence[str], lang: str) -> list[str]:
    """The sounds of names that were cut into pieces: neighbours written with the characters that write names."""
    letters, found = sounds.read_name_characters(lang), []
    fits = [letters.issuperset(term) for term in terms]
    for start in (i for i, fit in enumerate(fits) if fit):
        end, name = start, ""
        while end < len(terms) and end - start < _PIECES and fits[end]:
            name, end = name + terms[end], end + 1
            if (
                end - start > 1
                and _SHORTEST <= len(name) <= _LONGEST
                and len(consonants := sound(name)) >= sounds.MIN_CONSONANTS
            ):
                found.append(SOUND_PREFIX + consonants)
    return found


class _InnerTerms(dict[str, tuple[str, ...]]):
    """What each term of a language holds, worked out once. Many documents are being read once many terms were asked
    for: then the language's words are taken into memory."""

    def __init__(self, lang: str) -> None:
        super().__init__()
        self._lang = lang
        self._model = default.open()
        self._knows: Callable[[str], bool] = lambda term: self._model.has_term(term, lang)
        self.heard = _Heard(self)

    def __missing__(self, term: str) -> tuple[str, ...]:
        if len(self) >= _MEMO:
            self.clear()
        if len(self) == _MANY:
            self._knows = self._model.vocabulary(self._lang).__contains__
        consonants = sound(term)
        named = (
            (SOUND_PREFIX + consonants,)
            if len(consonants) >= sounds.MIN_CONSONANTS and self.is_name(term, consonants)
            else ()
        )
        self[term] = found = (*named, *self._model.find_known_parts(term, self._lang, self._knows))
        return found

    def spoken(self, term: str, word: str) -> tuple[str, ...]:
        """See `_Heard`."""
        return self.heard[term, word]

    def is_name(self, term: str, consonants: str) -> bool:
        """Whether a term may be a name: it is unknown, or sounds as its English does; an English one is written
        large."""
        if term.isdigit() or not self._knows(term):
            return not term.isdigit()
        if self._lang == "en":
            return self._model.is_capitalized(term, "en")
        return sounds.classify_consonants(consonants) in map(
            _english_kinds, self._model.english_word_ids(term, self._lang)[:_LIKELY]
        )


class _Heard(dict[tuple[str, str], tuple[str, ...]]):
    """The sound of a name as it is written, where its stem's is another; by term and word."""

    def __init__(self, terms: _InnerTerms) -> None:
        super().__init__()
        self._terms = terms

    def __missing__(self, pair: tuple[str, str]) -> tuple[str, ...]:
        if len(self) >= _MEMO:
            self.clear()
        term, word = pair
        consonants = sound(word)
        other = len(consonants) >= sounds.MIN_CONSONANTS and consonants != sound(term)
        self[pair] = found = (SOUND_PREFIX + consonants,) if other and self._terms.is_name(term, consonants) else ()
        return found


@cache
def _english_kinds(number: int) -> str:
    """The kinds of consonants that an English word has."""
    return sounds.classify_consonants(sound(default.open().english_spelling(number)))


_inner_terms = cache(_InnerTerms)
