"""Minimize the loss of one mini-batch after another by nonlinear conjugate gradients. Needs torch.

Le et al., "On optimization methods for deep learning", ICML 2011, for the use on mini-batches; Polak-Ribière
directions, restarted where they would go uphill (Nocedal and Wright, "Numerical optimization", section 5.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch

#: A step must lower the objective by this part of what the slope predicts (Armijo's condition).
SUFFICIENT_DECREASE = 1e-4
#: Bounds of the next trial step, in multiples of the last one: slopes at two close points say little of distant ones.
MAX_GROWTH, MAX_SHRINKAGE = 3.0, 0.1
#: A slope that has fallen to this part of the first one counts as zero.
FLAT = 1e-9

#: point -> value and gradient
Objective = Callable[[torch.Tensor], tuple[float, torch.Tensor]]


class LinePoint(NamedTuple):
    """A point on a line of search with its step from the start of the line."""

    step: float
    point: torch.Tensor
    value: float
    gradient: torch.Tensor


def minimise(
    objective: Objective,
    start: torch.Tensor,
    *,
    iterations: int = 3,
    searches: int = 3,
    reach: float = math.inf,
) -> torch.Tensor:
    """Find a point at which `objective` is lower than at `start`, or return `start`.

    Each iteration searches along one direction: first at a trial step, then where the secant through two slopes is
    zero, which for a quadratic is the exact minimum.

    :param objective: point -> value and gradient
    :param iterations: directions that are searched, at most
    :param searches: evaluations of the objective along a direction, at most
    :param reach: the largest distance from the start, in multiples of its length (or of 1 if that is more). The minimum
        for one mini-batch is not that for all, and three exact line searches would forget the others
    """
    value, gradient = objective(start)
    best = LinePoint(0.0, start, value, gradient)
    direction = -gradient
    step = 1.0 / (1.0 + float(gradient.norm()))
    for _ in range(iterations):
        direction, slope = _turn_downhill(direction, best.gradient)
        if slope == 0:
            break
        lower = _search_line(objective, best, direction, slope, step, searches)
        if lower is None:
            break
        direction = _conjugate_direction(direction, best.gradient, lower.gradient)
        step = _choose_trial_step(lower, slope, next_slope=float(lower.gradient @ direction))
        best = lower
    return _bound_distance(start, best.point, reach)


def _conjugate_direction(direction: torch.Tensor, gradient: torch.Tensor, new_gradient: torch.Tensor) -> torch.Tensor:
    """Return the next direction by the rule of Polak and Ribière: downhill, mixed with the direction before.

    :param direction: the direction before
    :param gradient: of the objective where the search along it began
    :param new_gradient: where it ended
    """
    share_of_last = float(new_gradient @ (new_gradient - gradient)) / float(gradient @ gradient)
    return max(share_of_last, 0.0) * direction - new_gradient


def _turn_downhill(direction: torch.Tensor, gradient: torch.Tensor) -> tuple[torch.Tensor, float]:
    """Return a direction and the slope along it; one that is not downhill is replaced by the negative gradient."""
    slope = float(gradient @ direction)
    return (direction, slope) if slope < 0 else (-gradient, -float(gradient @ gradient))


def _choose_trial_step(best: LinePoint, slope: float, next_slope: float) -> float:
    """Return the step along a new direction that would gain as much as the last one did, within bounds.

    :param best: where the last step led
    :param slope: of the objective along the last direction, at its start
    :param next_slope: along the new direction
    """
    if next_slope >= 0:
        return best.step
    growth = min(max(slope / next_slope, MAX_SHRINKAGE), MAX_GROWTH)
    return best.step * growth


def _bound_distance(start: torch.Tensor, point: torch.Tensor, reach: float) -> torch.Tensor:
    """Move the point back towards the start until it is within `reach`, see `minimise`."""
    if math.isinf(reach):
        return point
    displacement = point - start
    length, max_length = float(displacement.norm()), reach * max(float(start.norm()), 1.0)
    return point if length <= max_length else start + displacement * (max_length / length)


def _search_line(
    objective: Objective, start: LinePoint, direction: torch.Tensor, slope: float, first_step: float, searches: int
) -> LinePoint | None:
    """Search along `direction` for a point that is sufficiently lower than the start; None if there is none.

    Each step after the first is where the secant through two slopes is zero: that at the latest point, and that at the
    best point so far (or at the start).

    :param objective: point -> value and gradient
    :param slope: of the objective along the direction at the start, negative
    :param first_step: the first step to try
    :param searches: how many points are tried, at most
    """
    best: LinePoint | None = None
    best_step, best_slope = 0.0, slope  # those of the start until there is a best point
    step = first_step
    for _ in range(searches):
        point = start.point + step * direction
        value, gradient = objective(point)
        new_slope = float(gradient @ direction)
        is_flat = abs(new_slope) <= FLAT * abs(slope)
        next_step = step if is_flat else _step_by_secant(step, new_slope, best_step, best_slope)
        is_sufficient = value <= start.value + SUFFICIENT_DECREASE * step * slope
        if is_sufficient and (best is None or value < best.value):
            best = LinePoint(step, point, value, gradient)
            best_step, best_slope = step, new_slope
        if is_flat or next_step == best_step:
            break
        step = next_step
    return best


def _step_by_secant(step: float, slope: float, previous_step: float, previous_slope: float) -> float:
    """Return the step at which the secant through the slopes at two steps is zero, within bounds of the first one."""
    curvature = (slope - previous_slope) / (step - previous_step)
    next_step = step - slope / curvature if curvature > 0 else MAX_GROWTH * step
    return min(max(next_step, MAX_SHRINKAGE * step), MAX_GROWTH * step)


def make_stepping_loss(
    loss: Callable[[Sequence[torch.Tensor]], torch.Tensor],
    parts: Sequence[torch.Tensor],
    find_minimum: Callable[[Objective, torch.Tensor], torch.Tensor] = minimise,
) -> torch.Tensor:
    """Return a loss of which one plain gradient step of rate 1 moves `parts` to where conjugate gradients lead.

    So `descend(..., optimizer="sgd", learning_rate=1)`, with its early stopping and checks, serves this optimiser as
    well. The value of the returned loss is that of `loss` before the step.

    :param loss: computes the loss of values for `parts`
    :param parts: the parameters
    :param find_minimum: `minimise`, perhaps with settings
    :return: a scalar with a gradient with respect to `parts`
    """
    start_values = [part.detach() for part in parts]
    objective = partial(_evaluate_flat, loss, start_values)
    start = torch.cat([value.reshape(-1) for value in start_values])
    end = find_minimum(objective, start)
    surrogate = _make_linear_surrogate(parts, start_values, _split_vector(end, start_values))
    with torch.no_grad():
        value_before = loss(start_values)
    # The surrogate minus its own value is zero, but keeps its gradient: the sum has the value of the loss.
    return surrogate - surrogate.detach() + value_before


def _evaluate_flat(
    loss: Callable[[Sequence[torch.Tensor]], torch.Tensor], shapes: Sequence[torch.Tensor], point: torch.Tensor
) -> tuple[float, torch.Tensor]:
    """Compute the value and the gradient of a loss of several parameters, given as one vector that holds them all.

    :param shapes: tensors with the shapes of the parameters
    :param point: the parameters, one after the other
    """
    with torch.enable_grad():
        leaf = point.detach().requires_grad_()
        value = loss(_split_vector(leaf, shapes))
        (gradient,) = torch.autograd.grad(value, leaf)
    return float(value.detach()), gradient


def _split_vector(vector: torch.Tensor, shapes: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Split a vector, which holds tensors one after the other, into tensors of the given shapes."""
    pieces = torch.split(vector, [tensor.numel() for tensor in shapes])
    return [piece.view_as(tensor) for piece, tensor in zip(pieces, shapes, strict=True)]


def _make_linear_surrogate(
    parts: Sequence[torch.Tensor], start_values: Sequence[torch.Tensor], end_values: Sequence[torch.Tensor]
) -> torch.Tensor:
    """Return a function of the parameters with the constant gradient start - end.

    A gradient step of rate 1 from the start subtracts that gradient, and so leads to the end.
    """
    products = []
    for part, start, end in zip(parts, start_values, end_values, strict=True):
        products.append((part * (start - end)).sum())
    return torch.stack(products).sum()
