"""Bounds are bounds (a random search never passes them) and tight (it comes close)."""

import math

import numpy as np
import pytest

from paragloss.errors import ModelError
from studies import smoothness


def cosine(f, d, epsilon):
    return f @ d / ((np.linalg.norm(f) + epsilon) * (np.linalg.norm(d) + epsilon))


def gradient(f, d, epsilon, h=1e-6):
    steps = np.eye(len(f)) * h
    return np.array([(cosine(f + s, d, epsilon) - cosine(f - s, d, epsilon)) / (2 * h) for s in steps])


def draws(count, rng, dim=3):
    """Vectors of every size: most are ordinary, some nearly zero or huge."""
    return rng.standard_normal((count, dim)) * 10 ** rng.uniform(-3, 3, (count, 1))


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0])
def test_the_gradient_of_the_smooth_cosine_stays_below_one_over_epsilon_and_comes_near(epsilon):
    rng = np.random.default_rng(0)
    sizes = [np.linalg.norm(gradient(f, d, epsilon)) for f, d in zip(draws(1500, rng), draws(1500, rng), strict=True)]
    bound = smoothness.cosine_lipschitz(epsilon)
    assert bound == 1 / epsilon
    assert max(sizes) <= bound * (1 + 1e-6) < 2 / epsilon
    assert max(sizes) > 0.9 * bound


@pytest.mark.parametrize("dim", [2, 5, 20])
def test_curvature_of_the_smooth_cosine_does_not_depend_on_the_dimension(dim):
    # 2 / epsilon^2, reached as f goes to zero along d, for d of infinite length.
    epsilon, h, rng = 0.5, 1e-5, np.random.default_rng(dim)
    curvatures = []
    for f, d in zip(draws(200, rng, dim), draws(200, rng, dim), strict=True):
        direction = rng.standard_normal(dim)
        direction *= h / np.linalg.norm(direction)
        curvatures.append(np.linalg.norm(gradient(f + direction, d, epsilon) - gradient(f, d, epsilon)) / h)
    f, d = np.eye(dim)[0] * 1e-4, np.eye(dim)[0] * 1e6
    along = np.eye(dim)[0] * 1e-4
    steepest = np.linalg.norm(gradient(f + along, d, epsilon) - gradient(f, d, epsilon)) / 1e-4
    bound = smoothness.cosine_smoothness(epsilon)
    assert max(curvatures) < bound
    assert 0.99 * bound < steepest < bound * (1 + 1e-3)


def test_constants_of_sosl_by_hand_and_by_search():
    # Thresholds (0.2, 0.7): the highest class at -1 is 1.7 away, so slope 3.4, value 2.89.
    assert smoothness.sosl_lipschitz((0.2, 0.7)) == pytest.approx(3.4)
    assert smoothness.sosl_bound((0.2, 0.7)) == pytest.approx(2.89)
    # Thresholds (-0.8, 0): the lowest class at 1 is 1.8 away.
    assert smoothness.sosl_bound((-0.8, 0.0)) == pytest.approx(3.24)
    torch = pytest.importorskip("torch")
    from paragloss.lab.methods.ordinal import sosl

    for thresholds in [(0.2, 0.7), (-0.8, 0.0), (-0.3, 0.1, 0.5)]:
        r = torch.linspace(-1, 1, 2001, dtype=torch.float64, requires_grad=True)
        for grade in range(len(thresholds) + 1):
            values = sosl(r, torch.full((2001,), grade), thresholds)
            (slope,) = torch.autograd.grad(values.sum(), r)
            assert values.max() <= smoothness.sosl_bound(thresholds) + 1e-9
            assert slope.abs().max() <= smoothness.sosl_lipschitz(thresholds) + 1e-9 <= 4
            assert (slope.diff() / r.diff()).abs().max() <= smoothness.sosl_smoothness() + 1e-6


def test_loss_and_gradient_of_the_whole_model_change_no_faster_than_promised():
    torch = pytest.importorskip("torch")
    from paragloss.lab.methods.ordinal import sosl

    thresholds, epsilon, rng = (0.2, 0.7), 1.0, np.random.default_rng(0)

    def loss(flat, grade):
        q, d = flat.view(2, 3, 4).mean(1).tanh()  # two towers, texts of three different words
        r = q @ d / ((q.norm() + epsilon) * (d.norm() + epsilon))
        return sosl(r[None], torch.tensor([grade]), thresholds)[0]

    steep, curved = smoothness.model_lipschitz(thresholds, epsilon), smoothness.model_smoothness(thresholds, epsilon)
    for _ in range(200):
        a = torch.tensor(rng.standard_normal(24) * 10 ** rng.uniform(-2, 1), requires_grad=True)
        b = (a.detach() + torch.tensor(rng.standard_normal(24) * 10 ** rng.uniform(-4, 0))).requires_grad_()
        grade = int(rng.integers(3))
        gradient_a, gradient_b = (torch.autograd.grad(loss(x, grade), x)[0] for x in (a, b))
        distance = float((a - b).detach().norm())
        assert abs(float((loss(a, grade) - loss(b, grade)).detach())) <= steep * distance
        assert float((gradient_a - gradient_b).norm()) <= curved * distance


