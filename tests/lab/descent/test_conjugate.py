"""Conjugate gradients: exact on quadratics, never uphill, and the same thing through a plain gradient step."""

import pytest

torch = pytest.importorskip("torch")

from paragloss.lab.descent.conjugate import minimise, stepping  # noqa: E402


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
    found = minimise(objective, torch.zeros(dim, dtype=torch.float64), iterations=dim, searches=3)
    assert torch.allclose(found, target, atol=1e-6)


def test_fewer_iterations_get_part_of_the_way():
    objective, target = quadratic(8, seed=1)
    start = torch.zeros(8, dtype=torch.float64)
    values = [objective(minimise(objective, start, iterations=i))[0] for i in (0, 1, 2, 4)]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[1] > values[2] > values[3] > 0
    assert not torch.allclose(minimise(objective, start, iterations=2), target, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_value_never_rises_on_a_bumpy_function(seed):
    def objective(x):
        x = x.detach().requires_grad_()
        value = (torch.sin(5 * x) + 0.1 * x**2).sum()
        (gradient,) = torch.autograd.grad(value, x)
        return float(value.detach()), gradient

    start = 3 * torch.randn(6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    found = minimise(objective, start, iterations=3, searches=3)
    assert objective(found)[0] < objective(start)[0]


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
    value = stepping(loss, [a, b], iterations=30)
    assert float(value.detach()) == pytest.approx(before)
    value.backward()
    with torch.no_grad():
        a -= a.grad
        b -= b.grad
    final = loss([a, b])
    gradients = torch.autograd.grad(final, [a, b])
    assert max(float(g.abs().max()) for g in gradients) < 1e-4
