"""XCNN: the composition by hand, its gradients by finite differences, and what each stage is good for."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from corpora import make_topic_texts, measure_precision

from paragloss.encoders.bag import BagEncoder
from paragloss.errors import ModelError
from paragloss.lab.methods import xcnn
from paragloss.types import Concept

torch = pytest.importorskip("torch")

from paragloss.lab.descent.contrast import TextPairs, contrast, learn  # noqa: E402
from paragloss.lab.descent.loop import TrainingSettings  # noqa: E402

SMALL = {"dim": 16, "stem": False, "batch": 50, "hub": "en"}


@pytest.fixture(scope="module")
def trained():
    return xcnn.fit(make_topic_texts(800, 0), **SMALL)


def test_a_text_is_the_sum_of_the_tanh_of_its_terms():
    # Rows (0.5, -0.5) and (1, 0), bias (-0.5, 0.5): tanh gives (0, 0) and (tanh 0.5, tanh 0.5) = (0.4621, 0.4621).
    rows, bias = torch.tensor([[0.5, -0.5], [1.0, 0.0]]), torch.tensor([-0.5, 0.5])
    vectors = xcnn.compute_term_vectors(rows, bias)
    np.testing.assert_allclose(vectors, [[0, 0], [0.46212, 0.46212]], atol=1e-5)
    # A second layer, weight [[1, 0], [1, 1]] and bias (0, 1): (0, tanh 1) and (tanh 0.92423, tanh 1.46212).
    deep = xcnn.compute_term_vectors(rows, bias, torch.tensor([[1.0, 0.0], [1.0, 1.0]]), torch.tensor([0.0, 1.0]))
    np.testing.assert_allclose(deep, [[0, 0.76159], [0.72783, 0.89812]], atol=1e-4)


def test_each_layer_takes_its_own_weight_and_bias():
    # One term of one dimension: tanh 0.5 = 0.46212; tanh(2 x 0.46212 - 0.5) = 0.40049; tanh(3 x 0.40049 + 1) = 0.97581.
    parts = [torch.tensor(part) for part in ([[0.25]], [0.25], [[2.0]], [-0.5], [[3.0]], [1.0])]
    np.testing.assert_allclose(xcnn.compute_term_vectors(*parts), [[0.97581]], atol=1e-5)


def test_the_losses_by_hand():
    # Left (1, 0), (0, 2); right (3, 4), (0, 1). cos: 0.6 with its own and 0 with the next; 1 and 0.8.
    left, right = torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]])
    assert float(contrast(left, right, loss="difference")) == pytest.approx(-(0.6 + 0.2) / 2)
    # log(1 + e^-6) = 0.0024757 and log(1 + e^-2) = 0.1269280.
    assert float(contrast(left, right, loss="logistic", scale=10.0)) == pytest.approx((0.0024757 + 0.1269280) / 2)


@pytest.mark.parametrize("negatives", [2, 3, 10])
def test_the_counterpart_of_a_text_is_never_its_negative_in_a_small_batch(negatives):
    # Three texts at right angles: each has cosine 1 with its own and 0 with the two others.
    texts = torch.eye(3)
    assert float(contrast(texts, texts, loss="difference", negatives=negatives)) == pytest.approx(-1.0)


def test_a_text_without_terms_has_no_gradient():
    left = torch.tensor([[0.0, 0.0], [1.0, 2.0]], requires_grad=True)
    contrast(left, torch.tensor([[1.0, 0.0], [0.5, 1.0]]), loss="difference").backward()
    assert torch.isfinite(left.grad).all()


@pytest.mark.parametrize("loss", ["difference", "logistic"])
@pytest.mark.parametrize("layers", [1, 2])
def test_gradients_are_those_of_finite_differences(loss, layers):
    """Eqs .3 to .6 as they should be: the derivative of tanh term by term, then summed over the terms of a text."""
    generator = torch.Generator().manual_seed(0)
    shapes = [(6, 3), (3,), *[(3, 3), (3,)] * (layers - 1)]
    parts = [torch.randn(s, generator=generator, dtype=torch.float64, requires_grad=True) for s in shapes]
    bags = torch.tensor([[2.0, 1, 0, 0, 0, 0], [0, 1, 1, 0, 0, 1], [1, 0, 0, 0, 3, 0]], dtype=torch.float64)
    other_bags = torch.tensor([[0, 0, 0, 1, 1, 0], [0, 2, 0, 0, 0, 1], [1, 0, 1, 0, 0, 0]], dtype=torch.float64)

    def objective(*parts):
        terms = xcnn.compute_term_vectors(*parts)
        return contrast(bags @ terms, other_bags @ terms, loss=loss, scale=3.0, negatives=2)

    assert torch.autograd.gradcheck(objective, parts, atol=1e-8)


def test_the_paper_s_gradient_with_the_derivative_of_the_sum_is_wrong():
    # One text of two terms: tanh' at each term's own vector; taken at the sum y it can even change sign.
    rows = torch.tensor([[0.9, -0.2], [0.8, 0.5]], dtype=torch.float64, requires_grad=True)
    other = torch.tensor([[1.0, 0.3]], dtype=torch.float64)
    y = torch.tanh(rows).sum(0, keepdim=True)
    cosine = torch.nn.functional.cosine_similarity(y, other)
    (true,) = torch.autograd.grad(cosine, rows, retain_graph=True)
    (delta,) = torch.autograd.grad(cosine, y)
    per_term = (1 - torch.tanh(rows) ** 2) * delta
    as_printed = ((1 - y**2) * delta).expand(2, 2)
    assert torch.allclose(true, per_term)
    assert as_printed[0, 0].item() * true[0, 0].item() < 0  # 1 - y^2 < 0: y = 1.38


def make_sparse(dense):
    return sp.csr_matrix(np.array(dense, np.float32))


@pytest.mark.parametrize("optimizer", ["adam", "cg"])
def test_only_the_terms_of_the_pairs_move(optimizer):
    table = torch.randn(5, 3, generator=torch.Generator().manual_seed(1)).requires_grad_()
    before = table.detach().clone()
    pairs = TextPairs(make_sparse([[1, 0, 0, 0, 0], [0, 0, 2, 0, 0]]), np.array([[1, 0, 0], [0, 1, 0]], np.float32))
    history = learn(
        {"table": table},
        lambda parts: parts[0].tanh(),
        pairs,
        partial(contrast, loss="difference"),
        TrainingSettings(30, 0, 0.1, optimizer, patience=3),
        batch=2,
    )
    moved = (table.detach() != before).any(1)
    assert moved.tolist() == [True, False, True, False, False]
    losses = [epoch.loss for epoch in history.epochs]
    assert losses[-1] < min(losses[0], -1.2)  # the best there is: cosines sqrt(1/2) and -sqrt(1/2), or 1 and 0


def test_unseen_texts_find_their_translations(trained):
    assert measure_precision(trained, make_topic_texts(150, 1)) > 0.5  # chance is 1 / 150


@pytest.mark.slow
def test_the_hub_s_own_texts_teach_what_pairs_cannot():
    """The hub has a second form of every word that no sentence pair has; its own texts mix both forms."""
    rng = np.random.default_rng(5)
    settings = {
        **SMALL,
        "monolingual": [_mix_forms(c, rng) for c in make_topic_texts(1500, 2)],
        "hub_loss": "difference",
    }
    test_concepts = make_topic_texts(150, 3, forms=("zz",))
    learned, random = (
        measure_topic_precision(xcnn.fit(make_topic_texts(600, 0), **settings, hub_epochs=epochs), test_concepts)
        for epochs in (20, 0)
    )
    assert random < 0.2  # chance is 1 / 12
    assert learned > 0.4


def measure_topic_precision(model, concepts):
    """How often the nearest French text is about the topic of an English one: a text's first word is of its topic."""
    left, right = (model.encode([c.texts[lang] for c in concepts], lang) for lang in ("en", "fr"))
    make_topic_texts = np.array([c.texts["fr"][2] for c in concepts])
    return np.mean(make_topic_texts[(left @ right.T).argmax(1)] == make_topic_texts)


