import numpy as np
import pytest
import scipy.sparse as sp
from corpora import make_sentences, measure_precision

from paragloss import collection
from paragloss.encoders.bag import BagEncoder
from paragloss.errors import ModelError
from paragloss.lab import judgments
from paragloss.lab.methods import ordinal
from studies import smoothness

torch = pytest.importorskip("torch")

from paragloss.lab.descent import graded, towers  # noqa: E402
from paragloss.lab.descent.bags import bags  # noqa: E402
from paragloss.lab.descent.loop import TrainingSettings  # noqa: E402


def compute_loss(loss, score, grade, thresholds):
    return float(loss(torch.tensor([score], dtype=torch.float64), torch.tensor([grade]), thresholds)[0])


@pytest.mark.parametrize(
    ("loss", "thresholds", "expected_by_pair"),
    [
        (
            ordinal.sosl,
            (0.2, 0.7),
            {
                (0.45, 0): 0.0625,  # 0.25 above the lowest segment
                (-1.0, 1): 1.44,  # 1.2 below the middle one
                (0.0, 2): 0.49,  # 0.7 below the highest
                (0.5, 1): 0.0,  # inside
                (0.9, 1): 0.04,
                (-1.0, 0): 0.0,
                (1.0, 2): 0.0,
            },
        ),
        (ordinal.sosl, (-0.5, 0.0, 0.5), {(0.9, 1): 0.81}),
        (ordinal.sosl, (0.4,), {(0.9, 0): 0.25}),
        # Segments [-1, .2], [.2, .7], [.7, 1] have their middles at -.4, .45, .85.
        (ordinal.mse, (0.2, 0.7), {(0.1, 0): 0.25, (0.1, 1): 0.1225, (0.1, 2): 0.5625}),
        # S(.2 - .5) = .425557, S(.7 - .5) = .549834
        (ordinal.odds, (0.2, 0.7), {
            (0.5, 0): -np.log(0.425557), (0.5, 1): -np.log(0.549834 - 0.425557), (0.5, 2): -np.log(1 - 0.549834),
        }),
        # S(1.5) = .817574, S(.5) = .622459, S(.3) = .574443, S(-.2) = .450166
        (ordinal.sigmoids, (0.2, 0.7), {
            (0.5, 0): -np.log(0.425557 * 0.817574), (0.5, 1): -np.log(0.549834 * 0.574443),
            (0.5, 2): -np.log(0.622459 * 0.450166),
        }),
        (ordinal.three_part, (0.2, 0.55, 0.9), {
            (0.5, 0): 0.09, (0.1, 0): 0, (0.65, 1): 0.01, (-1, 1): 0, (0.6, 2): 0.09, (0.95, 2): 0,
        }),
    ],
)  # fmt: skip
def test_losses_by_hand(loss, thresholds, expected_by_pair):
    for (score, grade), expected in expected_by_pair.items():
        assert compute_loss(loss, score, grade, thresholds) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("loss", "thresholds"),
    [
        *((ordinal.sosl, values) for values in ((), (0.7, 0.2), (0.2, 1.5), (0.3, 0.3), (-1.0, 0.2), (0.2, 1.0))),
        (ordinal.three_part, (0.2, 0.7)),
    ],
)
def test_invalid_thresholds_are_refused(loss, thresholds):
    with pytest.raises(ModelError, match=r"thresholds .*expected"):
        compute_loss(loss, 0.5, 0, thresholds)


def make_rows(texts, values, width):
    """A sparse matrix whose row i holds these ids and values as they are, zeros too."""
    flat = np.fromiter((i for text in texts for i in text), np.int32)
    return sp.csr_matrix((np.array(values, np.float32), flat, np.cumsum([0, *map(len, texts)])), (len(texts), width))


def make_means(texts):
    return make_rows(texts, [1 / len(text) for text in texts for _ in text], 6)


