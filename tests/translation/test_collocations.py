"""Neighbours that belong together."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paragloss.translation.parallel_terms import find_collocations, merge_collocations


def make_arrays(*texts):
    return np.cumsum([0] + [len(t) for t in texts]), np.array([i for t in texts for i in t], np.int64)


def split_texts(texts):
    return [texts.term[a:b].tolist() for a, b in zip(texts.start, texts.start[1:], strict=False)]


def test_two_terms_that_always_meet_are_a_phrase():
    start, term = make_arrays(*[[0, 1, 2], [2, 0, 1], [3, 2]] * 10)
    assert find_collocations(start, term, 4, min_count=10, min_npmi=0.5).tolist() == [0 * 4 + 1]


def test_the_measure_is_npmi():
    # 20 of 80 terms are 0, 20 are 1, met 20 times: ln((1/4) / (1/16)) / -ln(1/4) = 1. For 1 2 (10 times, 2 seen 30
    # times): ln((10/80) / (20/80 * 30/80)) / ln 8 = ln(4/3) / ln 8 = 0.138.
    start, term = make_arrays(*[[0, 1, 2], [2, 0, 1], [3, 2]] * 10)
    bound = math.log(4 / 3) / math.log(8)
    assert 1 * 4 + 2 in find_collocations(start, term, 4, min_npmi=bound - 1e-9)
    assert 1 * 4 + 2 not in find_collocations(start, term, 4, min_npmi=bound + 1e-9)


def test_a_word_may_make_a_phrase_with_itself():
    # "New York New York"; the first pair of all has the number 0.
    start, term = make_arrays([0, 0], [0, 0], [1])
    assert find_collocations(start, term, 2, min_count=2, min_npmi=-2).tolist() == [0]
    assert find_collocations(start, term, 2, min_count=3, min_npmi=-2).tolist() == []


def test_rare_pairs_and_pairs_across_texts_are_none():
    start, term = make_arrays([0, 1], [2], [3])
    assert find_collocations(start, term, 4, min_count=2).tolist() == []
    start, term = make_arrays(*[[0], [1]] * 20)
    assert find_collocations(start, term, 2, min_count=1, min_npmi=-1).tolist() == []


def test_phrases_take_the_place_of_their_words():
    start, term = make_arrays([0, 1, 2], [], [2, 0, 1], [1, 0])
    assert split_texts(merge_collocations(start, term, 3, np.array([0 * 3 + 1]), min_count=1)) == [
        [3, 2],
        [],
        [2, 3],
        [1, 0],
    ]


def test_a_word_that_rarely_occurs_alone_stays_beside_its_phrase():
    # 0 is alone once, 1 never.
    start, term = make_arrays([0, 1, 2], [0])
    assert split_texts(merge_collocations(start, term, 3, np.array([0 * 3 + 1]), min_count=1)) == [[3, 1, 2], [0]]
    assert split_texts(merge_collocations(start, term, 3, np.array([0 * 3 + 1]), min_count=2)) == [[3, 0, 1, 2], [0]]


def test_the_first_of_overlapping_phrases_is_taken():
    start, term = make_arrays([0, 0, 0, 0, 0], [0, 0, 0])
    assert split_texts(merge_collocations(start, term, 1, np.array([0]), min_count=1)) == [[1, 1, 0], [1, 0]]


@given(
    st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=1, max_size=6),
    st.sets(st.integers(0, 15)),
    st.integers(0, 3),
)
def test_no_word_is_lost(texts, phrases, min_count):
    start, term = make_arrays(*texts)
    phrase_pairs = np.array(sorted(phrases), np.int64)
    merged = split_texts(merge_collocations(start, term, 4, phrase_pairs, min_count=min_count))
    for before, after in zip(texts, merged, strict=True):
        covered = {word for t in after for word in ([t] if t < 4 else divmod(int(phrase_pairs[t - 4]), 4))}
        assert covered == set(before)
        assert len(after) <= len(before) + sum(t >= 4 for t in after)
