"""Compute the largest eigenpairs and singular values of operators of which only products with vectors are known.

Block Lanczos with full reorthogonalisation: Golub & Underwood, "The block Lanczos method for computing eigenvalues",
1977.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.lab.solving.arrays import PANEL, Arrays, Dense
from paragloss.types import Floats

#: Up to this size an operator is made a dense matrix and solved exactly.
MAX_DENSE_SIZE = 1000


class Product:
    """A sparse matrix X that multiplies blocks of numpy columns, PANEL columns at a time.

    Torch is used if it is installed, which is several times faster than scipy.
    """

    def __init__(self, matrix: sp.csr_matrix) -> None:
        self.shape: tuple[int, int] = matrix.shape
        self._arrays = Arrays()
        self._matrix = self._arrays.sparse(matrix)

    def dot(self, block: Floats) -> Floats:
        """Compute X block."""
        return self._multiply_panels(self._matrix.__matmul__, block)

    def back(self, block: Floats) -> Floats:
        """Compute X' block."""
        return self._multiply_panels(self._matrix.back, block)

    def _multiply_panels(self, multiply: Callable[[Dense], Dense], block: Floats) -> Floats:
        """Multiply PANEL columns of a block at a time on the device, and put the results side by side."""
        products = []
        for start in range(0, block.shape[1], PANEL):
            panel = np.ascontiguousarray(block[:, start : start + PANEL], np.float32)
            products.append(self._arrays.get(multiply(self._arrays.put(panel))))
        return products[0] if len(products) == 1 else np.hstack(products)


def find_largest_eigenpairs(
    apply: Callable[[Floats], Floats], size: int, k: int, *, seed: int = 0, block: int = 64, tolerance: float = 1e-2
) -> tuple[Floats, Floats]:
    """Find the largest eigenvalues and their eigenvectors of a symmetric positive semi-definite operator.

    Stops when every residual is below `tolerance` times its eigenvalue, or when the basis holds 5k vectors: the
    last eigenvectors of a slowly falling spectrum are then mixed among themselves, which changes no distance much.

    :param apply: multiplies the operator by columns, (size, b) -> (size, b)
    :param k: how many eigenvalues are wanted; there are at most `size`
    :param block: vectors that are added to the basis at a time
    :return: eigenvalues (k,), largest first, and eigenvectors (size, k)
    """
    k = min(k, size)
    max_vectors = max(5 * k, k + 6 * block)
    if size <= max(max_vectors, MAX_DENSE_SIZE):
        dense = apply(np.eye(size, dtype=np.float32)).astype(np.float64)
        return _find_largest_of_dense(dense, k)
    return _iterate_lanczos(apply, size, k, max_vectors, block, tolerance, np.random.default_rng(seed))


