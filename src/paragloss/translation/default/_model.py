"""The translator that comes with the package: some forty languages, each with a table to English and one from it.

Any other pair goes through English: P(y | x) = sum over e of P(y | e) P(e | x). All tables stay in memory-mapped files.
studies/default_model.py builds the model.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache, wraps
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from paragloss import artefacts
from paragloss.analysis import analyzer
from paragloss.errors import LanguageError, ModelError
from paragloss.languages import normalise
from paragloss.translation.compounds import (
    COMPOUND_LINKERS,
    MIN_UNSPACED_PART,
    find_known_parts,
    join_words,
    split_compound,
)
from paragloss.translation.default._rows import TranslationRows
from paragloss.translation.packed_words import PackedWordList
from paragloss.translation.related_languages import list_relatives, merge_clauses, share_script
from paragloss.types import Alternative, Query, Translation

KIND = "default"
#: The language that all tables translate from or to.
PIVOT = "en"
MAX_ALTERNATIVES = 12
#: English words through which a word of another language is translated, at most.
_MAX_ENGLISH_WORDS = 6
#: The least share of a translation among all of a word.
_MIN_SHARE = 0.015
#: The part of a word's translation that the phrase around it decides: "prime" in "prime minister".
_PHRASE_SHARE = 0.3
_MAX_PHRASE_WORDS = 3
#: Translations of a word that are tried as part of a compound.
_MAX_COMPOUND_PARTS = 2
#: The share of the word as it is: names and technical terms are often the same in both languages.
_UNCHANGED_SHARE = 0.1
#: Translations of one word into one language that are cached, about a kilobyte each.
_CACHED_TRANSLATIONS = 20_000
#: The arrays of rows, with the name under which the metadata says where they begin and end.
_ROW_RANGES = {"sizes": "sizes", "starts": "starts", "targets": "cells", "weights": "cells"}
#: Damage of the packed arrays shows as one of these.
_DAMAGE_ERRORS = (IndexError, KeyError, TypeError, ValueError, StopIteration, AttributeError, OverflowError)

#: (number of a word in its language, its share or probability) of several words.
WordShares: TypeAlias = Sequence[tuple[int, float]]
_SHARE = itemgetter(1)
_NUMBER = re.compile(r"\d+")
P = ParamSpec("P")
T = TypeVar("T")


class LanguageTables(NamedTuple):
    """One language's words and, unless it is English, its tables from and into the English words that it knows."""

    words: PackedWordList
    english: npt.NDArray[np.int64]  # the numbers of the English words it knows, ascending
    from_english: TranslationRows | None
    into_english: TranslationRows | None

    def read_translations(self, english_word: int) -> WordShares:
        """Return what an English word, given by its number, may be in this language, likeliest first; [] if unknown."""
        assert self.from_english is not None, "English is not translated from English"
        row = bisect_left(self.english.data, english_word)
        is_known = row < len(self.english) and self.english.item(row) == english_word
        return self.from_english.read_row(row) if is_known else []


class QueryWord(NamedTuple):
    """A word of a query as written, its term, and the English words it may be with their shares; none if unknown."""

    written: str
    term: str
    english: tuple[tuple[int, float], ...]


