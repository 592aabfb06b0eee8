"""Conjugate gradients on one mini-batch after another. Knows nothing of models: an objective comes from the caller.
Needs torch.

Le et al., "On optimization methods for deep learning", ICML 2011, for the use on mini-batches; Polak-Ribière
directions, restarted where they would go uphill (Nocedal and Wright, "Numerical optimization", section 5.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

#: An Armijo line search asks for this part of the decrease that the slope promises.
_SUFFICIENT = 1e-4
#: A line search goes no further in one leap than this many times what it tried before, nor comes back to less than
#: this part of it: the slopes at two near points say little of what is far away.
_LEAP, _BACK = 3.0, 0.1


def minimise(
    objective: Callable[[torch.Tensor], tuple[float, torch.Tensor]],
    start: torch.Tensor,
    *,
    iterations: int = 3,
    searches: int = 3,
    reach: float = math.inf,
) -> torch.Tensor:
    """Find a point at which `objective` (point -> value, gradient) is lower than at `start`, or return `start`.

    It is no further from `start` than `reach` times the length of `start` (or 1, if that is more): what is best for
    one mini-batch is not what is best for all, and three exact line searches forget the others. Each iteration looks
    along one direction and evaluates the objective `searches` times at most: first at a trial step, then where the
    secant through the two slopes is zero, which for a quadratic is the exact minimum.
    """
    point, (value, gradient) = start, objective(start)
    direction = -gradient
    step = 1.0 / (1.0 + float(gradient.norm()))
    for _ in range(iterations):
        slope = float(gradient @ direction)
        if slope >= 0:  # not downhill any more: start again from the gradient
            direction, slope = -gradient, -float(gradient @ gradient)
        if slope == 0:
            break
        line_minimum = _search(objective, point, value, direction, slope, step, searches)
        if line_minimum is None:
            break
        length, point, value, next_gradient = line_minimum
        beta = float(next_gradient @ (next_gradient - gradient)) / float(gradient @ gradient)
        direction = max(beta, 0.0) * direction - next_gradient
        # The next step is tried at the length that would gain as much as this one did.
        next_slope = float(next_gradient @ direction)
        step = length * min(max(slope / next_slope, _BACK), _LEAP) if next_slope < 0 else length
        gradient = next_gradient
    return _bound_distance(start, point, reach)


def _bound_distance(start: torch.Tensor, point: torch.Tensor, reach: float) -> torch.Tensor:
    """Move the point back towards the start until it is no further than allowed."""
    if math.isinf(reach):
        return point
    displacement = point - start
    length, max_length = float(displacement.norm()), reach * max(float(start.norm()), 1.0)
    return point if length <= max_length else start + displacement * (max_length / length)


def _search(
    objective: Callable[[torch.Tensor], tuple[float, torch.Tensor]],
    point: torch.Tensor,
    value: float,
    direction: torch.Tensor,
    slope: float,
    step: float,
    searches: int,
) -> tuple[float, torch.Tensor, float, torch.Tensor] | None:
    """Search along `direction`; return the best (step, point, value, gradient), or None if none is low enough."""
    best = None
    previous_step, previous_slope = 0.0, slope
    for _ in range(searches):
        candidate = point + step * direction
        candidate_value, candidate_gradient = objective(candidate)
        candidate_slope = float(candidate_gradient @ direction)
        if candidate_value <= value + _SUFFICIENT * step * slope and (best is None or candidate_value < best[2]):
            best = (step, candidate, candidate_value, candidate_gradient)
        if abs(candidate_slope) <= 1e-9 * abs(slope):
            break
        curvature = (candidate_slope - previous_slope) / (step - previous_step)
        next_step = step - candidate_slope / curvature if curvature > 0 else _LEAP * step
        previous_step, previous_slope = (
            (step, candidate_slope) if best is not None and best[0] == step else (previous_step, previous_slope)
        )
        step = min(max(next_step, _BACK * step), _LEAP * step)
        if step == previous_step:
            break
    return best


def stepping(
    loss: Callable[[Sequence[torch.Tensor]], torch.Tensor],
    parts: Sequence[torch.Tensor],
    *,
    iterations: int = 3,
    searches: int = 3,
    reach: float = math.inf,
) -> torch.Tensor:
    """A loss whose gradient is the way back from where conjugate gradients lead: one plain gradient step of rate 1
    (`descend(..., optimizer="sgd", learning_rate=1)`) puts `parts` there. Its value is that of `loss` before.

    So one loop, with its early stopping, checkpoints and checks, serves this optimiser as well.
    """
    fixed = [part.detach() for part in parts]
    sizes = [part.numel() for part in fixed]

    def split(point: torch.Tensor) -> list[torch.Tensor]:
        return [piece.view_as(part) for piece, part in zip(torch.split(point, sizes), fixed, strict=True)]

    def objective(point: torch.Tensor) -> tuple[float, torch.Tensor]:
        with torch.enable_grad():
            leaf = point.detach().requires_grad_()
            value = loss(split(leaf))
            (gradient,) = torch.autograd.grad(value, leaf)
        return float(value.detach()), gradient

    start = torch.cat([part.reshape(-1) for part in fixed])
    target = split(minimise(objective, start, iterations=iterations, searches=searches, reach=reach))
    way_back = [
        (part * (start_part - target_part)).sum()
        for part, start_part, target_part in zip(parts, fixed, target, strict=True)
    ]
    surrogate = torch.stack(way_back).sum()
    with torch.no_grad():
        value = loss(fixed)
    return surrogate - surrogate.detach() + value
