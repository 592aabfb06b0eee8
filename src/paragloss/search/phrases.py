"""Find a phrase in the tokens of a text.

Its words match as they are written, one after the other, or by their translations, near each other in any order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.translation.name_spellings import list_name_spellings
from paragloss.translation.subword_terms import SOUND_PREFIX, find_subword_matches
from paragloss.types import Integers, Query, TokenizedText, Translation

#: How many other words may stand between the translated words of a phrase: other languages put articles, prepositions
#: and verbs between them.
MAX_EXTRA_WORDS = 2
#: Translations that are less likely than this, relative to the best one, are not used for a word of a phrase.
MIN_RELATIVE_WEIGHT = 0.15
#: A single word of another language stands for a whole phrase, as Freispeichersammlung does for garbage collection, if
#: it is at least this likely a translation of each of its words, relative to the best one.
MIN_RELATIVE_WEIGHT_OF_PHRASE = 0.4

#: The terms of one translation of a word; several if the translation is a phrase.
Terms: TypeAlias = tuple[str, ...]


class PhraseForms(NamedTuple):
    """The forms of a phrase in one language: as it is written, and its translations."""

    lang: str
    #: The terms of the phrase as it is written, in order.
    written: Terms
    #: For each word the terms of its translations; empty where nothing translates into the language.
    translations: tuple[frozenset[Terms], ...]
    #: Terms each of which translates the whole phrase.
    single_word_translations: frozenset[Terms]
    #: How many words the phrase has.
    word_count: int

    @property
    def terms(self) -> set[str]:
        """All terms of all words."""
        return {*self.written, *(term for word in self.translations for terms in word for term in terms)}


class Interval(NamedTuple):
    """Tokens of a text that match one word of a phrase."""

    first: int  # index of the first token
    last: int  # index of the last token
    word: int  # index of the word in the phrase
    #: Whether the token may match the other words as well: it is a compound, or a translation of the phrase.
    may_match_phrase: bool = False


def build_phrase_forms(phrase: Query, lang: str, clauses: Sequence[Translation], *, only_best: bool) -> PhraseForms:
    """Collect the forms of a phrase in a language: as it is written, and its translations.

    :param phrase: the phrase in its own language.
    :param lang: the language of the texts in which it is looked for.
    :param clauses: the words of the phrase as translated into that language; none if it is not translated.
    :param only_best: use the likeliest translation of each word and no other.
    """
    words = [clause for clause in clauses if clause.required]
    if only_best:
        translations = [_list_translations(word, lang, min_weight=1.0) for word in words]
        phrase_translations = _intersect_translations(translations)
    else:
        is_alone = len(words) == 1
        translations = [_list_accepted_translations(word, lang, is_alone=is_alone) for word in words]
        likely_translations = [_list_translations(word, lang, MIN_RELATIVE_WEIGHT_OF_PHRASE) for word in words]
        phrase_translations = _intersect_translations(likely_translations)
    written = tuple(list_content_terms(phrase.text, lang))
    return PhraseForms(
        lang,
        written,
        translations=tuple(terms for terms in translations if terms),
        single_word_translations=phrase_translations,
        word_count=len(list_content_terms(phrase.text, phrase.lang)) or len(written),
    )


def _intersect_translations(translations_by_word: Sequence[frozenset[Terms]]) -> frozenset[Terms]:
    """Return the translations that every word of a phrase has; none for a phrase without words."""
    if not translations_by_word:
        return frozenset()
    return frozenset.intersection(*translations_by_word)


def _list_accepted_translations(clause: Translation, lang: str, *, is_alone: bool) -> frozenset[Terms]:
    """Return the terms of the likely translations of a word, and of all its forms if it is a name.

    :param is_alone: whether the phrase has no other words; what a name sounds like does not count then.
    """
    return _list_translations(clause, lang, MIN_RELATIVE_WEIGHT) | _list_name_forms(
        clause, lang, with_sounds=not is_alone
    )


def list_content_terms(text: str, lang: str) -> list[str]:
    """Return the terms of a text without stop words; none if it has stop words only."""
    words = [word for _, _, word in analyzer(lang).tokens(text)]
    # The analyzer keeps the stop words of a text that has nothing else; a number after them prevents that.
    *terms, _ = analyzer(lang).token_terms([*words, "0"])
    return [term for term in terms if term]


def _list_translations(clause: Translation, lang: str, min_weight: float) -> frozenset[Terms]:
    """Return the terms of the translations whose weight, relative to the best one, is at least `min_weight`."""
    analyze = analyzer(lang).terms
    best_weight = max((alternative.weight for alternative in clause.alternatives), default=0.0)
    translations = set()
    for alternative in clause.alternatives:
        if alternative.weight >= min_weight * best_weight:
            translations.add(alternative.terms or tuple(analyze(alternative.text)))
    return frozenset(terms for terms in translations if terms)


def _list_name_forms(clause: Translation, lang: str, *, with_sounds: bool) -> frozenset[Terms]:
    """Return the terms of all spellings of a name, whatever their weights: they share the weight of one form.

    :param clause: a word with its translations; there are no spellings if it is not a name.
    :param with_sounds: add all that the name may sound like. A single word often sounds like another name; words next
        to each other rarely sound like a person's two names (docs/understand/model-figures.md).
    """
    spellings = {spelling for spelling, _ in list_name_spellings(clause.source, lang)}
    forms: set[Terms] = set()
    for alternative in clause.alternatives:
        if alternative.text in spellings:
            forms.add(tuple(analyzer(lang).terms(alternative.text)))
        if with_sounds and alternative.text.startswith(SOUND_PREFIX):
            forms.add(alternative.terms)
    return frozenset(terms for terms in forms if terms)


def find_phrase(tokens: TokenizedText, forms: PhraseForms, *, inside_words: bool = False) -> list[tuple[int, int]]:
    """Return the (start, end) character offsets of all occurrences of a phrase in a text, in order.

    :param forms: the phrase as it is written, and the translations of its words.
    :param inside_words: a translation that is a part of a compound, or sounds like a name, counts as well.
    """
    token_ranges = _find_as_written(tokens, forms)
    if forms.translations:
        token_ranges += _find_translated(tokens, forms, inside_words=inside_words)
    token_ends = tokens.starts + tokens.lengths[tokens.word_indices]
    spans = set()
    for first, last in token_ranges:
        end = int(token_ends[first : last + 1].max())
        spans.add((int(tokens.starts[first]), end))
    return sorted(spans)


def _find_as_written(tokens: TokenizedText, forms: PhraseForms) -> list[tuple[int, int]]:
    """Return the first and last token of each occurrence of the phrase as it is written."""
    return [(first, first + len(forms.written) - 1) for first in _find_runs(tokens, forms.written)]


def _find_translated(tokens: TokenizedText, forms: PhraseForms, *, inside_words: bool) -> Iterator[tuple[int, int]]:
    """Return the first and last token of each occurrence of the phrase's translated words near each other.

    :param inside_words: a translation that is a part of a compound, or sounds like a name, counts as well.
    """
    words_by_part = _find_compounds(tokens, forms) if inside_words else {}
    intervals = sorted(_find_translations(tokens, forms, words_by_part))
    return _find_windows(intervals, len(forms.translations), width=forms.word_count + MAX_EXTRA_WORDS)


def _find_runs(tokens: TokenizedText, terms: Terms) -> list[int]:
    """Return the indices of the tokens at which a sequence of terms begins."""
    if not terms:
        return []
    firsts = np.arange(len(tokens.word_indices) - len(terms) + 1)
    for position, term in enumerate(terms):
        has_term = _have_words(tokens.word_indices[firsts + position], tokens.find_words({term}))
        firsts = firsts[has_term]
    return firsts.tolist()


def _find_translations(
    tokens: TokenizedText, forms: PhraseForms, words_by_part: Mapping[str, Sequence[int]]
) -> Iterator[Interval]:
    """Yield the tokens that match a translation of a word of the phrase, word by word.

    The distinct words of the text have numbers, see `TokenizedText.word_indices`.

    :param words_by_part: for each term, the numbers of the words of the text that contain it.
    """
    phrase_translations = tokens.find_words({terms[0] for terms in forms.single_word_translations})
    for word, translations in enumerate(forms.translations):
        single_terms = {terms[0] for terms in translations if len(terms) == 1}
        compounds = [number for term in single_terms for number in words_by_part.get(term, ())]
        numbers_for_phrase = {*phrase_translations, *compounds}
        numbers_for_word = numbers_for_phrase.union(tokens.find_words(single_terms))
        for position in np.flatnonzero(_have_words(tokens.word_indices, numbers_for_word)).tolist():
            may_match_phrase = int(tokens.word_indices[position]) in numbers_for_phrase
            yield Interval(position, position, word, may_match_phrase)
        yield from _find_translations_of_several_terms(tokens, word, translations)


def _find_translations_of_several_terms(
    tokens: TokenizedText, word: int, translations: Iterable[Terms]
) -> Iterator[Interval]:
    """Yield the tokens that match a translation of several terms, which stand one after the other in the text.

    :param word: the index of the translated word in the phrase.
    :param translations: all translations of the word; those of one term are left out.
    """
    for terms in translations:
        if len(terms) > 1:
            for first in _find_runs(tokens, terms):
                yield Interval(first, first + len(terms) - 1, word)


def _find_compounds(tokens: TokenizedText, forms: PhraseForms) -> dict[str, list[int]]:
    """Return the words of a text that contain each term of a phrase, or sound like it, by their numbers."""
    words_by_part: dict[str, list[int]] = {}
    for part, word_number in find_subword_matches(tokens, forms.lang, forms.terms):
        words_by_part.setdefault(part, []).append(word_number)
    return words_by_part


def _have_words(word_indices: Integers, word_numbers: Iterable[int]) -> npt.NDArray[np.bool_]:
    """Return for each token whether it is one of some words of the text, given by their numbers; (n_tokens,)."""
    return np.isin(word_indices, [*word_numbers])


def _find_windows(intervals: Sequence[Interval], word_count: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last token of the windows that have every word of a phrase and do not overlap.

    One token does not match all words unless it is a compound or a translation of the phrase: translation tables give
    a word's neighbours among its translations.

    :param intervals: the tokens that match a word, in order.
    :param word_count: the number of words of the phrase.
    :param width: how many tokens a window has at most; a translation of several tokens counts as one.
    """
    latest_match_of_word: dict[int, Interval] = {}
    previous_end = -1
    for interval in intervals:
        latest_match_of_word[interval.word] = interval
        matches = latest_match_of_word.values()
        if len(matches) < word_count:
            continue
        window = _find_window(matches)
        n_different_matches = len({(match.first, match.last) for match in matches})
        is_match = interval.may_match_phrase or word_count == 1 or n_different_matches > 1
        is_narrow = window.n_words <= width
        if is_match and is_narrow and window.first > previous_end:
            yield window.first, window.last
            previous_end = window.last


class _Window(NamedTuple):
    """Tokens of a text that have every word of a phrase, and how many they are if each match counts as one word."""

    first: int
    last: int
    n_words: int


def _find_window(matches: Collection[Interval]) -> _Window:
    """Return the window from the first to the last token of some matches."""
    first, last = min(match.first for match in matches), max(match.last for match in matches)
    extra_tokens = sum(match.last - match.first for match in matches)
    return _Window(first, last, last - first + 1 - extra_tokens)
