"""The translator that comes with the package: some forty languages, each with a table to English and one from it.

Any other pair goes through English: P(y | x) = sum over e of P(y | e) P(e | x). All tables stay in memory-mapped files.
studies/default_model.py builds the model.
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
from paragloss.groups import list_groups, list_positions
from paragloss.languages import normalise, scripts_of
from paragloss.translation.compounds import (
    COMPOUND_LINKERS,
    MIN_UNSPACED_PART,
    find_known_parts,
    join_words,
    split_compound,
)
from paragloss.translation.default._rows import TableStarts, TranslationRows, WordShares
from paragloss.translation.packed_words import PackedWordList
from paragloss.translation.related_languages import list_relatives, merge_clauses
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
#: Words whose translations are cached, about a kilobyte for each language.
_CACHED_WORDS = 1_000
#: Up to this many pairs of a word and a language are translated one by one, which is faster for few.
_FEW_TRANSLATIONS = 3
#: The arrays of rows, with the name under which the metadata says where they begin and end.
_ROW_RANGES = {"sizes": "sizes", "starts": "starts", "targets": "cells", "weights": "cells"}
#: Damage of the packed arrays shows as one of these.
_DAMAGE_ERRORS = (IndexError, KeyError, TypeError, ValueError, StopIteration, AttributeError, OverflowError)

WordIds: TypeAlias = npt.NDArray[np.int64]
Shares: TypeAlias = npt.NDArray[np.float64]
#: (share, number of a word), best first.
RankedWords: TypeAlias = Sequence[tuple[float, int]]
_CacheKey: TypeAlias = tuple[str, str, bytes, bytes, str]
_SHARE = itemgetter(0)
P = ParamSpec("P")
T = TypeVar("T")


class LanguageTables(NamedTuple):
    """One language's words and, unless it is English, its tables from and into the English words that it knows."""

    words: PackedWordList
    english: WordIds  # the numbers of the English words it knows, ascending
    from_english: TranslationRows | None
    into_english: TranslationRows | None
    table_starts: tuple[int, ...]  # where sizes, starts and entries of from_english begin in those of all languages

    def find_rows(self, english: WordIds) -> WordIds:
        """Return the rows of English words in from_english, -1 for those that the language does not know."""
        rows = np.searchsorted(self.english, english)
        return np.where(self.english.take(rows, mode="clip") == english, rows, -1)


class QueryWord(NamedTuple):
    """A word of a query as written, its term, and the English words it may be with their shares; none if unknown."""

    written: str
    term: str
    english: WordIds
    shares: Shares


class _Translations(NamedTuple):
    """Translations of several words into several languages; all arrays have one item for each.

    The owner of a translation is numbered language * number of words + word. Translations of an owner with equal shares
    are sorted by `tie_order`.
    """

    owners: WordIds
    targets: WordIds
    shares: Shares
    tie_order: WordIds


class _TableRows(NamedTuple):
    """Rows of the tables of several languages; the arrays have one item, or column, for each row."""

    langs: WordIds  # positions of the languages
    english: WordIds  # positions of the English words
    numbers: WordIds  # of the rows in their tables
    table_starts: TableStarts


