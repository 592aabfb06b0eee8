"""BAE: contrastive divergence against its textbook rule, gradients by finite differences, and what each stage adds."""

import numpy as np
import pytest
import scipy.sparse as sp
from corpora import make_sentences, measure_precision

from paragloss.lab.methods import bae
from paragloss.types import Concept

torch = pytest.importorskip("torch")

from paragloss.lab.descent import autoencoder as network  # noqa: E402
from paragloss.lab.descent.loop import TrainingSettings  # noqa: E402

SMALL = {"dim": 24, "stem": False, "batch": 50, "learning_rate": 0.02}
TEST_CONCEPTS = make_sentences(100, 1)


@pytest.fixture(scope="module")
def trained():
    return bae.fit(make_sentences(500, 0), **SMALL)


def small_corpus():
    # Two languages of 2 and 3 terms. Concept 0 has both, 1 the first alone, 2 the second alone.
    first = sp.csr_matrix(np.array([[0.5, 0.5], [1, 0]], np.float32))
    second = sp.csr_matrix(np.array([[1, 0, 0], [0.25, 0, 0.75]], np.float32))
    return network.Corpus.from_texts([first, second], [np.array([0, 1]), np.array([0, 2])], 3, 8)


def test_a_concept_has_as_many_words_as_one_of_its_texts():
    corpus = small_corpus()
    np.testing.assert_array_equal(corpus.joint.toarray(), [[2, 2, 4, 0, 0], [8, 0, 0, 0, 0], [0, 0, 2, 0, 6]])
    read = corpus.read(np.array([0, 0, 2]), np.array([0, 1, 1]))
    np.testing.assert_array_equal(read.toarray(), [[4, 4, 0, 0, 0], [0, 0, 8, 0, 0], [0, 0, 2, 0, 6]])
    assert corpus.has_text.tolist() == [[True, True], [True, False], [False, True]]


def test_the_free_energy_sums_over_all_hidden_states():
    # exp(-F(v)) = sum over h in {0,1}^2 of exp(v.c + h.b + v.W.h): four states, added up one by one.
    rng = np.random.default_rng(0)
    weight, visible, hidden, v = rng.standard_normal((3, 2)), rng.standard_normal(3), rng.standard_normal(2), [2, 0, 1]
    states = [np.array(h) for h in ((0, 0), (0, 1), (1, 0), (1, 1))]
    total = sum(np.exp(visible @ v + h @ hidden + v @ weight @ h) for h in states)
    machine = network.Machine(*map(torch.from_numpy, (weight, visible, hidden)))
    row = torch.tensor([v], dtype=torch.float64)
    energy = network.free_energy(machine, row @ machine.visible_bias, row @ machine.weight)
    assert float(energy) == pytest.approx(-np.log(total))


def compute_textbook_gradients(machine, visible, rebuilt):
    """Hinton 2002: dW = <v h>reconstruction - <v h>data, with h the probabilities given either v."""
    with torch.no_grad():
        hidden, hidden_again = (torch.sigmoid(v @ machine.weight + machine.hidden_bias) for v in (visible, rebuilt))
        weight = (rebuilt.T @ hidden_again - visible.T @ hidden) / len(visible)
        return weight, (rebuilt - visible).mean(0), (hidden_again - hidden).mean(0)


def test_the_divergence_of_binary_units_has_the_textbook_gradient():
    machine = network.make_machines([4, 3], seed=0)[0]
    inputs = torch.rand(6, 4, generator=torch.Generator().manual_seed(1))
    torch.manual_seed(5)
    network._compute_binary_divergence(machine, inputs, np.arange(6)).backward()
    torch.manual_seed(5)
    with torch.no_grad():
        drawn = torch.bernoulli(torch.sigmoid(inputs @ machine.weight + machine.hidden_bias))
        rebuilt = torch.sigmoid(drawn @ machine.weight.T + machine.visible_bias)
    for parameter, expected in zip(machine, compute_textbook_gradients(machine, inputs, rebuilt), strict=True):
        torch.testing.assert_close(parameter.grad, expected, atol=1e-6, rtol=0)


def test_the_divergence_of_texts_has_the_textbook_gradient():
    machine, corpus, rows = network.make_machines([5, 3], seed=0)[0], small_corpus(), np.array([2, 0])
    texts = torch.from_numpy(corpus.joint[rows].toarray())
    torch.manual_seed(5)
    network._compute_text_divergence(machine, corpus, rows).backward()
    torch.manual_seed(5)
    with torch.no_grad():
        rebuilt = network._draw_reconstruction(machine, texts @ machine.weight, corpus, rows).toarray()
    expected_gradients = compute_textbook_gradients(machine, texts, torch.from_numpy(rebuilt))
    for parameter, expected in zip(machine, expected_gradients, strict=True):
        gradient = parameter.grad.to_dense() if parameter.grad.is_sparse else parameter.grad
        torch.testing.assert_close(gradient, expected, atol=1e-5, rtol=0)


