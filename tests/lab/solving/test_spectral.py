"""Eigenpairs of operators that are only known by their products, where they are too large for dense algebra."""

import numpy as np
import pytest
import scipy.sparse as sp

from paragloss.lab.solving import oriented, spectral

NOISE = np.random.default_rng(0)
MIRROR = NOISE.standard_normal((1200, 1)).astype(np.float32)
MIRROR /= np.linalg.norm(MIRROR)
WEIGHTS = (100 * 0.8 ** np.arange(1200, dtype=np.float32))[:, None]


def mirrored(block):
    return block - 2 * MIRROR @ (MIRROR.T @ block)


def make_operator(calls):
    """An operator whose eigenvalues are WEIGHTS, and its eigenvectors the mirrored axes."""
    return lambda block: calls.append(block.shape) or mirrored(WEIGHTS * mirrored(block))


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4])
def test_the_leading_pairs_of_a_large_operator_are_found(tolerance):
    calls = []
    values, vectors = spectral.find_largest_eigenpairs(
        make_operator(calls), 1200, 5, seed=1, block=8, tolerance=tolerance
    )
    np.testing.assert_allclose(values, WEIGHTS[:5, 0], rtol=tolerance)
    exact = mirrored(np.eye(1200, 5, dtype=np.float32))
    np.testing.assert_allclose(np.abs((vectors * exact).sum(0)), 1, atol=tolerance)
    assert set(calls) == {(1200, 8)}


@pytest.mark.parametrize(("tolerance", "blocks"), [(10.0, 2), (0.0, 6)])
def test_convergence_is_checked_from_twice_as_many_columns_on_until_the_basis_is_full(tolerance, blocks):
    # Five pairs, blocks of eight: ten are held after two blocks; there is room for 5 + 6 x 8 = 53, which six fill.
    calls = []
    spectral.find_largest_eigenpairs(make_operator(calls), 1200, 5, block=8, tolerance=tolerance)
    assert len(calls) == blocks
    calls.clear()
    spectral.find_largest_eigenpairs(make_operator(calls), 1200, 8, block=8, tolerance=10.0)
    assert len(calls) == 2, "sixteen are twice as many as eight"
    calls.clear()
    spectral.find_largest_eigenpairs(make_operator(calls), 1200, 10, block=2, tolerance=0.0)
    assert len(calls) == 25, "there is room for five times as many as are asked for"


def test_a_small_operator_is_solved_at_once_and_none_has_more_pairs_than_rows():
    calls = []
    weights = np.array([[3.0], [-1.0], [2.0]], np.float32)
    values, vectors = spectral.find_largest_eigenpairs(lambda block: calls.append(block) or weights * block, 3, 9)
    assert values.tolist() == [3, 2, 0], "what rounding made negative is none"
    np.testing.assert_allclose(np.abs(vectors), np.eye(3)[:, [0, 2, 1]], atol=1e-6)
    assert len(calls) == 1


def test_dependent_columns_are_replaced_by_random_ones():
    basis = np.eye(2, 6, dtype=np.float32)
    columns = np.zeros((6, 3), np.float32)
    columns[:, 0], columns[:, 1], columns[2, 2] = [5, 1, 2, 0, 0, 0], [7, 7, 4, 0, 0, 0], 3  # all along the third axis
    q, triangle = spectral._orthonormalize(columns, basis, np.random.default_rng(0))
    np.testing.assert_allclose(q.T @ q, np.eye(3), atol=1e-5)
    np.testing.assert_allclose(basis @ q, 0, atol=1e-5)
    assert abs(q[2, 0]) == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(np.abs(triangle), [[2, 4, 3], [0, 0, 0], [0, 0, 0]], atol=1e-5)
    nothing, _ = spectral._orthonormalize(np.zeros((6, 2), np.float32), basis, np.random.default_rng(0))
    np.testing.assert_allclose(nothing.T @ nothing, np.eye(2), atol=1e-5)


def test_products_go_panel_by_panel():
    matrix = sp.random(30, 20, density=0.3, random_state=1, format="csr", dtype=np.float32)
    block, other = (NOISE.standard_normal((rows, 150)).astype(np.float32) for rows in (20, 30))
    np.testing.assert_allclose(spectral.Product(matrix).dot(block), matrix @ block, atol=1e-5)
    np.testing.assert_allclose(spectral.Product(matrix).back(other), matrix.T @ other, atol=1e-5)


def test_zero_singular_values_are_left_out():
    low = NOISE.standard_normal((12, 2)) @ NOISE.standard_normal((2, 7))
    for matrix in (low, low.T):
        values, right = spectral.find_singular_vectors(spectral.Product(sp.csr_matrix(matrix, dtype=np.float32)), 5)
        np.testing.assert_allclose(values, np.linalg.svd(matrix, compute_uv=False)[:2], rtol=1e-3)
        np.testing.assert_allclose(matrix.T @ matrix @ right, right * values**2, atol=1e-2)


def test_conjugate_gradients_go_on_from_a_start_panel_by_panel():
    A = NOISE.standard_normal((30, 30))
    A = (A @ A.T + 5 * np.eye(30)).astype(np.float32)
    right, calls = NOISE.standard_normal((30, 70)).astype(np.float32), []
    exact, scale = np.linalg.solve(A, right), (1 / np.diag(A))[:, None]

    def apply(block):
        calls.append(block.shape[1])
        return A @ block

    solution = oriented.conjugate_gradients(apply, right, scale=scale, start=right / 5, tolerance=1e-5)
    np.testing.assert_allclose(solution, exact, atol=1e-3)
    assert set(calls) == {64, 6}
    calls.clear()
    solution = oriented.conjugate_gradients(apply, right, scale=scale, start=exact.astype(np.float32))
    np.testing.assert_array_equal(solution, exact.astype(np.float32))
    assert calls == [64, 6], "looked at, and left alone"
    calls.clear()
    oriented.conjugate_gradients(apply, right[:, :3], scale=scale, tolerance=0, max_steps=4)
    assert len(calls) == 4


def test_a_solved_column_does_not_change_any_more():
    A = np.diag([1.0, 4.0, 9.0]).astype(np.float32)
    right = np.array([[1, 1], [0, 1], [0, 1]], np.float32)  # the first is solved by one step, the other by three
    solution = oriented.conjugate_gradients(lambda b: A @ b, right, scale=np.ones((3, 1), np.float32), tolerance=1e-6)
    np.testing.assert_allclose(solution, [[1, 1], [0, 1 / 4], [0, 1 / 9]], rtol=1e-5)
    loose = oriented.conjugate_gradients(lambda b: A @ b, right, scale=np.ones((3, 1), np.float32), tolerance=0.9)
    # One step down the gradient: r.r / r.Ar, 1 for the first and 3 / 14 for the second, which is then near enough.
    np.testing.assert_allclose(loose, [[1, 3 / 14], [0, 3 / 14], [0, 3 / 14]], rtol=1e-5)


def test_a_tiny_singular_value_beside_the_largest_is_left_out():
    # Squares of 1, 1e-4 and 1e-8 of the largest: a millionth of it is what counts.
    sizes = sp.diags_array([10.0, 0.1, 0.001], dtype=np.float32).tocsr()
    values, _ = spectral.find_singular_vectors(spectral.Product(sizes), 3)
    np.testing.assert_allclose(values, [10, 0.1], rtol=1e-4)
