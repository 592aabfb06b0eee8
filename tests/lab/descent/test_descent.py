import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import scipy.sparse as sp

from paragloss.errors import ModelError

torch = pytest.importorskip("torch")

from paragloss.lab.descent.bags import _transpose_by_sorting, bags, pool, select, take, transpose  # noqa: E402
from paragloss.lab.descent.batches import shuffled  # noqa: E402
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


def test_without_a_small_epsilon_adam_is_torchs():
    p = {"w": torch.linspace(-1, 1, 6, dtype=torch.float64).requires_grad_()}
    q = torch.linspace(-1, 1, 6, dtype=torch.float64).requires_grad_()
    rows = [torch.tensor(np.random.default_rng(i).standard_normal(6)) for i in range(20)]
    run_descent(
        p, lambda e, r: rows, lambda x: (p["w"] @ x - 1) ** 2, epochs=1, learning_rate=0.05, epsilon=1e-15, seed=0
    )
    theirs = torch.optim.Adam([q], lr=0.05, eps=1e-15)
    for x in rows:
        theirs.zero_grad()
        ((q @ x - 1) ** 2).backward()
        theirs.step()
    torch.testing.assert_close(p["w"], q)


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


def test_the_parameters_of_the_best_epoch_are_kept_and_patience_ends_the_run():
    measures = iter([0.1, 0.5, 0.4, 0.5, 0.3, 0.9])
    p = {"p": torch.zeros((), requires_grad=True)}
    progress = []
    history = run_descent(
        p, lambda e, r: [None], lambda _: p["p"], epochs=6, learning_rate=1.0, optimizer="sgd", seed=0,
        validate=lambda: next(measures), patience=3, progress=progress.append,
    )  # fmt: skip
    assert history.best == 2  # an equal measure is not a better one
    assert [epoch.measure for epoch in history.epochs] == [0.1, 0.5, 0.4, 0.5, 0.3]
    assert float(p["p"].detach()) == -2.0  # one step down per epoch
    assert progress == history.epochs


@pytest.mark.parametrize("patience", [0, None])
def test_without_patience_all_epochs_are_run_and_the_best_is_kept(patience):
    p = {"p": torch.zeros((), requires_grad=True)}
    measures = iter([0.5, 0.4, 0.3, 0.2])
    history = run_descent(
        p, lambda e, r: [None], lambda _: p["p"], epochs=4, learning_rate=1.0, optimizer="sgd", seed=0,
        validate=lambda: next(measures), patience=patience,
    )  # fmt: skip
    assert (len(history.epochs), history.best) == (4, 1)


def test_the_rate_decays_by_its_factor_after_each_epoch():
    p = {"p": torch.zeros((), requires_grad=True)}
    values = []
    run_descent(p, lambda e, r: [None, None], lambda _: values.append(float(p["p"].detach())) or p["p"],
            epochs=3, learning_rate=1.0, optimizer="sgd", decay=0.5, seed=0)  # fmt: skip
    assert [*values, float(p["p"].detach())] == [0, -1, -2, -2.5, -3, -3.25, -3.5]


def test_k_nrm_learns_from_every_triple_also_of_a_last_short_batch(monkeypatch):
    from paragloss.lab.descent import kernel_networks

    captured = {}
    monkeypatch.setattr(kernel_networks, "descend", lambda parameters, batches, *_: captured.update(batches=batches))
    model = kernel_networks.make_ranker(np.ones((3, 2), np.float32), (), np.random.default_rng(0), "cpu")
    triples = np.arange(15).reshape(3, 5)
    kernel_networks.train_ranker(model, None, None, lambda epoch, rng: triples, TrainingSettings(1, 0, 0.1), batch=2)
    drawn = list(captured["batches"](1, np.random.default_rng(0)))
    assert [part.shape for part in drawn] == [(3, 2), (3, 2), (3, 1)]
    all_batches = np.hstack(drawn)
    assert sorted(all_batches[0].tolist()) == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(all_batches[1:] - all_batches[0], [[5] * 5, [10] * 5])


def test_clipping_bounds_the_norm_of_all_gradients_together():
    p = {"a": torch.zeros((), requires_grad=True), "t": torch.zeros(4, 1, requires_grad=True)}
    run_descent(p, lambda e, r: [torch.tensor([2])], lambda x: 3 * p["a"] + 4 * take(p["t"], x).sum(),
            epochs=1, learning_rate=1.0, optimizer="sgd", clip=1.0, seed=0)  # fmt: skip
    assert float(p["a"].detach()) == pytest.approx(-0.6)
    assert p["t"].detach().flatten().tolist() == pytest.approx([0, 0, -0.8, 0])