def make_bags(*texts):
    """Bags of these term ids with mean weights."""
    return bags(make_means(texts))


def test_average_pooling_by_hand_and_padding_never_counts():
    table = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, -0.5], [9, 9], [9, 9], [9, 9]])
    rows = towers.Average(table)(make_bags([0, 1], [2], []))
    torch.testing.assert_close(rows, torch.tensor([[0.5, 0.5], [0.5, -0.5], [0.0, 0.0]]).tanh())


@pytest.mark.parametrize("kind", list(towers.KINDS))
def test_a_text_has_the_same_row_alone_and_among_longer_ones(kind):
    torch.manual_seed(0)
    tower = towers.KINDS[kind](torch.randn(6, 4)).eval()
    texts = [[0], [1, 2, 3, 4, 5, 0, 1, 2], [], [3, 3]]
    rows = tower(make_bags(*texts))
    for i, text in enumerate(texts):
        torch.testing.assert_close(rows[i], tower(make_bags(text))[0])
    assert rows[2].abs().sum() == 0


def test_the_convolution_is_the_textbooks():
    torch.manual_seed(0)
    tower = towers.Convolution(torch.randn(6, 4)).eval()
    text = [2, 0, 5, 1]
    x = torch.cat([torch.zeros(1, 4), tower.table[text], torch.zeros(1, 4)])
    windows = torch.stack([x[i : i + 3].T.flatten() for i in range(4)])  # (positions, dim x window)
    responses = (windows @ tower.filters.weight.view(towers.FILTERS, -1).T + tower.filters.bias).tanh()
    expected = (tower.dense.weight @ responses.max(0).values + tower.dense.bias).tanh()
    torch.testing.assert_close(tower(make_bags(text))[0], expected)


def test_word_order_matters_to_the_lstm_and_not_to_the_average():
    torch.manual_seed(0)
    for kind, same in (("average", True), ("lstm", False), ("cnn", False)):
        rows = towers.KINDS[kind](torch.randn(6, 4)).eval()(make_bags([0, 1, 2], [2, 1, 0]))
        assert torch.allclose(rows[0], rows[1], atol=1e-6) == same


def test_smooth_cosine_by_hand_and_how_high_it_reaches():
    q, d = torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 2.0]])
    # 8 / ((5 + 1)(2 + 1)) = 0.4444; without smoothing 0.8
    assert float(graded.smooth(q, 1.0) @ graded.smooth(d, 1.0).T) == pytest.approx(8 / 18)
    assert float(graded.smooth(q, 0.0) @ graded.smooth(d, 0.0).T) == pytest.approx(0.8)
    longest = torch.full((1, 64), 50.0).tanh()
    assert float(graded.smooth(longest, 1.0) @ graded.smooth(longest, 1.0).T) == pytest.approx(
        smoothness.reach(1.0, 64)
    )


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_empty_texts_have_finite_zero_gradients(epsilon):
    table = torch.randn(6, 3, requires_grad=True)
    net = towers.Average(table.detach().clone())
    rows = graded.smooth(net(make_bags([], [1])), epsilon)
    assert rows[0].abs().sum() == 0
    rows.sum().backward()
    gradient = net.table.grad.to_dense()
    assert torch.isfinite(gradient).all()
    # The words of the other text alone have a gradient.
    assert (gradient.abs().sum(1) > 0).tolist() == [False, True, False, False, False, False]
    empty = towers.Average(table.detach().clone())
    graded.smooth(empty(make_bags([])), epsilon).sum().backward()
    assert not empty.table.grad.to_dense().any()


def make_task(queries, documents, grades):
    judged = make_rows([list(row) for row in grades], [g for row in grades for g in row.values()], len(documents))
    return graded.make_task("a", "b", make_means(queries), make_means(documents), judged, "cpu")


