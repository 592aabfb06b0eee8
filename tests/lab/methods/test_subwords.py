"""Words never seen, read by their characters."""

import numpy as np
import pytest

from paragloss import demo
from paragloss.encoders.bag import BagEncoder, Layer, Tower
from paragloss.encoders.subword_vectors import SubwordEncoder
from paragloss.errors import ModelError
from paragloss.lab.methods import cr5, subwords
from paragloss.ranking import find_nearest
from paragloss.vocabulary import Vocabulary

STEMS = ["telefon", "barco", "monta", "giardin", "stell", "pomodor", "finestr", "cavall", "libr", "strad"]
SEEN_ENDINGS, UNSEEN_ENDINGS = ["o", "i", "a", "etto", "one"], ["ino", "acci"]


def make_encoder(seed=0):
    """Every stem has a direction; its known forms lie near it."""
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((len(STEMS), 16))
    terms = [stem + ending for stem in STEMS for ending in SEEN_ENDINGS]
    table = np.repeat(directions, len(SEEN_ENDINGS), axis=0) + 0.1 * rng.standard_normal((len(terms), 16))
    vocabulary = Vocabulary("it", terms, np.full(len(terms), 3), 100, stem=False)
    return BagEncoder({"it": Tower(vocabulary, table.astype(np.float32))}), directions.astype(np.float32)


def test_an_unseen_form_lies_near_the_forms_that_were_seen():
    bag, directions = make_encoder()
    wider = subwords.extend(bag, device="numpy")
    forms = [stem + ending for stem in STEMS for ending in UNSEEN_ENDINGS]
    assert not bag.encode(forms, "it").any()  # the bag alone says nothing of them
    nearest_stems = find_nearest(
        wider.encode(forms, "it"), directions / np.linalg.norm(directions, axis=1, keepdims=True), 1
    )[:, 0]
    assert np.mean(nearest_stems == np.repeat(np.arange(len(STEMS)), len(UNSEEN_ENDINGS))) > 0.9


def test_known_words_keep_their_vectors():
    bag, _ = make_encoder()
    texts = ["telefono pomodoro", "libri libri strada", ""]
    np.testing.assert_allclose(
        subwords.extend(bag, device="numpy").encode(texts, "it"), bag.encode(texts, "it"), atol=1e-6
    )


def test_words_that_share_nothing_teach_no_parts_and_serve_as_before():
    vocabulary = Vocabulary("it", ["abc", "xyz"], np.full(2, 3), 100, stem=False)
    bag = BagEncoder({"it": Tower(vocabulary, np.eye(2, dtype=np.float32))})
    wider = subwords.extend(bag, device="numpy")
    assert wider.grams["it"].table.shape == (0, 2)
    np.testing.assert_array_equal(wider.encode(["abc", "abx"], "it"), [[1, 0], [0, 0]])


def test_n_gram_vectors_are_the_ridge_solution():
    bag, _ = make_encoder()
    tower = bag.towers["it"]
    grams = subwords.extend(bag, lambda_=0.5, device="numpy").grams["it"]
    S = subwords.make_gram_bags(tower.vocabulary.terms, grams.columns).toarray().astype(np.float64)
    exact = np.linalg.solve(S.T @ S + 0.5 * np.eye(S.shape[1]), S.T @ tower.table)
    np.testing.assert_allclose(grams.table, exact, atol=0.02)


def test_saved_and_loaded_it_is_the_same(tmp_path):
    bag, _ = make_encoder()
    wider = subwords.extend(bag, device="numpy")
    wider.save(tmp_path / "model")
    texts = ["telefonino", "stella cavallacci"]
    np.testing.assert_array_equal(
        SubwordEncoder.load(tmp_path / "model").encode(texts, "it"), wider.encode(texts, "it")
    )


@pytest.mark.parametrize(
    "bent",
    [
        {"layers": (Layer(np.eye(16, dtype=np.float32), np.zeros(16, np.float32), "tanh"),)},
        {"bias": np.zeros(16, np.float32)},
        {"activation": "tanh"},
    ],
)
def test_a_model_that_is_not_linear_is_refused(bent):
    bag, _ = make_encoder()
    with pytest.raises(ModelError, match="only a linear model"):
        subwords.extend(BagEncoder({"it": bag.towers["it"]._replace(**bent)}))


def test_n_grams_are_those_of_two_words_or_more_up_to_a_limit():
    """<ab>: parts of three to five characters, ends marked."""
    vocabulary = Vocabulary("it", ["ab", "abc", "abd"], np.full(3, 3), 100, stem=False)
    bag = BagEncoder({"it": Tower(vocabulary, np.eye(3, dtype=np.float32))})
    assert set(subwords.extend(bag, device="numpy").grams["it"].columns) == {"<ab"}  # in all three words
    wider_vocabulary = Vocabulary("it", ["abcd", "abce", "abx"], np.full(3, 3), 100, stem=False)
    bag = BagEncoder({"it": Tower(wider_vocabulary, np.eye(3, dtype=np.float32))})
    # Most frequent first, then as they occur: the same in every process, whatever the hashes of its strings.
    assert list(subwords.extend(bag, device="numpy").grams["it"].columns) == ["<ab", "abc", "<abc"]
    assert set(subwords.extend(bag, max_grams=1, device="numpy").grams["it"].columns) == {"<ab"}


def test_fit_is_cr5_and_its_parts():
    aligned = [c._replace(texts={lang: c.texts[lang] for lang in ("en", "it")}) for c in demo.concepts()[:30]]
    cr5_model, wider = cr5.fit(aligned, dim=12), subwords.fit(aligned, dim=12)
    assert wider.meta["method"] == "subwords"
    assert wider.meta["concepts"] == cr5_model.meta["concepts"]
    parts = subwords.extend(cr5_model).grams
    for lang in cr5_model.langs:
        np.testing.assert_array_equal(wider.grams[lang].table, parts[lang].table)
    assert max(len(grams.columns) for grams in subwords.fit(aligned, dim=2, max_grams=9).grams.values()) == 9