def _mix_forms(concept, rng):
    words = [word.removesuffix("q").removesuffix("zz") for word in concept.texts["en"].split()]
    return " ".join(word + ("zzq" if rng.random() < 0.5 else "q") for word in words)


@pytest.mark.slow
def test_conjugate_gradients_learn_to_translate():
    model = xcnn.fit(make_topic_texts(400, 0), **SMALL, optimizer="cg", hub_epochs=3, epochs=6)
    assert measure_precision(model, make_topic_texts(150, 1)) > 0.3


def test_two_layers_are_served_as_one_table():
    model = xcnn.fit(make_topic_texts(400, 0), **SMALL, layers=2)
    assert not model.tower("fr").layers
    assert measure_precision(model, make_topic_texts(150, 1)) > 0.1  # chance is 1 / 150


def test_every_language_is_extended_against_the_hub():
    concepts = [
        Concept(c.id, {**c.texts, "it": c.texts["fr"].replace("fr", "it")} if int(c.id) % 2 else c.texts)
        for c in make_topic_texts(900, 0)
    ]
    model = xcnn.fit(concepts, **SMALL)
    assert set(model.langs) == {"en", "fr", "it"}
    test_concepts = [
        Concept(c.id, {"it": c.texts["fr"].replace("fr", "it"), "fr": c.texts["fr"]}) for c in make_topic_texts(100, 1)
    ]
    assert measure_precision(model, test_concepts, ("it", "fr")) > 0.4  # two languages that never saw each other


