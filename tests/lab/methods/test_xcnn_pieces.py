"""What XCNN reads, pairs and starts from, piece by piece."""

import numpy as np
import pytest
import scipy.sparse as sp
from corpora import make_topic_texts

from paragloss.errors import ModelError
from paragloss.lab.learning.counting import CountedTexts
from paragloss.lab.methods import xcnn
from paragloss.types import Concept
from paragloss.vocabulary import Vocabulary

torch = pytest.importorskip("torch")

from paragloss.lab.descent import contrast  # noqa: E402

SMALL_CORPUS = make_topic_texts(20, 0)
SMALL = {"dim": 4, "stem": False, "hub": "en"}


@pytest.fixture
def learn_calls(monkeypatch):
    """The calls of `_train_table`; it gives back the number of the language everywhere."""
    calls = []

    def note(terms, pairs, **options):
        calls.append((pairs, options))
        return np.full((terms, options["dim"]), len(calls), np.float32)

    monkeypatch.setattr(xcnn, "_train_table", note)
    return calls


def test_each_language_has_its_own_epochs_bias_loss_and_seed(learn_calls, tmp_path):
    xcnn.fit(SMALL_CORPUS, **SMALL, hub_bias=-1, bias=-2, hub_epochs=3, epochs=4, checkpoint=tmp_path, seed=5)
    (_, hub), (_, other) = learn_calls
    assert (hub["bias"], hub["epochs"], hub["loss"]) == (-1, 3, "logistic")
    assert (other["bias"], other["epochs"], other["loss"]) == (-2, 4, "difference")
    assert hub["seed"] != other["seed"]
    assert (hub["checkpoint"], other["checkpoint"]) == (tmp_path / "en.safetensors", tmp_path / "fr.safetensors")


def test_other_languages_aim_at_the_sum_of_the_hubs_term_vectors(learn_calls):
    xcnn.fit(SMALL_CORPUS, **SMALL)
    pairs, _ = learn_calls[1]
    np.testing.assert_array_equal(pairs.right, np.full((20, 4), 4))  # four words, each a vector of ones
    assert learn_calls[0][1]["checkpoint"] is None


def test_a_hub_without_epochs_has_nothing_to_learn_from(learn_calls):
    xcnn.fit(SMALL_CORPUS, **SMALL, hub_epochs=0)
    assert learn_calls[0][0] is None
    assert learn_calls[1][0] is not None


@pytest.mark.parametrize(
    ("settings", "texts"),
    [
        ({}, ["a title", "enakq"]),  # a title, or the text of who has none
        ({"monolingual": ["one text", "and another"]}, ["one text", "and another"]),
    ],
)
def test_the_hub_learns_from_titles_or_from_texts_of_its_own(learn_calls, monkeypatch, settings, texts):
    hub_texts = []
    no_pairs = contrast.TextPairs(sp.csr_matrix((0, 1)), sp.csr_matrix((0, 1)))
    monkeypatch.setattr(xcnn, "_pair_best_matches", lambda _, texts, __: hub_texts.append(list(texts)) or no_pairs)
    aligned = [
        Concept("1", {"en": "enalq enamq", "fr": "fralq"}, {"en": "a title"}),
        Concept("2", {"en": "enakq", "fr": "frakq"}),
    ]
    xcnn.fit(aligned, **SMALL, **settings)
    assert hub_texts == [texts]


def test_texts_of_the_hub_s_own_widen_its_vocabulary_alone(learn_calls):
    model = xcnn.fit(
        SMALL_CORPUS, **SMALL, monolingual=["onlyhere onlyhere", "onlyhere"], clicks=[("asked", "clicked")]
    )
    assert {"onlyhere", "asked", "clicked"} <= set(model.towers["en"].vocabulary.index)
    assert not {"onlyhere", "asked", "clicked"} & set(model.towers["fr"].vocabulary.index)


VOCABULARY = Vocabulary("en", ["red", "blue"], [1, 1], 2, stem=False)


def test_clicks_without_known_words_on_both_sides_are_ignored():
    clicks = [("red", "blue"), ("", "blue"), ("red", "unheard"), ("blue blue", "red")]
    pairs = xcnn._pair_clicks(VOCABULARY, clicks)
    np.testing.assert_array_equal(pairs.left.toarray(), [[1, 0], [0, 2]])
    np.testing.assert_array_equal(pairs.right.toarray(), [[0, 1], [1, 0]])
    hub_texts = CountedTexts(VOCABULARY, sp.csr_matrix((0, 2)), np.zeros(0, np.int64))
    # One pair has nothing to be set against.
    assert xcnn._pair_hub_texts([], "en", hub_texts, [], clicks[:2], "bm25") is None