class DefaultModel:
    """A Translator between any two of its languages."""

    def __init__(self, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take the arrays of a packed model, and its metadata, which tells where each language begins in them.

        Methods that read the arrays report damage, and those that are called often for the same words are cached.
        """
        self._meta, self._arrays = dict(meta), dict(arrays)
        self.langs: tuple[str, ...] = tuple(meta["langs"])
        self.read_language = lru_cache(maxsize=None)(_report_damage(self._read_language))
        self._english_shares = lru_cache(maxsize=20_000)(_report_damage(self._compute_english_shares))
        self._entry = lru_cache(maxsize=20_000)(_report_damage(self._read_entry))
        self._number = lru_cache(maxsize=20_000)(_report_damage(self._find_number))
        self._english_pairs = _report_damage(self._find_english_pairs)
        self._translate_words = _report_damage(self._translate_words_at_once)
        self._translate_word = _report_damage(self._translate_word_into)
        # Translations of a word as `_make_cache_key` identifies it, by language; the latest words are last.
        self._cached_translations: dict[_CacheKey, dict[str, Translation]] = {}

    @property
    def meta(self) -> dict[str, Any]:
        """Number of words of each language, and what the build recorded; shown by `paragloss info`."""
        words = {lang: self._meta["langs"][lang]["words"] for lang in self.langs}
        return {"words": words, **{key: value for key, value in self._meta.items() if key != "langs"}}

    def knows(self, source: str, target: str) -> bool:
        """Say whether the model has both languages, or the first and a relative of the second."""
        try:
            return bool(self._code(source) and (self._find_relatives(target) or self._code(target)))
        except LanguageError:
            return False

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate a query word by word, into a language without a table through its relatives.

        Raises LanguageError if the model has neither a language nor a relative of it.
        """
        relatives = self._find_relatives(to)
        if relatives:
            return merge_clauses({relative: self.translate(query, relative) for relative in relatives}, normalise(to))
        lang, code = self._code(query.lang), self._code(to)
        clauses = []
        for word in self.split_query(query.text, lang):
            ranked = self._translate_word(word, code) if code != lang else ()
            clauses.append(self._make_translation(word, ranked, lang, code))
        return self._add_compounds(clauses, lang, code)

    def translate_many(self, query: Query, targets: Sequence[str]) -> dict[str, list[Translation]]:
        """Translate a query into several languages; its words are looked up once for all of them."""
        lang = self._code(query.lang)
        related = [target for target in targets if self._find_relatives(target)]
        codes = {target: self._code(target) for target in targets if target not in related}
        words = self._translate_cached(self.split_query(query.text, lang), lang, set(codes.values()))
        translations = {}
        for target, code in codes.items():
            translations[target] = self._add_compounds([word[code] for word in words], lang, code)
        for target in related:
            translations[target] = self.translate(query, target)
        return translations

    def _find_relatives(self, lang: str) -> list[str]:
        """Return the relatives through which a language is translated; none if it has a table of its own."""
        return [] if lang in self._meta["langs"] else list_relatives(normalise(lang), self._meta["langs"])

    def alternatives(self, term: str, source: str, target: str) -> tuple[Alternative, ...]:
        """Return translations of an analysed term, best first; none if it is unknown."""
        source, target = self._code(source), self._code(target)
        word = QueryWord(term, term, *self._english_shares(source, term))
        return self._make_alternatives(self._translate_word(word, target), target)

    def english(self, term: str, lang: str) -> list[tuple[int, float]]:
        """Return (number, share) of the English words that a term may be; none if it or its language is unknown."""
        return self._english_pairs(lang, term) if lang in self.langs else []

    def english_word_ids(self, term: str, lang: str) -> list[int]:
        """Return the numbers of the English words that are a term's `alternatives`, best first."""
        pairs = [(share, number) for number, share in self.english(term, lang)]
        return [number for _, number in _keep_likely(sorted(pairs, key=_SHARE, reverse=True))]

    def english_spelling(self, number: int) -> str:
        """Return the most frequent spelling of an English word."""
        return self._entry(PIVOT, number)[1]

    def has_term(self, term: str, lang: str) -> bool:
        """Say whether a language has an analysed term or phrase; English words that it may borrow do not count."""
        return self.read_language(self._code(lang)).words.find(term) >= 0

    def has_terms(self, terms: Sequence[str], lang: str) -> list[bool]:
        """Say the same of many terms."""
        return self.read_language(self._code(lang)).words.contains_terms(terms)

    def vocabulary(self, lang: str) -> Set[str]:
        """Return all terms of a language, some megabytes: for callers that look up very many."""
        return self.read_language(self._code(lang)).words.load_terms()

    def joined_vocabulary(self, lang: str) -> str:
        """Return all terms and spellings of a language in lower case, between spaces."""
        return self.read_language(self._code(lang)).words.join_words().lower()

    def sample_spellings(self, lang: str, number: int) -> list[str]:
        """Return spellings of about `number` words of a language, evenly spread over the alphabet."""
        words = self.read_language(self._code(lang)).words
        return [words.entry(i)[1] for i in range(0, len(words), max(1, len(words) // number))]

    def find_known_parts(self, term: str, lang: str, knows: Callable[[str], bool] | None = None) -> list[str]:
        """Return the known words inside a term that the model does not know.

        In languages without spaces between words, numbers inside a term are its parts.

        :param knows: tells whether a word is known; by default whether the model has it
        """
        lang = self._code(lang)
        if lang in MIN_UNSPACED_PART:
            numbers = _number_pattern().findall(term)
            if numbers:
                return [] if term.isdigit() else numbers
        is_known = knows or (lambda part: self.has_term(part, lang))
        return [] if is_known(term) else find_known_parts(term, lang, is_known)

    def spelling(self, term: str, lang: str) -> str:
        """Return the most frequent spelling of a term; "" if it is unknown."""
        lang = self._code(lang)
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
                english = _mix([(english, 1 - _PHRASE_SHARE), (phrases[position], _PHRASE_SHARE)])
            compound_parts = [] if len(english.numbers) else self._split_compound(span.term, lang)
            written = text[span.start : span.end]
            words += compound_parts or [QueryWord(written, span.term, *english)]
        return words

    def _split_compound(self, term: str, lang: str) -> list[QueryWord]:
        """Return the known parts of a compound with their English words; none if the language has no compounds."""
        if lang not in COMPOUND_LINKERS:
            return []
        parts = split_compound(term, lang, lambda part: self.has_term(part, lang))
        return [QueryWord(part, part, *self._english_shares(lang, part)) for part in parts]

    def _find_phrases(self, terms: Sequence[str], lang: str) -> dict[int, WordShares]:
        """Return the English of the phrase around each term, by position; longest phrases first, from the left."""
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
            english_words, _ = self._english_shares(lang, " ".join(terms[start:end]))
            if len(english_words):
                return end
        return start + 1

    def _add_compounds(self, clauses: list[Translation], lang: str, to: str) -> list[Translation]:
        """Add a clause for each known compound that neighbours make: train delay, Zugverspätung.

        :param clauses: the translations of the words of a query, in order.
        :param lang: the language of the query.
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

    def _translate_cached(self, words: Sequence[QueryWord], lang: str, to: Set[str]) -> list[dict[str, Translation]]:
        """Translate each word into some languages, by language; translations of recent words come from the cache.

        :param to: the languages to translate into.
        :return: for each word its translation by language.
        """
        keys = [_make_cache_key(word, lang) for word in words]
        translations = {key: dict(self._cached_translations.pop(key, {})) for key in keys}
        missing = {key: word for key, word in zip(keys, words, strict=True) if not translations[key].keys() >= to}
        new_translations = self._translate_new_words(list(missing.values()), lang, to)
        for key, translations_of_word in zip(missing, new_translations, strict=True):
            translations[key].update(translations_of_word)
        self._cached_translations.update(translations)  # appends them, so that the oldest come first
        self._drop_oldest_translations()
        return [translations[key] for key in keys]

    def _translate_new_words(self, words: Sequence[QueryWord], lang: str, to: Set[str]) -> list[dict[str, Translation]]:
        """Translate each word into some languages, by language."""
        ranked_by_lang = self._translate_words(words, to - {lang})
        translations = []
        for number, word in enumerate(words):
            ranked_of_word = {code: ranked_by_lang[code][number] if code in ranked_by_lang else () for code in to}
            translations.append(
                {code: self._make_translation(word, ranked, lang, code) for code, ranked in ranked_of_word.items()}
            )
        return translations

    def _drop_oldest_translations(self) -> None:
        """Remove the oldest translations beyond the size of the cache."""
        n_surplus = max(0, len(self._cached_translations) - _CACHED_WORDS)
        for key in list(islice(self._cached_translations, n_surplus)):
            self._cached_translations.pop(key, None)

    def _make_translation(self, word: QueryWord, ranked: RankedWords, lang: str, to: str) -> Translation:
        """Make the clause of a query word: its translations, and the word as it is written, each with its weight.

        The word as it is written is an alternative if documents in the other language may have it, because it is in
        their script or in Latin letters. It is the only one of a number, and of a word without translations.

        :param ranked: the translations of the word, likeliest first.
        :param lang: the language of the query.
        :param to: the language of the translations.
        """
        can_be_unchanged = word.term.isascii() or _share_script(lang, to)
        alternatives: tuple[Alternative, ...] = ()
        if not word.term.isdigit():
            alternatives = self._make_alternatives(ranked, to, 1 - _UNCHANGED_SHARE if can_be_unchanged else 1.0)
        if not alternatives:
            alternatives = (Alternative(word.written, 1.0),)
        elif can_be_unchanged:
            unchanged = Alternative(word.written, _UNCHANGED_SHARE)
            alternatives = tuple(sorted([*alternatives, unchanged], key=lambda alternative: -alternative.weight))
        return Translation(word.written, alternatives)

    def _make_alternatives(self, ranked: RankedWords, to: str, mass: float = 1.0) -> tuple[Alternative, ...]:
        """Turn likely words into alternatives with weights that sum to `mass`."""
        likely = [(share, self._entry(to, number)) for share, number in _keep_likely(ranked)]
        scale = mass / sum([share for share, _ in likely]) if likely else 0.0
        return tuple([Alternative(spelling, scale * share, (term,)) for share, (term, spelling) in likely])

    def _translate_word_into(self, word: QueryWord, to: str) -> RankedWords:
        """Translate a word into one language by the translations of its English words, weighted by their shares."""
        language = self.read_language(to)
        translations = WordShares(word.english, word.shares)
        if language.from_english is not None:
            rows = zip(language.find_rows(word.english).tolist(), word.shares.tolist(), strict=True)
            translations = _mix([(language.from_english.row(row), share) for row, share in rows if row >= 0])
        pairs = zip(translations.shares.tolist(), translations.numbers.tolist(), strict=True)
        return sorted(pairs, key=lambda pair: -pair[0])[:MAX_ALTERNATIVES]

    def _translate_words_at_once(self, words: Sequence[QueryWord], to: Set[str]) -> dict[str, list[RankedWords]]:
        """Translate several words into several languages, with array operations over all of them if they are many."""
        if len(words) * len(to) <= _FEW_TRANSLATIONS:
            return {lang: [self._translate_word_into(word, lang) for word in words] for lang in to}
        ranked_by_lang = {lang: [self._translate_word_into(word, lang) for word in words] for lang in to & {PIVOT}}
        langs = [lang for lang in to if lang != PIVOT]
        if langs:
            ranked_lists = _rank_by_owner(self._gather_translations(words, langs), len(langs) * len(words))
            for number, lang in enumerate(langs):
                ranked_by_lang[lang] = ranked_lists[number * len(words) : (number + 1) * len(words)]
        return ranked_by_lang

    def _gather_translations(self, words: Sequence[QueryWord], langs: Sequence[str]) -> _Translations:
        """Read the translations of all English words that query words may be, in some languages.

        The share of a translation is multiplied by that of its English word. If only one of the English words that a
        query word may be has translations, its own share counts as 1, and its translations keep their order.
        """
        english = np.concatenate([word.english for word in words])
        english_shares = np.concatenate([word.shares for word in words])
        word_of_english = list_groups([len(word.english) for word in words])
        rows = self._find_table_rows(english, langs)
        sizes, targets, shares = self._all_rows.read_rows_of_tables(rows.numbers, rows.table_starts)
        owner_of_row = rows.langs * len(words) + word_of_english[rows.english]
        rows_per_owner = np.bincount(owner_of_row[sizes > 0], minlength=len(langs) * len(words))
        is_only_row = rows_per_owner[owner_of_row] == 1
        share_of_row = np.where(is_only_row, 1.0, english_shares[rows.english])
        row_of_translation = list_groups(sizes)
        return _Translations(
            owners=owner_of_row[row_of_translation],
            targets=targets,
            shares=shares * share_of_row[row_of_translation],
            tie_order=np.where(is_only_row[row_of_translation], list_positions(sizes), targets),
        )

    def _find_table_rows(self, english: WordIds, langs: Sequence[str]) -> _TableRows:
        """Find the rows of English words in the tables of some languages."""
        languages = [self.read_language(lang) for lang in langs]
        rows = np.stack([language.find_rows(english) for language in languages])  # (langs, english words), -1 for none
        lang_index, english_index = np.nonzero(rows >= 0)
        starts_by_lang = np.array([language.table_starts for language in languages])  # (langs, 3)
        table_starts = TableStarts(*starts_by_lang[lang_index].T)
        return _TableRows(lang_index, english_index, rows[lang_index, english_index], table_starts)

    def _compute_english_shares(self, lang: str, term: str) -> WordShares:
        """Return the numbers of the English words that a term may be, and their shares."""
        pairs = self._find_english_pairs(lang, term)
        numbers, shares = [number for number, _ in pairs], [share for _, share in pairs]
        return WordShares(np.array(numbers, np.int64), np.array(shares, np.float64))

    def _find_english_pairs(self, lang: str, term: str) -> list[tuple[int, float]]:
        """Return the English words a term may be; an ASCII word without a translation may be the same in English."""
        language = self.read_language(lang)
        number = language.words.find(term)
        if language.into_english is not None:
            pairs = language.into_english.first_pairs(number, _MAX_ENGLISH_WORDS) if number >= 0 else []
            if pairs:
                return [(language.english.item(target), share) for target, share in pairs]
            number = self._number(PIVOT, term) if term.isascii() else -1
        return [(number, 1.0)] if number >= 0 else []

    def _read_entry(self, lang: str, number: int) -> tuple[str, str]:
        return self.read_language(lang).words.entry(number)

    def _find_number(self, lang: str, term: str) -> int:
        return self.read_language(lang).words.find(term)

    def _code(self, lang: str) -> str:
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
            return LanguageTables(words, np.zeros(0, np.int64), None, None, ())
        english = np.flatnonzero(np.unpackbits(self._slice("english", ranges["english"])))
        table_starts = tuple(ranges["there"][name][0] for name in ("sizes", "starts", "cells"))
        from_english, into_english = self._read_rows(ranges["there"]), self._read_rows(ranges["back"])
        return LanguageTables(words, english, from_english, into_english, table_starts)

    def _read_rows(self, ranges: Mapping[str, Sequence[int]]) -> TranslationRows:
        return TranslationRows(**{name: self._slice(name, ranges[key]) for name, key in _ROW_RANGES.items()})

    @cached_property
    def _all_rows(self) -> TranslationRows:
        """The rows of all languages, one after the other."""
        return TranslationRows(**{name: np.asarray(self._arrays[name]) for name in _ROW_RANGES})

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


@cache
def _number_pattern() -> re.Pattern[str]:
    return re.compile(r"\d+")


@cache
def _share_script(first: str, second: str) -> bool:
    return bool(set(scripts_of(first)) & set(scripts_of(second)))


def _keep_likely(ranked: RankedWords) -> RankedWords:
    """Drop translations whose share among all of a word is too small."""
    threshold = _MIN_SHARE * sum([share for share, _ in ranked])
    return [pair for pair in ranked if pair[0] >= threshold]


def _make_cache_key(word: QueryWord, lang: str) -> _CacheKey:
    """Return what the translations of a query word depend on."""
    return word.written, word.term, word.english.tobytes(), word.shares.tobytes(), lang


def _mix(rows: Iterable[tuple[WordShares, float]]) -> WordShares:
    """Add up the shares of words in several rows, each with a weight; rows without words do not count."""
    filled = [(row, weight) for row, weight in rows if len(row.numbers)]
    if not filled:
        return WordShares(np.zeros(0, np.int64), np.zeros(0))
    if len(filled) == 1:
        return filled[0][0]
    numbers, index = np.unique(np.concatenate([row.numbers for row, _ in filled]), return_inverse=True)
    weighted_shares = np.concatenate([row.shares * weight for row, weight in filled])
    return WordShares(numbers, np.asarray(np.bincount(index, weighted_shares), np.float64))


def _rank_by_owner(translations: _Translations, n_owners: int) -> list[RankedWords]:
    """Add up the shares of each owner's words and return its best words, for owners 0 to n_owners - 1."""
    owners, targets, shares, tie_order = translations
    # One item for each different word of an owner; sorted by owner.
    keys, first, index = np.unique(owners << 32 | targets, return_index=True, return_inverse=True)
    owner_of_key = keys >> 32
    totals = np.bincount(index.ravel(), shares)
    best_first = np.lexsort((tie_order[first], -totals, owner_of_key))  # within each owner
    pairs = list(zip(totals[best_first].tolist(), targets[first][best_first].tolist(), strict=True))
    edges = np.searchsorted(owner_of_key, np.arange(n_owners + 1)).tolist()
    return [pairs[start : min(end, start + MAX_ALTERNATIVES)] for start, end in pairwise(edges)]
