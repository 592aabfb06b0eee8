"""Pulling a text towards its counterpart and away from another one: what XCNN and S2Net minimise, and how. Knows
nothing of languages: texts are rows of sparse weights, terms are rows of one table. Needs torch.

Cosine difference: eqs 7 to 9 of the XCNN paper. Logistic loss on the difference: Yih et al., "Learning
discriminative projections for text similarity measures", CoNLL 2011, eq. 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from paragloss.lab.descent.bags import Bags, sums, take
from paragloss.lab.descent.batches import Rows, batches, held_out
from paragloss.lab.descent.conjugate import stepping
from paragloss.lab.descent.loop import History, descend
from paragloss.types import Floats

#: Pairs kept apart for early stopping, at most.
_MOST_HELD_OUT = 2000
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
    seed: int,
    reach: float = 0.1,
    **steps: Any,
) -> History:
    """Change `parameters`, the table first, until texts are closer to their counterparts than to others.

    `reach` bounds how far conjugate gradients go for one batch, as a part of the length of what they change. Training
    stops when `patience` epochs brought no better mean of cos(pair) - cos(not a pair) on held-out pairs. `steps` are
    further settings of `descend`.
    """
    tested, trained = held_out(pairs.left.shape[0], _MOST_HELD_OUT, seed)
    table, *other_parameters = parameters.values()
    conjugate = optimizer == "cg"

    def objective(rows: Rows) -> torch.Tensor:
        texts, touched = _gather(pairs, rows)
        parts = [take(table, touched), *other_parameters]

        def value(parts: Sequence[torch.Tensor]) -> torch.Tensor:
            left, right = _vectors(pairs, rows, texts, terms(parts))
            return contrast(left, right, loss=loss, scale=scale, negatives=negatives)

        return stepping(value, parts, reach=reach) if conjugate else value(parts)

    return descend(
        parameters,
        batches(trained, batch),
        objective,
        learning_rate=1.0 if conjugate else learning_rate,
        optimizer="sgd" if conjugate else optimizer,
        validate=partial(_margin, parameters, terms, pairs, tested) if len(tested) else None,
        seed=seed,
        **steps,
    )


def _margin(parameters: Mapping[str, torch.Tensor], terms: Terms, pairs: Pairs, rows: Rows) -> float:
    """Compute the mean of cos(pair) - cos(not a pair) over some pairs."""
    table, *other_parameters = parameters.values()
    texts, touched = _gather(pairs, rows)
    left, right = _vectors(pairs, rows, texts, terms([table[touched], *other_parameters]))
    return -float(contrast(left, right, loss="difference"))


def contrast(left: Tensor, right: Tensor, *, loss: str, scale: float = 10.0, negatives: int = 1) -> Tensor:
    """Compute the mean over rows and negatives of the loss of cos(left_i, right_i) - cos(left_i, right_j).

    The negatives of row i are the counterparts of the next rows, i + 1, i + 2, ...: batches come shuffled, so that
    is a random choice that never hits the positive. "difference" is minus the difference, "logistic" is
    log(1 + exp(-scale x difference)). A row of zeros has cosine 0 with everything, and no gradient.
    """
    left, right = (torch.nn.functional.normalize(rows, dim=1, eps=1e-12) for rows in (left, right))
    positive = (left * right).sum(1)
    losses = []
    for shift in range(1, min(negatives, max(len(left) - 1, 1)) + 1):
        difference = positive - (left * right.roll(-shift, 0)).sum(1)
        losses.append(-difference if loss == "difference" else torch.nn.functional.softplus(-scale * difference))
    return torch.stack(losses).mean()


def _gather(pairs: Pairs, rows: Rows) -> tuple[Bags, torch.Tensor]:
    """Gather a batch over the terms that occur in it, left texts before right ones, and the table's rows it needs."""
    chosen = pairs.left[rows]
    if sp.issparse(pairs.right):
        chosen = sp.vstack([chosen, pairs.right[rows]], format="csr")
    touched, ids = np.unique(chosen.indices, return_inverse=True)
    rows_of, positions, bounds = (torch.from_numpy(part.astype(np.int64)) for part in (touched, ids, chosen.indptr))
    return Bags(positions, bounds, torch.from_numpy(chosen.data)), rows_of


def _vectors(pairs: Pairs, rows: Rows, texts: Bags, terms: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    summed = sums(terms, texts)
    if sp.issparse(pairs.right):
        return summed[: len(rows)], summed[len(rows) :]
    return summed, torch.from_numpy(pairs.right[rows]).to(terms.dtype)