def test_a_diverging_loss_is_named_with_its_step():
    p = {"p": torch.ones((), requires_grad=True)}
    with pytest.raises(ModelError, match=r"loss became inf at step 3; try a tenth of the learning rate"):
        run_descent(
            p, lambda e, r: [1.0, 1.0, float("inf"), 1.0], lambda x: p["p"] * x, epochs=1, learning_rate=0.1, seed=0
        )


def test_an_epoch_without_batches_is_refused():
    p = {"p": torch.ones((), requires_grad=True)}
    with pytest.raises(ModelError, match="no batches"):
        run_descent(p, lambda e, r: [], lambda x: p["p"], epochs=1, learning_rate=0.1, seed=0)


RUN = textwrap.dedent("""
    import sys, json, time, numpy as np, torch
    from paragloss.lab.descent.bags import take
    from paragloss.lab.descent.batches import shuffled
    from paragloss.lab.descent.loop import TrainingSettings, descend
    table = torch.arange(30.0).view(10, 3).sin().requires_grad_()
    scale = torch.ones((), requires_grad=True)
    def progress(done):
        print(done.epoch, flush=True)
        if len(sys.argv) > 2 and done.epoch == 3:
            time.sleep(60)
    def validate():
        return float(table.sum())
    def loss(rows):
        x = take(table, torch.as_tensor(np.sort(rows)))
        return (torch.nn.functional.dropout(x, 0.3) * scale - 1).square().mean()
    history = descend({"table": table, "scale": scale}, lambda e, r: shuffled(10, 3, r), loss,
                      TrainingSettings(6, 2, 0.05, checkpoint=sys.argv[1], progress=progress), validate)
    print(json.dumps([table.tolist(), float(scale), history.epochs, history.best]))
""")


def test_a_killed_run_continues_from_its_checkpoint_with_identical_results(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(RUN, encoding="utf-8")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}

    def run(*arguments):
        command = [sys.executable, str(script), *map(str, arguments)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    uninterrupted = run(tmp_path / "whole.safetensors").communicate()[0].splitlines()
    killed = run(tmp_path / "part.safetensors", "wait")
    assert [killed.stdout.readline().strip() for _ in range(3)] == ["1", "2", "3"]
    time.sleep(0.1)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    resumed = run(tmp_path / "part.safetensors").communicate()[0].splitlines()
    assert resumed[:-1] == ["4", "5", "6"]  # the first three were not done again
    assert json.loads(resumed[-1]) == json.loads(uninterrupted[-1])


def test_a_finished_run_can_be_continued_for_more_epochs(tmp_path):
    path = tmp_path / "c.safetensors"
    fit_line(epochs=3, checkpoint=path)
    assert fit_line(epochs=5, checkpoint=path)[1] == fit_line(epochs=5)[1]


def test_a_checkpoint_of_another_run_or_no_checkpoint_at_all_is_refused(tmp_path):
    path = tmp_path / "c.safetensors"
    fit_line(epochs=1, checkpoint=path)
    with pytest.raises(ModelError, match=r"another training run.*remove it"):
        fit_line(epochs=2, seed=9, checkpoint=path)
    path.write_bytes(b"not a checkpoint")
    with pytest.raises(ModelError, match=r"not a checkpoint.*remove it"):
        fit_line(epochs=2, checkpoint=path)


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


def test_batches_hold_every_row_once():
    batches = list(shuffled(1003, 32, np.random.default_rng(0)))
    assert sorted(np.concatenate(batches)) == list(range(1003))
    assert max(map(len, batches)) == 32


@pytest.mark.parametrize(("measures", "best"), [([0.9, 0.5, 0.4], 1), ([-3.0, -1.0, -2.0], 2), ([-1.0, -2.0, -3.0], 1)])
def test_the_first_epoch_may_be_the_best_and_measures_may_be_below_zero(measures, best):
    measure_of_epoch, p = iter(measures), {"p": torch.zeros((), requires_grad=True)}
    settings = {"epochs": 3, "learning_rate": 1.0, "optimizer": "sgd", "seed": 0}
    history = run_descent(p, lambda e, r: [None], lambda _: p["p"], validate=lambda: next(measure_of_epoch), **settings)
    assert (history.best, float(p["p"].detach())) == (best, -best)


def test_without_a_measure_the_last_epoch_is_kept():
    p = {"p": torch.zeros((), requires_grad=True)}
    history = run_descent(
        p, lambda e, r: [None], lambda _: p["p"], epochs=3, learning_rate=1.0, optimizer="sgd", seed=0
    )
    assert (history.best, float(p["p"].detach())) == (3, -3.0)