def test_the_bottom_machine_starts_with_the_frequencies_of_terms():
    corpus, machines = small_corpus(), network.make_machines([5, 4, 3], seed=0)
    network.pretrain(machines, corpus, TrainingSettings(epochs=0, seed=0, learning_rate=0.1), batch_size=9)
    expected = np.log(corpus.joint.toarray().mean(0) + 1e-6)
    np.testing.assert_allclose(machines[0].visible_bias.detach(), expected, rtol=1e-5)


def test_a_machine_writes_in_the_languages_it_read():
    machine = network.make_machines([5, 3], seed=0)[0]
    corpus = small_corpus()
    written = network._draw_reconstruction(machine, torch.zeros(3, 3), corpus, np.arange(3)).toarray()
    np.testing.assert_allclose(written.sum(1), [8, 8, 8])
    np.testing.assert_allclose(written[:, :2].sum(1), [4, 8, 0])


def test_a_machine_draws_its_hidden_units_before_it_writes():
    """One unit says which of two words is written: drawn, a text is all of one; averaged, it would be of both."""
    machine = network.Machine(torch.tensor([[40.0], [-40.0]]), torch.tensor([-20.0, 20.0]), torch.zeros(1))
    texts = [sp.csr_matrix(np.full((200, 2), 0.5, np.float32))]
    corpus = network.Corpus.from_texts(texts, [np.arange(200)], 200, 10)
    torch.manual_seed(0)
    written = network._draw_reconstruction(machine, torch.zeros(200, 1), corpus, np.arange(200)).toarray()
    assert set(np.unique(written)) == {0, 10}
    assert 60 < (written[:, 0] == 10).sum() < 140


def test_the_surprise_by_hand():
    # Concept 0: language one has words (.5, .5) and logits (0, 0): ln 2; language two is sure of the right word: 0.
    logits = torch.tensor([[0.0, 0.0, 100.0, 0.0, 0.0]])
    assert float(network.cross_entropy(logits, small_corpus(), np.array([0]))) == pytest.approx(np.log(2) / 2, rel=1e-5)
    # Concept 1 has no text in language two, so nothing there matters.
    assert float(network.cross_entropy(logits, small_corpus(), np.array([1]))) == pytest.approx(np.log(2), rel=1e-5)


def test_texts_of_all_languages_are_predicted_from_one():
    """Up by the machines, down by the decoder, in numpy: the loss of concepts that have one language only."""
    corpus, machines, random = small_corpus(), network.make_machines([5, 4, 3, 2], seed=0), torch.Generator()
    decoder = [torch.rand(machine.weight.shape, generator=random.manual_seed(9)) for machine in machines]
    with torch.no_grad():
        for parameter in (part for machine in machines for part in machine):  # so that no part is zero
            parameter += torch.rand(parameter.shape, generator=random)
    loss = network._TranslationLoss(machines, decoder, corpus)
    sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
    state = np.array([[8, 0, 0, 0, 0], [0, 0, 2, 0, 6]], float)  # concept 1 in the first language, 2 in the second
    for machine in machines:
        state = sigmoid(state @ machine.weight.detach().numpy() + machine.hidden_bias.detach().numpy())
    for machine, weight in reversed(list(zip(machines, decoder, strict=True))):
        logits = state @ weight.numpy().T + machine.visible_bias.detach().numpy()
        state = sigmoid(logits)
    expected = float(network.cross_entropy(torch.from_numpy(logits), corpus, np.array([1, 2])))
    assert float(loss.compute(np.array([1, 2]), np.array([0, 1])).detach()) == pytest.approx(expected, rel=1e-5)
    for seed in range(8):  # whatever is drawn, these are read
        torch.manual_seed(seed)
        drawn = loss.compute_for_random_languages(np.array([1, 2]))
        assert float(drawn.detach()) == pytest.approx(expected, rel=1e-5)


def test_languages_take_turns_on_held_out_concepts():
    present = np.array([[1, 1, 1], [1, 1, 1], [0, 1, 1], [0, 1, 0]], bool)
    assert network._alternate_languages(present).tolist() == [0, 1, 1, 1]


def test_unseen_texts_find_their_translations(trained):
    assert measure_precision(trained, TEST_CONCEPTS) > 0.8  # chance is 1 / 100


def test_each_stage_raises_precision_between_languages():
    scarce, settings = make_sentences(150, 0, noise=3), {**SMALL, "dim": 10}
    untrained, briefly, pretrained, tuned = (
        measure_precision(bae.fit(scarce, **settings, pretraining_epochs=before, epochs=after), TEST_CONCEPTS)
        for before, after in ((0, 0), (1, 0), (5, 0), (1, 10))
    )
    assert max(untrained, briefly) < 0.08  # chance is 1 / 100
    assert pretrained > briefly + 0.15
    assert tuned > briefly + 0.15


