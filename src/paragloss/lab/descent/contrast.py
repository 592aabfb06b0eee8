"""Pulling a text towards its counterpart and away from another one: what XCNN and S2Net minimise, and how. Knows
nothing of languages: texts are rows of sparse weights, terms are rows of one table. Needs torch.

Cosine difference: eqs 7 to 9 of the XCNN paper. Logistic loss on the difference: Yih et al., "Learning
discriminative projections for text similarity measures", CoNLL 2011, eq. 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from paragloss.errors import ModelError
from paragloss.lab.descent.bags import take
from paragloss.lab.descent.batches import shuffled
from paragloss.lab.descent.conjugate import stepping
from paragloss.lab.descent.loop import History, Progress, descend
from paragloss.lab.settings import LOSSES, OPTIMIZERS
from paragloss.types import Floats

#: Pairs kept apart for early stopping: this share of them, never more than so many; none if they'd be too few to tell.
_HELD_OUT, _MOST_HELD_OUT, _FEWEST_HELD_OUT = 0.05, 2000, 20
#: A small corpus is cut into smaller batches, so that an epoch has about this many steps.
_STEPS = 20

Rows: TypeAlias = npt.NDArray[np.int64]
#: Rows of the table and the remaining parameters, in order -> the vectors of those terms.
Terms = Callable[[Sequence[torch.Tensor]], torch.Tensor]


class Pairs(NamedTuple):
    """Texts and their counterparts, row by row. Both are weights over the terms of the table that is learned, or the
    counterparts are vectors that stay as they are."""

    left: sp.csr_matrix  # (pairs, terms)
    right: sp.csr_matrix | Floats  # (pairs, terms) or (pairs, dim)


def learn(
    parameters: Mapping[str, torch.Tensor],
    terms: Terms,
    pairs: Pairs,
    *,
    loss: str,
    scale: float,
    negatives: int,
    optimizer: str,
    learning_rate: float,
    batch: int,
    epochs: int,
    patience: int,
    seed: int,
    reach: float = 0.1,
    checkpoint: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> History:
    """Change `parameters`, the table first, until texts are closer to their counterparts than to others.

    `reach` bounds how far conjugate gradients go for one batch, as a part of the length of what they change. Training
    stops when `patience` epochs brought no better mean of cos(pair) - cos(not a pair) on held-out pairs.
    """
    if optimizer not in OPTIMIZERS:
        raise ModelError(f"optimizer {optimizer!r}: expected one of {', '.join(OPTIMIZERS)}")
    tested, trained = _held_out(pairs.left.shape[0], seed)
    size = min(batch, max(len(trained) // _STEPS, 10))
    table, *others = parameters.values()
    conjugate = optimizer == "cg"

    def objective(rows: Rows) -> torch.Tensor:
        texts, touched = _gather(pairs, rows)
        parts = [take(table, touched), *others]

        def value(parts: Sequence[torch.Tensor]) -> torch.Tensor:
            left, right = _vectors(pairs, rows, texts, terms(parts))
            return contrast(left, right, loss=loss, scale=scale, negatives=negatives)

        return stepping(value, parts, reach=reach) if conjugate else value(parts)

    return descend(
        parameters,
        lambda _, rng: (trained[chosen] for chosen in shuffled(len(trained), size, rng)),
        objective,
        epochs=epochs,
        learning_rate=1.0 if conjugate else learning_rate,
        optimizer="sgd" if conjugate else optimizer,
        validate=partial(_margin, parameters, terms, pairs, tested) if len(tested) else None,
        patience=patience,
        seed=seed,
        checkpoint=checkpoint,
        progress=progress,
    )


def _held_out(count: int, seed: int) -> tuple[Rows, Rows]:
    """Which of so many pairs are kept apart for early stopping, and which are learned from."""
    number = min(int(count * _HELD_OUT), _MOST_HELD_OUT)
    number = number if number >= _FEWEST_HELD_OUT else 0
    order = np.random.default_rng(seed).permutation(count)
    return order[:number], order[number:]


def _margin(parameters: Mapping[str, torch.Tensor], terms: Terms, pairs: Pairs, rows: Rows) -> float:
    """The mean of cos(pair) - cos(not a pair) over some pairs."""
    table, *others = parameters.values()
    texts, touched = _gather(pairs, rows)
    left, right = _vectors(pairs, rows, texts, terms([table[touched], *others]))
    return -float(contrast(left, right, loss="difference"))


def contrast(
    left: torch.Tensor, right: torch.Tensor, *, loss: str, scale: float = 10.0, negatives: int = 1
) -> torch.Tensor:
    """The mean over rows and negatives of the loss of cos(left_i, right_i) - cos(left_i, right_j).

    The negatives of row i are the counterparts of the next rows, i + 1, i + 2, ...: batches come shuffled, so that
    is a random choice that never hits the positive. "difference" is minus the difference, "logistic" is
    log(1 + exp(-scale x difference)). A row of zeros has cosine 0 with everything, and no gradient.
    """
    if loss not in LOSSES:
        raise ModelError(f"loss {loss!r}: expected one of {', '.join(LOSSES)}")
    left, right = _unit(left), _unit(right)
    positive = (left * right).sum(1)
    losses = []
    for shift in range(1, min(negatives, max(len(left) - 1, 1)) + 1):
        difference = positive - (left * right.roll(-shift, 0)).sum(1)
        losses.append(-difference if loss == "difference" else torch.nn.functional.softplus(-scale * difference))
    return torch.stack(losses).mean()


def _unit(rows: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.normalize(rows, dim=1, eps=1e-12)


class _Texts(NamedTuple):
    """The texts of one batch over the terms that occur in it."""

    ids: torch.Tensor
    bounds: torch.Tensor
    weights: torch.Tensor


def _gather(pairs: Pairs, rows: Rows) -> tuple[_Texts, torch.Tensor]:
    """A batch, left texts before right ones, and which rows of the table it needs."""
    chosen = pairs.left[rows]
    if sp.issparse(pairs.right):
        chosen = sp.vstack([chosen, pairs.right[rows]], format="csr")
    touched, ids = np.unique(chosen.indices, return_inverse=True)
    texts = _Texts(
        torch.from_numpy(ids.astype(np.int64)),
        torch.from_numpy(chosen.indptr.astype(np.int64)),
        torch.from_numpy(chosen.data),
    )
    return texts, torch.from_numpy(touched.astype(np.int64))


def _vectors(pairs: Pairs, rows: Rows, texts: _Texts, terms: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    summed = torch.nn.functional.embedding_bag(
        texts.ids,
        terms,
        texts.bounds,
        mode="sum",
        per_sample_weights=texts.weights.to(terms.dtype),
        include_last_offset=True,
    )
    if sp.issparse(pairs.right):
        return summed[: len(rows)], summed[len(rows) :]
    return summed, torch.from_numpy(pairs.right[rows]).to(terms.dtype)
