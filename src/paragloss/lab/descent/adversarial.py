"""Learn a first rotation between two word spaces without a dictionary, by adversarial training. Needs torch.

A discriminator learns to tell mapped source words from target words, and the map learns to deceive it: Conneau, Lample,
Ranzato, Denoyer and Jégou, "Word translation without parallel data", ICLR 2018, section 2.1.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from paragloss.lab.solving.maps import learn_rotation, make_unit_rows, measure_mean_cosine
from paragloss.types import Floats

# Settings of the paper.
LABEL_SMOOTHING, INPUT_DROPOUT = 0.1, 0.1
ORTHOGONALITY_STEP = 0.01
DISCRIMINATOR_STEPS = 5  # for each step of the map
RATE_DECAY, RATE_DECAY_AFTER_LOSS = 0.98, 0.5  # after an epoch with a higher or a lower mean cosine
LEAKY_SLOPE = 0.2  # of the discriminator's activations
#: Frequent words with which the mean cosine is measured.
MEASURED_WORDS = 5000


def learn_adversarial_rotation(
    source: Floats,
    target: Floats,
    *,
    seed: int = 0,
    epochs: int = 5,
    steps: int = 1000,
    batch_size: int = 32,
    hidden: int = 512,
    learning_rate: float = 0.1,
    words: int = 50_000,
) -> Floats:
    """Learn a rotation from source to target vectors: (dim, dim), that of the epoch with the highest mean cosine.

    The learning rate shrinks by 2 % per epoch and halves when the mean cosine falls. The map starts at the identity and
    moves little by little, so it reaches rotations but not reflections. The paper runs 5 epochs of 31,250 steps with
    `hidden` 2048, which takes hours on two cores.

    :param source: (source words, dim) word vectors, most frequent first; `target` likewise
    :param steps: updates of the map per epoch
    :param batch_size: words of each language in a batch; `hidden` is the width of the discriminator
    :param words: how many of the most frequent words are used
    """
    random = torch.Generator().manual_seed(seed)
    sampler = _PairSampler(source[:words], target[:words], batch_size, random)
    dim = source.shape[1]
    discriminator = _Discriminator(dim, hidden, random)
    mapping = torch.eye(dim).requires_grad_()
    best_mapping, best_cosine = np.eye(dim, dtype=np.float32), -np.inf
    for _ in range(epochs):
        for _ in range(steps):
            _update_discriminator_and_map(mapping, discriminator, sampler, learning_rate)
        epoch_mapping = mapping.detach().numpy().copy()
        mapped = make_unit_rows(source[:MEASURED_WORDS] @ epoch_mapping)
        cosine = measure_mean_cosine(mapped, target[:MEASURED_WORDS])
        learning_rate = _decay_rate(learning_rate, has_fallen=cosine < best_cosine)
        if cosine > best_cosine:
            best_mapping, best_cosine = epoch_mapping, cosine
    # The updates only stay near the rotations; the nearest one has the same singular vectors.
    return learn_rotation(np.eye(dim, dtype=np.float32), best_mapping)


def _decay_rate(learning_rate: float, *, has_fallen: bool) -> float:
    """Return the learning rate of the next epoch.

    :param has_fallen: whether the mean cosine is now lower than its best so far
    """
    if has_fallen:
        return learning_rate * RATE_DECAY_AFTER_LOSS
    return learning_rate * RATE_DECAY


class _PairSampler:
    """Draws random source words, mapped, and random target words."""

    def __init__(self, source: Floats, target: Floats, batch_size: int, random: torch.Generator) -> None:
        """Prepare to draw `batch_size` words of each language at a time."""
        self._source = torch.from_numpy(np.ascontiguousarray(source))
        self._target = torch.from_numpy(np.ascontiguousarray(target))
        self._batch_size, self._random = batch_size, random
        source_labels = torch.full((batch_size,), 1 - LABEL_SMOOTHING)
        target_labels = torch.full((batch_size,), LABEL_SMOOTHING)
        self.labels = torch.cat([source_labels, target_labels])  # (2 batch_size,) near 1 for source words

    def draw(self, mapping: torch.Tensor) -> torch.Tensor:
        """Return mapped source words followed by target words: (2 batch_size, dim)."""
        source_words = torch.randint(len(self._source), (self._batch_size,), generator=self._random)
        target_words = torch.randint(len(self._target), (self._batch_size,), generator=self._random)
        return torch.cat([self._source[source_words] @ mapping, self._target[target_words]])


def _update_discriminator_and_map(
    mapping: torch.Tensor, discriminator: _Discriminator, sampler: _PairSampler, rate: float
) -> None:
    """Train the discriminator for some steps and the map for one step, in place.

    The discriminator learns the labels of the words, the map the opposite ones. The map is then moved towards the
    nearest rotation.

    :param mapping: (dim, dim) the map of source words
    :param discriminator: tells mapped source words from target words
    :param sampler: draws the words of each step
    :param rate: learning rate
    """
    compute_loss = nn.functional.binary_cross_entropy_with_logits
    for _ in range(DISCRIMINATOR_STEPS):
        logits = discriminator(sampler.draw(mapping.detach()))
        _descend(discriminator.parameters, compute_loss(logits, sampler.labels), rate)
    logits = discriminator(sampler.draw(mapping))
    deception_loss = compute_loss(logits, 1 - sampler.labels)
    _descend([mapping], deception_loss, rate)
    with torch.no_grad():
        beta = ORTHOGONALITY_STEP
        mapping.copy_((1 + beta) * mapping - beta * mapping @ mapping.T @ mapping)


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


def _descend(parameters: list[torch.Tensor], loss: torch.Tensor, rate: float) -> None:
    """Do one step of gradient descent that lowers the loss; the parameters change in place."""
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.data.sub_(rate * gradient)
