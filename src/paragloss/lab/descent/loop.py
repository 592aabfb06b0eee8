"""Train any model by gradients: Adam or SGD, with early stopping. Needs torch.

Adam: Kingma and Ba, ICLR 2015, in the "epsilon-hat" form at the end of their section 2. Of a parameter whose gradient
is sparse (see `bags`) only the rows with a gradient change, and only their moments decay. So a step takes time with the
batch and not with the vocabulary, but it is not the same optimiser as dense Adam, in which a row goes on moving for a
while after its last gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import numpy as np
import torch

from paragloss.errors import ModelError

Batch = TypeVar("Batch")
#: Decay of Adam's first and second moments at each step.
BETAS = (0.9, 0.999)


class EpochProgress(NamedTuple):
    """One finished epoch: the mean loss of its batches, and the validation measure where there is one."""

    epoch: int
    epochs: int
    loss: float
    measure: float | None = None


class History(NamedTuple):
    """The epochs of a run of `descend`, and the number of the one whose parameters were kept, from 1."""

    epochs: list[EpochProgress]
    best: int


class TrainingSettings(NamedTuple):
    """How long a training takes, and how large its steps are."""

    epochs: int
    seed: int
    learning_rate: float
    optimizer: str = "adam"  # or "sgd"
    epsilon: float = 1e-8  # in the denominator of Adam
    decay: float = 1.0  # what the learning rate is multiplied by after each epoch
    clip: float | None = None  # the largest norm of all gradients together; None for no bound
    patience: int = 0  # stop after so many epochs without a better measure; 0 never stops
    progress: Callable[[EpochProgress], None] | None = None  # called after each epoch


def descend(
    parameters: Mapping[str, torch.Tensor],
    batches: Callable[[int, np.random.Generator], Iterable[Batch]],
    compute_loss: Callable[[Batch], torch.Tensor],
    settings: TrainingSettings,
    validate: Callable[[], float] | None = None,
) -> History:
    """Minimize a loss by gradient descent; the parameters are changed in place and may be on any device.

    :param parameters: the tensors to train, by name
    :param batches: (epoch, rng) -> the batches of one epoch
    :param compute_loss: batch -> scalar
    :param validate: measures the parameters after each epoch, higher is better; those of the best epoch are kept, and
        without it those of the last epoch
    :return: the loss and the measure of each epoch, and which epoch was kept
    :raises ModelError: if the loss is not finite, or an epoch has no batch
    """
    descent = _Descent(parameters, settings)
    history: list[EpochProgress] = []
    best = _BestEpoch()
    for epoch in range(1, settings.epochs + 1):
        with _seeded(parameters, settings.seed, epoch) as rng:
            mean_loss = descent.train_epoch(epoch, batches(epoch, rng), compute_loss)
        history.append(EpochProgress(epoch, settings.epochs, mean_loss, _measure(validate)))
        best.update(history[-1], parameters)
        if settings.progress is not None:
            settings.progress(history[-1])
        if 0 < settings.patience <= epoch - best.number:
            break
    best.restore(parameters)
    return History(history, best.number)


def _measure(validate: Callable[[], float] | None) -> float | None:
    """Measure the parameters, if there is something to measure them with."""
    with torch.no_grad():
        return None if validate is None else float(validate())


class _BestEpoch:
    """The epoch with the highest measure so far, and its parameters; if nothing is measured, the latest epoch."""

    def __init__(self) -> None:
        self.number = 0  # of the epoch, from 1; 0 before the first
        self._best_measure = -math.inf
        self._parameters: dict[str, torch.Tensor] = {}  # stays empty if nothing is measured

    def update(self, epoch_progress: EpochProgress, parameters: Mapping[str, torch.Tensor]) -> None:
        """Take note of a finished epoch; copy its parameters if they are the best so far."""
        measure = epoch_progress.measure
        if measure is None:
            self.number = epoch_progress.epoch
        elif self.number == 0 or measure > self._best_measure:
            self.number, self._best_measure = epoch_progress.epoch, measure
            self._parameters = {name: parameter.detach().clone() for name, parameter in parameters.items()}

    def restore(self, parameters: Mapping[str, torch.Tensor]) -> None:
        """Set the parameters, in place, to those of the best epoch."""
        with torch.no_grad():
            for name, best_values in self._parameters.items():
                parameters[name].copy_(best_values)


@contextmanager
def _seeded(parameters: Mapping[str, torch.Tensor], seed: int, epoch: int) -> Iterator[np.random.Generator]:
    """Seed the random numbers of an epoch, those of torch (dropout) and a generator of numpy, which is yielded.

    They depend on (seed, epoch) only, so that a run is repeated bit for bit on a CPU, however many numbers an epoch
    draws. The state of torch's generators is restored afterwards.

    :param parameters: their GPUs have generators of their own
    """
    epoch_seed = int(np.random.SeedSequence([seed, epoch]).generate_state(1, np.uint64)[0])
    gpus = sorted({p.device.index or 0 for p in parameters.values() if p.device.type == "cuda"})
    with torch.random.fork_rng(devices=gpus):
        torch.manual_seed(epoch_seed >> 1)  # torch takes 63 bits
        yield np.random.default_rng([seed, epoch])


class _Descent:
    """Takes the steps of one training."""

    def __init__(self, parameters: Mapping[str, torch.Tensor], settings: TrainingSettings) -> None:
        """Prepare to change the parameters in place."""
        self.parameters, self.settings = parameters, settings
        self.n_steps = 0  # steps taken
        self.moments: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}  # Adam's: mean gradient, mean squared gradient
        if settings.optimizer == "adam":
            self.moments = {name: (torch.zeros_like(p), torch.zeros_like(p)) for name, p in parameters.items()}

    def train_epoch(self, epoch: int, batches: Iterable[Batch], compute_loss: Callable[[Batch], torch.Tensor]) -> float:
        """Take a step for each batch, and return the mean loss of the batches.

        :param epoch: number of the epoch, from 1
        :param compute_loss: batch -> scalar
        :raises ModelError: if there are no batches, or a loss is not finite
        """
        rate = self.settings.learning_rate * self.settings.decay ** (epoch - 1)
        # Losses are read once an epoch: a GPU would wait for the host if each was read after its step.
        losses = [self._take_step(batch, compute_loss, rate) for batch in batches]
        self._clear_gradients()
        if not losses:
            raise ModelError("an epoch had no batches: there is nothing to learn from; give more training data")
        values = torch.stack(losses).double().cpu()
        self._check_finite(values)
        return float(values.sum()) / len(losses)

    def _take_step(self, batch: Batch, compute_loss: Callable[[Batch], torch.Tensor], rate: float) -> torch.Tensor:
        """Change the parameters so that the loss of a batch becomes lower; return the loss before.

        :param compute_loss: batch -> scalar
        :param rate: learning rate
        """
        self._clear_gradients()
        loss = compute_loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        with torch.no_grad():
            gradients = self._get_gradients()
            if self.settings.clip is not None and gradients:
                _clip_gradients(list(gradients.values()), self.settings.clip)
            for name, gradient in gradients.items():
                if self.settings.optimizer == "adam":
                    self._update_by_adam(name, gradient, rate)
                else:
                    _update_by_sgd(self.parameters[name], gradient, rate)
        self.n_steps += 1
        return loss.detach()

    def _clear_gradients(self) -> None:
        for p in self.parameters.values():
            p.grad = None

    def _get_gradients(self) -> dict[str, torch.Tensor]:
        """Return the gradients of the parameters that have one; a sparse one has each row once."""
        gradients = {}
        for name, p in self.parameters.items():
            if p.grad is not None:
                gradients[name] = p.grad.coalesce() if p.grad.is_sparse else p.grad
        return gradients

    def _check_finite(self, losses: torch.Tensor) -> None:
        """Raise an error that names the first step whose loss is infinite or no number, if there is one.

        :param losses: (steps,) those of the latest steps
        """
        not_finite = (~torch.isfinite(losses)).nonzero()
        if len(not_finite):
            position = int(not_finite[0])
            step = self.n_steps - len(losses) + position + 1
            raise ModelError(
                f"training diverged: the loss became {float(losses[position])} at step {step}; "
                "try a tenth of the learning rate, or bound the gradients (clip=5.0)"
            )

    def _update_by_adam(self, name: str, gradient: torch.Tensor, rate: float) -> None:
        """Change one parameter and its moments by Adam; of a sparse gradient only the rows that it has.

        :param name: of the parameter
        :param rate: learning rate
        """
        step = self.n_steps + 1
        bias_correction = (1 - BETAS[1] ** step) ** 0.5 / (1 - BETAS[0] ** step)
        corrected_rate = rate * bias_correction
        if gradient.is_sparse:
            self._update_rows_by_adam(name, gradient, corrected_rate)
            return
        first_moment, second_moment = self.moments[name]
        _update_moments(first_moment, second_moment, gradient)
        deviation = second_moment.sqrt().add_(self.settings.epsilon)
        self.parameters[name].addcdiv_(first_moment, deviation, value=-corrected_rate)

    def _update_rows_by_adam(self, name: str, gradient: torch.Tensor, corrected_rate: float) -> None:
        """Change the rows of one parameter and of its moments that a sparse gradient has.

        :param name: of the parameter
        :param corrected_rate: learning rate, corrected for the moments' start at zero
        """
        rows = gradient.indices()[0]
        first_moment, second_moment = self.moments[name]
        row_first = first_moment.index_select(0, rows)
        row_second = second_moment.index_select(0, rows)
        _update_moments(row_first, row_second, gradient.values())
        first_moment.index_copy_(0, rows, row_first)
        second_moment.index_copy_(0, rows, row_second)
        change = row_first.div_(row_second.sqrt_().add_(self.settings.epsilon))
        self.parameters[name].index_add_(0, rows, change, alpha=-corrected_rate)


def _update_moments(first: torch.Tensor, second: torch.Tensor, gradient: torch.Tensor) -> None:
    """Update Adam's moments of some parameters in place.

    :param first: mean of the gradients so far, and `second` of their squares
    """
    first.lerp_(gradient, 1 - BETAS[0])
    second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])


def _update_by_sgd(p: torch.Tensor, gradient: torch.Tensor, rate: float) -> None:
    """Move a parameter against its gradient, in place."""
    if gradient.is_sparse:
        p.index_add_(0, gradient.indices()[0], gradient.values(), alpha=-rate)
    else:
        p.add_(gradient, alpha=-rate)


def _clip_gradients(gradients: Sequence[torch.Tensor], max_norm: float) -> None:
    """Scale gradients, in place, so that the norm of all together is at most `max_norm`."""
    stored_values = [gradient._values() if gradient.is_sparse else gradient for gradient in gradients]
    norm = torch.stack([values.norm() for values in stored_values]).norm()
    scale = (max_norm / (norm + 1e-12)).clamp(max=1.0)
    for values in stored_values:
        values.mul_(scale)
