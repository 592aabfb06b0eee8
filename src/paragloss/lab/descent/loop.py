"""Train any model by gradients: Adam or SGD, early stopping, checkpoints that survive a kill. Needs torch.

Adam: Kingma and Ba, ICLR 2015, in the "epsilon-hat" form at the end of their section 2. Of a parameter whose gradient
is sparse (see `bags`) only the rows with a gradient change, and only their moments decay. So a step takes time with the
batch and not with the vocabulary, but it is not the same optimiser as dense Adam, in which a row goes on moving for a
while after its last gradient.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch

from paragloss.atomic_files import replace_file
from paragloss.errors import ModelError

Batch = TypeVar("Batch")
#: Decay of Adam's first and second moments at each step.
BETAS = (0.9, 0.999)
#: Losses are read in groups of this size, so that a GPU does not wait for the host after every step.
LOSS_GROUP = 50


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
    patience: int | None = None  # stop after so many epochs without a better measure; 0 or None never stops
    checkpoint: str | Path | None = None  # a file that is written after each epoch, and continued from if it exists
    progress: Callable[[EpochProgress], None] | None = None  # called after each epoch


def descend(
    parameters: Mapping[str, torch.Tensor],
    batches: Callable[[int, np.random.Generator], Iterable[Batch]],
    compute_loss: Callable[[Batch], torch.Tensor],
    settings: TrainingSettings,
    validate: Callable[[], float] | None = None,
) -> History:
    """Minimize a loss by gradient descent; the parameters are changed in place and may be on any device.

    :param batches: (epoch, rng) -> the batches of one epoch
    :param compute_loss: batch -> scalar
    :param validate: measures the parameters after each epoch, higher is better; those of the best epoch are kept
    :raises ModelError: if the loss is not finite, an epoch has no batch, or the checkpoint is of another run
    """
    run = _Run(parameters, settings)
    checkpoint = None if settings.checkpoint is None else Path(settings.checkpoint)
    if checkpoint is not None and checkpoint.exists():
        run.restore(checkpoint)
    patience = settings.patience if validate else None
    for epoch in range(len(run.history) + 1, settings.epochs + 1):
        if patience and len(run.history) - run.best >= patience:
            break
        with _seeded(parameters, settings.seed, epoch) as rng:
            mean_loss = run.train_epoch(epoch, batches(epoch, rng), compute_loss)
        run.finish_epoch(EpochProgress(epoch, settings.epochs, mean_loss, _measure(validate)))
        if checkpoint is not None:
            run.save(checkpoint)
        if settings.progress is not None:
            settings.progress(run.history[-1])
    run.recall_best()
    return History(run.history, run.best)


def _measure(validate: Callable[[], float] | None) -> float | None:
    """Measure the parameters, if there is something to measure them with."""
    with torch.no_grad():
        return None if validate is None else float(validate())


@contextmanager
def _seeded(parameters: Mapping[str, torch.Tensor], seed: int, epoch: int) -> Iterator[np.random.Generator]:
    """Seed the random numbers of an epoch, those of torch (dropout) and a generator of numpy, which is yielded.

    They depend on (seed, epoch) only: a run is repeated bit for bit on a CPU, and one resumed from a checkpoint gives
    the same result as one that was never stopped.
    """
    epoch_seed = int(np.random.SeedSequence([seed, epoch]).generate_state(1, np.uint64)[0])
    with torch.random.fork_rng(devices=_list_gpus(parameters)):
        torch.manual_seed(epoch_seed >> 1)  # torch takes 63 bits
        yield np.random.default_rng([seed, epoch])


class _Run:
    """The state of one descent, which a checkpoint holds."""

    def __init__(self, parameters: Mapping[str, torch.Tensor], settings: TrainingSettings) -> None:
        """Start a run before its first epoch."""
        self.parameters, self.settings = parameters, settings
        self.moments: dict[str, tuple[torch.Tensor, ...]] = {}  # of Adam: mean gradient and mean squared gradient
        for name, p in parameters.items():
            has_moments = settings.optimizer == "adam"
            self.moments[name] = (torch.zeros_like(p), torch.zeros_like(p)) if has_moments else ()
        self.step = 0  # steps taken
        self.history: list[EpochProgress] = []
        self.best = 0  # number of the best epoch, from 1; 0 before the first
        self.best_parameters: dict[str, torch.Tensor] = {}

    def train_epoch(self, epoch: int, batches: Iterable[Batch], compute_loss: Callable[[Batch], torch.Tensor]) -> float:
        """Take a step for each batch, and return the mean loss of the batches.

        :param epoch: number of the epoch, from 1
        :raises ModelError: if there are no batches, or a loss is not finite
        """
        rate = self.settings.learning_rate * self.settings.decay ** (epoch - 1)
        total, n_batches = 0.0, 0
        unread: list[torch.Tensor] = []
        for batch in batches:
            unread.append(self._take_step(batch, compute_loss, rate))
            n_batches += 1
            if len(unread) == LOSS_GROUP:
                total += self._sum_losses(unread)
                unread = []
        self._clear_gradients()
        if n_batches == 0:
            raise ModelError("an epoch had no batches: there is nothing to learn from; give more training data")
        return (total + self._sum_losses(unread)) / n_batches

    def _take_step(self, batch: Batch, compute_loss: Callable[[Batch], torch.Tensor], rate: float) -> torch.Tensor:
        """Change the parameters so that the loss of a batch becomes lower; return the loss before."""
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
        self.step += 1
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

    def _sum_losses(self, losses: list[torch.Tensor]) -> float:
        """Add up the losses of the latest steps.

        :raises ModelError: if one of them is not finite
        """
        if not losses:
            return 0.0
        values = torch.stack(losses).double().cpu()
        not_finite = (~torch.isfinite(values)).nonzero()
        if len(not_finite):
            position = int(not_finite[0])
            step = self.step - len(losses) + position + 1
            raise ModelError(
                f"training diverged: the loss became {float(values[position])} at step {step}; "
                "try a tenth of the learning rate, or bound the gradients (clip=5.0)"
            )
        return float(values.sum())

    def _update_by_adam(self, name: str, gradient: torch.Tensor, rate: float) -> None:
        """Change one parameter and its moments by Adam; of a sparse gradient only the rows that it has.

        :param name: of the parameter
        :param rate: learning rate
        """
        p, epsilon = self.parameters[name], self.settings.epsilon
        first, second = self.moments[name]
        step = self.step + 1
        bias_correction = (1 - BETAS[1] ** step) ** 0.5 / (1 - BETAS[0] ** step)
        rate *= bias_correction
        if not gradient.is_sparse:
            update_moments(first, second, gradient)
            p.addcdiv_(first, second.sqrt().add_(epsilon), value=-rate)
            return
        rows, values = gradient.indices()[0], gradient.values()
        row_first, row_second = first.index_select(0, rows), second.index_select(0, rows)
        update_moments(row_first, row_second, values)
        first.index_copy_(0, rows, row_first)
        second.index_copy_(0, rows, row_second)
        change = row_first.div_(row_second.sqrt_().add_(epsilon))
        p.index_add_(0, rows, change, alpha=-rate)

    def finish_epoch(self, epoch_progress: EpochProgress) -> None:
        """Record an epoch; copy its parameters if they are the best so far.

        Without a measure the last epoch is the best.
        """
        measure = epoch_progress.measure
        if measure is None:
            self.best = epoch_progress.epoch
        elif self.best == 0 or measure > (self.history[self.best - 1].measure or 0.0):
            self.best = epoch_progress.epoch
            self.best_parameters = {name: p.detach().clone() for name, p in self.parameters.items()}
        self.history.append(epoch_progress)

    def recall_best(self) -> None:
        """Set the parameters to those of the best epoch."""
        with torch.no_grad():
            for name, best_values in self.best_parameters.items():
                self.parameters[name].copy_(best_values)

    def _identity(self) -> dict[str, Any]:
        """Return what a checkpoint must agree with."""
        shapes = {name: list(p.shape) for name, p in self.parameters.items()}
        settings = {"seed": self.settings.seed, "optimizer": self.settings.optimizer, "epsilon": self.settings.epsilon}
        return {**settings, "shapes": shapes}

    def save(self, path: Path) -> None:
        """Replace the checkpoint atomically: a kill leaves the old one or the new one."""
        from safetensors.torch import save_file

        tensors = {}
        for name, p in self.parameters.items():
            tensors[f"now/{name}"] = p.detach()
            for i, moment in enumerate(self.moments[name]):
                tensors[f"moment{i}/{name}"] = moment
        for name, p in self.best_parameters.items():
            tensors[f"best/{name}"] = p
        state = {"step": self.step, "best": self.best, "history": self.history, "run": self._identity()}
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path) as temporary:
            contiguous_tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
            save_file(contiguous_tensors, temporary, {"state": json.dumps(state)})

    def restore(self, path: Path) -> None:
        """Continue from a checkpoint.

        :raises ModelError: if the file is damaged, or of a run with other data or settings
        """
        state, tensors = _read_checkpoint(path)
        if state["run"] != self._identity():
            raise ModelError(
                f"{path} belongs to another training run ({state['run']}, this one is {self._identity()}): "
                "remove it to start anew, or continue with the data and settings it was made with"
            )
        with torch.no_grad():
            for name, p in self.parameters.items():
                p.copy_(tensors[f"now/{name}"])
                for i, moment in enumerate(self.moments[name]):
                    moment.copy_(tensors[f"moment{i}/{name}"])
                if f"best/{name}" in tensors:
                    self.best_parameters[name] = tensors[f"best/{name}"].to(p.device)
        self.step, self.best = state["step"], state["best"]
        self.history = [EpochProgress(*entry) for entry in state["history"]]


def _update_by_sgd(p: torch.Tensor, gradient: torch.Tensor, rate: float) -> None:
    """Move a parameter against its gradient, in place."""
    if gradient.is_sparse:
        p.index_add_(0, gradient.indices()[0], gradient.values(), alpha=-rate)
    else:
        p.add_(gradient, alpha=-rate)


def _clip_gradients(gradients: Sequence[torch.Tensor], max_norm: float) -> None:
    """Scale gradients, in place, so that the norm of all together is at most `max_norm`."""
    norm = torch.stack([_values(gradient).norm() for gradient in gradients]).norm()
    scale = (max_norm / (norm + 1e-12)).clamp(max=1.0)
    for gradient in gradients:
        _values(gradient).mul_(scale)


def _read_checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """Return the state and the tensors that `_Run.save` wrote."""
    from safetensors import safe_open

    try:
        with safe_open(path, framework="pt") as file:
            state = json.loads(file.metadata()["state"])
            return state, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except Exception as error:
        raise ModelError(f"{path} is not a checkpoint of a training run ({error}): remove it") from None


def update_moments(first: torch.Tensor, second: torch.Tensor, gradient: torch.Tensor) -> None:
    """Update Adam's moments of some parameters in place.

    :param first: mean of the gradients so far, and `second` of their squares
    """
    first.lerp_(gradient, 1 - BETAS[0])
    second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])


def _list_gpus(parameters: Mapping[str, torch.Tensor]) -> list[int]:
    """List the GPUs whose generators must be restored afterwards."""
    return sorted({p.device.index or 0 for p in parameters.values() if p.device.type == "cuda"})


def _values(gradient: torch.Tensor) -> torch.Tensor:
    """Return the stored values of a gradient, dense or sparse."""
    return gradient._values() if gradient.is_sparse else gradient
