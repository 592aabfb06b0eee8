import numpy as np
import pytest
import scipy.sparse as sp

from paragloss.errors import ModelError

torch = pytest.importorskip("torch")

from paragloss.lab.descent.bags import _transpose_by_sorting, bags, pool, select, take, transpose  # noqa: E402
from paragloss.lab.descent.batches import batches, held_out, shuffled  # noqa: E402
from paragloss.lab.descent.loop import TrainingSettings, descend  # noqa: E402


def run_descent(parameters, batches, compute_loss, *, validate=None, **settings):
    return descend(parameters, batches, compute_loss, TrainingSettings(**settings), validate)


def fit_line(*, epochs=5, seed=0, **settings):
    """Fit y = 2x - 1 from noisy points; returns the history and the two parameters."""
    rng = np.random.default_rng(7)
    x = torch.tensor(rng.standard_normal(64), dtype=torch.float32)
    y = 2 * x - 1 + 0.1 * torch.tensor(rng.standard_normal(64), dtype=torch.float32)
    parameters = {"slope": torch.zeros((), requires_grad=True), "at": torch.zeros((), requires_grad=True)}
    history = run_descent(
        parameters,
        lambda epoch, rng: shuffled(64, 8, rng),
        lambda rows: ((parameters["slope"] * x[rows] + parameters["at"] - y[rows]) ** 2).mean(),
        epochs=epochs,
        seed=seed,
        **{"learning_rate": 0.1} | settings,
    )
    return history, [float(p.detach()) for p in parameters.values()]


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_descent_fits_a_line(optimizer):
    history, (slope, at) = fit_line(epochs=30, optimizer=optimizer, decay=0.9)
    assert slope == pytest.approx(2, abs=0.05)
    assert at == pytest.approx(-1, abs=0.05)
    assert history.epochs[-1].loss < 0.02 < history.epochs[0].loss


def test_the_first_adam_steps_by_hand():
    # Gradient 3, then 1. epsilon-hat form: rate sqrt(1 - .999^t) / (1 - .9^t) x m / (sqrt(v) + epsilon).
    # t=1: m .3, v .009: .1 x .0316228 / .1 x .3 / (.0948683 + .01) = .0904642
    # t=2: m .37, v .009991: .1 x .0447102 / .19 x .37 / (.0999550 + .01) = .0791844
    p = {"p": torch.zeros((), dtype=torch.float64, requires_grad=True)}
    values = []
    run_descent(p, lambda e, r: [3.0, 1.0], lambda g: values.append(float(p["p"].detach())) or g * p["p"],
            epochs=1, learning_rate=0.1, epsilon=0.01, seed=0)  # fmt: skip
    assert values == [0.0, pytest.approx(-0.0904642, abs=1e-6)]
    assert float(p["p"].detach()) == pytest.approx(-0.0904642 - 0.0791844, abs=1e-6)


def test_row_sparse_adam_is_torchs_and_leaves_other_rows_alone():
    start = torch.randn(10, 3, generator=torch.Generator().manual_seed(0))
    ours, theirs = start.clone().requires_grad_(), start.clone().requires_grad_()
    rows = [torch.tensor([0, 4, 7]), torch.tensor([1, 4]), torch.tensor([4])]
    run_descent({"t": ours}, lambda e, r: rows, lambda x: (take(ours, x) ** 2).sum() / 2,
            epochs=1, learning_rate=0.1, epsilon=1e-8, seed=0)  # fmt: skip
    optimizer = torch.optim.SparseAdam([theirs], lr=0.1)
    for x in rows:
        optimizer.zero_grad()
        (torch.nn.functional.embedding(x, theirs, sparse=True) ** 2).sum().div(2).backward()
        optimizer.step()
    torch.testing.assert_close(ours, theirs)
    assert torch.equal(ours[[2, 3, 5, 6, 8, 9]], start[[2, 3, 5, 6, 8, 9]])


def test_a_seed_repeats_bit_for_bit_and_another_differs():
    assert fit_line(seed=3) == fit_line(seed=3)
    assert fit_line(seed=3) != fit_line(seed=4)


def test_torchs_own_generator_is_seeded_for_dropout_and_put_back():
    def run():
        p = {"p": torch.ones(50, requires_grad=True)}
        run_descent(p, lambda e, r: [None], lambda _: torch.nn.functional.dropout(p["p"], 0.5).sum(),
                epochs=3, learning_rate=0.1, seed=1)  # fmt: skip
        return p["p"].detach()

    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first = run()
    assert torch.equal(torch.rand(1), expected)
    assert torch.equal(first, run())


