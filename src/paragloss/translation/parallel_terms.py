"""Tokenize aligned texts into arrays that `word_alignment` learns from, and merge collocations into one term.

Neighbours that meet far more often than chance are a collocation (normalised pointwise mutual information: Bouma, GSCL
2009).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
    units, texts = _list_texts(aligned, lang)
    start, term, words = tokenize_texts(texts, lang)
    if phrases:
        n_terms = len(words.terms)
        collocations = find_collocations(start, term, n_terms)
        start, term = merge_collocations(start, term, n_terms, collocations)
        words = _add_phrases(words, collocations)
    return LanguageTexts(np.array(units, np.int64), make_bags(start, term, len(words.terms), max_terms), words)


def _list_texts(aligned: Aligned, lang: str) -> tuple[list[int], list[str]]:
    """List the texts and titles that concepts have in a language, each with a number that its translations share."""
    units: list[int] = []
    texts: list[str] = []
    for number, concept in enumerate(aligned):
        for part, text in enumerate((concept.texts.get(lang), concept.titles.get(lang))):
            if text:
                units.append(2 * number + part)
                texts.append(text)
    return units, texts


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
    scores = _score_entries(entries, sizes, n_terms)
    entries = entries.select(_find_best(entries.text, scores, max_terms))
    entries = entries.select(np.lexsort((entries.position, entries.text)))
    new_sizes = np.bincount(entries.text, minlength=len(sizes))
    return TermBags(
        start=np.concatenate([[0], np.cumsum(new_sizes)]).astype(np.int64),
        term=entries.term.astype(np.int32),
        weight=entries.weight.astype(np.float32),
        position=entries.position.astype(np.float32),
        n_terms=n_terms,
    )


class _Entries(NamedTuple):
    """Entries of texts; the arrays have one item for each."""

    text: Integers  # its number
    term: Integers
    position: Floats  # relative to the length of the text
    weight: Floats

    def select(self, indices: Integers) -> _Entries:
        """Return some of the entries, in the order of their indices."""
        return _Entries(self.text[indices], self.term[indices], self.position[indices], self.weight[indices])


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


def _score_entries(entries: _Entries, sizes: Integers, n_terms: int) -> Floats:
    """Return the tf-idf of entries of documents; infinity for words of sentences.

    :param sizes: the number of words of each text
    """
    df = np.bincount(entries.term, minlength=n_terms)
    idf = np.log((len(sizes) + 1) / df[entries.term])
    is_document = sizes > MAX_SENTENCE_TERMS
    return np.where(is_document[entries.text], entries.weight * idf, np.inf)


def _find_best(text: Integers, score: Floats, max_entries: int) -> Integers:
    """Return the indices of the entries of highest score of each text, in their order.

    :param text: the text of each entry
    """
    order = np.lexsort((-score, text))
    ranks = list_positions(np.bincount(text))  # within the text, in this order
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
    sizes = np.diff(bags.start)[texts]
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    entries = np.repeat(bags.start[texts], sizes) + list_positions(sizes)
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
    pairs, counts = np.unique(_neighbour_pairs(start, term, n_terms), return_counts=True)
    is_frequent = (counts >= min_count) & (pairs >= 0)
    pairs, counts = pairs[is_frequent], counts[is_frequent]
    first, second = np.divmod(pairs, n_terms)
    n_words = max(len(term), 1)
    term_counts = np.bincount(term, minlength=n_terms)
    probability = counts / n_words
    probability_by_chance = term_counts[first] * term_counts[second] / n_words**2
    mutual_information = np.log(probability / probability_by_chance)
    return pairs[mutual_information >= min_npmi * -np.log(probability)]


def merge_collocations(
    start: Integers, term: Integers, n_terms: int, collocations: Integers, *, min_count: int = MIN_PHRASE_COUNT
) -> TermSequences:
    """Replace collocations by their own terms, from the left: collocation i is the term n_terms + i.

    A word that occurs alone fewer than `min_count` times stays beside the phrase, or nothing would be learned of it.

    :param start: (texts + 1,) where each text begins in `term`
    :param collocations: pairs of terms as sorted numbers first * n_terms + second
    """
    if not len(collocations):
        return TermSequences(start, term)
    pairs = _neighbour_pairs(start, term, n_terms)
    first_words = _find_phrases(pairs, collocations)
    phrase_terms = n_terms + np.searchsorted(collocations, pairs[first_words])
    is_removed = _find_replaced_words(term, n_terms, first_words, min_count)
    # Each phrase is inserted before its first word; then the words that it replaces are removed.
    stays = np.insert(~is_removed, first_words, True)
    merged = np.insert(term, first_words, phrase_terms)[stays]
    staying_before = np.concatenate([[0], np.cumsum(stays)])
    return TermSequences(staying_before[start + np.searchsorted(first_words, start)], merged)


def _find_phrases(pairs: Integers, collocations: Integers) -> Integers:
    """Find collocations in texts, from the left and without overlap; return the positions of their first words.

    :param pairs: (words,) the pair of terms that begins at each word
    :param collocations: pairs that are collocations, sorted
    """
    nearest = np.minimum(np.searchsorted(collocations, pairs), len(collocations) - 1)
    is_phrase = collocations[nearest] == pairs
    positions = np.arange(len(pairs))
    # In a run of overlapping phrases every other one begins at a word that is still free.
    position_in_run = positions - np.maximum.accumulate(np.where(is_phrase, 0, positions + 1))
    return np.flatnonzero(is_phrase & (position_in_run % 2 == 0))


def _find_replaced_words(term: Integers, n_terms: int, first_words: Integers, min_count: int) -> npt.NDArray[np.bool_]:
    """Tell for each word whether it is part of a phrase and its term occurs often enough outside phrases.

    :param first_words: the positions of the phrases, which have two words each
    """
    is_in_phrase = np.zeros(len(term), bool)
    is_in_phrase[first_words] = True
    is_in_phrase[first_words + 1] = True
    count_outside = np.bincount(term[~is_in_phrase], minlength=n_terms)
    return is_in_phrase & (count_outside[term] >= min_count)


def _neighbour_pairs(start: Integers, term: Integers, n_terms: int) -> Integers:
    """Return for each term the pair that it makes with the next, as first * n_terms + second; -1 ends a text."""
    key = np.full(len(term), -1, np.int64)
    key[:-1] = term[:-1].astype(np.int64) * n_terms + term[1:]
    last_terms = start[1:][start[1:] > start[:-1]] - 1
    key[last_terms] = -1
    return key
