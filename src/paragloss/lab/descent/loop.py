"""One training loop for every model that learns by gradients: Adam or SGD, early stopping, checkpoints that
survive a kill. Knows nothing of texts or models: parameters, batches and a loss come from the caller. Needs torch.

Adam: Kingma and Ba, ICLR 2015, in the "epsilon-hat" form at the end of their section 2. A parameter whose gradient
is sparse (see `bags`) is stepped row by row: only rows with a gradient move, and their moments alone decay. That costs
time with the batch and not with the vocabulary, but it is not the same optimiser as dense Adam, in which a row goes on
moving for a while after it was last seen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch

from paragloss.atomic_files import replace_file
from paragloss.errors import ModelError

Batch = TypeVar("Batch")
#: How much of a moment stays at each step.
BETAS = (0.9, 0.999)
#: Losses are looked at in groups, so that a GPU is not made to wait for the host after every step.
_LOOK_EVERY = 50


class Progress(NamedTuple):
    """One finished epoch: the mean loss of its batches, and the validation measure where there is one."""

    epoch: int
    epochs: int
    loss: float
    measure: float | None = None


class History(NamedTuple):
    """What a run of `descend` went through. The parameters are those of epoch `best`."""

    epochs: list[Progress]
    best: int


def descend(
    parameters: Mapping[str, torch.Tensor],
    batches: Callable[[int, np.random.Generator], Iterable[Batch]],
    loss: Callable[[Batch], torch.Tensor],
    *,
    epochs: int,
    learning_rate: float,
    seed: int,
    optimizer: str = "adam",
    epsilon: float = 1e-8,
    decay: float = 1.0,
    clip: float | None = None,
    validate: Callable[[], float] | None = None,
    patience: int | None = None,
    checkpoint: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> History:
    """Change `parameters` in place until `loss` is small; they may live on any device.

    `batches(epoch, rng)` gives the batches of one epoch. `rng` and torch's own generator (dropout) are seeded from
    (seed, epoch), so a run is repeated bit for bit on a CPU, and one resumed from `checkpoint` is the run that was
    never stopped. `decay` multiplies the learning rate after each epoch; `clip` bounds the norm of all gradients
    together. With `validate` (higher is better, called after each epoch without gradients) the parameters of the
    best epoch are kept, and training ends after `patience` epochs without a better one.
    """
    run = _Run(parameters, optimizer=optimizer, epsilon=epsilon, seed=seed)
    if checkpoint is not None and Path(checkpoint).exists():
        run.restore(Path(checkpoint))
    for epoch in range(len(run.history) + 1, epochs + 1):
        if patience is not None and validate is not None and len(run.history) - run.best >= patience:
            break
        with torch.random.fork_rng(devices=_devices(parameters)):
            torch.manual_seed(int(np.random.SeedSequence([seed, epoch]).generate_state(1, np.uint64)[0] >> 1))
            rng = np.random.default_rng([seed, epoch])
            rate = learning_rate * decay ** (epoch - 1)
            mean = run.epoch(run.steps(batches(epoch, rng), loss, rate=rate, clip=clip))
        with torch.no_grad():
            measure = None if validate is None else float(validate())
        run.finished(Progress(epoch, epochs, mean, measure))
        if checkpoint is not None:
            run.save(Path(checkpoint))
        if progress is not None:
            progress(run.history[-1])
    run.recall_best()
    return History(run.history, run.best)


class _Run:
    """The state of one descent: what a checkpoint holds."""

    def __init__(self, parameters: Mapping[str, torch.Tensor], *, optimizer: str, epsilon: float, seed: int) -> None:
        self.parameters = parameters
        self.optimizer, self.epsilon, self.seed = optimizer, epsilon, seed
        self.moments = {
            name: (torch.zeros_like(p), torch.zeros_like(p)) if optimizer == "adam" else ()
            for name, p in parameters.items()
        }
        self.step = 0
        self.history: list[Progress] = []
        self.best = 0
        self.best_parameters: dict[str, torch.Tensor] = {}

    def steps(
        self, batches: Iterable[Batch], loss: Callable[[Batch], torch.Tensor], *, rate: float, clip: float | None
    ) -> Iterator[torch.Tensor]:
        """Take a step for each batch and yield its loss."""
        for batch in batches:
            for p in self.parameters.values():
                p.grad = None
            value = loss(batch)
            value.backward()  # type: ignore[no-untyped-call]
            with torch.no_grad():
                self.update(rate, clip)
            yield value.detach()
        for p in self.parameters.values():
            p.grad = None

    def epoch(self, losses: Iterable[torch.Tensor]) -> float:
        total, count = 0.0, 0
        pending: list[torch.Tensor] = []
        for value in losses:
            self.step += 1
            pending.append(value)
            if len(pending) == _LOOK_EVERY:
                total, count = total + self._sum(pending), count + len(pending)
                pending = []
        total, count = total + self._sum(pending), count + len(pending)
        if count == 0:
            raise ModelError("an epoch had no batches: there is nothing to learn from; give more training data")
        return total / count

    def _sum(self, losses: list[torch.Tensor]) -> float:
        if not losses:
            return 0.0
        values = torch.stack(losses).double().cpu()
        wrong = (~torch.isfinite(values)).nonzero()
        if len(wrong):
            at = int(wrong[0])
            raise ModelError(
                f"training diverged: the loss became {float(values[at])} at step {self.step - len(losses) + at + 1}; "
                "try a tenth of the learning rate, or bound the gradients (clip=5.0)"
            )
        return float(values.sum())

    def update(self, rate: float, clip: float | None) -> None:
        raw_gradients = {name: p.grad for name, p in self.parameters.items() if p.grad is not None}
        gradients = {name: g.coalesce() if g.is_sparse else g for name, g in raw_gradients.items()}
        if clip is not None and gradients:
            norm = torch.stack([_values(g).norm() for g in gradients.values()]).norm()
            scale = (clip / (norm + 1e-12)).clamp(max=1.0)
            for gradient in gradients.values():
                _values(gradient).mul_(scale)
        for name, gradient in gradients.items():
            p = self.parameters[name]
            if self.optimizer == "sgd" and gradient.is_sparse:
                p.index_add_(0, gradient.indices()[0], gradient.values(), alpha=-rate)
            elif self.optimizer == "sgd":
                p.add_(gradient, alpha=-rate)
            else:
                self._adam(p, gradient, *self.moments[name], rate=rate)

    def _adam(
        self, p: torch.Tensor, gradient: torch.Tensor, first: torch.Tensor, second: torch.Tensor, *, rate: float
    ) -> None:
        number = self.step + 1
        rate *= (1 - BETAS[1] ** number) ** 0.5 / (1 - BETAS[0] ** number)
        if not gradient.is_sparse:
            update_moments(first, second, gradient)
            p.addcdiv_(first, second.sqrt().add_(self.epsilon), value=-rate)
            return
        rows, values = gradient.indices()[0], gradient.values()
        m, v = update_moments(first.index_select(0, rows), second.index_select(0, rows), values)
        first.index_copy_(0, rows, m)
        second.index_copy_(0, rows, v)
        p.index_add_(0, rows, m.div_(v.sqrt_().add_(self.epsilon)), alpha=-rate)

    def finished(self, epoch_progress: Progress) -> None:
        self.history.append(epoch_progress)
        ahead = (
            epoch_progress.measure is None
            or self.best == 0
            or epoch_progress.measure > (self.history[self.best - 1].measure or 0.0)
        )
        if ahead:
            self.best = epoch_progress.epoch
            if epoch_progress.measure is not None:
                self.best_parameters = {name: p.detach().clone() for name, p in self.parameters.items()}

    def recall_best(self) -> None:
        with torch.no_grad():
            for name, best_values in self.best_parameters.items():
                self.parameters[name].copy_(best_values)

    def _identity(self) -> dict[str, Any]:
        shapes = {name: list(p.shape) for name, p in self.parameters.items()}
        return {"seed": self.seed, "optimizer": self.optimizer, "epsilon": self.epsilon, "shapes": shapes}

    def save(self, path: Path) -> None:
        """Replace the checkpoint atomically: a kill leaves the old one or the new one."""
        from safetensors.torch import save_file

        tensors = {f"now/{name}": p.detach() for name, p in self.parameters.items()}
        tensors |= {f"best/{name}": p for name, p in self.best_parameters.items()}
        for name, moments in self.moments.items():
            tensors |= {f"moment{i}/{name}": moment for i, moment in enumerate(moments)}
        state = {"step": self.step, "best": self.best, "history": self.history, "run": self._identity()}
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path) as temporary:
            save_file({name: t.contiguous() for name, t in tensors.items()}, temporary, {"state": json.dumps(state)})

    def restore(self, path: Path) -> None:
        from safetensors import safe_open

        try:
            with safe_open(path, framework="pt") as file:
                state = json.loads(file.metadata()["state"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        except Exception as error:
            raise ModelError(f"{path} is not a checkpoint of a training run ({error}): remove it") from None
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
        self.history = [Progress(*entry) for entry in state["history"]]


def update_moments(
    first: torch.Tensor, second: torch.Tensor, gradient: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Update Adam's moments of some parameters in place, and return them."""
    return first.lerp_(gradient, 1 - BETAS[0]), second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])


def _devices(parameters: Mapping[str, torch.Tensor]) -> list[int]:
    """List the GPUs whose generators must be restored afterwards."""
    return sorted({p.device.index or 0 for p in parameters.values() if p.device.type == "cuda"})


def _values(gradient: torch.Tensor) -> torch.Tensor:
    return gradient._values() if gradient.is_sparse else gradient
