"""Tokenize aligned texts into arrays that `word_alignment` learns from, and merge collocations into one term.

Neighbours that meet far more often than chance are a collocation (normalised pointwise mutual information: Bouma, GSCL
2009).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.groups import list_groups, list_positions
from paragloss.translation.term_spellings import choose_spellings
from paragloss.translation.word_alignment import TermBags
from paragloss.translation.word_table import TermSpellings
from paragloss.types import Aligned, Integers

#: A text of more terms is a document: the order of its words says little, its distinct words are what counts.
MAX_SENTENCE_TERMS = 64
#: Two neighbours must meet this often to be a phrase; a word must occur alone this often to be left to phrases.
MIN_PHRASE_COUNT = 10
#: Normalised pointwise mutual information of a phrase: 0 is chance, 1 is never apart.
MIN_PHRASE_NPMI = 0.5


class TermSequences(NamedTuple):
    """Texts of one language as numbers of their terms, text after text."""

    starts: Integers  # (texts + 1,) where each text begins in `terms`
    terms: Integers  # (words,)
    n_terms: int  # different terms: they are numbered from 0


class TokenizedTexts(NamedTuple):
    """Texts as numbers of their terms, and the terms that the numbers stand for."""

    sequences: TermSequences
    words: TermSpellings


class LanguageTexts(NamedTuple):
    """All texts of one language, prepared to learn translations from."""

    units: Integers  # (texts,) 2 x number of the concept, plus 1 for its title: a text and its translations share it
    bags: TermBags
    words: TermSpellings


def read_language(aligned: Aligned, lang: str, *, max_terms: int, phrases: bool) -> LanguageTexts:
    """Tokenize all texts of a language; a title is a text of its own.

    :param aligned: concepts, each with texts in some languages
    :param max_terms: distinct terms kept of a long text
    :param phrases: make collocations one term, `first second`
    :return: the texts, each with the number of its unit, by which its translations are found
    """
    units, texts = _list_texts(aligned, lang)
    sequences, words = tokenize_texts(texts, lang)
    if phrases:
        collocations = find_collocations(sequences)
        sequences = merge_collocations(sequences, collocations)
        words = _add_phrases(words, collocations)
    return LanguageTexts(np.array(units, np.int64), make_bags(sequences, max_terms), words)


def _list_texts(aligned: Aligned, lang: str) -> tuple[list[int], list[str]]:
    """List the texts and the titles that concepts have in a language, with numbers by which translations are found.

    The text of concept 3 has the number 6 in every language, and its title the number 7.

    :param aligned: concepts, each with texts and titles in some languages
    :return: the numbers and the texts, each concept's text before its title; empty texts are left out
    """
    units: list[int] = []
    texts: list[str] = []
    for concept_number, concept in enumerate(aligned):
        text, title = concept.texts.get(lang), concept.titles.get(lang)
        if text:
            units.append(2 * concept_number)
            texts.append(text)
        if title:
            units.append(2 * concept_number + 1)
            texts.append(title)
    return units, texts


def _add_phrases(words: TermSpellings, collocations: Integers) -> TermSpellings:
    """Add a term for each collocation behind the terms of a language: "new york" behind "new", "old" and "york".

    :param words: the terms of the language and their spellings; a term's index is its number
    :param collocations: (pairs,) the numbers of two terms as one number, first * number of terms + second
    :return: all terms and spellings; those that were there keep their numbers
    """
    terms, surfaces = list(words.terms), list(words.surfaces)
    for pair in collocations.tolist():
        first, second = divmod(pair, len(words.terms))
        terms.append(f"{words.terms[first]} {words.terms[second]}")
        surfaces.append(f"{words.surfaces[first]} {words.surfaces[second]}")
    return TermSpellings(terms, surfaces)


def tokenize_texts(texts: Iterable[str], lang: str) -> TokenizedTexts:
    """Tokenize texts, number their different terms in the order of appearance, and choose a spelling for each.

    :return: the number of the term of each word, text after text; and the terms with their most frequent spellings,
        by number.
    """
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
    sequences = TermSequences(_sum_sizes(sizes), np.asarray(term_numbers, np.int64), len(number_by_term))
    spelling_by_term = choose_spellings(spelling_counts, lang)
    spellings = [spelling_by_term[term] for term in number_by_term]
    return TokenizedTexts(sequences, TermSpellings(list(number_by_term), spellings))


def _sum_sizes(sizes: Sequence[int] | Integers) -> Integers:
    """Return where each text begins, and where the last one ends: [0, 2, 5] for texts of 2 and 3 words."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def make_bags(texts: TermSequences, max_terms: int) -> TermBags:
    """Make entries of texts: all words of a sentence, or the distinct terms of highest tf-idf of a document.

    A document's term is at its mean position and weighs 1 + ln(count).

    :param max_terms: entries of a text at most
    :return: the entries of each text in the order of their positions
    """
    sizes = np.diff(texts.starts)
    entries = _join_words_of_documents(texts.terms, sizes, texts.n_terms)
    scores = _score_entries(entries, sizes, texts.n_terms)
    best = entries.select(_find_best(entries.texts, scores, max_terms))
    ordered = best.select(np.lexsort((best.positions, best.texts)))
    entry_counts = np.bincount(ordered.texts, minlength=len(sizes))  # (texts,)
    return TermBags(
        starts=_sum_sizes(entry_counts),
        terms=ordered.terms.astype(np.int32),
        weights=ordered.weights.astype(np.float32),
        positions=ordered.positions.astype(np.float32),
        n_terms=texts.n_terms,
    )