def test_the_hub_is_the_largest_language_unless_another_is_named():
    concepts = [*make_topic_texts(40, 0), Concept("x", {"fr": "frakq"}), Concept("y", {"fr": "frblq"})]
    quick = {"dim": 4, "stem": False, "hub_epochs": 1, "epochs": 1}
    assert xcnn.fit(concepts, **quick).meta["hub"] == "fr"
    assert xcnn.fit(concepts, **quick, hub="en").meta["hub"] == "en"
    with pytest.raises(ModelError, match="hub 'it': the training set has en, fr"):
        xcnn.fit(concepts, hub="it")
    with pytest.raises(ModelError, match="at least two languages; the training set has fr"):
        xcnn.fit(concepts[-2:])
    with pytest.raises(ModelError, match="both fr and en"):
        xcnn.fit([Concept("a", {"en": "one two"}), Concept("b", {"fr": "un deux"})], **quick)


def test_the_same_seed_gives_the_same_table_and_another_does_not():
    aligned, quick = make_topic_texts(200, 0), {**SMALL, "hub_epochs": 2, "epochs": 2}
    first, repeated, other = (xcnn.fit(aligned, **quick, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.tower("fr").table, repeated.tower("fr").table)
    assert not np.array_equal(first.tower("fr").table, other.tower("fr").table)


def test_a_stopped_run_continues_from_its_checkpoint(tmp_path):
    aligned, quick = make_topic_texts(200, 0), {**SMALL, "hub_epochs": 2}
    uninterrupted = xcnn.fit(aligned, **quick, epochs=4)
    xcnn.fit(aligned, **quick, epochs=2, checkpoint=tmp_path)
    resumed = xcnn.fit(aligned, **quick, epochs=4, checkpoint=tmp_path)
    np.testing.assert_array_equal(uninterrupted.tower("fr").table, resumed.tower("fr").table)


def test_saving_changes_nothing_and_serving_needs_no_torch(trained, tmp_path):
    texts = [c.texts["fr"] for c in make_topic_texts(20, 1)]
    trained.save(tmp_path / "model")
    np.testing.assert_array_equal(BagEncoder.load(tmp_path / "model").encode(texts, "fr"), trained.encode(texts, "fr"))
    np.testing.assert_allclose(
        trained.encode(texts, "fr"), np.vstack([trained.encode([text], "fr") for text in texts]), atol=1e-6
    )
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from paragloss.encoders.bag import BagEncoder\n"
        "import paragloss.lab.methods.xcnn\n"
        f"print(BagEncoder.load({str(tmp_path / 'model')!r}).encode({texts[:2]!r}, 'fr').shape)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "(2, 16)", run.stderr