@pytest.mark.parametrize(
    ("n", "steps", "c", "lipschitz", "smooth", "expected"),
    [
        # smoothness x c = 1, so beta = (1 + 1) / (n - 1) x sqrt(2 c L^2) x sqrt(T): 2 / 100 x sqrt(2 x 0.5 x 4) x 3
        (101, 9, 0.5, 2.0, 2.0, 0.12),
        (2, 1, 1.0, 1.0, 1.0, 2 * math.sqrt(2)),
        (9, 16, 0.5, 3.0, 2.0, 3.0),  # (2 x .5 x 3^2)^(1/2) x 16^(1/2) = 12; (1 + 1) / 8 x 12
        # power = .5 x 1 = .5: 9^(2/3) x 8^(1/3) = 4.3267 x 2; (1 + 2) / 8 x that.
        (9, 8, 0.5, 3.0, 1.0, 3 / 8 * 9 ** (2 / 3) * 2),
    ],
)
def test_stability_by_hand(n, steps, c, lipschitz, smooth, expected):
    assert smoothness.stability(n, steps, c=c, lipschitz=lipschitz, smoothness=smooth) == pytest.approx(expected)


def test_there_is_no_bound_of_one_example_no_step_or_an_epsilon_of_zero():
    for n, steps, c in ((1, 1, 1.0), (2, 0, 1.0), (2, 1, 0.0)):
        with pytest.raises(ModelError, match="expected n of 2 or more"):
            smoothness.stability(n, steps, c=c, lipschitz=1.0, smoothness=1.0)
    with pytest.raises(ModelError, match=r"epsilon 0.* above 0"):
        smoothness.cosine_lipschitz(0)


def test_a_bounded_loss_is_divided_and_multiplied_back():
    # Measured in other units (loss x 7, steps / 7) it is the same run: stability is 7 times as large.
    unscaled = smoothness.stability(50, 20, c=0.7, lipschitz=2.0, smoothness=3.0)
    scaled = smoothness.stability(50, 20, c=0.1, lipschitz=14.0, smoothness=21.0, bound=7.0)
    assert scaled == pytest.approx(7 * unscaled)


def test_steps_may_grow_with_examples_only_while_smoothness_times_c_is_below_one():
    # nb(n) grows as T^(p / (p + 1)), p = smoothness x c; over sqrt(n) with T = n it falls only for p < 1.
    curve = smoothness.model_smoothness((0.2, 0.7), 1.0)

    def bounds(p):
        at = {"c": p / curve, "thresholds": (0.2, 0.7), "epsilon": 1.0}
        return [smoothness.generalisation(n, n, **at) for n in (10**8, 10**10, 10**12)]

    assert bounds(0.5) == sorted(bounds(0.5), reverse=True)
    assert bounds(1.5) == sorted(bounds(1.5))


def test_what_64_tanh_outputs_can_reach_with_epsilon_1():
    assert smoothness.reach(1.0, 64) == pytest.approx((8 / 9) ** 2)
    assert smoothness.reach(1.0, 64) == pytest.approx(0.790, abs=5e-4)
    assert smoothness.reach(1.0, 64) < 0.9  # the third threshold of the three-part loss
    assert math.isclose(smoothness.reach(0.0, 64), 1.0)


def test_constants_of_the_model_and_its_bound_by_hand():
    # epsilon .5, SOSL's slope 3.4: cosines are steep by 2 in each vector, sqrt(8) in both; curved by 8 + 4 = 12.
    steep, curved = 3.4 * math.sqrt(8), 2 * 8 + 3.4 * 12 + 3.4 * math.sqrt(8) * 4 / (3 * math.sqrt(3))
    assert smoothness.model_lipschitz((0.2, 0.7), 0.5) == pytest.approx(steep)
    assert smoothness.model_smoothness((0.2, 0.7), 0.5) == pytest.approx(curved)
    beta = smoothness.stability(100, 50, c=0.01, lipschitz=steep, smoothness=curved, bound=1.7**2)
    bound = smoothness.generalisation(100, 50, c=0.01, thresholds=(0.2, 0.7), epsilon=0.5)
    assert bound == pytest.approx(2 * beta + (400 * beta + 1.7**2) * math.sqrt(math.log(20) / 200))