class DefaultModel:
    """A Translator between any two of its languages."""

    def __init__(self, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take the arrays of a packed model, and its metadata, which tells where each language begins in them.

        Methods that read the arrays report damage, and those that are called often for the same words are cached.
        """
        self._meta = dict(meta)
        self._arrays = dict(arrays)
        self.langs: tuple[str, ...] = tuple(meta["langs"])
        self.read_language = lru_cache(maxsize=None)(_report_damage(self._read_language))
        self._entry = lru_cache(maxsize=20_000)(_report_damage(self._read_entry))
        self._number = lru_cache(maxsize=20_000)(_report_damage(self._find_number))
        self._english_shares = lru_cache(maxsize=20_000)(_report_damage(self._find_english_shares))
        self._rank_translations = _report_damage(self._sum_translations)
        self._translate_word = lru_cache(maxsize=_CACHED_TRANSLATIONS)(self._make_translation)

    @property
    def meta(self) -> dict[str, Any]:
        """Number of words of each language, and what the build recorded; shown by `paragloss info`."""
        words = {lang: self._meta["langs"][lang]["words"] for lang in self.langs}
        return {"words": words, **{key: value for key, value in self._meta.items() if key != "langs"}}

    def knows(self, source: str, target: str) -> bool:
        """Say whether the model has both languages, or the first and a relative of the second."""
        try:
            return bool(self._find_code(source) and (self._find_relatives(target) or self._find_code(target)))
        except LanguageError:
            return False

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate a query word by word, into a language without a table through its relatives.

        Raises LanguageError if the model has neither a language nor a relative of it.
        """
        return self.translate_many(query, [to])[to]

    def translate_many(self, query: Query, targets: Sequence[str]) -> dict[str, list[Translation]]:
        """Translate a query into several languages; its words are looked up once for all of them."""
        lang = self._find_code(query.lang)
        words = self.split_query(query.text, lang)
        return {target: self._translate_words(words, lang, target) for target in targets}

    def _translate_words(self, words: Sequence[QueryWord], lang: str, to: str) -> list[Translation]:
        """Translate the words of a query into a language, which may be one that only has relatives with tables.

        :param lang: the language of the query.
        :return: a clause for each word, and for each compound that two neighbours make.
        """
        relatives = self._find_relatives(to)
        if relatives:
            clauses_by_relative = {relative: self._translate_words(words, lang, relative) for relative in relatives}
            return merge_clauses(clauses_by_relative, normalise(to))
        code = self._find_code(to)
        clauses = [self._translate_word(word, lang, code) for word in words]
        return self._add_compounds(clauses, lang, code)

    def _find_relatives(self, lang: str) -> list[str]:
        """Return the relatives through which a language is translated; none if it has a table of its own."""
        return [] if lang in self._meta["langs"] else list_relatives(normalise(lang), self._meta["langs"])

    def alternatives(self, term: str, source: str, target: str) -> tuple[Alternative, ...]:
        """Return translations of an analysed term, best first; none if it is unknown."""
        source, target = self._find_code(source), self._find_code(target)
        return self._make_alternatives(self._rank_translations(self._english_shares(source, term), target), target)

    def english(self, term: str, lang: str) -> WordShares:
        """Return (number, share) of the English words that a term may be; none if it or its language is unknown."""
        return self._english_shares(lang, term) if lang in self.langs else ()

    def english_word_ids(self, term: str, lang: str) -> list[int]:
        """Return the numbers of the English words that are a term's `alternatives`, best first."""
        return [number for number, _ in _keep_likely(_sort_by_share(self.english(term, lang)))]

    def english_spelling(self, number: int) -> str:
        """Return the most frequent spelling of an English word."""
        return self._entry(PIVOT, number)[1]

    def has_term(self, term: str, lang: str) -> bool:
        """Say whether a language has an analysed term or phrase; English words that it may borrow do not count."""
        return self.read_language(self._find_code(lang)).words.find(term) >= 0

    def has_terms(self, terms: Sequence[str], lang: str) -> list[bool]:
        """Say for each of several terms whether a language has it."""
        words = self.read_language(self._find_code(lang)).words
        return [words.find(term) >= 0 for term in terms]

    def vocabulary(self, lang: str) -> Set[str]:
        """Return all terms of a language, some megabytes: for callers that look up very many."""
        return self.read_language(self._find_code(lang)).words.load_terms()

    def joined_vocabulary(self, lang: str) -> str:
        """Return all terms and spellings of a language in lower case, between spaces."""
        return self.read_language(self._find_code(lang)).words.join_words().lower()

    def sample_spellings(self, lang: str, number: int) -> list[str]:
        """Return spellings of about `number` words of a language, evenly spread over the alphabet."""
        words = self.read_language(self._find_code(lang)).words
        return [words.entry(i)[1] for i in range(0, len(words), max(1, len(words) // number))]

    def find_known_parts(self, term: str, lang: str, knows: Callable[[str], bool] | None = None) -> list[str]:
        """Return the known words inside a term that the model does not know.

        In languages without spaces between words, numbers inside a term are its parts.

        :param knows: tells whether a word is known; by default whether the model has it
        """
        lang = self._find_code(lang)
        numbers = _NUMBER.findall(term) if lang in MIN_UNSPACED_PART else []
        if numbers:
            return [] if term.isdigit() else numbers
        is_known = knows or (lambda part: self.has_term(part, lang))
        if is_known(term):
            return []
        return find_known_parts(term, lang, is_known)

    def spelling(self, term: str, lang: str) -> str:
        """Return the most frequent spelling of a term; "" if it is unknown."""
        lang = self._find_code(lang)
        number = self._number(lang, term)
        return self._entry(lang, number)[1] if number >= 0 else ""

    def is_capitalized(self, term: str, lang: str) -> bool:
        """Say whether a term is mostly written with a capital letter, as names are."""
        return self.spelling(term, lang)[:1].isupper()

    def split_query(self, text: str, lang: str) -> list[QueryWord]:
        """Return the words of a text with the English words they may be.

        A word inside a known phrase may also be what the phrase is; an unknown compound is replaced by its parts.

        :param text: a query
        :param lang: its language
        :return: in the order of the text; a word that the model does not know has no English words
        """
        spans = analyzer(lang).spans(text)
        phrases = self._find_phrases([span.term for span in spans], lang)
        words: list[QueryWord] = []
        for position, span in enumerate(spans):
            english = self._english_shares(lang, span.term)
            if position in phrases:
                english = tuple(_mix_shares([(english, 1 - _PHRASE_SHARE), (phrases[position], _PHRASE_SHARE)]))
            compound_parts = [] if english else self._split_compound(span.term, lang)
            if compound_parts:
                words += compound_parts
            else:
                words.append(QueryWord(text[span.start : span.end], span.term, english))
        return words

    def _split_compound(self, term: str, lang: str) -> list[QueryWord]:
        """Return the known parts of a compound with their English words; none if the language has no compounds."""
        if lang not in COMPOUND_LINKERS:
            return []
        parts = split_compound(term, lang, lambda part: self.has_term(part, lang))
        return [QueryWord(part, part, self._english_shares(lang, part)) for part in parts]

    def _find_phrases(self, terms: Sequence[str], lang: str) -> dict[int, WordShares]:
        """Find known phrases; return for the position of each of their terms the English words of the whole phrase.

        Phrases do not overlap: from the left, the longest one that begins at a term is taken.
        """
        phrases: dict[int, WordShares] = {}
        position = 0
        while position < len(terms):
            end = self._find_phrase_end(terms, position, lang)
            if end > position + 1:
                english = self._english_shares(lang, " ".join(terms[position:end]))
                phrases.update(dict.fromkeys(range(position, end), english))
            position = end
        return phrases

    def _find_phrase_end(self, terms: Sequence[str], start: int, lang: str) -> int:
        """Return where the longest known phrase ends that begins at a term; start + 1 if there is none."""
        for end in range(min(start + _MAX_PHRASE_WORDS, len(terms)), start + 1, -1):
            if self._english_shares(lang, " ".join(terms[start:end])):
                return end
        return start + 1

    def _add_compounds(self, clauses: list[Translation], lang: str, to: str) -> list[Translation]:
        """Add a clause behind each two neighbours that make known compounds: "train", "delay" make "Zugverspätung".

        :param clauses: the translations of the words of a query, in order.
        :param lang: the language of the query.
        :param to: the language of the translations; if it writes no compounds, nothing is added.
        """
        if to not in COMPOUND_LINKERS or lang == to:
            return clauses
        extended = clauses[:1]
        for first, second in pairwise(clauses):
            extended.append(second)
            alternatives = self._find_compounds(first, second, to)
            if alternatives:
                extended.append(Translation(f"{first.source} {second.source}", alternatives))
        return extended

    def _find_compounds(self, first: Translation, second: Translation, to: str) -> tuple[Alternative, ...]:
        """Return the known compounds of the best translations of two words, with equal weights."""
        compounds = join_words(_list_parts(first), _list_parts(second), to)
        numbers = [self._number(to, compound) for compound in compounds]
        entries = [self._entry(to, number) for number in numbers if number >= 0]
        return tuple(Alternative(spelling, 1 / len(entries), (term,)) for term, spelling in entries)

    def _make_translation(self, word: QueryWord, lang: str, to: str) -> Translation:
        """Make the clause of a query word: its translations, and the word as it is written, each with its weight.

        The word as it is written is an alternative if documents in the other language may have it, because it is in
        their script or in Latin letters. It is the only one of a number, and of a word without translations.

        :param lang: the language of the query.
        :param to: the language of the translations; if it is that of the query, the word stays as it is.
        """
        unchanged_only = Translation(word.written, (Alternative(word.written, 1.0),))
        if to == lang or word.term.isdigit():
            return unchanged_only
        can_be_unchanged = word.term.isascii() or share_script(lang, to)
        unchanged_share = _UNCHANGED_SHARE if can_be_unchanged else 0.0
        ranked = self._rank_translations(word.english, to)
        translations = self._make_alternatives(ranked, to, total_weight=1 - unchanged_share)
        if not translations:
            return unchanged_only
        if not can_be_unchanged:
            return Translation(word.written, translations)
        unchanged = Alternative(word.written, unchanged_share)
        best_first = sorted([*translations, unchanged], key=lambda alternative: -alternative.weight)
        return Translation(word.written, tuple(best_first))

    def _make_alternatives(self, ranked: WordShares, to: str, total_weight: float = 1.0) -> tuple[Alternative, ...]:
        """Turn the likely ones of ranked words into alternatives.

        :param ranked: words of the language `to`, likeliest first.
        :param total_weight: what the weights of the alternatives sum to.
        """
        likely = _keep_likely(ranked)
        if not likely:
            return ()
        scale = total_weight / sum([share for _, share in likely])
        alternatives = []
        for number, share in likely:
            term, spelling = self._entry(to, number)
            alternatives.append(Alternative(spelling, scale * share, (term,)))
        return tuple(alternatives)

    def _sum_translations(self, english_words: WordShares, to: str) -> WordShares:
        """Return the likeliest translations of a word into one language, best first, as (number, share).

        The share of a translation is the sum of its probabilities as a translation of these words, each times the share
        of the English word. If only one of these has translations, its own share counts as 1.

        :param english_words: the English words that the word may be; they are its translations into English.
        """
        language = self.read_language(to)
        if language.from_english is None:
            translations = english_words
        else:
            rows = [(language.read_translations(number), share) for number, share in english_words]
            translations = _mix_shares(rows)
        return _sort_by_share(translations)[:MAX_ALTERNATIVES]

    def _find_english_shares(self, lang: str, term: str) -> tuple[tuple[int, float], ...]:
        """Return the English words a term may be; an ASCII word without a translation may be the same in English."""
        language = self.read_language(lang)
        number = language.words.find(term)
        if language.into_english is not None:
            shares = language.into_english.read_row(number, _MAX_ENGLISH_WORDS) if number >= 0 else []
            if shares:
                return tuple([(language.english.item(column), share) for column, share in shares])
            number = self._number(PIVOT, term) if term.isascii() else -1
        return ((number, 1.0),) if number >= 0 else ()

    def _read_entry(self, lang: str, number: int) -> tuple[str, str]:
        return self.read_language(lang).words.entry(number)

    def _find_number(self, lang: str, term: str) -> int:
        return self.read_language(lang).words.find(term)

    def _find_code(self, lang: str) -> str:
        """Return the model's code of a language; raise LanguageError if it has none."""
        code = lang if lang in self._meta["langs"] else normalise(lang)
        if code not in self._meta["langs"]:
            have = " ".join(self.langs)
            raise LanguageError(
                f"the default model has no {lang!r}; it has {have} (paragloss train table learns others)"
            )
        return code

    def _read_language(self, lang: str) -> LanguageTables:
        """Open the tables of a language; cached as `read_language`."""
        ranges = self._meta["langs"][lang]
        word_bytes, groups = self._slice("words", ranges["text"]), self._slice("groups", ranges["groups"])
        words = PackedWordList(word_bytes, groups, ranges["words"])
        if lang == PIVOT:
            return LanguageTables(words, np.zeros(0, np.int64), None, None)
        english = np.flatnonzero(np.unpackbits(self._slice("english", ranges["english"])))
        return LanguageTables(words, english, self._read_rows(ranges["there"]), self._read_rows(ranges["back"]))

    def _read_rows(self, ranges: Mapping[str, Sequence[int]]) -> TranslationRows:
        return TranslationRows(**{name: self._slice(name, ranges[key]) for name, key in _ROW_RANGES.items()})

    def _slice(self, name: str, bounds: Sequence[int]) -> npt.NDArray[Any]:
        return np.asarray(self._arrays[name])[bounds[0] : bounds[1]]

    def save(self, path: str | Path) -> None:
        """Write the model to a folder."""
        artefacts.save(path, KIND, meta=self._meta, arrays=self._arrays)

    @classmethod
    def load(cls, path: str | Path) -> DefaultModel:
        """Open a saved model; its arrays are memory-mapped."""
        saved = artefacts.load(path, kind=KIND)
        return cls(saved.meta, saved.arrays)


def _list_parts(clause: Translation) -> list[str]:
    """Return the terms of the best translations of a word, which may be parts of a compound."""
    terms = [alternative.terms[0] for alternative in clause.alternatives if alternative.terms]
    return terms[:_MAX_COMPOUND_PARTS]


def _report_damage(read: Callable[P, T]) -> Callable[P, T]:
    """Turn errors of a function that reads packed arrays into a ModelError.

    Arrays are not checked when a model is opened, so damage shows when words are looked up.
    """

    @wraps(read)
    def read_or_report(*args: P.args, **options: P.kwargs) -> T:
        try:
            return read(*args, **options)
        except _DAMAGE_ERRORS as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise ModelError(f"the model's packed words are damaged ({reason}): install or copy it again") from error

    return read_or_report


def _keep_likely(ranked: WordShares) -> WordShares:
    """Drop the words whose share among all of them is too small."""
    threshold = _MIN_SHARE * sum([share for _, share in ranked])
    return [(number, share) for number, share in ranked if share >= threshold]


def _sort_by_share(words: WordShares) -> list[tuple[int, float]]:
    """Sort words by their shares, greatest first; equal ones stay in order."""
    return sorted(words, key=_SHARE, reverse=True)


def _mix_shares(rows: Iterable[tuple[WordShares, float]]) -> WordShares:
    """Add up the shares of the words of several rows, each times the weight of its row; words by their numbers.

    Rows without words do not count, and a single other row is returned as it is, whatever its weight.
    """
    filled_rows = [(words, weight) for words, weight in rows if words]
    if len(filled_rows) == 1:
        return filled_rows[0][0]
    share_by_number: dict[int, float] = {}
    for words, weight in filled_rows:
        for number, share in words:
            share_by_number[number] = share_by_number.get(number, 0.0) + share * weight
    return sorted(share_by_number.items())