def test_pairs_hold_the_judged_documents_and_never_sample_one():
    small_task = make_task([[0], [1]], [[2]] * 6, [{4: 2, 1: 1}, {0: 2, 5: 0}])
    torch.manual_seed(0)
    pairs = graded.pair_documents(small_task, torch.tensor([1, 0]), 500)
    query, document = pairs.cells // len(pairs.documents), pairs.documents[pairs.cells % len(pairs.documents)]
    judged = [(int(q), int(d), int(g)) for q, d, g in zip(query[:4], document[:4], pairs.grades[:4], strict=True)]
    assert sorted(judged) == [(0, 0, 2), (0, 5, 0), (1, 1, 1), (1, 4, 2)]
    for query_row, free in ((0, {1, 2, 3, 4}), (1, {0, 2, 3, 5})):
        drawn = document[4:][query[4:] == query_row]
        assert set(drawn.tolist()) == free
        assert np.bincount(drawn, minlength=6).max() < 170  # 125 each, deviation 10
    assert pairs.grades[4:].sum() == 0


def test_a_pool_of_irrelevant_documents_is_small_and_never_judged():
    small_task = make_task([[0]] * 20, [[2]] * 300, [{i: 2, i + 1: 1} for i in range(20)])
    torch.manual_seed(0)
    rows = torch.arange(20)
    unlimited, pooled = (
        graded.pair_documents(small_task, rows, 40),
        graded.pair_documents(small_task, rows, 40, pool=10),
    )
    assert len(unlimited.documents) > 250
    assert len(pooled.documents) <= 10 + 21 + 20  # the pool, the judged ones, and draws in place of judged ones
    assert len(pooled.cells) == len(unlimited.cells) == 20 * 42
    query, document = pooled.cells // len(pooled.documents), pooled.documents[pooled.cells % len(pooled.documents)]
    for q, d, grade in zip(query[40:].tolist(), document[40:].tolist(), pooled.grades[40:].tolist(), strict=True):
        assert grade == 0
        assert d not in (q, q + 1)


def make_judged(n, seed=0, **options):
    return judgments.from_aligned(make_sentences(n, seed), source="en", target="fr", query_kind="text", **options)


def test_new_texts_find_their_translations_after_training():
    model = ordinal.fit(make_sentences(300, 0), dim=16, epochs=20, negatives=20, batch=32, seed=1)
    assert isinstance(model, BagEncoder)
    untrained = ordinal.fit_judged(make_judged(300), dim=16, epochs=1, learning_rate=1e-9, negatives=5)
    assert measure_precision(model, make_sentences(40, 9)) > 0.5
    assert measure_precision(untrained, make_sentences(40, 9)) < 0.15


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ["cnn", "lstm"])
def test_deeper_towers_learn_too_and_survive_saving(encoder, tmp_path):
    settings = {"dim": 32, "epochs": 30, "decay": 1.0, "negatives": 10, "batch": 16}
    model = ordinal.fit_judged(make_judged(200), encoder=encoder, **settings)
    fresh = make_sentences(30, 9)
    assert measure_precision(model, fresh) > 0.3
    model.save(tmp_path / "m")
    loaded = collection.load(tmp_path / "m")
    texts = [concept.texts["fr"] for concept in fresh] + ["", "unheard of"]
    np.testing.assert_array_equal(loaded.encode(texts, "fr"), model.encode(texts, "fr"))
    assert not loaded.encode(texts, "fr")[-2:].any()


def test_served_scores_are_those_of_training():
    judged = make_judged(30)
    model = ordinal.fit_judged(judged, dim=8, epochs=2, negatives=5, epsilon=0.5)
    vocabularies = {lang: tower.vocabulary for lang, tower in model.towers.items()}
    training_task = ordinal._make_task(judged, vocabularies, "cpu", ordered=False)
    nets = {lang: towers.Average(torch.tensor(tower.table)) for lang, tower in model.towers.items()}
    pairs = graded.pair_documents(training_task, torch.arange(30), 0)
    training_scores = graded.score_pairs(nets, training_task, torch.arange(30), pairs, 0.5).detach().numpy()
    queries = model.encode([query.text for query in judged.queries], "en")
    documents = model.encode([document.text for document in judged.documents.values()], "fr")
    np.testing.assert_allclose(training_scores, (queries * documents).sum(1), atol=1e-6)


