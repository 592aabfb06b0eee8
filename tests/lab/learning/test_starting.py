"""Word vectors of others are of words as they are written; our terms are stems in lower case."""

import numpy as np
import pytest

from paragloss.errors import ModelError
from paragloss.lab.learning.pairs import fill_known_vectors
from paragloss.vocabulary import Vocabulary, merge_word_vectors

WORDS = ["run", "the", "Running", "universities", "mountain", "New_York"]
ROWS = np.eye(6, dtype=np.float32)


def test_words_become_the_terms_that_texts_are_tokenized_into():
    # run (place 1) and Running (place 3) are one stem: shares 1 and 1/3, of their sum 3/4 and 1/4.
    terms, rows = merge_word_vectors(WORDS, ROWS, "en", stem=True)
    assert terms == ["run", "the", "universiti", "mountain"]  # nothing that a text is cut inside of
    np.testing.assert_allclose(rows[0], [0.75, 0, 0.25, 0, 0, 0])
    np.testing.assert_array_equal(rows[2], ROWS[3])


def test_unstemmed_words_only_lose_their_case():
    terms, rows = merge_word_vectors(WORDS, ROWS, "en", stem=False)
    assert terms == ["run", "the", "running", "universities", "mountain"]
    np.testing.assert_array_equal(rows, ROWS[:5])


def test_vectors_are_written_over_stems_and_their_share_is_returned():
    vocabulary = Vocabulary("en", ["universiti", "mountain", "zebra"], [5, 3, 2], 10)
    table = np.full((4, 6), 9, np.float32)
    share = fill_known_vectors(table, vocabulary, dict(zip(WORDS, ROWS, strict=True)), rows=np.array([2, 0, 1]))
    np.testing.assert_array_equal(table[2], ROWS[3])
    np.testing.assert_array_equal(table[0], ROWS[4])
    assert (table[[1, 3]] == 9).all()
    assert share == pytest.approx(0.8)


def test_without_vectors_the_table_stays_as_it_is():
    table = np.zeros((1, 6), np.float32)
    assert fill_known_vectors(table, Vocabulary("en", ["run"], [1], 1), {}) == 0.0
    assert not table.any()


def test_a_word_spelled_like_the_term_alone_gives_its_vector():
    vocabulary = Vocabulary("en", ["run"], [1], 1)
    table = np.zeros((1, 6), np.float32)
    fill_known_vectors(table, vocabulary, dict(zip(WORDS, ROWS, strict=True)))
    np.testing.assert_array_equal(table[0], ROWS[0])


def test_another_width_is_refused():
    with pytest.raises(ModelError, match="'run' has 6 dimensions; set dim to that, not 4"):
        fill_known_vectors(np.zeros((1, 4), np.float32), Vocabulary("en", ["run"], [1], 1), {"run": ROWS[0]})
