"""Compute the largest eigenpairs and singular values of operators of which only products with vectors are known.

Block Lanczos with full reorthogonalisation: Golub & Underwood, "The block Lanczos method for computing eigenvalues",
1977.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

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
    :param size: rows and columns of the operator
    :param k: how many eigenvalues are wanted; there are at most `size`
    :param seed: of the random vectors that the iteration starts from
    :param block: vectors that are added to the basis at a time
    :param tolerance: how large a residual may be, as a part of its eigenvalue
    :return: eigenvalues (k,), largest first, and eigenvectors (size, k)
    """
    k = min(k, size)
    max_vectors = max(5 * k, k + 6 * block)
    if size <= max(max_vectors, MAX_DENSE_SIZE):
        dense = apply(np.eye(size, dtype=np.float32)).astype(np.float64)
        return _find_largest_of_dense(dense, k)
    random = np.random.default_rng(seed)
    start_vectors = random.standard_normal((size, block)).astype(np.float32)
    space = _KrylovSpace(apply, size, max_vectors)
    return _iterate_lanczos(space, start_vectors, k, max_vectors, tolerance, random)


class _KrylovSpace:
    """An orthonormal basis that grows, and an operator projected on it."""

    def __init__(self, apply: Callable[[Floats], Floats], size: int, max_vectors: int) -> None:
        """Start without vectors.

        :param apply: multiplies the operator by columns, (size, b) -> (size, b)
        :param max_vectors: vectors that the basis holds at most
        """
        self._apply = apply
        self._basis = np.empty((max_vectors, size), np.float32)  # one row per vector; the first n_vectors are used
        self._projected = np.zeros((max_vectors, max_vectors))
        self.n_vectors = 0

    @property
    def basis(self) -> Floats:
        """The vectors, (n_vectors, size)."""
        return self._basis[: self.n_vectors]

    @property
    def projected(self) -> npt.NDArray[np.float64]:
        """The operator within the basis, (n_vectors, n_vectors)."""
        return self._projected[: self.n_vectors, : self.n_vectors]

    def extend(self, new_vectors: Floats) -> Floats:
        """Add orthonormal columns, (size, block), to the basis; return the part of their image that lies outside it."""
        start, self.n_vectors = self.n_vectors, self.n_vectors + new_vectors.shape[1]
        self._basis[start : self.n_vectors] = new_vectors.T
        image = self._apply(new_vectors)  # (size, block)
        coefficients = self.basis @ image  # (n_vectors, block)
        self.projected[:, start:] = coefficients
        self.projected[start:, :] = coefficients.T
        return image - self.basis.T @ coefficients


def _iterate_lanczos(
    space: _KrylovSpace, start_vectors: Floats, k: int, max_vectors: int, tolerance: float, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Find the k largest eigenpairs by the block Lanczos iteration; the results are those of `find_largest_eigenpairs`.

    :param space: the empty basis, with the operator
    :param start_vectors: (size, block)
    :param k: how many eigenpairs are wanted
    :param max_vectors: vectors that the space holds at most
    :param tolerance: how large a residual may be, as a part of its eigenvalue
    :param random: makes directions in place of those that are mixtures of others
    """
    block = start_vectors.shape[1]
    new_vectors, _ = _orthonormalize(start_vectors, space.basis, random)
    while True:
        residual = space.extend(new_vectors)
        new_vectors, coupling = _orthonormalize(residual, space.basis, random)
        is_full = space.n_vectors + block > max_vectors
        if space.n_vectors < 2 * k and not is_full:
            continue  # so few vectors can't hold k exact ones
        values, vectors = _find_largest_of_dense(space.projected, k)
        if is_full or _has_converged(coupling, values, vectors[-block:], tolerance):
            return values, np.ascontiguousarray(space.basis.T @ vectors)


def _find_largest_of_dense(matrix: npt.NDArray[np.float64], k: int) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues of a symmetric matrix, not below zero, and their eigenvectors, (size, k)."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)  # ascending
    largest_first = slice(None, -k - 1, -1)
    return np.maximum(values[largest_first], 0).astype(np.float32), vectors[:, largest_first].astype(np.float32)


def _has_converged(coupling: Floats, values: Floats, newest: Floats, tolerance: float) -> bool:
    """Tell whether all residuals of approximate eigenvectors are small.

    The residual of an eigenvector is what the operator makes of it outside the basis. Only its part in the newest block
    has any, because the products of the older blocks lie in the basis.

    :param coupling: (block, block) the triangle of the next block, from `_orthonormalize`
    :param values: (k,) eigenvalues
    :param newest: (block, k) coefficients of the eigenvectors in the newest block
    :param tolerance: how large a residual may be, as a part of its eigenvalue
    """
    residuals = np.linalg.norm(coupling @ newest, axis=0)
    bounds = tolerance * np.maximum(values, 1e-6 * values[0])  # eigenvalues of zero are noise
    return bool(np.all(residuals <= bounds))


def _orthonormalize(columns: Floats, basis: Floats, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Make columns orthonormal to each other and to the rows of `basis`.

    A column that is a mixture of the others is replaced by a random direction, so that repeated eigenvalues are found.

    :param columns: (size, block)
    :param basis: (vectors, size), orthonormal
    :param random: makes the random directions
    :return: the orthonormal columns q, and an upper triangle (block, block): q @ triangle is what the columns have
        outside the basis
    """
    outside_basis = columns - basis.T @ (basis @ columns)
    q, triangle = np.linalg.qr(outside_basis)
    greatest_length = np.linalg.norm(columns, axis=0).max(initial=0.0)
    is_mixture = np.abs(np.diag(triangle)) <= 1e-5 * greatest_length  # (block,)
    q[:, is_mixture] = random.standard_normal((len(q), int(is_mixture.sum())))
    # A second round, because one leaves rounding errors of the size of what was subtracted.
    for _ in range(2):
        q -= basis.T @ (basis @ q)
        q, _ = np.linalg.qr(q)
    return np.ascontiguousarray(q, np.float32), triangle


def find_singular_vectors(matrix: Product, k: int, *, seed: int = 0, tolerance: float = 1e-2) -> tuple[Floats, Floats]:
    """Return at most `k` singular values, largest first and without zeros, and their right singular vectors.

    They are computed from the eigenvectors of X X' or X' X, whichever is smaller; both products have the squares of
    the singular values as eigenvalues.

    :param matrix: X
    :param k: how many singular values are wanted
    :param seed: of the random vectors that the iteration starts from
    :param tolerance: how exact they are, see `find_largest_eigenpairs`
    :return: values (n,) and vectors (columns of the matrix, n)
    """
    n_rows, n_columns = matrix.shape
    find_eigenpairs = partial(find_largest_eigenpairs, k=k, seed=seed, tolerance=tolerance)
    if n_rows <= n_columns:
        squares, left_vectors = find_eigenpairs(lambda block: matrix.dot(matrix.back(block)), n_rows)  # X X'
        values, left_vectors = _drop_zero_values(squares, left_vectors)
        return values, matrix.back(left_vectors) / values
    squares, right_vectors = find_eigenpairs(lambda block: matrix.back(matrix.dot(block)), n_columns)  # X' X
    return _drop_zero_values(squares, right_vectors)


def _drop_zero_values(squares: Floats, vectors: Floats) -> tuple[Floats, Floats]:
    """Return the roots of squared singular values, (n,), and their vectors, without those that are zero but for noise.

    :param squares: (k,), largest first
    :param vectors: (size, k)
    """
    is_nonzero = squares > 1e-6 * squares[0]
    return np.sqrt(squares[is_nonzero]), vectors[:, is_nonzero]
