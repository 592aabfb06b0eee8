"""Learn the weights of features with which the correct item of each list comes first: logistic regression within lists.

The loss is the mean of -log softmax(features @ weights)[correct] over lists (ListNet with one relevant item: Cao et
al., ICML 2007). It is convex, so a few dozen weights are found in a fraction of a second and never depend on a start.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from paragloss.groups import list_groups, list_starts
from paragloss.types import Integers

Reals = npt.NDArray[np.float64]


def weigh_lists(
    lists: Sequence[npt.NDArray[np.floating]], correct: Sequence[int], *, penalty: float, minimum: float | None = None
) -> tuple[Reals, float]:
    """Learn one weight per feature, so that the correct item of each list scores highest.

    :param lists: features of the items of each list, (items, features)
    :param correct: number of the correct item of each list
    :param penalty: limits the squared weights, in units in which every feature varies by one
    :param minimum: the lowest value of a weight
    :return: weights, (features,), and the value of the loss
    """
    items = np.concatenate([np.asarray(features, np.float64) for features in lists])  # (items, features)
    sizes = [len(features) for features in lists]
    first_items = list_starts(sizes)
    scale = _invert_deviations(items)
    loss = _ListLoss(
        items=(items - items.mean(axis=0)) * scale,
        list_starts=first_items,
        list_of_item=list_groups(sizes),
        correct_items=first_items + np.asarray(correct),
        penalty=penalty,
    )
    start = np.zeros(items.shape[1])
    weight_bounds = None
    if minimum is not None:
        weight_bounds = [(minimum, None)] * len(start)
    optimum = minimize(loss.compute, start, jac=True, method="L-BFGS-B", bounds=weight_bounds)
    loss_at_optimum, _ = loss.compute(optimum.x)
    return optimum.x * scale, loss_at_optimum


class _ListLoss(NamedTuple):
    """The penalized loss of weights."""

    items: Reals  # (items, features)
    list_starts: Integers  # the first item of each list
    list_of_item: Integers
    correct_items: Integers  # the correct item of each list
    penalty: float

    def compute(self, weights: Reals) -> tuple[float, Reals]:
        """Return the penalized loss of weights and its gradient, both for (features,) weights."""
        scores = self.items @ weights  # (items,)
        highest = np.maximum.reduceat(scores, self.list_starts)  # (lists,), subtracted so that nothing overflows
        exponentials = np.exp(scores - highest[self.list_of_item])
        totals = np.add.reduceat(exponentials, self.list_starts)
        losses = np.log(totals) + highest - scores[self.correct_items]  # (lists,)
        softmax = exponentials / totals[self.list_of_item]
        gradient = softmax @ self.items / len(totals) - self.items[self.correct_items].mean(axis=0)
        penalized_loss = float(losses.mean()) + self.penalty * float(weights @ weights) / 2
        return penalized_loss, gradient + self.penalty * weights


def _invert_deviations(items: Reals) -> Reals:
    """Return one over the standard deviation of each feature, and 0 for a feature that hardly varies."""
    deviations = items.std(axis=0)
    threshold = 1e-9 * max(float(deviations.max(initial=0)), 1e-30)
    return np.where(deviations > threshold, 1 / np.maximum(deviations, 1e-30), 0.0)
