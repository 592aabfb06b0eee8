"""The graphics card's way of training K-NRM is the processor's: the same steps, whatever the shapes."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from paragloss.lab.descent import kernel_networks
from paragloss.lab.descent.bags import bags
from paragloss.lab.descent.resident import Steps, _padded

TERMS, DIM = 40, 6


def make_texts(count: int, max_words: int, seed: int) -> sp.csr_matrix:
    """Counts of texts of different lengths; the second is empty."""
    rng = np.random.default_rng(seed)
    rows = rng.poisson(0.3, (count, TERMS)) * (rng.random((count, TERMS)) < max_words / TERMS)
    rows[0, 0], rows[1] = 1, 0
    return sp.csr_matrix(rows.astype(np.float32))


def train_ranker(
    device: str, monkeypatch: pytest.MonkeyPatch, *, resident: bool
) -> tuple[list[float], kernel_networks.Ranker]:
    rng = np.random.default_rng(0)
    model = kernel_networks.ranker(rng.uniform(-1, 1, (TERMS, DIM)).astype(np.float32), (3,), rng, device)
    queries, documents = bags(make_texts(9, 5, 1), device), bags(make_texts(30, 30, 2), device)
    if resident:
        plain = kernel_networks.descend
        steps = Steps(
            {"table": model.table, "weight": model.weight, "bias": model.bias}, model.active, queries, documents, 1e-5
        )
        monkeypatch.setattr(kernel_networks, "descend", lambda *a, **k: plain(*a, **{**k, "stepping": steps}))
    drawn = np.random.default_rng(3).integers(0, [[9], [30], [30]], (3, 22))
    settings = {"batch": 8, "epochs": 3, "learning_rate": 0.05, "epsilon": 1e-5, "seed": 0}
    history = kernel_networks.train(model, queries, documents, lambda epoch, rng: drawn, **settings)
    monkeypatch.undo()
    return [progress.loss for progress in history.epochs], model


def test_resident_steps_equal_those_of_the_plain_loop(monkeypatch):
    losses, model = train_ranker("cpu", monkeypatch, resident=False)
    resident_losses, resident_model = train_ranker("cpu", monkeypatch, resident=True)
    np.testing.assert_allclose(resident_losses, losses, rtol=1e-5)
    for ours, theirs in (
        (resident_model.table, model.table),
        (resident_model.weight, model.weight),
        (resident_model.bias, model.bias),
    ):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), atol=1e-4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no graphics card here")
def test_a_graphics_card_learns_what_the_processor_learns(monkeypatch):
    losses, model = train_ranker("cpu", monkeypatch, resident=False)
    card_losses, card_model = train_ranker("cuda", monkeypatch, resident=False)  # the card's way is the default there
    np.testing.assert_allclose(card_losses, losses, rtol=1e-4)
    np.testing.assert_allclose(card_model.table.detach().cpu().numpy(), model.table.detach().numpy(), atol=1e-3)


@pytest.mark.parametrize(("longest", "width"), [(0, 8), (8, 8), (9, 16), (33, 64), (200, 224)])
def test_texts_are_padded_to_few_widths(longest, width):
    assert _padded(np.array([1, longest])) == max(width, 8)