def test_two_layers_are_served_as_two_layers():
    model = bae.fit(make_sentences(300, 0), **SMALL, layers=2, hidden=40, epochs=15)
    assert [layer.activation for layer in model.tower("en").layers] == ["sigmoid"]
    assert model.tower("en").layers[0].weight.shape == (40, 24)
    assert measure_precision(model, TEST_CONCEPTS) > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("pretrained", [1, 3])
def test_three_layers_learn(pretrained):
    model = bae.fit(make_sentences(500, 0), **SMALL, layers=3, hidden=40, pretraining_layers=pretrained)
    assert len(model.tower("en").layers) == 2
    assert (
        measure_precision(model, TEST_CONCEPTS) > 0.2
    )  # chance is 1 / 100; with small starting weights above the first it was that


def test_layers_above_the_first_start_with_distinct_codes():
    """One half everywhere, which is what a layer sees at first, becomes one half; other codes are kept apart."""
    bottom, middle = network.make_machines([50, 30, 20], seed=0)
    half = torch.full((1, 30), 0.5)
    assert torch.allclose(torch.sigmoid(half @ middle.weight + middle.hidden_bias), torch.full((1, 20), 0.5), atol=1e-6)
    codes = torch.rand(40, 30, generator=torch.Generator().manual_seed(0))
    spread = torch.sigmoid(codes @ middle.weight + middle.hidden_bias).std(0)
    assert float(spread.mean().detach()) > 0.15
    assert float(bottom.weight.detach().std()) == pytest.approx(network.INITIAL_DEVIATION, rel=0.1)


@pytest.mark.parametrize(
    ("settings", "n_pretrained", "is_tuned"),
    [
        ({}, 1, True),
        ({"layers": 3}, 1, True),
        ({"layers": 3, "pretraining_layers": 2}, 2, True),
        ({"pretraining_layers": 0}, 0, True),
        ({"pretraining_epochs": 0}, 0, True),
        ({"epochs": 0}, 1, False),
        ({"epochs": 0, "pretraining_epochs": 0}, 0, False),
    ],
)
def test_stages_run_where_they_have_epochs_and_layers(settings, n_pretrained, is_tuned):
    progress = []
    quick = {"dim": 4, "stem": False, "hidden": 7, "progress": progress.append, "epochs": 2, "pretraining_epochs": 3}
    model = bae.fit(make_sentences(20, 0), **{**quick, **settings})
    expected = [(1, 3), (2, 3), (3, 3)] * n_pretrained + [(1, 2), (2, 2)] * is_tuned
    assert [(epoch.epoch, epoch.epochs) for epoch in progress] == expected
    widths = [layer.weight.shape for layer in model.tower("en").layers]
    assert widths == ([(7, 7), (7, 4)] if settings.get("layers") == 3 else [])


def test_the_served_encoder_equals_the_trained_network():
    aligned = make_sentences(80, 0)
    model = bae.fit(aligned, **SMALL, epochs=1, words=7)
    tower = model.tower("fr")
    machine = network.Machine(torch.from_numpy(tower.table / 7), torch.empty(0), torch.from_numpy(tower.bias))
    counts = tower.vocabulary.counts([aligned[0].texts["fr"]])
    shares = counts.multiply(tower.vocabulary.idf).tocsr()
    code = network.encode([machine], sp.csr_matrix(7 * shares / shares.sum(), dtype=np.float32)).numpy()
    np.testing.assert_allclose(model.encode([aligned[0].texts["fr"]], "fr"), code / np.linalg.norm(code), rtol=1e-4)


def test_three_languages_of_which_concepts_may_lack_one():
    concepts = [
        Concept(c.id, {lang: text for j, (lang, text) in enumerate(c.texts.items()) if int(c.id) % 3 != j})
        for c in make_sentences(600, 0, ("en", "fr", "it"))
    ]
    model = bae.fit(concepts, **SMALL, epochs=10)
    assert measure_precision(model, make_sentences(100, 1, ("fr", "it")), ("it", "fr")) > 0.5


def test_the_bias_of_hidden_units_decides_what_is_written():
    """Two words; the one hidden unit speaks for the first and is off by its bias, so that the second is written."""
    texts = sp.csr_matrix(np.array([[1.0, 0.0]], np.float32))
    corpus = network.Corpus.from_texts([texts], [np.array([0])], 1, 4)
    for hidden, written in ((-50.0, [0, 4]), (50.0, [4, 0])):
        parts = (torch.tensor([[500.0], [0.0]]), torch.tensor([0.0, 100.0]), torch.tensor([hidden]))
        row = network._draw_reconstruction(network.Machine(*parts), torch.zeros(1, 1), corpus, np.array([0])).toarray()
        assert row.tolist() == [written]
