"""S2Net: both starts, both losses, and what learning adds."""

import numpy as np
import pytest
import scipy.sparse as sp
from corpora import make_sentences, measure_precision

from paragloss.encoders.bag import BagEncoder, Layer, Tower
from paragloss.errors import ModelError
from paragloss.lab.learning.counting import CountedTexts
from paragloss.lab.methods import opca, s2net
from paragloss.types import Concept
from paragloss.vocabulary import Vocabulary

torch = pytest.importorskip("torch")


SMALL = {"dim": 20, "stem": False, "batch": 50}
TEST_CONCEPTS = make_sentences(150, 1)
SMALL_CORPUS, TINY = make_sentences(30, 0), {"dim": 6, "stem": False}


@pytest.fixture(scope="module")
def trained():
    return s2net.fit(make_sentences(500, 0), **SMALL)


def test_unseen_texts_find_their_translations(trained):
    assert measure_precision(trained, TEST_CONCEPTS) > 0.9
    untrained = s2net.fit(make_sentences(500, 0), **SMALL, epochs=0)
    assert measure_precision(untrained, TEST_CONCEPTS) < 0.1


def test_the_authors_loss_learns_less_from_random_negatives(trained):
    difference = s2net.fit(make_sentences(500, 0), **SMALL, loss="difference")
    assert 0.3 < measure_precision(difference, TEST_CONCEPTS) <= measure_precision(trained, TEST_CONCEPTS)


def test_a_start_from_opca_makes_up_for_scarce_data():
    scarce, settings = make_sentences(150, 0, noise=2), {**SMALL, "dim": 10}
    random, opca = (
        measure_precision(s2net.fit(scarce, **settings, start=start, epochs=10), TEST_CONCEPTS)
        for start in ("random", "opca")
    )
    assert opca > random + 0.1
    assert opca != measure_precision(s2net.fit(scarce, **settings, start="opca", epochs=0), TEST_CONCEPTS)


def test_training_continues_from_a_given_model(trained):
    continued = s2net.fit(make_sentences(500, 0), start=trained, epochs=0)
    np.testing.assert_allclose(
        continued.encode(["enwak enwbl"], "en"), trained.encode(["enwak enwbl"], "en"), atol=1e-6
    )


def make_counted(concepts, filled):
    counts = sp.csr_matrix(np.array(filled, np.float32)[:, None])
    return CountedTexts(Vocabulary("en", ["a"], [1], 1), counts, np.array(concepts))


def test_the_languages_of_a_concept_are_paired_in_a_circle():
    # Rows 0-2 English, 3-5 French, 6-7 Italian. Concept 0 has all three, 1 two, 2 one: its French is empty.
    parts = (([0, 1, 2], [1, 1, 1]), ([0, 1, 2], [1, 1, 0]), ([0, 3], [1, 1]))
    counted = {lang: make_counted(*part) for lang, part in zip(("en", "fr", "it"), parts, strict=True)}
    left, right = s2net._pair_texts(counted, np.random.default_rng(0))
    pairs = sorted(tuple(sorted(pair)) for pair in zip(left.tolist(), right.tolist(), strict=True))
    assert pairs == [(0, 3), (0, 6), (1, 4), (3, 6)]
    apart = {"en": make_counted([0, 1], [1, 1]), "fr": make_counted([2, 3], [1, 1])}
    with pytest.raises(ModelError, match="no concept has texts in two languages"):
        s2net._pair_texts(apart, np.random.default_rng(0))


def test_three_languages_share_one_space():
    model = s2net.fit(make_sentences(300, 0, ("en", "fr", "it")), **SMALL, epochs=10)
    assert measure_precision(model, make_sentences(100, 1, ("fr", "it")), ("it", "fr")) > 0.8


def stack_tables(model):
    return np.vstack([tower.table for tower in model.towers.values()])


def test_it_starts_from_opca_or_a_given_model_with_entries_of_a_tenth():
    settings = {**TINY, "min_df": 1, "max_terms": 9, "seed": 4}
    opca_model = opca.fit(SMALL_CORPUS, **settings)
    opca_table = stack_tables(opca_model) / stack_tables(opca_model).std()
    for start in ("opca", opca_model):
        table = stack_tables(s2net.fit(SMALL_CORPUS, **settings, start=start, epochs=0))
        np.testing.assert_allclose(table, 0.1 * opca_table, atol=1e-4)
    random_table = stack_tables(s2net.fit(SMALL_CORPUS, **settings, epochs=0))
    assert random_table.std() == pytest.approx(0.1, rel=1e-4)


def test_settings_reach_the_learning(learn_calls):
    settings = {"negatives": 4, "scale": 3.0, "batch": 7, "epochs": 3, "patience": 2, "optimizer": "cg", "seed": 9}
    meta = s2net.fit(SMALL_CORPUS, **TINY, **settings, loss="difference").meta
    (call,) = learn_calls
    training = call.training
    assert (training.epochs, training.seed, training.optimizer, training.patience) == (3, 9, "cg", 2)
    assert (call.loss, call.batch_size) == ({"loss": "difference", "scale": 3.0, "negatives": 4}, 7)
    terms = call.shapes["table"][0]
    assert call.pairs.left.shape == call.pairs.right.shape == (30, terms)
    assert (meta["pairs"], meta["concepts"]) == (30, 30)
    # A pair's two sides are of different languages: their terms lie in different blocks.
    english, french = call.pairs.left[:, : terms // 2], call.pairs.right[:, terms // 2 :]
    assert (english.sum(1) > 0).ravel().tolist() == (french.sum(1) > 0).ravel().tolist()


def test_steps_from_a_model_that_is_given_are_a_tenth_as_long(learn_calls):
    model = s2net.fit(SMALL_CORPUS, **TINY, epochs=0)
    for start in ("random", "opca", model):
        s2net.fit(SMALL_CORPUS, **TINY, start=start, learning_rate=0.03)
    assert [call.training.learning_rate for call in learn_calls[1:]] == pytest.approx([0.03, 0.003, 0.003])


def make_model(weighting="tfidf", **part):
    tower = Tower(Vocabulary("en", ["a"], [1], 1), np.ones((1, 2), np.float32), **part)
    return BagEncoder({"en": tower}, weighting=weighting)


@pytest.mark.parametrize(
    "bent",
    [
        make_model(weighting="count"),
        make_model(bias=np.zeros(2, np.float32)),
        make_model(activation="tanh"),
        make_model(layers=(Layer(np.eye(2, dtype=np.float32), np.zeros(2, np.float32), "linear"),)),
    ],
    ids=["counts", "bias", "activation", "layers"],
)
def test_training_continues_from_linear_models_only(bent):
    with pytest.raises(ModelError, match="S2Net is linear"):
        s2net.fit(SMALL_CORPUS, start=bent)
    with pytest.raises(ModelError, match="start 'cca': expected one of random, opca"):
        s2net.fit(SMALL_CORPUS, start="cca")


def test_a_model_that_is_given_reads_the_languages_it_knows():
    opca_model = opca.fit(SMALL_CORPUS, **TINY)
    concepts = [
        Concept(c.id, {**c.texts, "it": "itwak"} if i % 2 else {"en": c.texts["en"]})
        for i, c in enumerate(SMALL_CORPUS)
    ]
    counted = s2net._count_for_model(concepts, opca_model)
    assert list(counted) == ["en", "fr"]
    assert counted["en"].concepts.tolist() == list(range(30))
    assert counted["fr"].concepts.tolist() == list(range(1, 30, 2))
    assert s2net.fit(concepts, start=opca_model, epochs=0).meta["pairs"] == 15
