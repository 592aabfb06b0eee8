"""Settings that change what is learned: each is followed to where it acts, or its effect is worked out by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from corpora import make_sentences, make_topic_texts

from paragloss.lab import judgments
from paragloss.lab.learning import sampling
from paragloss.lab.learning.counting import count
from paragloss.lab.methods import alignment, bae, cr5, knrm, s2net, xcnn
from paragloss.lab.settings import read_options
from paragloss.lab.solving import maps
from paragloss.lab.solving.spectrum import solve_closed_form
from paragloss.methods import load_method
from paragloss.vocabulary import weigh

torch = pytest.importorskip("torch")

from paragloss.lab.descent import autoencoder as network  # noqa: E402
from paragloss.lab.descent import contrast, towers  # noqa: E402
from paragloss.lab.descent import kernel_networks as training  # noqa: E402
from paragloss.lab.descent.bags import bags  # noqa: E402
from paragloss.lab.descent.loop import TrainingSettings, descend  # noqa: E402


@pytest.mark.parametrize("lambda_", [0.5, 6.0])
def test_cr5_regresses_with_the_lambda_it_is_given(lambda_):
    concepts = make_sentences(30, 0)
    model = cr5.fit(concepts, dim=5, lambda_=lambda_, stem=False)
    counted, number = count(concepts, stem=False, min_df=2)
    blocks = [cr5.Block(weigh(part.counts, part.vocabulary.idf, "tfidf"), part.concepts) for part in counted.values()]
    expected, other_solution = (solve_closed_form(blocks, number, rank=5, lambda_=value) for value in (lambda_, 3.0))
    tables = np.vstack([tower.table for tower in model.towers.values()])

    def cosines(solution):
        rows = cr5._make_encoder(counted, solution, {})
        return np.vstack([tower.table for tower in rows.towers.values()]) @ tables.T

    own, other = (np.abs(cosines(solution) - tables @ tables.T).max() for solution in (expected, other_solution))
    assert own < 1e-4 * np.abs(tables @ tables.T).max()
    assert other > 10 * own


def spy_on(monkeypatch, module, name):
    """Everything a function is called with, instead of calling it; tables come back as they were."""
    calls = []

    def note(*args, **kwargs):
        calls.append((args, kwargs))
        return np.ones((args[0], kwargs["dim"]), np.float32)

    monkeypatch.setattr(module, name, note)
    return calls


def test_xcnn_learns_with_its_biases_and_losses(monkeypatch):
    calls = spy_on(monkeypatch, xcnn, "_train_table")
    settings = {"hub_bias": -1.0, "bias": -1.5, "hub_loss": "difference", "loss": "logistic", "negatives": 7}
    xcnn.fit(make_topic_texts(40, 0), dim=4, stem=False, hub="en", **settings)
    (_, hub), (_, other) = calls
    assert (hub["bias"], hub["loss"], hub["negatives"]) == (-1.0, "difference", 7)
    assert (other["bias"], other["loss"], other["negatives"]) == (-1.5, "logistic", 7)


def test_xcnn_starts_where_its_bias_says():
    settings = {"loss": "difference", "epochs": 1, "optimizer": "adam", "seed": 0}
    table = xcnn._train_table(50, None, dim=8, layers=1, bias=-1.0, **settings)
    assert np.median(table) == pytest.approx(np.tanh(-1.0), abs=0.02)


def test_clicks_take_the_place_of_pseudo_relevance(monkeypatch):
    """The hub learns from exactly the pairs that were clicked, and without clicks from the best matches."""
    calls = spy_on(monkeypatch, xcnn, "_train_table")
    clicks = [("enakq enalq", "enblq"), ("encmq", "enakq"), ("unheardq", "enakq")]
    aligned = make_topic_texts(200, 0)
    xcnn.fit(aligned, dim=4, stem=False, hub="en", min_df=1, clicks=clicks)
    pairs = calls[0][0][1]
    assert pairs.left.shape[0] == 3
    assert pairs.left.sum(axis=1).ravel().tolist() == [[2, 1, 1]]
    assert pairs.right.sum(axis=1).ravel().tolist() == [[1, 1, 1]]
    calls.clear()
    xcnn.fit(aligned, dim=4, stem=False, hub="en", min_df=1)
    assert calls[0][0][1].left.shape[0] > 100


def test_xcnn_uses_the_given_relevance_function(monkeypatch):
    relevances = []

    def note(counts, *, relevance):
        relevances.append(relevance)
        return np.array([0, 1]), np.array([1, 0])

    monkeypatch.setattr(xcnn, "find_best_matches", note)
    spy_on(monkeypatch, xcnn, "_train_table")
    xcnn.fit(make_topic_texts(20, 0), dim=4, stem=False, hub="en", relevance="tfidf")
    assert relevances == ["tfidf"]


def test_negatives_by_hand():
    left = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    right = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.6, 0.8]])
    # Cosines of the rows: (1, -1, .6), (0, 0, .8), (1, -1, .6). Own less the next: 2, -.8, -.4; less the one after
    # that: .4, 0, 1.6.
    with_one, with_two = (float(contrast.contrast(left, right, loss="difference", negatives=n)) for n in (1, 2))
    assert with_one == pytest.approx(-0.8 / 3)
    assert with_two == pytest.approx(-(0.8 / 3 + 2.0 / 3) / 2)
    logistic = [float(contrast.contrast(left, right, loss="logistic", scale=1.0, negatives=n)) for n in (1, 2)]
    soft = [np.logaddexp(0, -np.array(gaps)).mean() for gaps in ([2.0, -0.8, -0.4], [0.4, 0.0, 1.6])]
    assert logistic == pytest.approx([soft[0], np.mean(soft)])


@pytest.mark.parametrize(("has_model", "steps"), [(False, 0.03), (True, 0.003)])
def test_s2net_takes_smaller_steps_from_a_model_that_is_given(monkeypatch, has_model, steps):
    calls = []
    monkeypatch.setattr(contrast, "learn", lambda *args, batch: calls.append(args))
    start = s2net.fit(make_sentences(30, 0), dim=4, stem=False, epochs=0) if has_model else "random"
    s2net.fit(make_sentences(30, 0), dim=4, stem=False, start=start, learning_rate=0.03, loss="difference", scale=3.0)
    *_, compute_loss, training_settings = calls[-1]
    assert training_settings.learning_rate == pytest.approx(steps)
    assert (compute_loss.keywords["loss"], compute_loss.keywords["scale"]) == ("difference", 3.0)


def test_bae_is_tuned_on_one_language_of_a_concept_at_a_time(monkeypatch):
    texts_read = []
    plain = network.encode
    monkeypatch.setattr(network, "encode", lambda machines, texts: texts_read.append(texts) or plain(machines, texts))
    bae.fit(make_sentences(60, 0), dim=4, stem=False, pretraining_epochs=0, epochs=1, words=8)
    halves = [
        np.asarray(part.sum(axis=1)).ravel() for texts in texts_read for part in np.split(texts.toarray(), 2, axis=1)
    ]
    english, french = np.concatenate(halves[::2]), np.concatenate(halves[1::2])
    np.testing.assert_allclose(np.maximum(english, french), 8, rtol=1e-5)
    np.testing.assert_allclose(np.minimum(english, french), 0, atol=1e-6)
    assert 0.2 < np.mean(english > 0) < 0.8


def test_a_machine_draws_its_hidden_units_before_it_writes():
    """One unit says which of two words is written: drawn, a text is all of one; averaged, it would be of both."""
    machine = network.Machine(torch.tensor([[40.0], [-40.0]]), torch.tensor([-20.0, 20.0]), torch.zeros(1))
    texts = [sp.csr_matrix(np.full((200, 2), 0.5, np.float32))]
    corpus = network.Corpus.from_texts(texts, [np.arange(200)], 200, 10)
    torch.manual_seed(0)
    written = network._draw_reconstruction(machine, torch.zeros(200, 1), corpus, np.arange(200)).toarray()
    assert set(np.unique(written)) == {0, 10}
    assert 60 < (written[:, 0] == 10).sum() < 140


@pytest.mark.parametrize("rounds", [0, 4])
def test_procrustes_is_refined_for_the_given_number_of_rounds(monkeypatch, rounds):
    rounds_used = []
    plain = maps.refine_rotation

    def note(source, target, P, *, rounds, **options):
        rounds_used.append(rounds)
        return plain(source, target, P, rounds=rounds, **options)

    monkeypatch.setattr(maps, "refine_rotation", note)
    alignment.fit(make_sentences(80, 0), dim=6, rounds=rounds, min_df=1)
    assert rounds_used[0] == rounds


def test_word_spaces_are_centred_before_they_are_turned():
    rows = np.random.default_rng(0).standard_normal((50, 4)).astype(np.float32) + 5
    np.testing.assert_allclose(alignment._prepare_vectors(rows, "procrustes").mean(axis=0), 0, atol=0.1)
    assert abs(maps.make_unit_rows(rows).mean()) > 0.3


def test_the_hinge_has_a_margin_of_one():
    rng = np.random.default_rng(0)
    model = training.make_ranker(rng.uniform(-1, 1, (8, 5)).astype(np.float32), (), rng, "cpu")
    queries, documents = (
        bags(sp.csr_matrix(rng.integers(0, 2, (4, 8)).astype(np.float32) + np.eye(4, 8))) for _ in "qd"
    )
    drawn = np.array([[0, 1, 2], [0, 1, 2], [1, 2, 3]])
    with torch.no_grad():
        from paragloss.lab.descent.bags import select

        drawn_queries = select(queries, torch.tensor(drawn[0]))
        scores = [
            training.score_documents(model, drawn_queries, select(documents, torch.tensor(part))) for part in drawn[1:]
        ]
        expected = float((1 - scores[0].tanh() + scores[1].tanh()).clamp(min=0).mean())
    settings = TrainingSettings(epochs=1, seed=0, learning_rate=1e-12, epsilon=1e-5)
    history = training.train_ranker(model, queries, documents, lambda epoch, rng: drawn, settings, batch=3)
    assert history.epochs[0].loss == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("kind", ["cnn", "lstm"])
def test_words_are_dropped_in_training_and_not_when_served(kind):
    torch.manual_seed(0)
    tower = towers.KINDS[kind](torch.randn(6, 4))
    text = bags(sp.csr_matrix(np.eye(6, dtype=np.float32)))
    rows = {mode: [tower.train(mode)(text).detach() for _ in range(2)] for mode in (True, False)}
    assert not torch.allclose(*rows[True])
    assert torch.equal(*rows[False])
    words = torch.cat([towers._pad_words(torch.ones(6, 4), text, True)[0].flatten() for _ in range(200)])
    assert float((words == 0).float().mean()) == pytest.approx(towers.DROPOUT, abs=0.03)


def test_the_learning_rate_decays_after_every_epoch():
    # Slope 1 all the way: steps of 1, 1/2, 1/4.
    point = torch.zeros(1, requires_grad=True)
    positions = []
    settings = TrainingSettings(3, 0, 1.0, "sgd", decay=0.5, progress=lambda _: positions.append(float(point.detach())))
    descend({"point": point}, lambda epoch, rng: [0], lambda _: -point.sum(), settings)
    assert positions == pytest.approx([1.0, 1.5, 1.75])


def test_hard_negatives_are_asked_for_when_knrm_wants_them(monkeypatch):
    judged = judgments.from_aligned(make_sentences(40, 0), source="en", target="fr", query="text")
    similarities = []
    plain = sampling.make_source
    monkeypatch.setattr(
        sampling,
        "make_source",
        lambda grades, similarity=None, **options: (
            similarities.append(similarity) or plain(grades, similarity, **options)
        ),
    )
    for negatives in ("random", "hard"):
        knrm.fit_judged(judged, dim=4, epochs=1, negatives=negatives)
    assert similarities[0] is None
    assert similarities[1].shape[0] == 40
    np.testing.assert_allclose(np.sqrt(similarities[1].multiply(similarities[1]).sum(axis=1)), 1, rtol=1e-4)


class CapturedError(Exception):
    """What a function was called with, instead of what it would have done."""


@pytest.mark.parametrize("name", ["alignment", "bae", "cca", "cr5", "lsi", "opca", "s2net"])
def test_counting_settings_reach_the_counting(name, monkeypatch):
    module = load_method(name)

    def note(*_, **arguments):
        raise CapturedError(arguments)

    expected = {"stem": False, "max_terms": 77, "min_df": 3}
    if "lengths" in read_options(module.fit):
        expected["lengths"] = (2, 9)
    monkeypatch.setattr(module, "count", note)
    with pytest.raises(CapturedError) as caught:
        module.fit(make_sentences(20, 0), **expected)
    assert caught.value.args[0].items() >= expected.items()
