"""Learn a first rotation between two word spaces without a dictionary, by adversarial training. Needs torch.

A discriminator learns to tell mapped source words from target words, and the map learns to deceive it: Conneau, Lample,
Ranzato, Denoyer and Jégou, "Word translation without parallel data", ICLR 2018, section 2.1.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from paragloss.lab.solving.maps import criterion, procrustes, unit
from paragloss.types import Floats

# Settings of the paper.
LABEL_SMOOTHING, INPUT_DROPOUT = 0.1, 0.1
ORTHOGONALITY_STEP = 0.01
DISCRIMINATOR_STEPS = 5  # for each step of the map
RATE_DECAY, RATE_DECAY_AFTER_LOSS = 0.98, 0.5  # after an epoch with a better or a worse criterion
LEAKY_SLOPE = 0.2  # of the discriminator's activations
#: Frequent words with which the criterion is measured.
CRITERION_WORDS = 5000


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
    """Learn a rotation (dim, dim) from source to target vectors; of all epochs the best by the unsupervised criterion.

    The learning rate shrinks by 2 % per epoch and halves when the criterion falls. The map starts at the identity and
    moves little by little, so it reaches rotations but not reflections. The paper runs 5 epochs of 31,250 steps with
    `hidden` 2048, which takes hours on two cores.

    :param source: word vectors, most frequent first; the others of `words` are not used
    :param steps: updates of the map per epoch
    :param hidden: width of the discriminator
    """
    sampler = _PairSampler(source[:words], target[:words], batch, torch.Generator().manual_seed(seed))
    dim = source.shape[1]
    discriminator = _Discriminator(dim, hidden, sampler.random)
    P = torch.eye(dim).requires_grad_()
    best, best_score, rate = np.eye(dim, dtype=np.float32), -np.inf, learning_rate
    for _ in range(epochs):
        for _ in range(steps):
            _update_both(P, discriminator, sampler, rate)
        mapping_so_far = P.detach().numpy().copy()
        score = criterion(unit(source[:CRITERION_WORDS] @ mapping_so_far), target[:CRITERION_WORDS])
        rate *= RATE_DECAY if score >= best_score else RATE_DECAY_AFTER_LOSS
        if score > best_score:
            best, best_score = mapping_so_far, score
    # The updates only stay near the rotations; the nearest one has the same singular vectors.
    return procrustes(np.eye(dim, dtype=np.float32), best)[0]


class _PairSampler:
    """Draws random source words, mapped, and random target words."""

    def __init__(self, source: Floats, target: Floats, batch: int, random: torch.Generator) -> None:
        """Prepare to draw `batch` words of each language at a time."""
        self._source, self._target = (torch.from_numpy(np.ascontiguousarray(rows)) for rows in (source, target))
        self._batch, self.random = batch, random
        is_source = torch.full((batch,), 1 - LABEL_SMOOTHING), torch.full((batch,), LABEL_SMOOTHING)
        self.labels = torch.cat(is_source)  # (2 batch,) near 1 for source words, near 0 for target words

    def draw(self, mapping: torch.Tensor) -> torch.Tensor:
        """Return mapped source words followed by target words: (2 batch, dim)."""
        x = self._source[torch.randint(len(self._source), (self._batch,), generator=self.random)]
        y = self._target[torch.randint(len(self._target), (self._batch,), generator=self.random)]
        return torch.cat([x @ mapping, y])


def _update_both(P: torch.Tensor, discriminator: _Discriminator, sampler: _PairSampler, rate: float) -> None:
    """Do some steps of the discriminator, a step of the map towards deceiving it, and one towards a rotation."""
    compute_loss = nn.functional.binary_cross_entropy_with_logits
    for _ in range(DISCRIMINATOR_STEPS):
        loss = compute_loss(discriminator(sampler.draw(P.detach())), sampler.labels)
        _step(discriminator.parameters, loss, rate)
    _step([P], compute_loss(discriminator(sampler.draw(P)), 1 - sampler.labels), rate)
    with torch.no_grad():
        P.copy_((1 + ORTHOGONALITY_STEP) * P - ORTHOGONALITY_STEP * P @ P.T @ P)


class _Discriminator:
    """Tells mapped source words from target words: two hidden layers with dropout on the input."""

    def __init__(self, dim: int, hidden: int, random: torch.Generator) -> None:
        self.weights = [torch.empty(hidden, dim), torch.empty(hidden, hidden), torch.empty(1, hidden)]
        for weight in self.weights:  # torch's initialisation of linear layers, but from our own generator
            nn.init.kaiming_uniform_(weight, a=5**0.5, generator=random)
        self.biases = [torch.zeros(hidden), torch.zeros(hidden), torch.zeros(1)]
        self.parameters = [parameter.requires_grad_() for parameter in (*self.weights, *self.biases)]
        self.random = random

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """Return a logit for each word, high if it seems to be a mapped source word."""
        is_kept = torch.rand(rows.shape, generator=self.random) >= INPUT_DROPOUT
        rows = rows * is_kept / (1 - INPUT_DROPOUT)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            rows = nn.functional.leaky_relu(nn.functional.linear(rows, weight, bias), LEAKY_SLOPE)
        return nn.functional.linear(rows, self.weights[-1], self.biases[-1])[:, 0]


def _step(parameters: list[torch.Tensor], loss: torch.Tensor, rate: float) -> None:
    """Do one step of gradient descent on some parameters, in place."""
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.data.sub_(rate * gradient)
