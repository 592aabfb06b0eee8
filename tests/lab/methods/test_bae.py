"""BAE: contrastive divergence against its textbook rule, gradients by finite differences, and what each stage adds."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from corpora import make_sentences, measure_precision

from paragloss.encoders.bag import BagEncoder
from paragloss.lab.methods import bae
from paragloss.types import Concept

torch = pytest.importorskip("torch")

from paragloss.lab.descent import autoencoder as network  # noqa: E402
from paragloss.lab.descent import batches  # noqa: E402
from paragloss.lab.descent.loop import TrainingSettings  # noqa: E402

SMALL = {"dim": 24, "stem": False, "batch": 50, "learning_rate": 0.02}
TEST_CONCEPTS = make_sentences(100, 1)
TRAINING = TrainingSettings(epochs=4, seed=7, learning_rate=0.1, patience=2)


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
    assert corpus.present.tolist() == [[True, True], [True, False], [False, True]]


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


def test_the_divergence_has_the_textbook_gradient():
    """Hinton 2002: dW = <v h>reconstruction - <v h>data, with h the probabilities given either v."""
    machine = network.make_machines([4, 3], seed=0)[0]
    inputs = torch.rand(6, 4, generator=torch.Generator().manual_seed(1))
    rows = np.arange(6)
    torch.manual_seed(5)
    network._compute_binary_divergence(machine, inputs, rows).backward()
    with torch.no_grad():
        torch.manual_seed(5)
        chances = torch.sigmoid(inputs @ machine.weight + machine.hidden_bias)
        rebuilt = torch.sigmoid(torch.bernoulli(chances) @ machine.weight.T + machine.visible_bias)
        hidden_again = torch.sigmoid(rebuilt @ machine.weight + machine.hidden_bias)
        expected = (rebuilt.T @ hidden_again - inputs.T @ chances) / 6
    assert torch.allclose(machine.weight.grad, expected, atol=1e-6)
    assert torch.allclose(machine.visible_bias.grad, (rebuilt - inputs).mean(0), atol=1e-6)
    assert torch.allclose(machine.hidden_bias.grad, (hidden_again - chances).mean(0), atol=1e-6)


def test_each_machine_learns_from_what_the_one_below_makes_of_texts(monkeypatch):
    corpus, machines, runs = small_corpus(), network.make_machines([5, 4, 3], seed=0), []
    monkeypatch.setattr(network, "descend", lambda *arguments: runs.append(arguments))
    network.pretrain(machines, corpus, "training", batch=9)
    assert [run[3:] for run in runs] == [("training",)] * 2
    rng = np.random.default_rng(0)
    assert [sorted(np.concatenate(list(run[1](1, rng))).tolist()) for run in runs] == [[0, 1, 2]] * 2
    assert [list(map(id, run[0].values())) for run in runs] == [list(map(id, machine)) for machine in machines]
    weights = [[part.detach().double().numpy() for part in machine] for machine in machines]
    joint, rows = corpus.joint.toarray().astype(float), np.array([2, 0])
    np.testing.assert_allclose(weights[0][1], np.log(joint.mean(0) + 1e-6), rtol=1e-5)

    def energy(v, weight, visible, hidden):
        return -v @ visible - np.log1p(np.exp(hidden + v @ weight)).sum(1)

    def assert_difference(run, data, rebuilt, machine):
        torch.manual_seed(7)
        value = float(run[2](rows).detach())
        assert value == pytest.approx((energy(data, *machine) - energy(rebuilt, *machine)).mean(), rel=1e-4, abs=1e-5)

    torch.manual_seed(7)
    driven = torch.from_numpy(joint[rows] @ weights[0][0]).float()
    assert_difference(
        runs[0], joint[rows], network._draw_reconstruction(machines[0], driven, corpus, rows).toarray(), weights[0]
    )
    states = 1 / (1 + np.exp(-(joint @ weights[0][0] + weights[0][2])))[rows]
    torch.manual_seed(7)
    weight, visible, _ = weights[1]
    with torch.no_grad():
        drawn = torch.bernoulli(
            torch.sigmoid(torch.from_numpy(states).float() @ machines[1].weight + machines[1].hidden_bias)
        )
    assert_difference(runs[1], states, 1 / (1 + np.exp(-(drawn.numpy() @ weight.T + visible))), weights[1])


def test_a_machine_writes_in_the_languages_it_read():
    machine = network.make_machines([5, 3], seed=0)[0]
    corpus = small_corpus()
    written = network._draw_reconstruction(machine, torch.zeros(3, 3), corpus, np.arange(3)).toarray()
    np.testing.assert_allclose(written.sum(1), [8, 8, 8])
    np.testing.assert_allclose(written[:, :2].sum(1), [4, 8, 0])


def test_the_surprise_by_hand():
    # Concept 0: language one has words (.5, .5) and logits (0, 0): ln 2; language two is sure of the right word: 0.
    logits = torch.tensor([[0.0, 0.0, 100.0, 0.0, 0.0]])
    assert float(network.cross_entropy(logits, small_corpus(), np.array([0]))) == pytest.approx(np.log(2) / 2, rel=1e-5)
    # Concept 1 has no text in language two, so nothing there matters.
    assert float(network.cross_entropy(logits, small_corpus(), np.array([1]))) == pytest.approx(np.log(2), rel=1e-5)


def test_gradients_of_the_surprise_are_those_of_finite_differences():
    generator = torch.Generator().manual_seed(0)
    code = torch.randn(3, 2, generator=generator, dtype=torch.float64)
    weight = torch.randn(5, 2, generator=generator, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(5, generator=generator, dtype=torch.float64, requires_grad=True)
    corpus = small_corpus()
    assert torch.autograd.gradcheck(
        lambda w, b: network.cross_entropy(code @ w.T + b, corpus, np.arange(3)), (weight, bias), atol=1e-7
    )


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
    bottom, middle, top = (
        network.make_machines([50, 30, 20], seed=0)[0:1] + network.make_machines([50, 30, 20, 10], seed=0)[1:]
    )
    half = torch.full((1, 30), 0.5)
    assert torch.allclose(torch.sigmoid(half @ middle.weight + middle.hidden_bias), torch.full((1, 20), 0.5), atol=1e-6)
    codes = torch.rand(40, 30, generator=torch.Generator().manual_seed(0))
    spread = torch.sigmoid(codes @ middle.weight + middle.hidden_bias).std(0)
    assert float(spread.mean().detach()) > 0.15
    assert float(bottom.weight.detach().std()) == pytest.approx(network.INITIAL_DEVIATION, rel=0.1)
    assert top.weight.shape == (20, 10)


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


def test_the_same_seed_gives_the_same_table_and_another_does_not():
    aligned, quick = make_sentences(100, 0), {**SMALL, "pretraining_epochs": 1, "epochs": 1}
    first, repeated, other = (bae.fit(aligned, **quick, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.tower("fr").table, repeated.tower("fr").table)
    assert not np.array_equal(first.tower("fr").table, other.tower("fr").table)


def test_saving_changes_nothing_and_serving_needs_no_torch(trained, tmp_path):
    texts = [c.texts["fr"] for c in TEST_CONCEPTS[:5]]
    trained.save(tmp_path / "model")
    np.testing.assert_array_equal(BagEncoder.load(tmp_path / "model").encode(texts, "fr"), trained.encode(texts, "fr"))
    np.testing.assert_allclose(
        trained.encode(texts, "fr"), np.vstack([trained.encode([text], "fr") for text in texts]), atol=1e-6
    )
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from paragloss.encoders.bag import BagEncoder\n"
        "import paragloss.lab.methods.bae\n"
        f"print(BagEncoder.load({str(tmp_path / 'model')!r}).encode({texts!r}, 'fr').shape)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "(5, 24)", run.stderr


def test_tuning_reads_one_language_and_is_surprised_by_all(monkeypatch):
    """Up by the machines, down by weights that start as theirs: the loss of concepts in languages they have."""
    corpus, machines, runs = small_corpus(), network.make_machines([5, 4, 3, 2], seed=0), []
    monkeypatch.setattr(network, "descend", lambda *arguments: runs.append(arguments))
    network.train_all_layers(machines, corpus, TRAINING, batch=2)
    ((parameters, draw_batches, loss, training, validate),) = runs
    drawn = list(draw_batches(1, np.random.default_rng(0)))
    assert sorted(np.concatenate(drawn).tolist()) == [0, 1, 2], "too few to hold some out"
    assert (training, validate) == (TRAINING, None)
    assert set(parameters) == {f"{n}{i}" for n in ("weight", "visible_bias", "hidden_bias", "down") for i in range(3)}
    for i, machine in enumerate(machines):
        assert parameters[f"weight{i}"] is machine.weight
        assert torch.equal(parameters[f"down{i}"], machine.weight)
    with torch.no_grad():
        for value in parameters.values():  # so that no part is zero or another's twin
            value += torch.rand(value.shape, generator=torch.Generator().manual_seed(len(value)))
    values = {name: value.detach().double().numpy() for name, value in parameters.items()}

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def expected(texts):
        state = texts
        for i in range(3):
            state = sigmoid(state @ values[f"weight{i}"] + values[f"hidden_bias{i}"])
        for i in (2, 1):
            state = sigmoid(state @ values[f"down{i}"].T + values[f"visible_bias{i}"])
        logits = torch.from_numpy(state @ values["down0"].T + values["visible_bias0"])
        return network.cross_entropy(logits, corpus, np.array([1, 2]))

    # Concept 1 has the first language alone, concept 2 the second: whatever is drawn, these are read.
    read = np.array([[8, 0, 0, 0, 0], [0, 0, 2, 0, 6]], float)
    for seed in range(8):
        torch.manual_seed(seed)
        assert float(loss(np.array([1, 2])).detach()) == pytest.approx(float(expected(read)), rel=1e-5)


def test_a_twentieth_is_held_out_a_thousand_at_most_and_none_of_few(monkeypatch):
    runs = []
    monkeypatch.setattr(
        network,
        "descend",
        lambda parameters, draw_batches, loss, training, validate: runs.append(
            (np.concatenate(list(draw_batches(1, np.random.default_rng(0)))), validate)
        ),
    )
    for concepts in (399, 400, 20_040):
        rows = sp.csr_matrix(np.ones((concepts, 1), np.float32))
        corpus = network.Corpus.from_texts([rows, rows], [np.arange(concepts)] * 2, concepts, 3)
        network.train_all_layers(network.make_machines([2, 2], seed=0), corpus, TRAINING, batch=2)
    assert [(len(rows), validate is None) for rows, validate in runs] == [(399, True), (380, False), (19_040, False)]
    assert len(set(runs[1][0].tolist())) == 380
    # One word in each language, and nothing known: each is sure, so nothing surprises.
    assert runs[1][1]() == pytest.approx(0, abs=1e-6)


def test_batches_are_smaller_where_there_are_few_concepts(monkeypatch):
    sizes = []
    monkeypatch.setattr(batches, "shuffled", lambda count, size, rng: sizes.append((count, size)) or [])
    for concepts in (50, 400, 9000):
        list(batches.batches(np.arange(concepts), 100)(1, None))
    assert sizes == [(50, 10), (400, 20), (9000, 100)]


def test_the_bias_of_hidden_units_decides_what_is_written():
    """Two words; the one hidden unit speaks for the first and is off by its bias, so that the second is written."""
    texts = sp.csr_matrix(np.array([[1.0, 0.0]], np.float32))
    corpus = network.Corpus.from_texts([texts], [np.array([0])], 1, 4)
    for hidden, written in ((-50.0, [0, 4]), (50.0, [4, 0])):
        parts = (torch.tensor([[500.0], [0.0]]), torch.tensor([0.0, 100.0]), torch.tensor([hidden]))
        row = network._draw_reconstruction(network.Machine(*parts), torch.zeros(1, 1), corpus, np.array([0])).toarray()
        assert row.tolist() == [written]
