"""Conjugate gradients: exact on quadratics, never uphill, and the same thing through a plain gradient step."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

from paragloss.lab.descent.conjugate import make_stepping_loss, minimise  # noqa: E402


def quadratic(dim, seed):
    generator = torch.Generator().manual_seed(seed)
    half = torch.randn(dim, dim, generator=generator, dtype=torch.float64)
    matrix = half @ half.T + 0.1 * torch.eye(dim, dtype=torch.float64)
    target = torch.randn(dim, generator=generator, dtype=torch.float64)

    def objective(x):
        residual = matrix @ (x - target)
        return float((x - target) @ residual) / 2, residual

    return objective, target


@pytest.mark.parametrize("dim", [1, 2, 5, 8])
def test_a_quadratic_of_n_dimensions_is_minimised_in_n_iterations(dim):
    objective, target = quadratic(dim, seed=dim)
    minimum = minimise(objective, torch.zeros(dim, dtype=torch.float64), iterations=dim, searches=3)
    assert torch.allclose(minimum, target, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_value_never_rises_on_a_bumpy_function(seed):
    def objective(x):
        x = x.detach().requires_grad_()
        value = (torch.sin(5 * x) + 0.1 * x**2).sum()
        (gradient,) = torch.autograd.grad(value, x)
        return float(value.detach()), gradient

    start = 3 * torch.randn(6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    minimum = minimise(objective, start, iterations=3, searches=3)
    assert objective(minimum)[0] < objective(start)[0]


def test_a_point_without_slope_stays():
    start = torch.tensor([1.0, 2.0])
    assert minimise(lambda x: (0.0, torch.zeros_like(x)), start) is start


def test_one_gradient_step_of_rate_one_lands_where_conjugate_gradients_do():
    # The minimum of (a - 3)^2 + (b + 1)^2 + (a b)^2 / 10, in two parts of different shapes.
    def loss(parts):
        a, b = parts
        return ((a - 3) ** 2).sum() + ((b + 1) ** 2).sum() + (a.sum() * b.sum()) ** 2 / 10

    a = torch.zeros(2, 1, dtype=torch.float64, requires_grad=True)
    b = torch.ones(3, dtype=torch.float64, requires_grad=True)
    before = float(loss([a, b]).detach())
    value = make_stepping_loss(loss, [a, b], partial(minimise, iterations=30))
    assert float(value.detach()) == pytest.approx(before)
    value.backward()
    with torch.no_grad():
        a -= a.grad
        b -= b.grad
    final = loss([a, b])
    gradients = torch.autograd.grad(final, [a, b])
    assert max(float(g.abs().max()) for g in gradients) < 1e-4


def record_line_search(value, slope, *, start=0.0, **settings):
    """The points of a line that are evaluated, and where it ends."""
    points = []

    def objective(x):
        points.append(float(x))
        return value(float(x)), torch.tensor([slope(float(x))], dtype=torch.float64)

    minimum = minimise(objective, torch.tensor([start], dtype=torch.float64), **settings)
    return points, float(minimum)


def test_every_point_of_a_parabola_by_hand():
    # (x - 10)^2 / 2 from 0: along 10 by 1/11, and since the minimum is further, thrice as far twice: 10/11, 30/11,
    # 90/11. There the slope is -20/11: along 20/11, thrice as far as before (27/11), which is too far, then exactly.
    points, minimum = record_line_search(lambda x: (x - 10) ** 2 / 2, lambda x: x - 10)
    assert points == pytest.approx([0, 10 / 11, 30 / 11, 90 / 11, 90 / 11 + 27 / 11 * 20 / 11, 10])
    assert minimum == pytest.approx(10)
    assert record_line_search(lambda x: (x - 10) ** 2 / 2, lambda x: x - 10, iterations=1, searches=2)[
        1
    ] == pytest.approx(30 / 11)


def test_a_step_that_is_far_too_long_is_shortened_to_a_tenth():
    # Falls by 1 up to .05, then rises by 1000: tried at .5, then at a tenth twice. The second is the lowest.
    points, minimum = record_line_search(
        lambda x: -x if x < 0.05 else -0.05 + 1000 * (x - 0.05), lambda x: -1 if x < 0.049 else 1000, iterations=1
    )
    assert points == pytest.approx([0, 0.5, 0.05, 0.005])
    assert minimum == pytest.approx(0.05)


def test_a_step_that_gains_next_to_nothing_is_not_taken():
    """The slope promises 1; a ten-thousandth of that is asked for."""
    for gained, moves in ((0.9e-4, False), (1.1e-4, True)):
        _, minimum = record_line_search(
            lambda x, gained=gained: -gained * x, lambda x: -1.0 if x == 0 else -2.0, iterations=1
        )
        assert (minimum != 0) == moves


def test_no_step_is_longer_than_its_limit():
    # Minima at a distance of 10 from a start of length 5 (a tenth is allowed) and from one that counts as 1 long.
    for start, target, reach, expected in (([3, 4], [3, 14], 0.1, [3, 4.5]), ([0.3, 0.4], [0.3, 1.4], 0.5, [0.3, 0.9])):
        goal = torch.tensor(target, dtype=torch.float64)
        objective = lambda x, goal=goal: (float(((x - goal) ** 2).sum()) / 2, x - goal)  # noqa: E731
        minimum = minimise(objective, torch.tensor(start, dtype=torch.float64), reach=reach)
        assert minimum.tolist() == pytest.approx(expected)
    assert record_line_search(lambda x: (x - 10) ** 2 / 2, lambda x: x - 10, reach=0.25)[1] == pytest.approx(0.25)
    part = torch.zeros(1, requires_grad=True)
    loss = lambda parts: ((parts[0] - 10) ** 2).sum()  # noqa: E731
    make_stepping_loss(loss, [part], partial(minimise, iterations=1, searches=1, reach=0.25)).backward()
    assert float(part.grad) == pytest.approx(-0.25)
    part.grad = None
    make_stepping_loss(loss, [part], partial(minimise, iterations=1, searches=2)).backward()
    assert float(part.grad) == pytest.approx(-3 * 20 / 21), "20 by 1/21, then thrice as far"
