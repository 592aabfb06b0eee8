"""Associations between English words: a small vector for each word, learned from which words occur near each other.

They show which sense of a word suits the rest of its sentence. studies/word_associations.py learns them from open
texts; word_associations.npz is CC BY-SA 4.0 (NOTICE).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paragloss.gloss.glossed_text import Meaning, Word
from paragloss.gloss.senses import analyze_terms, is_built_in
from paragloss.groups import list_groups, list_starts
from paragloss.types import Floats, Integers

#: The language whose words have vectors.
LANG = "en"
#: A meaning counts exp(ASSOCIATION_STRENGTH * cosine with the rest of the sentence) times its share. Chosen on Tatoeba
#: sentences of ten languages (docs/understand/gloss.md).
ASSOCIATION_STRENGTH = 4.0
#: The cosine that a word without a vector is taken to have: the mean of all words.
MEAN_COSINE = 0.1
#: The share, relative to the best meaning, from which on the sentence may bring a meaning to the front: what is only on
#: the same subject suits the sentence too.
MIN_RELATIVE_SHARE = 0.4
#: The byte that stands for 1 in stored vectors.
_UNIT_BYTE = 127
_FILE = Path(__file__).parent / "word_associations.npz"


def rerank_meanings(words: Sequence[Word], to: str) -> list[Word]:
    """Sort the meanings of each word by how well they suit the likely meanings of the other words of the sentence.

    Only words whose meanings are all from the lexicon and the default model are changed: the user's own words are not
    overruled, and a collection's models already know its subject.

    :param words: the words of a sentence, each with its meanings, best first.
    :param to: the reader's language; words are changed in LANG only.
    :return: the words in the same order; those with changed meanings are new records.
    """
    content_words = [i for i, word in enumerate(words) if word.meanings and word.kind != "stop"]
    if to != LANG or len(content_words) < 2:
        return list(words)
    shares_by_word = _compute_shares_in_context([words[i].meanings for i in content_words])
    reranked = list(words)
    for i, shares in zip(content_words, shares_by_word, strict=True):
        if all(is_built_in(meaning.source) for meaning in words[i].meanings):
            reranked[i] = _sort_meanings(words[i], shares)
    return reranked


def _compute_shares_in_context(meanings_by_word: Sequence[Sequence[Meaning]]) -> list[npt.NDArray[np.float64]]:
    """Return for each word the new share of each of its meanings, given the meanings of the other words.

    :param meanings_by_word: the meanings of each content word of a sentence, best first.
    """
    meanings = list(chain.from_iterable(meanings_by_word))
    weights = np.array([meaning.weight for meaning in meanings])  # (n_meanings,)
    counts = np.array([len(word_meanings) for word_meanings in meanings_by_word])  # (n_words,)
    starts = list_starts(counts)  # (n_words,)
    factors = open().rate_meanings([meaning.text for meaning in meanings], weights, starts)  # (n_meanings,)
    shares = _reweigh(weights, factors, starts, counts)
    return np.split(shares, starts[1:])


def _reweigh(
    weights: npt.NDArray[np.float64], factors: Floats, starts: Integers, counts: Integers
) -> npt.NDArray[np.float64]:
    """Multiply the share of each meaning by its factor, and scale the shares of each word to the sum that they had.

    A meaning that is much less likely than the best one gets the lowest factor of its word.

    :param weights: the share of each meaning, best first; (n_meanings,).
    :param factors: (n_meanings,).
    :param starts: the index of each word's first meaning; (n_words,).
    :param counts: the number of each word's meanings; (n_words,).
    """
    word_of_meaning = list_groups(counts)  # (n_meanings,)
    is_likely = weights >= MIN_RELATIVE_SHARE * weights[starts][word_of_meaning]
    lowest_factors = np.minimum.reduceat(factors, starts)[word_of_meaning]
    shares = weights * np.where(is_likely, factors, lowest_factors)
    old_sums = np.bincount(word_of_meaning, weights)  # (n_words,)
    new_sums = np.bincount(word_of_meaning, shares)
    shares *= (old_sums / new_sums)[word_of_meaning]
    return np.asarray(shares, np.float64)


def _sort_meanings(word: Word, shares: npt.NDArray[np.float64]) -> Word:
    """Return the word with its meanings sorted by new shares."""
    order = np.argsort(-shares, kind="stable").tolist()
    meanings = tuple(word.meanings[i]._replace(weight=float(shares[i])) for i in order)
    return word._replace(meanings=meanings, confidence=min(meanings[0].weight, word.confidence))


class WordAssociations:
    """Terms with their vectors (unit length, stored as bytes) and how much each term tells about a sentence."""

    def __init__(self, terms: Sequence[str], vectors: npt.NDArray[np.int8], term_weights: Floats) -> None:
        self._row_of_term = {term: row for row, term in enumerate(terms)}
        self._vectors, self._term_weights = vectors, term_weights
        self._find_row = lru_cache(maxsize=50_000)(self._find_row_of_meaning)

    def _find_row_of_meaning(self, text: str) -> int:
        """Return the row of the last known term of a meaning, which is its head; -1 if none is known."""
        rows = [self._row_of_term[term] for term in analyze_terms(text, LANG) if term in self._row_of_term]
        return rows[-1] if rows else -1

    def rate_meanings(self, texts: Sequence[str], shares: npt.NDArray[np.float64], starts: Integers) -> Floats:
        """Return a factor for each meaning of a sentence, (n_meanings,): great if it suits the other words.

        :param texts: the meanings of all words, word after word.
        :param shares: (n_meanings,) how likely each meaning is for its word.
        :param starts: (n_words,) the index of each word's first meaning.
        """
        rows = np.array([self._find_row(text) for text in texts])
        has_vector = rows >= 0
        vectors = self._vectors[rows].astype(np.float32) / _UNIT_BYTE  # (n_meanings, dim)
        emphasis = shares.astype(np.float32) * self._term_weights[rows] * has_vector  # (n_meanings,)
        word_vectors = np.add.reduceat(emphasis[:, None] * vectors, starts)  # (n_words, dim)
        other_words = word_vectors.sum(axis=0) - word_vectors  # for each word the sum of the others
        meaning_counts = np.diff(starts, append=len(texts))  # (n_words,)
        context = other_words.repeat(meaning_counts, axis=0)  # (n_meanings, dim)
        cosines = np.where(has_vector, _compute_cosines(vectors, context), MEAN_COSINE)
        return np.asarray(np.exp(ASSOCIATION_STRENGTH * cosines), np.float32)


def _compute_cosines(unit_vectors: Floats, context: Floats) -> Floats:
    """Return the cosine of each vector with its context, (n,); MEAN_COSINE where the context is zero."""
    norms = np.sqrt(np.einsum("ij,ij->i", context, context))
    dot_products = np.einsum("ij,ij->i", unit_vectors, context)
    has_context = norms > 0
    return np.where(has_context, dot_products / np.where(has_context, norms, 1), MEAN_COSINE)


@cache
def open() -> WordAssociations:
    """Open the associations that are part of the package, once a process."""
    with np.load(_FILE, allow_pickle=False) as data:
        terms = bytes(data["terms"]).decode().split("\n")
        return WordAssociations(terms, data["rows"], data["weights"].astype(np.float32))