def test_texts_are_paired_with_their_counterparts_unless_one_is_empty():
    counts = sp.csr_matrix(np.array([[1, 0], [0, 0], [2, 1], [0, 1]], np.float32))
    vectors = np.array([[1, 0, 0], [1, 1, 1], [0, 0, 0], [0, 0, 2]], np.float32)
    pairs = xcnn._pair_with_hub(counts, vectors, "fr and en")
    np.testing.assert_array_equal(pairs.left.toarray(), [[1, 0], [0, 1]])
    np.testing.assert_array_equal(pairs.right, [[1, 0, 0], [0, 0, 2]])
    with pytest.raises(ModelError, match="both fr and en"):
        xcnn._pair_with_hub(counts[1:3], vectors[1:3], "fr and en")


@pytest.mark.parametrize(
    ("own", "extra", "min_df", "fewest"),
    [(499, 0, 9, 1), (500, 0, 9, 2), (400, 100, 9, 2), (1000, 0, 2, 2), (1000, 0, 9, 3)],
)
def test_a_term_must_be_in_one_text_more_for_every_five_hundred(own, extra, min_df, fewest):
    """Words that are in one, two, three and four texts; the rest say the same."""
    texts = ["same", *["same once twice thrice four"], *["same twice thrice four"], "same thrice four", "same four"]
    texts += ["same"] * (own - len(texts))
    aligned = [Concept(str(i), {"en": text}) for i, text in enumerate(texts)]
    counted = xcnn._count_texts(aligned, "en", ["same"] * extra, min_df=min_df, stem=False, max_terms=100)
    assert set(counted.vocabulary.terms) == {"same", *["once", "twice", "thrice", "four"][fewest - 1 :]}
    assert counted.counts.shape[0] == own


def test_texts_without_words_are_refused():
    aligned = [Concept("1", {"en": ""}), Concept("2", {"en": "!"})]
    with pytest.raises(ModelError, match="no en term"):
        xcnn._count_texts(aligned, "en", [], min_df=1, stem=False, max_terms=100)


TABLE_SETTINGS = {"seed": 7, "epochs": 2, "loss": "logistic", "optimizer": "adam"}


@pytest.mark.parametrize(("layers", "spread"), [(1, 0.1), (2, 0.2)])
def test_weights_start_at_a_tenth_and_every_layer_spreads_them(layers, spread):
    # Sums of 400 products of a tenth and what the layer below spreads: twice that. The tanh takes a little.
    table = xcnn._train_table(300, None, dim=400, layers=layers, bias=0.0, **TABLE_SETTINGS)
    assert table.std() == pytest.approx(spread, rel=0.1)
    assert abs(table.mean()) < 0.02


def test_every_layer_starts_at_the_given_bias():
    table = xcnn._train_table(300, None, dim=4, layers=2, bias=-2.0, **TABLE_SETTINGS)
    assert np.median(table) == pytest.approx(np.tanh(-2.0), abs=0.02)


def test_what_is_learned_are_weights_and_biases_of_every_layer(monkeypatch):
    calls = []
    monkeypatch.setattr(contrast, "learn", lambda *arguments, batch: calls.append(arguments))
    xcnn._train_table(5, contrast.TextPairs(None, None), dim=3, layers=2, bias=0.5, **TABLE_SETTINGS)
    ((parameters, _, _, compute_loss, training),) = calls
    shapes = {name: tuple(part.shape) for name, part in parameters.items()}
    assert shapes == {"table": (5, 3), "bias": (3,), "weight2": (3, 3), "bias2": (3,)}
    assert all(part.requires_grad for part in parameters.values())
    assert (training.seed, training.epochs) == (7, 2)
    assert compute_loss.keywords == {"loss": "logistic", "scale": 10.0, "negatives": 10}


def test_the_hub_is_counted_by_texts_and_a_tie_goes_to_the_alphabet():
    aligned = [Concept("1", {"it": "x", "fr": "x"}), Concept("2", {"fr": "x", "en": "x"}), Concept("3", {"en": "x"})]
    assert xcnn._order_languages(aligned, "") == ["en", "fr", "it"]
    assert xcnn._order_languages(aligned[:2], "") == ["fr", "en", "it"]
    assert xcnn._order_languages(aligned, "it") == ["it", "en", "fr"]


@pytest.mark.parametrize(("count", "held_out_count"), [(399, 0), (400, 20), (1000, 50), (60_000, 2000)])
def test_a_twentieth_of_the_pairs_is_held_out_and_the_others_are_learned_from(count, held_out_count):
    held_out, trained = contrast.held_out(count, contrast.MAX_HELD_OUT, 3)
    assert (len(held_out), len(trained)) == (held_out_count, count - held_out_count)
    assert sorted([*held_out.tolist(), *trained.tolist()]) == list(range(count))
    assert not held_out_count or sorted(held_out.tolist()) != held_out.tolist(), "drawn, not the first"
