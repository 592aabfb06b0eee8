"""Weights with which the right item of each list comes first: logistic regression within lists. Knows numbers only.

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
    """Learn one weight per feature; return them and the loss; `lists` are (items, features), `right` which item is
    right.

    `penalty` limits the squared weights, in units in which every feature varies by one. No weight is below `minimum`.
    """
    items = np.concatenate([np.asarray(features, np.float64) for features in lists])
    bounds = np.cumsum([0, *map(len, lists)])
    owner = np.repeat(np.arange(len(lists)), np.diff(bounds))
    right_items = bounds[:-1] + np.asarray(right)
    spread = items.std(axis=0)
    scale = np.where(spread > 1e-9 * max(float(spread.max(initial=0)), 1e-30), 1 / np.maximum(spread, 1e-30), 0.0)
    items = (items - items.mean(axis=0)) * scale

    def loss(weights: Reals) -> tuple[float, Reals]:
        scores = items @ weights
        top = np.maximum.reduceat(scores, bounds[:-1])
        mass = np.exp(scores - top[owner])
        total = np.add.reduceat(mass, bounds[:-1])
        value = float((np.log(total) + top - scores[right_items]).mean())
        slope = (mass / total[owner]) @ items / len(lists) - items[right_items].mean(axis=0)
        return value + penalty * float(weights @ weights) / 2, slope + penalty * weights

    bounds_of = None if minimum is None else [(minimum, None)] * items.shape[1]
    optimum = minimize(loss, np.zeros(items.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds_of)
    return optimum.x * scale, float(loss(optimum.x)[0])