@pytest.mark.parametrize(
    ("measures", "patience", "n_epochs", "best"),
    [
        ([0.1, 0.5, 0.4, 0.5, 0.3, 0.9], 3, 5, 2),  # an equal measure is not a better one
        ([0.5, 0.4, 0.3, 0.2], 0, 4, 1),  # without patience all epochs are run
        ([-3.0, -1.0, -2.0], 0, 3, 2),
        ([-1.0, -2.0, -3.0], 0, 3, 1),
        ([None] * 3, 1, 3, 3),  # without a measure the last epoch is kept
    ],
)
def test_the_parameters_of_the_best_epoch_are_kept_and_patience_ends_the_run(measures, patience, n_epochs, best):
    measure_of_epoch, progress, p = iter(measures), [], {"p": torch.zeros((), requires_grad=True)}
    settings = {"epochs": len(measures), "learning_rate": 1.0, "optimizer": "sgd", "seed": 0, "patience": patience}
    validate = None if measures[0] is None else lambda: next(measure_of_epoch)
    history = run_descent(
        p, lambda e, r: [None], lambda _: p["p"], validate=validate, progress=progress.append, **settings
    )
    assert history.best == best
    assert [epoch.measure for epoch in history.epochs] == measures[:n_epochs]
    assert float(p["p"].detach()) == -best  # one step down per epoch
    assert progress == history.epochs


def test_the_rate_decays_by_its_factor_after_each_epoch():
    p = {"p": torch.zeros((), requires_grad=True)}
    values = []
    run_descent(p, lambda e, r: [None, None], lambda _: values.append(float(p["p"].detach())) or p["p"],
            epochs=3, learning_rate=1.0, optimizer="sgd", decay=0.5, seed=0)  # fmt: skip
    assert [*values, float(p["p"].detach())] == [0, -1, -2, -2.5, -3, -3.25, -3.5]


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ([1.0, 1.0, float("inf"), 1.0], "loss became inf at step 3; try a tenth of the learning rate"),
        ([], "no batches"),
    ],
)
def test_a_diverging_loss_is_named_with_its_step_and_an_epoch_needs_batches(factors, message):
    p = {"p": torch.ones((), requires_grad=True)}
    with pytest.raises(ModelError, match=message):
        run_descent(p, lambda e, r: factors, lambda x: p["p"] * x, epochs=1, learning_rate=0.1, seed=0)


def test_clipping_bounds_the_norm_of_all_gradients_together():
    p = {"a": torch.zeros((), requires_grad=True), "t": torch.zeros(4, 1, requires_grad=True)}
    run_descent(p, lambda e, r: [torch.tensor([2])], lambda x: 3 * p["a"] + 4 * take(p["t"], x).sum(),
            epochs=1, learning_rate=1.0, optimizer="sgd", clip=1.0, seed=0)  # fmt: skip
    assert float(p["a"].detach()) == pytest.approx(-0.6)
    assert p["t"].detach().flatten().tolist() == pytest.approx([0, 0, -0.8, 0])


def make_corpus(rng, texts=7, terms=12):
    matrix = sp.random(texts, terms, 0.4, format="csr", dtype=np.float32, random_state=rng)
    return matrix, bags(matrix)


def test_pooling_is_a_sparse_product_with_a_row_sparse_gradient():
    matrix, texts = make_corpus(np.random.default_rng(0))
    table = torch.randn(12, 4, dtype=torch.float64, requires_grad=True)
    rows = torch.tensor([5, 0, 0, 3])
    pooled = pool(table, select(texts, rows))
    dense = torch.tensor(matrix[rows.numpy()].toarray(), dtype=torch.float64)
    torch.testing.assert_close(pooled, dense @ table)
    upstream = torch.randn(4, 4, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(pooled, table, upstream)
    assert gradient.is_sparse
    assert gradient.coalesce().indices()[0].tolist() == sorted(set(matrix[rows.numpy()].indices.tolist()))
    torch.testing.assert_close(gradient.to_dense(), dense.T @ upstream)


def test_both_implementations_of_transposing_agree():
    _, texts = make_corpus(np.random.default_rng(1), texts=50, terms=30)
    by_counting, by_sorting = transpose(texts, 30), _transpose_by_sorting(texts)
    assert torch.equal(by_counting[0], by_sorting[0])
    assert all(torch.equal(a.long(), b.long()) for a, b in zip(by_counting[1][:2], by_sorting[1][:2], strict=True))
    assert torch.equal(by_counting[1].weights, by_sorting[1].weights)


@pytest.mark.parametrize(("count", "size"), [(50, 10), (400, 20), (9000, 100)])
def test_batches_hold_every_row_once_and_are_smaller_where_there_are_few(count, size):
    drawn = list(batches(np.arange(count) + 7, 100)(1, np.random.default_rng(0)))
    assert sorted(np.concatenate(drawn)) == list(range(7, count + 7))
    assert max(map(len, drawn)) == size
    assert drawn[0].tolist() != sorted(drawn[0].tolist()), "shuffled"


@pytest.mark.parametrize(("count", "held_out_count"), [(399, 0), (400, 20), (1000, 50), (60_000, 2000)])
def test_a_twentieth_is_held_out_up_to_a_limit_and_the_others_are_learned_from(count, held_out_count):
    held_out_rows, training_rows = held_out(count, 2000, seed=3)
    assert (len(held_out_rows), len(training_rows)) == (held_out_count, count - held_out_count)
    assert sorted([*held_out_rows.tolist(), *training_rows.tolist()]) == list(range(count))
    assert not held_out_count or sorted(held_out_rows.tolist()) != held_out_rows.tolist(), "drawn, not the first"
