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
    """A point at which `objective` (point -> value, gradient) is lower than at `start`, or `start` itself.

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
        found = _search(objective, point, value, direction, slope, step, searches)
        if found is None:
            break
        length, point, value, fresh = found
        bend = float(fresh @ (fresh - gradient)) / float(gradient @ gradient)
        direction = max(bend, 0.0) * direction - fresh
        # The next step is tried at the length that would gain as much as this one did.
        ahead = float(fresh @ direction)
        step = length * min(max(slope / ahead, _BACK), _LEAP) if ahead < 0 else length
        gradient = fresh
    return _within(start, point, reach)


def _within(start: torch.Tensor, point: torch.Tensor, reach: float) -> torch.Tensor:
    """The point, or as far on the way there as is allowed."""
    if math.isinf(reach):
        return point
    way = point - start
    length, allowed = float(way.norm()), reach * max(float(start.norm()), 1.0)
    return point if length <= allowed else start + way * (allowed / length)


def _search(
    objective: Callable[[torch.Tensor], tuple[float, torch.Tensor]],
    point: torch.Tensor,
    value: float,
    direction: torch.Tensor,
    slope: float,
    step: float,
    searches: int,
) -> tuple[float, torch.Tensor, float, torch.Tensor] | None:
    """The best of a few points along `direction`: (step, point, value, gradient), or None if none is low enough."""
    best = None
    near, near_slope = 0.0, slope
    for _ in range(searches):
        there = point + step * direction
        there_value, there_gradient = objective(there)
        there_slope = float(there_gradient @ direction)
        if there_value <= value + _SUFFICIENT * step * slope and (best is None or there_value < best[2]):
            best = (step, there, there_value, there_gradient)
        if abs(there_slope) <= 1e-9 * abs(slope):
            break
        curvature = (there_slope - near_slope) / (step - near)
        ahead = step - there_slope / curvature if curvature > 0 else _LEAP * step
        near, near_slope = (step, there_slope) if best is not None and best[0] == step else (near, near_slope)
        step = min(max(ahead, _BACK * step), _LEAP * step)
        if step == near:
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
    way_back = [(part * (now - then)).sum() for part, now, then in zip(parts, fixed, target, strict=True)]
    surrogate = torch.stack(way_back).sum()
    with torch.no_grad():
        value = loss(fixed)
    return surrogate - surrogate.detach() + value
