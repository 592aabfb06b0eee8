"""The constants behind smooth learning: how steep and how curved the smooth cosine and SOSL are, and the bound on the
generalisation error they give. Numbers only; tests hold the bounds against a random search.

Liu et al. 2020, section 4 and appendix; Hardt, Recht and Singer 2016, theorem 3.12; Agarwal 2008. Where the paper's
constants are loose or wrong we say so in docs/understand/papers/smooth-ordinal.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from paragloss.errors import ModelError

#: The largest second derivative of tanh.
TANH_SMOOTHNESS = 4 / (3 * math.sqrt(3))


def cosine_lipschitz(epsilon: float) -> float:
    """The largest gradient of the smooth cosine with respect to one vector: the supremum 1 / epsilon, at zero.

    The paper proves 2 / epsilon, which holds and is never reached.
    """
    return 1 / _positive(epsilon)


def cosine_smoothness(epsilon: float) -> float:
    """The largest curvature of the smooth cosine with respect to one vector: 2 / epsilon^2, in any dimension."""
    return 2 / _positive(epsilon) ** 2


def sosl_lipschitz(thresholds: Sequence[float]) -> float:
    """The largest slope of SOSL over scores in [-1, 1] and all classes; at most 4 (proposition 1)."""
    return 2 * _reach(thresholds)


def sosl_smoothness() -> float:
    """The largest curvature of SOSL: 2, whatever the thresholds."""
    return 2.0


def sosl_bound(thresholds: Sequence[float]) -> float:
    """The largest value of SOSL: M of theorem 3."""
    return _reach(thresholds) ** 2


def model_lipschitz(thresholds: Sequence[float], epsilon: float) -> float:
    """How fast the loss of a pair can change with the word vectors of both towers (lemma 2).

    Mean pooling and tanh are 1-Lipschitz; the two towers' gradients of the smooth cosine add up in squares.
    """
    return sosl_lipschitz(thresholds) * math.sqrt(2) * cosine_lipschitz(epsilon)


def model_smoothness(thresholds: Sequence[float], epsilon: float) -> float:
    """How fast the gradient of that loss can change (lemma 2): gamma of theorem 3.

    g after f has smoothness beta_g L_f^2 + L_g beta_f. The curvature of the smooth cosine in both vectors together
    is at most 2 / epsilon^2 (each alone) + 1 / epsilon^2 (across).
    """
    slope = math.sqrt(2) * cosine_lipschitz(epsilon)
    curve = cosine_smoothness(epsilon) + cosine_lipschitz(epsilon) ** 2
    outputs = sosl_smoothness() * slope**2 + sosl_lipschitz(thresholds) * curve
    return outputs + model_lipschitz(thresholds, epsilon) * TANH_SMOOTHNESS


def stability(n: int, steps: int, *, c: float, lipschitz: float, smoothness: float, bound: float = 1.0) -> float:
    """Uniform stability of SGD with step sizes c / t after `steps` steps on `n` examples (theorem A.4).

    The theorem is for losses in [0, 1]: one bounded by `bound` is divided by it first, and the result multiplied.
    """
    if n < 2 or steps < 1 or c <= 0:
        raise ModelError(f"n {n}, steps {steps}, c {c}: expected n of 2 or more, steps of 1 or more, c above 0")
    slope, curve = lipschitz / bound, smoothness / bound
    rate = c * bound  # the same steps on the divided loss
    power = curve * rate
    grown: float = (2 * rate * slope**2) ** (1 / (power + 1)) * steps ** (power / (power + 1))
    return bound * (1 + 1 / power) / (n - 1) * grown


def generalisation(
    n: int, steps: int, *, c: float, thresholds: Sequence[float], epsilon: float, delta: float = 0.05
) -> float:
    """Theorem 3: with probability 1 - delta, how much larger the expected loss is than the training loss, at most."""
    bound = sosl_bound(thresholds)
    slope, curve = model_lipschitz(thresholds, epsilon), model_smoothness(thresholds, epsilon)
    beta = stability(n, steps, c=c, lipschitz=slope, smoothness=curve, bound=bound)
    return 2 * beta + (4 * n * beta + bound) * math.sqrt(math.log(1 / delta) / (2 * n))


def reach(epsilon: float, dim: int) -> float:
    """The largest smooth cosine of two tanh outputs of `dim` dimensions; no threshold above it can be met."""
    norm = math.sqrt(dim)
    return (norm / (norm + epsilon)) ** 2


def _reach(thresholds: Sequence[float]) -> float:
    """How far a score can lie from its segment: the lowest class at 1, or the highest at -1."""
    if not thresholds:
        raise ModelError("no thresholds: expected ascending values between -1 and 1, such as (0.2, 0.7)")
    return max(1 - thresholds[0], 1 + thresholds[-1])


def _positive(epsilon: float) -> float:
    if epsilon <= 0:
        raise ModelError(f"epsilon {epsilon}: the cosine is smooth for values above 0 only")
    return epsilon
