"""Texts as arrays of terms that translations are learned from, and neighbours that make one term."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragloss.translation.parallel_terms import (
    MAX_SENTENCE_TERMS,
    TermSequences,
    find_collocations,
    make_bags,
    merge_collocations,
)


def make_sequences(*texts, n_terms):
    starts, terms = np.cumsum([0] + [len(text) for text in texts]), [i for text in texts for i in text]
    return TermSequences(starts, np.array(terms, np.int64), n_terms)


def split_texts(texts):
    return [texts.terms[start:end].tolist() for start, end in zip(texts.starts, texts.starts[1:], strict=False)]


def test_a_document_is_its_distinct_words_and_a_sentence_its_words_in_order():
    bags = make_bags(make_sequences([5, 4, 5], [1, 2] * MAX_SENTENCE_TERMS, n_terms=6), 300)
    assert split_texts(bags) == [[5, 4, 5], [1, 2]]
    np.testing.assert_allclose(bags.positions[:3], [1 / 6, 1 / 2, 5 / 6], rtol=1e-6)
    document_weight = 1 + math.log(MAX_SENTENCE_TERMS)
    np.testing.assert_allclose(bags.weights, [1, 1, 1, document_weight, document_weight], rtol=1e-6)


def test_many_sentences_keep_every_word_in_its_place():
    assert split_texts(make_bags(make_sequences(*[[0, 1]] * 200, n_terms=2), 300)) == [[0, 1]] * 200


@pytest.mark.parametrize(("max_terms", "best"), [(1, [1]), (2, [0, 1])])
def test_a_long_text_keeps_what_weighs_most_by_tf_idf(max_terms, best):
    # Two texts, so ln(3 / df). Term 0 stands four times in the first and in both: (1 + ln 4) ln(3/2) = 0.97. Term 1
    # stands once, in the first only: ln 3 = 1.10. All others are in both, once: 0.41.
    first, second = [0, 0, 0, 0, 1, *range(2, 63)], [0, *range(2, 63), *range(2, 12)]
    texts = split_texts(make_bags(make_sequences(first, second, n_terms=63), max_terms))
    assert texts[0] == best
    assert len(texts[1]) == max_terms


def test_two_terms_that_always_meet_are_a_phrase_by_npmi():
    # 20 of 80 terms are 0, 20 are 1, met 20 times: ln((1/4) / (1/16)) / -ln(1/4) = 1. For 1 2 (10 times, 2 seen 30
    # times): ln((10/80) / (20/80 * 30/80)) / ln 8 = ln(4/3) / ln 8 = 0.138.
    texts = make_sequences(*[[0, 1, 2], [2, 0, 1], [3, 2]] * 10, n_terms=4)
    assert find_collocations(texts, min_count=10, min_npmi=0.5).tolist() == [0 * 4 + 1]
    bound = math.log(4 / 3) / math.log(8)
    assert 1 * 4 + 2 in find_collocations(texts, min_npmi=bound - 1e-9)
    assert 1 * 4 + 2 not in find_collocations(texts, min_npmi=bound + 1e-9)


@pytest.mark.parametrize(("texts", "min_count", "pairs"), [
    ([[0, 0], [0, 0], [1]], 2, [0]),  # a word with itself; the first pair of all has the number 0
    ([[0, 0], [0, 0], [1]], 3, []),  # too rare
    ([[0], [1]] * 20, 1, []),  # not across texts
])  # fmt: skip
def test_phrases_are_frequent_and_inside_texts(texts, min_count, pairs):
    assert find_collocations(make_sequences(*texts, n_terms=2), min_count=min_count, min_npmi=-2).tolist() == pairs


@pytest.mark.parametrize(("texts", "phrase", "min_count", "merged"), [
    # The phrase 0 1 is term 3.
    ([[0, 1, 2], [], [2, 0, 1], [1, 0]], (0, 1), 1, [[3, 2], [], [2, 3], [1, 0]]),
    # A word that rarely occurs alone stays beside its phrase: 0 is alone once, 1 never.
    ([[0, 1, 2], [0]], (0, 1), 1, [[3, 1, 2], [0]]),
    ([[0, 1, 2], [0]], (0, 1), 2, [[3, 0, 1, 2], [0]]),
    # The first of overlapping phrases is taken.
    ([[0, 0, 0, 0, 0], [0, 0, 0]], (0, 0), 1, [[3, 3, 0], [3, 0]]),
])  # fmt: skip
def test_phrases_take_the_place_of_their_words(texts, phrase, min_count, merged):
    first, second = phrase
    phrases = np.array([first * 3 + second])
    assert split_texts(merge_collocations(make_sequences(*texts, n_terms=3), phrases, min_count=min_count)) == merged


@given(
    st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=1, max_size=6),
    st.sets(st.integers(0, 15)),
    st.integers(0, 3),
)
def test_no_word_is_lost(texts, phrases, min_count):
    phrase_pairs = np.array(sorted(phrases), np.int64)
    merged = split_texts(merge_collocations(make_sequences(*texts, n_terms=4), phrase_pairs, min_count=min_count))
    for before, after in zip(texts, merged, strict=True):
        covered = {word for t in after for word in ([t] if t < 4 else divmod(int(phrase_pairs[t - 4]), 4))}
        assert covered == set(before)
        assert len(after) <= len(before) + sum(t >= 4 for t in after)
