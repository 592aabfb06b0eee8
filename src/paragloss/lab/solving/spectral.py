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

    def _multiply_panels(self, product: Callable[[Dense], Dense], block: Floats) -> Floats:
        put, get = self._arrays.put, self._arrays.get
        starts = range(0, block.shape[1], PANEL)
        panels = (np.ascontiguousarray(block[:, start : start + PANEL], np.float32) for start in starts)
        products = [get(product(put(panel))) for panel in panels]
        return products[0] if len(products) == 1 else np.hstack(products)


def top_eigen(
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
        return _take_largest(*np.linalg.eigh((dense + dense.T) / 2), k)
    random = np.random.default_rng(seed)
    basis = np.empty((max_vectors, size), np.float32)  # one row per vector; the first n_vectors rows are used
    projected = np.zeros((max_vectors, max_vectors))  # the operator within the basis
    new_vectors, _ = _orthonormal(random.standard_normal((size, block)).astype(np.float32), basis[:0], random)
    n_vectors = 0
    while True:
        start, n_vectors = n_vectors, n_vectors + block
        basis[start:n_vectors] = new_vectors.T
        image = apply(new_vectors)  # (size, block)
        coefficients = basis[:n_vectors] @ image  # (n_vectors, block)
        projected[:n_vectors, start:n_vectors] = coefficients
        projected[start:n_vectors, :n_vectors] = coefficients.T
        residual = image - basis[:n_vectors].T @ coefficients
        new_vectors, coupling = _orthonormal(residual, basis[:n_vectors], random)
        is_full = n_vectors + block > max_vectors
        if is_full or n_vectors >= 2 * k:
            values, vectors = _take_largest(*np.linalg.eigh(projected[:n_vectors, :n_vectors]), k)
            if is_full or _converged(coupling, values, vectors[start:], tolerance):
                return values, np.ascontiguousarray(basis[:n_vectors].T @ vectors)


def _take_largest(values: npt.NDArray[np.float64], vectors: npt.NDArray[np.float64], k: int) -> tuple[Floats, Floats]:
    """Return the k largest of ascending eigenvalues, largest first and not below zero, with their eigenvectors."""
    return np.maximum(values[::-1][:k], 0).astype(np.float32), vectors[:, ::-1][:, :k].astype(np.float32)


def _converged(coupling: Floats, values: Floats, newest: Floats, tolerance: float) -> bool:
    """Tell whether all residuals are small.

    The residual of an approximate eigenvector is what its part in the newest block adds outside the basis.

    :param coupling: (block, block) the triangle of the next block
    :param values: (k,) eigenvalues
    :param newest: (block, k) coefficients of the eigenvectors in the newest block
    """
    residuals = np.linalg.norm(coupling @ newest, axis=0)
    return bool(np.all(residuals <= tolerance * np.maximum(values, 1e-6 * values[0])))


def _orthonormal(columns: Floats, basis: Floats, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Make columns orthonormal to each other and to the rows of `basis`.

    A column that is a mixture of the others is replaced by a random direction, so that repeated eigenvalues are found.

    :return: the orthonormal columns, and the triangle that makes the old ones of them
    """
    scale = np.linalg.norm(columns, axis=0).max(initial=0.0)
    columns = columns - basis.T @ (basis @ columns)
    q, triangle = np.linalg.qr(columns)
    is_dependent = np.abs(np.diag(triangle)) <= 1e-5 * scale
    if is_dependent.any() or scale == 0:
        q[:, is_dependent] = random.standard_normal((len(q), int(is_dependent.sum())))
    for _ in range(2):  # once leaves rounding errors of the size of what was subtracted
        q -= basis.T @ (basis @ q)
        q, _ = np.linalg.qr(q)
    return np.ascontiguousarray(q, np.float32), triangle


def singular(matrix: Product, k: int, *, seed: int = 0, tolerance: float = 1e-2) -> tuple[Floats, Floats]:
    """Return at most `k` singular values, largest first and without zeros, and their right singular vectors.

    They come from the smaller of the two products X X' and X' X, which have the same eigenvalues.

    :return: values (n,) and vectors (columns of the matrix, n)
    """
    rows, columns = matrix.shape
    if rows <= columns:
        squares, left = top_eigen(lambda b: matrix.dot(matrix.back(b)), rows, k, seed=seed, tolerance=tolerance)
        is_nonzero = squares > 1e-6 * squares[0]
        values = np.sqrt(squares[is_nonzero])
        return values, matrix.back(left[:, is_nonzero]) / values
    squares, right = top_eigen(lambda b: matrix.back(matrix.dot(b)), columns, k, seed=seed, tolerance=tolerance)
    is_nonzero = squares > 1e-6 * squares[0]
    return np.sqrt(squares[is_nonzero]), right[:, is_nonzero]
