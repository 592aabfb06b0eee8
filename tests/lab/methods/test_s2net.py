"""S2Net: the loss by hand against an independent gradient, both starts, both losses, and what learning adds."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from corpora import make_sentences, measure_precision

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import ModelError
from paragloss.lab.learning.counting import CountedTexts
from paragloss.lab.methods import s2net
from paragloss.vocabulary import Vocabulary

torch = pytest.importorskip("torch")

from paragloss.lab.descent.contrast import contrast  # noqa: E402

SMALL = {"dim": 20, "stem": False, "batch": 50}
TEST_CONCEPTS = make_sentences(150, 1)


@pytest.fixture(scope="module")
def trained():
    return s2net.fit(make_sentences(500, 0), **SMALL)


def test_the_gradient_of_the_logistic_loss_is_that_of_yih_et_al():
    """d/dW of log(1 + exp(-s D)) is -s / (1 + exp(s D)) dD/dW, with the derivative of a cosine worked out by hand."""
    rng = np.random.default_rng(0)
    left, right, weight = rng.random((2, 5)), rng.random((2, 5)), rng.standard_normal((5, 3))
    scale = 4.0

    def cosine_and_gradient(x, z):
        p, q = x @ weight, z @ weight
        a, b, c = p @ q, 1 / np.linalg.norm(p), 1 / np.linalg.norm(q)
        by_p, by_q = b * c * q - a * c * b**3 * p, b * c * p - a * b * c**3 * q  # eq. .4
        return a * b * c, np.outer(x, by_p) + np.outer(z, by_q)

    expected = np.zeros_like(weight)
    for i in range(2):
        own, own_gradient = cosine_and_gradient(left[i], right[i])
        other, other_gradient = cosine_and_gradient(left[i], right[1 - i])
        expected -= scale / (1 + np.exp(scale * (own - other))) * (own_gradient - other_gradient) / 2
    leaf = torch.from_numpy(weight).requires_grad_()
    contrast(torch.from_numpy(left) @ leaf, torch.from_numpy(right) @ leaf, loss="logistic", scale=scale).backward()
    np.testing.assert_allclose(leaf.grad.numpy(), expected, rtol=1e-10)


def test_unseen_texts_find_their_translations(trained):
    assert measure_precision(trained, TEST_CONCEPTS) > 0.9
    untrained = s2net.fit(make_sentences(500, 0), **SMALL, epochs=0)
    assert measure_precision(untrained, TEST_CONCEPTS) < 0.1


def test_the_authors_loss_learns_less_from_random_negatives(trained):
    difference = s2net.fit(make_sentences(500, 0), **SMALL, loss="difference")
    assert 0.3 < measure_precision(difference, TEST_CONCEPTS) <= measure_precision(trained, TEST_CONCEPTS)


def test_a_start_from_opca_makes_up_for_scarce_data():
    pytest.importorskip("paragloss.lab.methods.opca")
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


def test_training_continues_from_linear_models_only():
    vocabulary = Vocabulary("en", ["a"], [1], 1)
    bent = BagEncoder({"en": Tower(vocabulary, np.ones((1, 2), np.float32), activation="tanh")})
    with pytest.raises(ModelError, match="S2Net is linear"):
        s2net.fit(make_sentences(10, 0), start=bent)
    with pytest.raises(ModelError, match="start 'cca': expected one of random, opca"):
        s2net.fit(make_sentences(10, 0), start="cca")


def test_the_languages_of_a_concept_are_paired_in_a_circle():
    def part(concepts, filled):
        counts = sp.csr_matrix(np.array(filled, np.float32)[:, None])
        return CountedTexts(Vocabulary("en", ["a"], [1], 1), counts, np.array(concepts))

    # Rows 0-2 English, 3-5 French, 6-7 Italian. Concept 0 has all three, 1 two, 2 one: its French is empty.
    counted = {"en": part([0, 1, 2], [1, 1, 1]), "fr": part([0, 1, 2], [1, 1, 0]), "it": part([0, 3], [1, 1])}
    left, right = s2net._pair_texts(counted, np.random.default_rng(0))
    pairs = sorted(tuple(sorted(pair)) for pair in zip(left.tolist(), right.tolist(), strict=True))
    assert pairs == [(0, 3), (0, 6), (1, 4), (3, 6)]


def test_three_languages_share_one_space():
    model = s2net.fit(make_sentences(300, 0, ("en", "fr", "it")), **SMALL, epochs=10)
    assert measure_precision(model, make_sentences(100, 1, ("fr", "it")), ("it", "fr")) > 0.8


def test_the_same_seed_gives_the_same_table_and_another_does_not():
    aligned = make_sentences(100, 0)
    first, repeated, other = (s2net.fit(aligned, **SMALL, epochs=2, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.tower("fr").table, repeated.tower("fr").table)
    assert not np.array_equal(first.tower("fr").table, other.tower("fr").table)


def test_saving_changes_nothing_and_serving_needs_no_torch(trained, tmp_path):
    texts = [c.texts["fr"] for c in TEST_CONCEPTS[:5]]
    trained.save(tmp_path / "model")
    np.testing.assert_array_equal(BagEncoder.load(tmp_path / "model").encode(texts, "fr"), trained.encode(texts, "fr"))
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from paragloss.encoders.bag import BagEncoder\n"
        "import paragloss.lab.methods.s2net\n"
        f"print(BagEncoder.load({str(tmp_path / 'model')!r}).encode({texts!r}, 'fr').shape)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "(5, 20)", run.stderr