def _iterate_lanczos(
    apply: Callable[[Floats], Floats],
    size: int,
    k: int,
    max_vectors: int,
    block: int,
    tolerance: float,
    random: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Find eigenpairs by the block Lanczos iteration, for the arguments and results of `find_largest_eigenpairs`.

    :param max_vectors: vectors that the basis holds at most
    """
    basis = np.empty((max_vectors, size), np.float32)  # one row per vector; the first n_vectors rows are used
    projected = np.zeros((max_vectors, max_vectors))  # the operator within the basis
    start_vectors = random.standard_normal((size, block)).astype(np.float32)
    new_vectors, _ = _orthonormalize(start_vectors, basis[:0], random)
    n_vectors = 0
    while True:
        start, n_vectors = n_vectors, n_vectors + block
        basis[start:n_vectors] = new_vectors.T
        image = apply(new_vectors)  # (size, block)
        coefficients = basis[:n_vectors] @ image  # (n_vectors, block)
        projected[:n_vectors, start:n_vectors] = coefficients
        projected[start:n_vectors, :n_vectors] = coefficients.T
        residual = image - basis[:n_vectors].T @ coefficients
        new_vectors, coupling = _orthonormalize(residual, basis[:n_vectors], random)
        is_full = n_vectors + block > max_vectors
        if is_full or n_vectors >= 2 * k:
            values, vectors = _find_largest_of_dense(projected[:n_vectors, :n_vectors], k)
            if is_full or _has_converged(coupling, values, vectors[start:], tolerance):
                return values, np.ascontiguousarray(basis[:n_vectors].T @ vectors)


def _find_largest_of_dense(matrix: npt.NDArray[np.float64], k: int) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues of a symmetric matrix, not below zero, and their eigenvectors, (size, k)."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)  # ascending
    largest_first = slice(None, -k - 1, -1)
    return np.maximum(values[largest_first], 0).astype(np.float32), vectors[:, largest_first].astype(np.float32)


def _has_converged(coupling: Floats, values: Floats, newest: Floats, tolerance: float) -> bool:
    """Tell whether all residuals of approximate eigenvectors are small.

    The residual of an eigenvector is what its part in the newest block adds outside the basis.

    :param coupling: (block, block) the triangle of the next block, from `_orthonormalize`
    :param values: (k,) eigenvalues
    :param newest: (block, k) coefficients of the eigenvectors in the newest block
    :param tolerance: how large a residual may be, as a part of its eigenvalue
    """
    residuals = np.linalg.norm(coupling @ newest, axis=0)
    bounds = tolerance * np.maximum(values, 1e-6 * values[0])
    return bool(np.all(residuals <= bounds))


def _orthonormalize(columns: Floats, basis: Floats, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Make columns orthonormal to each other and to the rows of `basis`.

    A column that is a mixture of the others is replaced by a random direction, so that repeated eigenvalues are found.

    :param columns: (size, block)
    :param basis: (vectors, size), orthonormal
    :return: the orthonormal columns, and the triangle (block, block) that makes the old ones of them
    """
    longest = np.linalg.norm(columns, axis=0).max(initial=0.0)
    columns = columns - basis.T @ (basis @ columns)
    q, triangle = np.linalg.qr(columns)
    is_dependent = np.abs(np.diag(triangle)) <= 1e-5 * longest
    if is_dependent.any() or longest == 0:
        q[:, is_dependent] = random.standard_normal((len(q), int(is_dependent.sum())))
    for _ in range(2):  # once leaves rounding errors of the size of what was subtracted
        q -= basis.T @ (basis @ q)
        q, _ = np.linalg.qr(q)
    return np.ascontiguousarray(q, np.float32), triangle


def find_singular_vectors(matrix: Product, k: int, *, seed: int = 0, tolerance: float = 1e-2) -> tuple[Floats, Floats]:
    """Return at most `k` singular values, largest first and without zeros, and their right singular vectors.

    They come from the smaller of the two products X X' and X' X, which have the same eigenvalues.

    :param tolerance: how exact they are, see `find_largest_eigenpairs`
    :return: values (n,) and vectors (columns of the matrix, n)
    """
    rows, columns = matrix.shape
    if rows <= columns:
        squares, left_vectors = find_largest_eigenpairs(
            lambda block: matrix.dot(matrix.back(block)), rows, k, seed=seed, tolerance=tolerance
        )
        values, left_vectors = _drop_zero_values(squares, left_vectors)
        return values, matrix.back(left_vectors) / values
    squares, right_vectors = find_largest_eigenpairs(
        lambda block: matrix.back(matrix.dot(block)), columns, k, seed=seed, tolerance=tolerance
    )
    return _drop_zero_values(squares, right_vectors)


def _drop_zero_values(squares: Floats, vectors: Floats) -> tuple[Floats, Floats]:
    """Return the roots of squared singular values, (n,), and their vectors, without those that are zero but for noise.

    :param squares: (k,), largest first
    :param vectors: (size, k)
    """
    is_nonzero = squares > 1e-6 * squares[0]
    return np.sqrt(squares[is_nonzero]), vectors[:, is_nonzero]