class _Entries(NamedTuple):
    """Terms in texts, text after text; the arrays have one item for each."""

    texts: Integers  # the number of the text
    terms: Integers
    positions: npt.NDArray[np.float64]  # from 0, the beginning of the text, to 1
    weights: npt.NDArray[np.float64]

    def select(self, indices: Integers) -> _Entries:
        """Return some of the entries, in the order of their indices."""
        return _Entries(self.texts[indices], self.terms[indices], self.positions[indices], self.weights[indices])


def _join_words_of_documents(terms: Integers, sizes: Integers, n_terms: int) -> _Entries:
    """Join the equal words of each document into one entry; each word of a sentence becomes an entry of its own.

    :param terms: (words,) the term of each word, text after text
    :param sizes: (texts,) the number of words of each text
    """
    texts, positions = list_groups(sizes), list_positions(sizes)  # (words,) the text of a word, its position there
    keys = _number_entries_of_words(terms, texts, positions, sizes, n_terms)
    _, first_words, entry_of_word, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    relative_positions = (positions + 0.5) / sizes[texts]  # (words,) from 0, the beginning of the text, to 1
    mean_positions = np.bincount(entry_of_word, relative_positions) / counts  # (entries,)
    weights = 1 + np.log(counts)
    return _Entries(texts[first_words], terms[first_words], mean_positions, weights)


def _number_entries_of_words(
    terms: Integers, texts: Integers, positions: Integers, sizes: Integers, n_terms: int
) -> Integers:
    """Give each word of all texts a number that is the same for words which are to become one entry.

    A text of more than MAX_SENTENCE_TERMS words is a document: the words of it that have the same term become one
    entry. A shorter text is a sentence: each of its words stays an entry of its own.

    Every text has a block of numbers to itself, one for each term and one for each position in a sentence. With 10
    terms and sentences of up to 64 words, blocks have 74 numbers. In text 2, which begins at 148, a word with term 3 at
    position 5 has the number 148 + 3 in a document, and 148 + 10 + 5 in a sentence.

    :param terms: (words,) the number of the term of each word
    :param texts: (words,) the number of the text of each word
    :param positions: (words,) the position of each word in its text
    :param sizes: (texts,) how many words each text has
    :param n_terms: how many different terms there are
    :return: (words,) the number of each word; those of a later text are larger
    """
    is_in_document = (sizes > MAX_SENTENCE_TERMS)[texts]  # (words,)
    numbers_in_block = np.where(is_in_document, terms, n_terms + positions)
    block_size = np.int64(n_terms + MAX_SENTENCE_TERMS)
    block_starts = texts * block_size  # (words,)
    return np.asarray(block_starts + numbers_in_block)


def _score_entries(entries: _Entries, sizes: Integers, n_terms: int) -> npt.NDArray[np.float64]:
    """Return the tf-idf of each entry of a document; infinity for words of sentences, which are all kept.

    :param sizes: (texts,) the number of words of each text
    :param n_terms: the number of different terms of all texts
    """
    df = np.bincount(entries.terms, minlength=n_terms)  # in how many texts each term occurs
    idf = np.log((len(sizes) + 1) / df[entries.terms])
    is_document = sizes > MAX_SENTENCE_TERMS
    return np.where(is_document[entries.texts], entries.weights * idf, np.inf)


