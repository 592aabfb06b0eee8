"""Terms inside the words of a document, indexed for translated queries: the sounds of names and the parts of compounds.

A table of translations knows neither every name nor every compound. So a document's unknown words are also indexed as
the known words they contain (Zugverspätung: Zug, Verspätung) and by their consonants; names by their consonants whether
they are known or not. A query's names are looked up by what they may sound like in the document's language. Search for
plain words does not use these terms.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cache, lru_cache

from paragloss.analysis.sound import phonetic_key
from paragloss.languages import scripts_of
from paragloss.translation import default, sounds
from paragloss.types import TokenizedText

#: Terms that are sounds begin with this, so that no word is taken for one.
SOUND_PREFIX = "≈"
#: Terms that were found inside a word begin with this where they must be told from words.
SUBWORD_PREFIX = "…"
#: The weight of a term inside a word.
SUBWORD_WEIGHT = 0.8
#: English words that are compared with a word to see whether it is the same name.
_MAX_ENGLISH_WORDS = 4
#: Characters, and pieces, of a name that the tokenizer split.
_MIN_NAME_CHARACTERS = 3
_MAX_NAME_CHARACTERS = 7
_MAX_NAME_PIECES = 4
#: Words cached for each language.
_MAX_CACHED_WORDS = 500_000
#: From this many words on, the vocabulary of the language is loaded into memory.
_MANY_WORDS = 300


def list_subword_terms(terms: Sequence[str], lang: str, written: Sequence[str] = ()) -> list[str]:
    """Return the terms inside the terms of a document; none in a language that the default model does not have.

    :param written: the words as written, in the order of `terms`. With them, a name is indexed by the sound of its stem
        and by that of the word: stemmers remove letters of names.
    """
    if lang not in default.open().langs:
        return []
    finder = _open_finder(lang)
    subwords: list[str] = []
    for term in terms:
        subwords += finder.find_subwords(term)
    for term, word in zip(terms, written, strict=False):
        subwords += finder.find_written_sound(term, word)
    if sounds.read_name_characters(lang):
        subwords += sounds_of_split_names(terms, lang)
    return subwords


def find_subword_matches(tokenized: TokenizedText, lang: str, query_terms: Iterable[str]) -> list[tuple[str, int]]:
    """Return (query term, index of the distinct word of the text that contains it) for terms inside words.

    Only words that may contain one are analysed: what a word contains is written in it, or sounds as it does.

    :param tokenized: the text; its `terms` are those of its distinct words.
    :param query_terms: the terms to look for; those with SOUND_PREFIX are sounds of names.
    """
    query_terms = frozenset(query_terms)
    if not query_terms or lang not in default.open().langs:
        return []
    finder = _open_finder(lang)
    query_sounds = {term.removeprefix(SOUND_PREFIX) for term in query_terms if term.startswith(SOUND_PREFIX)}
    matches = []
    for index in sorted(_find_candidate_words(tokenized.terms, query_terms, query_sounds)):
        subwords = finder.find_subwords(tokenized.terms[index])
        matches += [(subword, index) for subword in subwords if subword in query_terms]
    if query_sounds and has_spoken_spellings(lang):
        for index, sound_term in _list_written_sounds(tokenized, finder, query_sounds):
            if sound_term in query_terms:
                matches.append((sound_term, index))
    return matches


def _list_written_sounds(
    tokenized: TokenizedText, finder: _SubwordFinder, query_sounds: Container[str]
) -> Iterator[tuple[int, str]]:
    """Yield (index of a distinct word, its sound as a term) for words that sound, as written, like names of a query.

    :param query_sounds: the sounds of the query, without SOUND_PREFIX.
    """
    for index, word in enumerate(tokenized.spell_words()):
        if phonetic_key(word) in query_sounds:
            for sound_term in finder.find_written_sound(tokenized.terms[index], word):
                yield index, sound_term


def _find_candidate_words(terms: Sequence[str], query_terms: Iterable[str], query_sounds: set[str]) -> set[int]:
    """Return the indexes of terms that a query term is written in, or that sound like one."""
    lines = "\n".join(terms) + "\n"
    candidates: set[int] = set()
    for query_term in query_terms:
        if len(query_term) > 1 or query_term.isdigit():
            candidates.update(_find_lines(query_term, lines))
    if query_sounds:
        candidates.update(index for index, term in enumerate(terms) if phonetic_key(term) in query_sounds)
    return candidates


def _find_lines(part: str, lines: str) -> Iterator[int]:
    """Yield the numbers of lines that contain a part."""
    line_number = end = 0
    start = lines.find(part)
    while start >= 0:
        line_number += lines.count("\n", end, start)
        yield line_number
        end = lines.index("\n", start)
        start = lines.find(part, end)


@cache
def has_spoken_spellings(lang: str) -> bool:
    """Say whether names are also indexed by the sound of the written word: in other scripts than English."""
    return "Latn" not in scripts_of(lang)


def sounds_of_split_names(terms: Sequence[str], lang: str) -> list[str]:
    """Return the sounds of names that the tokenizer split into neighbouring terms.

    All runs of neighbours that are written with the characters of foreign names are tried.
    """
    sound_terms = []
    for name in _list_split_names(terms, sounds.read_name_characters(lang)):
        consonants = phonetic_key(name)
        if len(consonants) >= sounds.MIN_CONSONANTS:
            sound_terms.append(SOUND_PREFIX + consonants)
    return sound_terms


def _list_split_names(terms: Sequence[str], name_characters: frozenset[str]) -> Iterator[str]:
    """Yield what two to four neighbouring terms make together, if it may be a name by its characters and length."""
    may_be_piece = [name_characters.issuperset(term) for term in terms]
    for start in range(len(terms)):
        name = ""
        for end in range(start, min(start + _MAX_NAME_PIECES, len(terms))):
            if not may_be_piece[end]:
                break
            name += terms[end]
            if end > start and _MIN_NAME_CHARACTERS <= len(name) <= _MAX_NAME_CHARACTERS:
                yield name


class _SubwordFinder:
    """Finds the terms inside the terms of a language, and caches them.

    After many terms, many documents are being read: then the vocabulary of the language is loaded into memory.
    """

    def __init__(self, lang: str) -> None:
        self._lang = lang
        self._model = default.open()
        self._n_analyzed = 0
        self._is_known: Callable[[str], bool] = lambda term: self._model.has_term(term, lang)
        self.find_subwords = lru_cache(maxsize=_MAX_CACHED_WORDS)(self._find_subwords)
        self.find_written_sound = lru_cache(maxsize=_MAX_CACHED_WORDS)(self._find_written_sound)

    def _find_subwords(self, term: str) -> tuple[str, ...]:
        """Return the sound of a term that may be a name, and the known words inside an unknown one."""
        self._n_analyzed += 1
        if self._n_analyzed == _MANY_WORDS:
            self._is_known = self._model.vocabulary(self._lang).__contains__
        consonants = phonetic_key(term)
        parts = self._model.find_known_parts(term, self._lang, self._is_known)
        has_sound = len(consonants) >= sounds.MIN_CONSONANTS and self._is_name(term, consonants)
        return (SOUND_PREFIX + consonants, *parts) if has_sound else tuple(parts)

    def _find_written_sound(self, term: str, word: str) -> tuple[str, ...]:
        """Return the sound of a name as it is written, if that differs from the sound of its stem; else ().

        :param term: the stem of the word
        """
        consonants = phonetic_key(word)
        is_different = len(consonants) >= sounds.MIN_CONSONANTS and consonants != phonetic_key(term)
        has_sound = is_different and self._is_name(term, consonants)
        return (SOUND_PREFIX + consonants,) if has_sound else ()

    def _is_name(self, term: str, consonants: str) -> bool:
        """Say whether a term may be a name.

        An unknown term may be one, a number never. A known English term is one if it is mostly written with a capital,
        a known term of another language if it sounds like one of its English translations.

        :param consonants: those of the term or of the word as it is written
        """
        if term.isdigit():
            return False
        if not self._is_known(term):
            return True
        if self._lang == "en":
            return self._model.is_capitalized(term, "en")
        english = self._model.english_word_ids(term, self._lang)[:_MAX_ENGLISH_WORDS]
        classes = sounds.classify_consonants(consonants)
        return any(_english_consonant_classes(number) == classes for number in english)


_open_finder = cache(_SubwordFinder)


@cache
def _english_consonant_classes(number: int) -> str:
    """Return the classes of the consonants of an English word."""
    return sounds.classify_consonants(phonetic_key(default.open().english_spelling(number)))
