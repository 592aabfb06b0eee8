"""XCNN: the composition by hand, its gradients by finite differences, and what each stage is good for."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from corpora import make_topic_texts, measure_precision

from paragloss.errors import ModelError
from paragloss.lab.learning.counting import CountedTexts
from paragloss.lab.methods import xcnn
from paragloss.types import Concept
from paragloss.vocabulary import Vocabulary

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
        batch_size=2,
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


TINY_CORPUS = make_topic_texts(20, 0)
TINY = {"dim": 4, "stem": False, "hub": "en"}


def test_each_language_has_its_own_epochs_loss_and_seed(learn_calls):
    settings = {"hub_epochs": 3, "epochs": 4, "seed": 5, "negatives": 7, "batch": 9}
    xcnn.fit(TINY_CORPUS, **TINY, **settings)
    hub, other = learn_calls
    assert (hub.training.epochs, hub.loss) == (3, {"loss": "logistic", "scale": 10.0, "negatives": 7})
    assert (other.training.epochs, other.loss) == (4, {"loss": "difference", "scale": 10.0, "negatives": 7})
    assert hub.training.seed != other.training.seed
    assert (hub.batch_size, other.batch_size) == (9, 9)


@pytest.mark.parametrize("layers", [1, 2])
def test_every_layer_starts_at_its_bias_and_with_weights_of_a_tenth(layers):
    biased = xcnn.fit(TINY_CORPUS, **TINY, layers=layers, hub_epochs=0, epochs=0, hub_bias=-1.0, bias=-2.0)
    for lang, bias in (("en", -1.0), ("fr", -2.0)):
        # A second layer adds a tenth's worth of the first to its own bias.
        assert np.median(biased.towers[lang].table) == pytest.approx(np.tanh(bias), abs=0.1)
    # Sums of 400 products of a tenth and what the layer below spreads: twice that. The tanh takes a little.
    wide = xcnn.fit(TINY_CORPUS, **{**TINY, "dim": 400}, layers=layers, hub_epochs=0, epochs=0)
    table = wide.towers["en"].table
    assert table.std() == pytest.approx(0.1 * layers, rel=0.1)
    assert abs(table.mean()) < 0.02


def test_weights_and_biases_of_every_layer_are_learned(learn_calls):
    xcnn.fit(TINY_CORPUS, **TINY, layers=2)
    assert {name: shape for name, shape in learn_calls[0].shapes.items() if name != "table"} == {
        "bias": (4,), "weight2": (4, 4), "bias2": (4,),
    }  # fmt: skip


def test_other_languages_aim_at_the_sum_of_the_hubs_term_vectors(learn_calls):
    model = xcnn.fit(TINY_CORPUS, **TINY, hub_epochs=0)
    (call,) = learn_calls  # a hub without epochs has nothing to learn from
    tower = model.towers["en"]
    expected = tower.vocabulary.counts(c.texts["en"] for c in TINY_CORPUS) @ tower.table
    np.testing.assert_allclose(call.pairs.right, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        # A title, or the text of who has none: "title" is shared by the first and the third.
        ({}, [{"title", "one"}, {"title", "two"}]),
        ({"monolingual": ["ape bat", "ape cat", "dog"]}, [{"ape", "bat"}, {"ape", "cat"}]),
        ({"clicks": [("ape", "bat"), ("cat", "dog"), ("unheard", "")]}, [{"ape", "bat"}, {"cat", "dog"}]),
    ],
)
def test_the_hub_learns_from_clicks_or_its_own_texts_or_titles(learn_calls, settings, expected):
    aligned = [
        Concept("1", {"en": "enalq", "fr": "x"}, {"en": "title one"}),
        Concept("2", {"en": "enakq", "fr": "x"}),
        Concept("3", {"en": "enalq", "fr": "x"}, {"en": "title two"}),
    ]
    model = xcnn.fit(aligned, **TINY, min_df=1, **settings)
    terms = np.array(model.towers["en"].vocabulary.terms)
    pairs = learn_calls[0].pairs
    words = [set(terms[(pairs.left[i] + pairs.right[i]).indices]) for i in range(pairs.left.shape[0])]
    if "clicks" in settings:
        assert words == expected
    else:
        assert words == [set.union(*expected)] * 2  # each is the other's best match


def test_texts_of_the_hub_s_own_widen_its_vocabulary_alone():
    external = {"monolingual": ["onlyhere onlyhere", "onlyhere"], "clicks": [("asked", "clicked")]}
    model = xcnn.fit(TINY_CORPUS, **TINY, **external, hub_epochs=0, epochs=0)
    assert {"onlyhere", "asked", "clicked"} <= set(model.towers["en"].vocabulary.index)
    assert not {"onlyhere", "asked", "clicked"} & set(model.towers["fr"].vocabulary.index)


def test_the_hub_is_the_largest_language_unless_another_is_named():
    aligned = [Concept("1", {"it": "x", "fr": "x"}), Concept("2", {"fr": "x", "en": "x"}), Concept("3", {"en": "x"})]
    assert xcnn._order_languages(aligned, "") == ["en", "fr", "it"], "a tie goes to the alphabet"
    assert xcnn._order_languages(aligned[:2], "") == ["fr", "en", "it"]
    assert xcnn._order_languages(aligned, "it") == ["it", "en", "fr"]
    with pytest.raises(ModelError, match="hub 'da': the training set has en, fr, it"):
        xcnn.fit(aligned, hub="da")
    with pytest.raises(ModelError, match="at least two languages; the training set has en"):
        xcnn.fit(aligned[2:])
    with pytest.raises(ModelError, match="both fr and en"):
        xcnn.fit([Concept("a", {"en": "one two"}), Concept("b", {"fr": "un deux"})], dim=4, epochs=1)


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