def _find_best(texts: Integers, scores: npt.NDArray[np.float64], max_entries: int) -> Integers:
    """Return the indices of the entries of highest score of each text, in their order.

    :param texts: the text of each entry
    """
    order = np.lexsort((-scores, texts))
    ranks = list_positions(np.bincount(texts))  # within the text, in this order
    return np.sort(order[ranks < max_entries])


def extend_vocabulary(texts: LanguageTexts, words: TermSpellings | None) -> LanguageTexts:
    """Add terms that no text has to a language's vocabulary, so that translations known before can be kept.

    :param texts: the texts of the language and the terms of their vocabulary
    :param words: terms with their spellings, of which those that the vocabulary lacks are added; None for none
    :return: the same texts; the terms of their vocabulary keep their numbers, and the new ones come behind them
    """
    if words is None:
        return texts
    present_terms = set(texts.words.terms)
    added = [i for i, term in enumerate(words.terms) if term not in present_terms]
    terms = [*texts.words.terms, *(words.terms[i] for i in added)]
    surfaces = [*texts.words.surfaces, *(words.surfaces[i] for i in added)]
    return LanguageTexts(texts.units, texts.bags._replace(n_terms=len(terms)), TermSpellings(terms, surfaces))


def find_term_numbers(vocabulary: TermSpellings, words: TermSpellings) -> Integers:
    """Return the numbers that some words have in a vocabulary that contains them all."""
    number = {term: i for i, term in enumerate(vocabulary.terms)}
    return np.array([number[term] for term in words.terms], np.int64)


def select_shared_texts(left: LanguageTexts, right: LanguageTexts) -> tuple[TermBags, TermBags]:
    """Select the texts that exist in both languages, in the same order."""
    _, left_texts, right_texts = np.intersect1d(left.units, right.units, return_indices=True)
    return _select_texts(left.bags, left_texts), _select_texts(right.bags, right_texts)


def _select_texts(bags: TermBags, texts: Integers) -> TermBags:
    """Return the bags of some texts, given by their numbers, in this order."""
    sizes = np.diff(bags.starts)[texts]
    entries = np.repeat(bags.starts[texts], sizes) + list_positions(sizes)
    return TermBags(
        _sum_sizes(sizes), bags.terms[entries], bags.weights[entries], bags.positions[entries], bags.n_terms
    )


def find_collocations(
    texts: TermSequences, *, min_count: int = MIN_PHRASE_COUNT, min_npmi: float = MIN_PHRASE_NPMI
) -> Integers:
    """Find pairs of neighbouring words that belong together, as "New York", since they meet far more often than chance.

    How far is told by their normalised pointwise mutual information (NPMI): 0 for words that meet by chance, 1 for
    words that never occur apart.

    :param texts: the words of all texts, as numbers of their terms from 0 to n_terms - 1
    :param min_count: how often a pair must occur
    :param min_npmi: the least NPMI of a pair
    :return: (pairs,) each pair of terms as one number, first * n_terms + second, in ascending order
    """
    pair_of_word = _number_pairs(texts)  # (words,) the pair that begins at each word
    is_pair = pair_of_word >= 0  # the last word of a text begins none and has -1
    pairs, counts = np.unique(pair_of_word[is_pair], return_counts=True)
    is_frequent = counts >= min_count
    pairs, counts = pairs[is_frequent], counts[is_frequent]
    probabilities = counts / len(texts.terms)
    mutual_information = np.log(probabilities / _compute_chance_probabilities(pairs, texts))
    max_information = -np.log(probabilities)  # that of words that never occur apart
    # NPMI is mutual_information / max_information.
    return pairs[mutual_information >= min_npmi * max_information]


def _compute_chance_probabilities(pairs: Integers, texts: TermSequences) -> npt.NDArray[np.float64]:
    """Return how likely pairs of terms would meet if words stood in random order: the product of their frequencies.

    :param pairs: (pairs,) each as first * n_terms + second
    :param texts: the words of all texts, as numbers of their terms
    :return: (pairs,) probabilities
    """
    first_terms, second_terms = np.divmod(pairs, texts.n_terms)
    term_counts = np.bincount(texts.terms, minlength=texts.n_terms)
    return np.asarray(term_counts[first_terms] * term_counts[second_terms] / len(texts.terms) ** 2)


