"""Learn the weights of features with which the right item of each list comes first: logistic regression within lists.

The loss is the mean of -log softmax(features @ weights)[right] over lists (ListNet with one relevant item: Cao et al.,
ICML 2007). It is convex, so a few dozen weights are found in a fraction of a second and never depend on a start.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

Reals = npt.NDArray[np.float64]


def weigh_lists(
    lists: Sequence[npt.NDArray[np.floating]], right: Sequence[int], *, penalty: float, minimum: float | None = None
) -> tuple[Reals, float]:
    """Learn one weight per feature, so that the right item of each list scores highest.

    :param lists: features of the items of each list, (items, features)
    :param right: number of the right item of each list
    :param penalty: limits the squared weights, in units in which every feature varies by one
    :param minimum: the lowest value of a weight
    :return: weights, (features,), and the value of the loss
    """
    items = np.concatenate([np.asarray(features, np.float64) for features in lists])
    bounds = np.cumsum([0, *map(len, lists)])
    list_of_item = np.repeat(np.arange(len(lists)), np.diff(bounds))
    right_items = bounds[:-1] + np.asarray(right)
    scale = _invert_deviations(items)
    items = (items - items.mean(axis=0)) * scale

    def compute_loss(weights: Reals) -> tuple[float, Reals]:
        """Return the penalized loss and its gradient."""
        scores = items @ weights
        highest = np.maximum.reduceat(scores, bounds[:-1])
        exponentials = np.exp(scores - highest[list_of_item])
        totals = np.add.reduceat(exponentials, bounds[:-1])
        value = float((np.log(totals) + highest - scores[right_items]).mean())
        gradient = (exponentials / totals[list_of_item]) @ items / len(lists) - items[right_items].mean(axis=0)
        return value + penalty * float(weights @ weights) / 2, gradient + penalty * weights

    weight_bounds = None if minimum is None else [(minimum, None)] * items.shape[1]
    start = np.zeros(items.shape[1])
    optimum = minimize(compute_loss, start, jac=True, method="L-BFGS-B", bounds=weight_bounds)
    return optimum.x * scale, float(compute_loss(optimum.x)[0])


def _invert_deviations(items: Reals) -> Reals:
    """Return one over the standard deviation of each feature, and 0 for a feature that hardly varies."""
    deviations = items.std(axis=0)
    threshold = 1e-9 * max(float(deviations.max(initial=0)), 1e-30)
    return np.where(deviations > threshold, 1 / np.maximum(deviations, 1e-30), 0.0)
