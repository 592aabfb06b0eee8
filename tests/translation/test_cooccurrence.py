"""Choosing translations by what occurs together in the target collection."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from translators import FixedTranslator, translate_weights

from paragloss.translation.cooccurrence import Cooccurrence, DisambiguatingTranslator, best_path
from paragloss.types import Query

TEXTS = ["Ufer Fluss Wasser", "Fluss Ufer Boot", "Bank Geld Konto", "Bank Geld", "Fluss Boot", "Wasser Konto"]


def test_mutual_expectation_equals_the_one_worked_out_by_hand():
    # Six windows. Ufer 2, Fluss 3, together 2: (2 - 2 * 3 / 6) / (2 + 3) = 1/5.
    # Bank 2, Fluss 3, together 0: (0 - 1) / 5 < 0, so 0. Bank 2, Geld 2, together 2: (2 - 4/6) / 4 = 1/3.
    counted = Cooccurrence.build(TEXTS, "de", window=20)
    assert counted.em(["Ufer", "Bank"], ["Fluss", "Geld"]) == pytest.approx(np.array([[1 / 5, 0], [0, 1 / 3]]))


def test_a_window_is_so_many_terms_and_ends_with_its_text():
    counted = Cooccurrence.build(["eins zwei drei", "vier"], "xx", window=2)
    assert counted.windows.shape[1] == 3
    assert counted.em(["eins"], ["zwei"])[0, 0] == pytest.approx((1 - 1 / 3) / 2)
    assert counted.em(["zwei"], ["drei"])[0, 0] == 0  # neighbours, but in two windows
    assert counted.em(["drei"], ["vier"])[0, 0] == 0  # two texts


def test_by_length_the_number_of_windows_is_that_of_the_thesis():
    # Ten terms in windows of two: N = 5 by length, 6 as they are cut. rot 3, blau 3, together 2.
    texts = ["rot blau rot blau rot", "blau grün gelb gelb grün"]
    counted, thesis = (Cooccurrence.build(texts, "xx", window=2, by_length=by_length) for by_length in (False, True))
    assert counted.em(["rot"], ["blau"])[0, 0] == pytest.approx((2 - 9 / 6) / 6)
    assert thesis.em(["rot"], ["blau"])[0, 0] == pytest.approx((2 - 9 / 5) / 6)


def test_occurrences_count_every_time_windows_once():
    counted = Cooccurrence.build(["rot rot blau", "grün", "gelb"], "xx", window=5)
    # n_a = 2, n_b = 1, n_ab = 1, N = 3: (1 - 2/3) / 3
    assert counted.em(["rot"], ["blau"])[0, 0] == pytest.approx(1 / 9)


def test_a_phrase_occurs_where_all_its_words_do_and_an_unknown_word_nowhere():
    counted = Cooccurrence.build(TEXTS, "de")
    # "Fluss Boot" together in 2 windows; with Ufer in 1: (1 - 2 * 2 / 6) / 4
    assert counted.em(["Fluss Boot"], ["Ufer"])[0, 0] == pytest.approx((1 - 4 / 6) / 4)
    assert counted.em(["Xylophon", "Fluss Xylophon"], ["Ufer"]).tolist() == [[0], [0]]
    assert counted.em(["Xylophon", "Ufer"], ["Fluss"])[:, 0] == pytest.approx([0, 1 / 5])
    assert Cooccurrence.build([], "de").em(["Ufer"], ["Fluss"]).tolist() == [[0]]
    assert Cooccurrence.build(["Ufer"], "de").em(["Xylophon", "Ufer"], ["Ufer"]).tolist() == [[0], [0]]


DISAMBIGUATING = DisambiguatingTranslator(
    FixedTranslator(
        {
            "bank": {"Bank": 0.5, "Ufer": 0.5},
            "river": {"Fluss": 0.5},
            "money": {"Geld": 0.5, "Moos": 0.5},
            "odd": {"Foo": 0.5, "Bar": 0.5},
        }
    ),
    lambda lang: Cooccurrence.build(TEXTS, lang),
)
BANK, ODD = ["Bank", "Ufer"], ["Foo", "Bar"]


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("river bank", [["Fluss"], ["Ufer"]]),
        ("bank money", [["Bank"], ["Geld"]]),
        ("bank odd", [BANK, ODD]),  # nothing goes together: all stay
        ("bank", [BANK]),
        ("river bank odd", [["Fluss"], ["Ufer"], ODD]),
        ("odd bank money", [ODD, ["Bank"], ["Geld"]]),
        ("odd odd bank money", [ODD, ODD, ["Bank"], ["Geld"]]),
    ],
)
def test_the_next_word_on_either_side_decides(text, chosen):
    clauses = DISAMBIGUATING.translate(Query("q", text, "en"), "de")
    assert [[alternative.text for alternative in clause.alternatives] for clause in clauses] == chosen


def test_a_chosen_translation_has_the_whole_weight():
    assert translate_weights(DISAMBIGUATING, "river bank") == {"river": {"Fluss": 1.0}, "bank": {"Ufer": 1.0}}


@given(st.lists(st.integers(1, 3), min_size=2, max_size=5), st.integers(0, 10_000))
def test_the_best_path_is_the_best_of_all_paths(sizes, seed):
    rng = np.random.default_rng(seed)
    links = [rng.integers(0, 5, pair).astype(float) for pair in itertools.pairwise(sizes)]

    def worth(path):
        return sum(link[i, j] for link, (i, j) in zip(links, itertools.pairwise(path), strict=True))

    assert worth(best_path(links)) == max(map(worth, itertools.product(*map(range, sizes))))
