"""Find a phrase in the tokens of a text: its words as written one after the other, or their translations near each
other in any order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.translation.subword_terms import find_subword_matches
from paragloss.types import Integers, Query, TokenizedText, Translation

#: Translated words may stand among so many more words than the phrase has: other languages put articles, prepositions
#: and verbs between them.
MAX_EXTRA_WORDS = 2
#: Alternatives that are less likely than this, relative to the best one, are not taken for a word of a phrase.
MIN_RELATIVE_WEIGHT = 0.15
#: A single word of another language stands for a whole phrase, as Freispeichersammlung does for garbage collection, if
#: it is at least this likely a translation of each of its words, relative to the best one.
MIN_RELATIVE_WEIGHT_ALONE = 0.4

#: The terms of one way to say a word; more than one if that is a phrase itself.
Terms: TypeAlias = tuple[str, ...]


class PhraseForms(NamedTuple):
    """The ways to say a phrase in one language."""

    lang: str
    #: The terms of the phrase as it is written, in order.
    written: Terms
    #: For each word the terms of its translations; empty where nothing translates into the language.
    translations: tuple[frozenset[Terms], ...]
    #: Terms each of which translates the whole phrase.
    whole: frozenset[Terms]
    #: How many words the phrase has.
    word_count: int

    @property
    def terms(self) -> set[str]:
        """All terms of all words."""
        return {*self.written, *(term for word in self.translations for terms in word for term in terms)}


class Interval(NamedTuple):
    """The tokens that say one word of a phrase: their first and last number, and which word it is."""

    first: int
    last: int
    word: int
    may_be_whole: bool = (
        False  # whether the token may say the other words as well: it is a compound, or their translation
    )


def build_phrase_forms(phrase: Query, lang: str, clauses: Sequence[Translation], *, only_best: bool) -> PhraseForms:
    """Collect the ways to say a phrase in a language.

    :param clauses: its words as translated into the language.
    :param only_best: use the likeliest translation of each word and no other.
    """
    min_weight = 1.0 if only_best else MIN_RELATIVE_WEIGHT
    required = [clause for clause in clauses if clause.required]
    words = [_list_translations(clause, lang, min_weight) for clause in required]
    whole = [_list_translations(clause, lang, max(min_weight, MIN_RELATIVE_WEIGHT_ALONE)) for clause in required]
    written = tuple(list_content_terms(phrase.text, lang))
    word_count = len(list_content_terms(phrase.text, phrase.lang)) or len(written)
    joined = frozenset.intersection(*whole) if whole else frozenset[Terms]()
    return PhraseForms(lang, written, tuple(filter(None, words)), joined, word_count)


def list_content_terms(text: str, lang: str) -> list[str]:
    """Return the terms of a text without stop words, also if it has no others."""
    words = [word for _, _, word in analyzer(lang).tokens(text)]
    return list(filter(None, analyzer(lang).token_terms([*words, "0"])[:-1]))  # stop words are kept beside nothing else


def _list_translations(clause: Translation, lang: str, min_weight: float) -> frozenset[Terms]:
    """Return the terms of the translations whose weight, relative to the best, is not below the least one."""
    analyze = analyzer(lang).terms
    best = max((alternative.weight for alternative in clause.alternatives), default=0.0)
    likely = [alternative for alternative in clause.alternatives if alternative.weight >= min_weight * best]
    return frozenset(filter(None, (a.terms or tuple(analyze(a.text)) for a in likely)))


def find_phrase(tokens: TokenizedText, forms: PhraseForms, *, inside_words: bool = False) -> list[tuple[int, int]]:
    """Return the (start, end) offsets of the places where a text has a phrase, in order.

    :param inside_words: a translation that is a part of a compound, or sounds like a name, counts as well.
    """
    runs = [(first, first + len(forms.written) - 1) for first in _find_runs(tokens, forms.written)]
    if forms.translations:
        intervals = sorted(_find_translations(tokens, forms, inside_words=inside_words))
        runs += _find_windows(intervals, len(forms.translations), forms.word_count + MAX_EXTRA_WORDS)
    ends = tokens.starts + tokens.lengths[tokens.word_indices]
    return sorted({(int(tokens.starts[first]), int(ends[first : last + 1].max())) for first, last in runs})


def _find_runs(tokens: TokenizedText, terms: Terms) -> list[int]:
    """Return the numbers of the tokens at which a sequence of terms begins."""
    if not terms:
        return []
    firsts = np.arange(len(tokens.word_indices) - len(terms) + 1)
    for position, term in enumerate(terms):
        has_term = _have_words(tokens.word_indices[firsts + position], tokens.find_words({term}))
        firsts = firsts[has_term]
    return firsts.tolist()


def _find_translations(tokens: TokenizedText, forms: PhraseForms, *, inside_words: bool) -> Iterator[Interval]:
    """Yield the tokens that say a word of the phrase."""
    words_by_part: dict[str, list[int]] = {}
    if inside_words:
        for part, word_number in find_subword_matches(tokens, forms.lang, forms.terms):
            words_by_part.setdefault(part, []).append(word_number)
    for number, alternatives in enumerate(forms.translations):
        single = {terms[0] for terms in alternatives if len(terms) == 1}
        parts = {word_number for term in single & words_by_part.keys() for word_number in words_by_part[term]}
        parts.update(tokens.find_words({terms[0] for terms in forms.whole}))
        for position in _have_words(tokens.word_indices, {*tokens.find_words(single), *parts}).nonzero()[0].tolist():
            yield Interval(position, position, number, int(tokens.word_indices[position]) in parts)
        for terms in alternatives:
            if len(terms) > 1:
                for first in _find_runs(tokens, terms):
                    yield Interval(first, first + len(terms) - 1, number)


def _have_words(word_indices: Integers, word_numbers: Iterable[int]) -> npt.NDArray[np.bool_]:
    return np.isin(word_indices, [*word_numbers])


def _find_windows(intervals: Sequence[Interval], word_count: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last token of the windows that have every word of a phrase and do not overlap.

    One token does not stand for all words unless it is a compound or a translation of all: tables give a word's
    neighbours among its translations.

    :param intervals: the tokens that say a word, in order.
    :param width: the number of tokens of a window, in which a translation of several tokens counts as one.
    """
    latest: dict[int, Interval] = {}
    previous_end = -1
    for interval in intervals:
        latest[interval.word] = interval
        is_one_token = word_count > 1 and len({i[:2] for i in latest.values()}) == 1
        if len(latest) < word_count or (is_one_token and not interval.may_be_whole):
            continue
        first, last = min(i.first for i in latest.values()), max(i.last for i in latest.values())
        extra = sum(i.last - i.first for i in latest.values())
        if last - first + 1 - extra <= width and first > previous_end:
            yield first, last
            previous_end = last
