"""A first rotation between two word spaces without any dictionary: a discriminator tries to tell mapped source words
from target words, the map tries to be mistaken for them. Needs torch.

Conneau, Lample, Ranzato, Denoyer and Jégou, "Word translation without parallel data", ICLR 2018, section 2.1.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from paragloss.lab.solving.maps import criterion, procrustes, unit
from paragloss.types import Floats

#: Fixed by the paper: label smoothing, input dropout, orthogonality step, discriminator turns per map turn.
_SMOOTHING, _DROPOUT, _BETA, _TURNS = 0.1, 0.1, 0.01, 5


def adversarial(
    source: Floats,
    target: Floats,
    *,
    seed: int = 0,
    epochs: int = 5,
    steps: int = 1000,
    batch: int = 32,
    hidden: int = 512,
    learning_rate: float = 0.1,
    words: int = 50_000,
) -> Floats:
    """Return the rotation (dim, dim) that fooled the discriminator best, by the unsupervised criterion after each
    epoch.

    `steps` map updates per epoch; the paper's run is 5 epochs of 31,250 with `hidden` 2048, which is hours on two
    cores. The learning rate shrinks by 2 % per epoch and halves when the criterion falls. The map starts at the
    identity and moves little by little, so it reaches rotations but not reflections.
    """
    chance = torch.Generator().manual_seed(seed)
    xs, ys = (torch.from_numpy(np.ascontiguousarray(rows[:words])) for rows in (source, target))
    dim = xs.shape[1]
    discriminator = _Discriminator(dim, hidden, chance)
    P = torch.eye(dim).requires_grad_()
    labels = torch.cat([torch.full((batch,), 1 - _SMOOTHING), torch.full((batch,), _SMOOTHING)])

    def loss(mapping: torch.Tensor, goal: torch.Tensor) -> torch.Tensor:
        x = xs[torch.randint(len(xs), (batch,), generator=chance)]
        y = ys[torch.randint(len(ys), (batch,), generator=chance)]
        logits = discriminator(torch.cat([x @ mapping, y]))
        return nn.functional.binary_cross_entropy_with_logits(logits, goal)

    best, best_score, rate = np.eye(dim, dtype=np.float32), -np.inf, learning_rate
    for _ in range(epochs):
        for _ in range(steps):
            for _ in range(_TURNS):
                _step(discriminator.parameters, loss(P.detach(), labels), rate)
            _step([P], loss(P, 1 - labels), rate)
            with torch.no_grad():
                P.copy_((1 + _BETA) * P - _BETA * P @ P.T @ P)
        mapping_so_far = P.detach().numpy().copy()
        score = criterion(unit(source[:5000] @ mapping_so_far), target[:5000])
        rate *= 0.98 if score >= best_score else 0.5
        if score > best_score:
            best, best_score = mapping_so_far, score
    # The updates only stay near the rotations; the nearest one has the same singular vectors.
    return procrustes(np.eye(dim, dtype=np.float32), best)[0]


class _Discriminator:
    """Tells mapped source words from target words: two hidden layers with dropout on the input."""

    def __init__(self, dim: int, hidden: int, chance: torch.Generator) -> None:
        self.weights = [torch.empty(hidden, dim), torch.empty(hidden, hidden), torch.empty(1, hidden)]
        for weight in self.weights:  # torch's own start for linear layers, from our own generator
            nn.init.kaiming_uniform_(weight, a=5**0.5, generator=chance)
        self.biases = [torch.zeros(hidden), torch.zeros(hidden), torch.zeros(1)]
        self.parameters = [parameter.requires_grad_() for parameter in (*self.weights, *self.biases)]
        self.chance = chance

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        is_kept = torch.rand(rows.shape, generator=self.chance) >= _DROPOUT
        rows = rows * is_kept / (1 - _DROPOUT)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            rows = nn.functional.leaky_relu(nn.functional.linear(rows, weight, bias), 0.2)
        return nn.functional.linear(rows, self.weights[-1], self.biases[-1])[:, 0]


def _step(parameters: list[torch.Tensor], loss: torch.Tensor, rate: float) -> None:
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.data.sub_(rate * gradient)