def merge_collocations(
    texts: TermSequences, collocations: Integers, *, min_count: int = MIN_PHRASE_COUNT
) -> TermSequences:
    """Replace the two words of each collocation in texts by one phrase, which is a term of its own.

    Collocations are found from the left: of "a b c" with the collocations "a b" and "b c", "a b" becomes a phrase. A
    word that occurs outside phrases fewer than `min_count` times also stays behind its phrase, or nothing would be
    learned of it.

    :param texts: the words of all texts, as numbers of their terms from 0 to n_terms - 1
    :param collocations: (pairs,) each pair of terms as one number, first * n_terms + second, in ascending order
    :return: the words and phrases of all texts; the phrase of pair i is the term n_terms + i
    """
    if not len(collocations):
        return texts
    pairs = _number_pairs(texts)  # (words,) the pair that begins at each word
    first_words = _find_phrases(pairs, collocations)  # (phrases,) positions
    phrase_terms = texts.n_terms + np.searchsorted(collocations, pairs[first_words])
    is_replaced = _find_replaced_words(texts, first_words, min_count)  # (words,)
    # Each phrase is inserted before its first word; then the words that it replaces are removed.
    is_kept = np.insert(~is_replaced, first_words, True)  # (words and phrases,)
    merged_terms = np.insert(texts.terms, first_words, phrase_terms)[is_kept]
    starts = _move_starts(texts.starts, first_words, is_kept)
    return TermSequences(starts, merged_terms, texts.n_terms + len(collocations))


def _move_starts(starts: Integers, insertions: Integers, is_kept: npt.NDArray[np.bool_]) -> Integers:
    """Return where texts begin after items were inserted among their words and others were then removed.

    :param starts: (texts + 1,) where each text began, and where the last one ended
    :param insertions: the positions of the words before which an item was inserted, ascending
    :param is_kept: (words and inserted items,) which of them were not removed
    """
    inserted_before = np.searchsorted(insertions, starts)  # (texts + 1,)
    kept_before = _sum_sizes(is_kept.astype(np.int64))  # (words and inserted items + 1,)
    return np.asarray(kept_before[starts + inserted_before], np.int64)


def _find_phrases(pairs: Integers, collocations: Integers) -> Integers:
    """Find collocations in texts, from the left and without overlap; return the positions of their first words.

    Where "a b", "b c" and "c d" are collocations, "a b c d" has "a b" and "c d": of phrases that begin at neighbouring
    words, a run, every other one begins at a word that is still free.

    :param pairs: (words,) the pair of terms that begins at each word
    :param collocations: pairs that are collocations, sorted
    """
    nearest = np.minimum(np.searchsorted(collocations, pairs), len(collocations) - 1)
    is_phrase = collocations[nearest] == pairs  # (words,)
    positions = np.arange(len(pairs))
    behind_last_other_word = np.where(is_phrase, 0, positions + 1)
    run_starts = np.maximum.accumulate(behind_last_other_word)  # (words,) where the run of each word began
    is_free = (positions - run_starts) % 2 == 0
    return np.flatnonzero(is_phrase & is_free)


def _find_replaced_words(texts: TermSequences, first_words: Integers, min_count: int) -> npt.NDArray[np.bool_]:
    """Tell for each word whether it is part of a phrase and its term occurs often enough outside phrases.

    :param first_words: the positions of the phrases, which have two words each
    :param min_count: how often is enough
    """
    is_in_phrase = np.zeros(len(texts.terms), bool)
    is_in_phrase[first_words] = True
    is_in_phrase[first_words + 1] = True
    count_outside = np.bincount(texts.terms[~is_in_phrase], minlength=texts.n_terms)
    return is_in_phrase & (count_outside[texts.terms] >= min_count)


def _number_pairs(texts: TermSequences) -> Integers:
    """Return for each word the pair that it makes with the next, as first * n_terms + second; -1 if it ends a text."""
    pairs = np.full(len(texts.terms), -1, np.int64)
    pairs[:-1] = texts.terms[:-1].astype(np.int64) * texts.n_terms + texts.terms[1:]
    has_words = texts.starts[1:] > texts.starts[:-1]
    pairs[texts.starts[1:][has_words] - 1] = -1
    return pairs
