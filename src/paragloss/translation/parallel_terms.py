"""Tokenize aligned texts into arrays that `word_alignment` learns from, and merge collocations into one term.

Neighbours that meet far more often than chance are a collocation (normalised pointwise mutual information: Bouma, GSCL
2009).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from paragloss.analysis import analyzer
from paragloss.groups import list_groups, list_positions
from paragloss.translation.term_spellings import choose_spellings
from paragloss.translation.word_alignment import TermBags
from paragloss.translation.word_table import TermSpellings
from paragloss.types import Aligned, Floats, Integers

#: A text of more terms is a document: the order of its words says little, its distinct words are what counts.
MAX_SENTENCE_TERMS = 64
#: Two neighbours must meet this often to be a phrase; a word must occur alone this often to be left to phrases.
MIN_PHRASE_COUNT = 10
#: Normalised pointwise mutual information of a phrase: 0 is chance, 1 is never apart.
MIN_PHRASE_NPMI = 0.5


class LanguageTexts(NamedTuple):
    """All texts of one language."""

    unit: Integers  # (texts,) 2 x number of the concept, plus 1 for its title
    bags: TermBags
    words: TermSpellings


class TokenizedTexts(NamedTuple):
    """Texts as term ids, text after text, and the terms the ids stand for."""

    start: Integers  # (texts + 1,)
    term: Integers
    words: TermSpellings


class TermSequences(NamedTuple):
    """Texts as term ids, text after text."""

    start: Integers  # (texts + 1,)
    term: Integers


def read_language(aligned: Aligned, lang: str, *, max_terms: int, phrases: bool) -> LanguageTexts:
    """Tokenize all texts of a language; a title is a text of its own.

    :param max_terms: distinct terms kept of a document
    :param phrases: make collocations one term, `first second`
    """
    texts: list[str] = []
    units: list[int] = []  # the number of each text, the same as that of its translations
    for number, concept in enumerate(aligned):
        for part, text in enumerate((concept.texts.get(lang), concept.titles.get(lang))):
            if text:
                texts.append(text)
                units.append(2 * number + part)
    start, term, words = tokenize_texts(texts, lang)
    if phrases:
        n_terms = len(words.terms)
        collocations = find_collocations(start, term, n_terms)
        start, term = merge_collocations(start, term, n_terms, collocations)
        words = _add_phrases(words, collocations)
    return LanguageTexts(np.array(units, np.int64), make_bags(start, term, len(words.terms), max_terms), words)


def _add_phrases(words: TermSpellings, collocations: Integers) -> TermSpellings:
    """Return the terms of a language and their spellings with those of collocations behind them.

    :param collocations: as numbers first * number of terms + second
    """
    terms, surfaces = list(words.terms), list(words.surfaces)
    for pair in collocations.tolist():
        first, second = divmod(pair, len(words.terms))
        terms.append(f"{words.terms[first]} {words.terms[second]}")
        surfaces.append(f"{words.surfaces[first]} {words.surfaces[second]}")
    return TermSpellings(terms, surfaces)


def tokenize_texts(texts: Iterable[str], lang: str) -> TokenizedTexts:
    """Return the terms of texts as numbers, and the most frequent spelling of each term."""
    split_into_spans = analyzer(lang).spans
    number_by_term: dict[str, int] = {}
    spelling_counts: Counter[tuple[str, str]] = Counter()
    sizes: list[int] = []
    term_numbers: list[int] = []
    for text in texts:
        spans = split_into_spans(text)
        for span in spans:
            term_numbers.append(number_by_term.setdefault(span.term, len(number_by_term)))
        spelling_counts.update([(span.term, text[span.start : span.end]) for span in spans])
        sizes.append(len(spans))
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    spelling_by_term = choose_spellings(spelling_counts, lang)
    words = TermSpellings(list(number_by_term), [spelling_by_term[term] for term in number_by_term])
    return TokenizedTexts(start, np.asarray(term_numbers, np.int64), words)


def make_bags(start: Integers, term: Integers, n_terms: int, max_terms: int) -> TermBags:
    """Make entries of texts: all words of a sentence, or the distinct terms of highest tf-idf of a document.

    A document's term is at its mean position and weighs 1 + ln(count).

    :param start: (texts + 1,) where each text begins in `term`
    :param max_terms: entries of a text at most
    """
    sizes = np.diff(start)
    entries = _join_words_of_documents(term, sizes, n_terms)
    df = np.bincount(entries.term, minlength=n_terms)
    is_document = sizes > MAX_SENTENCE_TERMS
    idf = np.log((len(sizes) + 1) / df[entries.term])
    score = np.where(is_document[entries.text], entries.weight * idf, np.inf)
    best = _select_best(entries.text, score, len(sizes), max_terms)
    best = best[np.lexsort((entries.position[best], entries.text[best]))]
    return TermBags(
        start=np.concatenate([[0], np.cumsum(np.bincount(entries.text[best], minlength=len(sizes)))]).astype(np.int64),
        term=entries.term[best].astype(np.int32),
        weight=entries.weight[best].astype(np.float32),
        position=entries.position[best].astype(np.float32),
        n_terms=n_terms,
    )


class _Entries(NamedTuple):
    """Entries of texts; the arrays have one item for each."""

    text: Integers  # its number
    term: Integers
    position: Floats  # relative to the length of the text
    weight: Floats


def _join_words_of_documents(term: Integers, sizes: Integers, n_terms: int) -> _Entries:
    """Join the equal words of each document into one entry; each word of a sentence becomes an entry of its own.

    :param term: the term of each word
    :param sizes: the number of words of each text
    """
    text, position = list_groups(sizes), list_positions(sizes)  # of each word
    # Each word of a sentence has its own key; equal words of a document share one.
    is_of_document = (sizes > MAX_SENTENCE_TERMS)[text]
    key_in_text = np.where(is_of_document, term, n_terms + position)
    key = text * np.int64(n_terms + MAX_SENTENCE_TERMS) + key_in_text
    _, first_word, entry_of_word, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    mean_position = np.bincount(entry_of_word, (position + 0.5) / sizes[text]) / count
    return _Entries(text[first_word], term[first_word], mean_position, 1 + np.log(count))


def _select_best(text: Integers, score: Integers, texts: int, max_entries: int) -> Integers:
    """Select the entries of highest score of each text, in their order."""
    order = np.lexsort((-score, text))
    ranks = list_positions(np.bincount(text, minlength=texts))
    return np.sort(order[ranks < max_entries])


def extend_vocabulary(texts: LanguageTexts, words: TermSpellings | None) -> LanguageTexts:
    """Add terms to a language's vocabulary that its texts do not have."""
    if words is None:
        return texts
    present_terms = set(texts.words.terms)
    added = [i for i, term in enumerate(words.terms) if term not in present_terms]
    terms = [*texts.words.terms, *(words.terms[i] for i in added)]
    surfaces = [*texts.words.surfaces, *(words.surfaces[i] for i in added)]
    return LanguageTexts(texts.unit, texts.bags._replace(n_terms=len(terms)), TermSpellings(terms, surfaces))