def test_linked_concepts_end_up_between_relevant_and_irrelevant():
    links = {str(i): {str((i + 1) % 150)} for i in range(150)}
    model = ordinal.fit_judged(make_judged(150, links=links), dim=32, epochs=25, negatives=20, batch=32)
    english, french = (model.encode([c.texts[lang] for c in make_sentences(150, 0)], lang) for lang in ("en", "fr"))
    scores = english @ french.T
    own, linked = np.diag(scores), scores[np.arange(150), (np.arange(150) + 1) % 150]
    assert own.mean() > linked.mean() > np.median(scores)


def test_tuning_ranks_every_combination():
    judged = make_judged(60)
    grid = {"thresholds": [(0.2, 0.7), (-0.999, -0.998)], "epsilons": [0.5]}
    trials = ordinal.tune(judged, folds=2, dim=16, epochs=10, batch=16, negatives=10, **grid)
    assert [trial.epsilon for trial in trials] == [0.5, 0.5]
    assert trials[0].thresholds == (0.2, 0.7)  # the other asks next to nothing of a relevant document
    assert trials[0].measure > trials[1].measure


def test_ndcg_of_many_queries_is_the_mean_of_each():
    """Queries of one, three, six and seven judged documents, of which the first five count; one has nothing right."""
    rng = np.random.default_rng(0)
    grades = [{3: 2}, {0: 0, 1: 0, 2: 0}, dict(zip(range(6), (0, 0, 2, 1, 0, 1), strict=True)),
              dict(zip(range(1, 8), (1, 0, 0, 2, 1, 1, 2), strict=True))]  # fmt: skip
    small_task = make_task([[0], [1], [2], [0, 1]], [[d % 6, (d * 2 + 1) % 6] for d in range(8)], grades)
    nets = {lang: towers.Average(torch.tensor(rng.standard_normal((6, 4)), dtype=torch.float32)) for lang in "ab"}
    with torch.no_grad():
        query_vectors, document_vectors = nets["a"](small_task.queries).numpy(), nets["b"](small_task.documents).numpy()
    query_vectors, document_vectors = (
        rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 0.5) for rows in (query_vectors, document_vectors)
    )
    expected = []
    for query, grades_of_query in enumerate(grades):
        ranked = sorted(grades_of_query, key=lambda d: -float(query_vectors[query] @ document_vectors[d]))
        gain, ideal = (
            sum(grade / np.log2(rank + 2) for rank, grade in enumerate(graded_list[:5]))
            for graded_list in ([grades_of_query[d] for d in ranked], sorted(grades_of_query.values(), reverse=True))
        )
        expected.append(gain / ideal if ideal else 0.0)
    for block in (1, 3, 256):
        assert graded.measure_ndcg(nets, small_task, 0.5, block=block) == pytest.approx(np.mean(expected), rel=1e-5)


def test_towers_drop_words_while_they_learn_and_not_when_they_are_measured_or_served():
    modes = []

    class RecordingTower(towers.Average):
        def forward(self, texts):
            modes.append(self.training)
            return super().forward(texts)

    small_task = make_task([[0], [1]], [[2]] * 6, [{4: 2, 1: 1}, {0: 2, 5: 0}])
    nets = {lang: RecordingTower(torch.randn(6, 4)).eval() for lang in "ab"}
    training = TrainingSettings(epochs=2, seed=0, learning_rate=0.1)
    graded.train_towers([small_task], nets, ordinal.sosl, training, graded.Sampling(1, 2), 1.0, [small_task])
    assert modes == [True, True, False, False] * 2
    assert not any(net.training for net in nets.values())