def find_term_numbers(vocabulary: TermSpellings, words: TermSpellings) -> Integers:
    """Return the numbers that some words have in a vocabulary that contains them all."""
    number = {term: i for i, term in enumerate(vocabulary.terms)}
    return np.array([number[term] for term in words.terms], np.int64)


def select_shared_texts(left: LanguageTexts, right: LanguageTexts) -> tuple[TermBags, TermBags]:
    """Select the texts that exist in both languages, in the same order."""
    _, left_texts, right_texts = np.intersect1d(left.unit, right.unit, return_indices=True)
    return _select_texts(left.bags, left_texts), _select_texts(right.bags, right_texts)


def _select_texts(bags: TermBags, texts: Integers) -> TermBags:
    """Return the bags of some texts, in this order."""
    size = np.diff(bags.start)[texts]
    start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    entries = np.arange(start[-1]) + np.repeat(bags.start[texts] - start[:-1], size)
    return TermBags(start, bags.term[entries], bags.weight[entries], bags.position[entries], bags.n_terms)


def find_collocations(
    start: Integers,
    term: Integers,
    n_terms: int,
    *,
    min_count: int = MIN_PHRASE_COUNT,
    min_npmi: float = MIN_PHRASE_NPMI,
) -> Integers:
    """Find pairs of neighbouring terms that belong together, as sorted numbers first * n_terms + second.

    :param start: (texts + 1,) where each text begins in `term`
    :param min_count: how often a pair must occur
    :param min_npmi: its normalised pointwise mutual information at least
    """
    key, count = np.unique(_neighbour_pairs(start, term, n_terms), return_counts=True)
    is_frequent = (count >= min_count) & (key >= 0)
    key, count = key[is_frequent], count[is_frequent]
    term_counts = np.bincount(term, minlength=n_terms)
    together = count / max(len(term), 1)
    by_chance = term_counts[key // n_terms] * term_counts[key % n_terms] / max(len(term), 1) ** 2
    return key[np.log(together / by_chance) >= min_npmi * -np.log(together)]


def merge_collocations(
    start: Integers, term: Integers, n_terms: int, collocations: Integers, *, min_count: int = MIN_PHRASE_COUNT
) -> TermSequences:
    """Replace collocations by their own terms, from the left: collocation i is the term n_terms + i.

    A word that occurs alone fewer than `min_count` times stays beside the phrase, or nothing would be learned of it.
    """
    if not len(collocations):
        return TermSequences(start, term)
    key = _neighbour_pairs(start, term, n_terms)
    number = np.minimum(np.searchsorted(collocations, key), len(collocations) - 1)
    is_phrase = collocations[number] == key
    # In a run of overlapping phrases every other one begins at a word that is still free.
    positions = np.arange(len(term))
    run = positions - np.maximum.accumulate(np.where(is_phrase, 0, positions + 1))
    is_first_word = is_phrase & (run % 2 == 0)
    is_in_phrase = is_first_word | np.concatenate([[False], is_first_word[:-1]])
    count_outside = np.bincount(term[~is_in_phrase], minlength=n_terms)
    first_words = np.flatnonzero(is_first_word)
    # Each phrase is inserted before its first word; then words that are part of one are removed unless they are rare.
    stays = np.insert(~is_in_phrase | (count_outside[term] < min_count), first_words, True)
    merged = np.insert(term, first_words, n_terms + number[first_words])[stays]
    staying_before = np.concatenate([[0], np.cumsum(stays)])
    return TermSequences(staying_before[start + np.searchsorted(first_words, start)], merged)


def _neighbour_pairs(start: Integers, term: Integers, n_terms: int) -> Integers:
    """Return a number for the pair that each term makes with the next; -1 at the end of a text."""
    key = np.full(len(term), -1, np.int64)
    key[:-1] = term[:-1].astype(np.int64) * n_terms + term[1:]
    last_terms = start[1:][start[1:] > start[:-1]] - 1
    key[last_terms] = -1
    return key
