"""The largest eigenpairs of an operator that is only known by its products, and fast products of sparse matrices.

Knows nothing of text. Block Lanczos with full reorthogonalisation: Golub & Underwood, "The block Lanczos method
for computing eigenvalues", 1977.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.lab.solving.arrays import PANEL, Arrays, Dense
from paragloss.types import Floats


class Product:
    """A sparse matrix that multiplies blocks of numpy columns: `dot` (X b) and `back` (X' b), by torch if there is
    one (several times faster than scipy), a panel of columns at a time."""

    def __init__(self, matrix: sp.csr_matrix) -> None:
        self.shape: tuple[int, int] = matrix.shape
        self._arrays = Arrays()
        self._matrix = self._arrays.sparse(matrix)

    def dot(self, block: Floats) -> Floats:
        return self._paneled(self._matrix.__matmul__, block)

    def back(self, block: Floats) -> Floats:
        return self._paneled(self._matrix.back, block)

    def _paneled(self, product: Callable[[Dense], Dense], block: Floats) -> Floats:
        put, get = self._arrays.put, self._arrays.get
        starts = range(0, block.shape[1], PANEL)
        panels = (np.ascontiguousarray(block[:, i : i + PANEL], np.float32) for i in starts)
        products = [get(product(put(panel))) for panel in panels]
        return products[0] if len(products) == 1 else np.hstack(products)


def top_eigen(
    apply: Callable[[Floats], Floats], size: int, k: int, *, seed: int = 0, block: int = 64, tolerance: float = 1e-2
) -> tuple[Floats, Floats]:
    """The `k` largest eigenvalues (descending) and eigenvectors (size, k) of a symmetric positive semi-definite
    operator. `apply` maps (size, b) to (size, b).

    Stops when every residual is below `tolerance` times its eigenvalue, or when the basis holds 5k vectors: the
    last eigenvectors of a slowly falling spectrum are then mixed among themselves, which changes no distance much.
    """
    k = min(k, size)
    room = max(5 * k, k + 6 * block)
    if size <= max(room, 1000):
        dense = apply(np.eye(size, dtype=np.float32)).astype(np.float64)
        values, vectors = np.linalg.eigh((dense + dense.T) / 2)
        return _descending(values, vectors, k)
    noise = np.random.default_rng(seed)
    basis = np.empty((room, size), np.float32)  # one row per basis vector
    projected = np.zeros((room, room))
    fresh, _ = _orthonormal(noise.standard_normal((size, block)).astype(np.float32), basis[:0], noise)
    selected = 0
    while True:
        basis[selected : selected + block] = fresh.T
        start, selected = selected, selected + block
        image = apply(fresh)  # (size, block)
        onto = basis[:selected] @ image  # (held, block)
        projected[:selected, start:selected] = onto
        projected[start:selected, :selected] = onto.T
        residual = image - basis[:selected].T @ onto
        fresh, coupling = _orthonormal(residual, basis[:selected], noise)
        full = selected + block > room
        if full or selected >= 2 * k:
            values, vectors = _descending(*np.linalg.eigh(projected[:selected, :selected]), k)
            if full or _converged(coupling, values, vectors[start:], tolerance):
                return values, np.ascontiguousarray(basis[:selected].T @ vectors)


def _descending(values: npt.NDArray[np.float64], vectors: npt.NDArray[np.float64], k: int) -> tuple[Floats, Floats]:
    return np.maximum(values[::-1][:k], 0).astype(np.float32), vectors[:, ::-1][:, :k].astype(np.float32)


def _converged(coupling: Floats, values: Floats, last: Floats, tolerance: float) -> bool:
    """Say whether all residuals are small: a Ritz pair's residual is what the newest block leaks out of the basis."""
    leak = np.linalg.norm(coupling @ last, axis=0)
    return bool(np.all(leak <= tolerance * np.maximum(values, 1e-6 * values[0])))


def _orthonormal(columns: Floats, basis: Floats, noise: np.random.Generator) -> tuple[Floats, Floats]:
    """Columns made orthonormal to each other and to `basis` (rows), and the triangle they came from. A column that
    is a mixture of the others gives way to a random direction, so that repeated eigenvalues are found."""
    scale = np.linalg.norm(columns, axis=0).max(initial=0.0)
    columns = columns - basis.T @ (basis @ columns)
    q, triangle = np.linalg.qr(columns)
    is_dependent = np.abs(np.diag(triangle)) <= 1e-5 * scale
    if is_dependent.any() or scale == 0:
        q[:, is_dependent] = noise.standard_normal((len(q), int(is_dependent.sum())))
    for _ in range(2):  # once leaves rounding errors of the size of what was taken away
        q -= basis.T @ (basis @ q)
        q, _ = np.linalg.qr(q)
    return np.ascontiguousarray(q, np.float32), triangle


def singular(matrix: Product, k: int, *, seed: int = 0, tolerance: float = 1e-2) -> tuple[Floats, Floats]:
    """Return at most `k` singular values, largest first, and right singular vectors (columns, k), without zeros."""
    rows, columns = matrix.shape
    if rows <= columns:  # the smaller of the two Gram operators, which have the same spectrum
        squares, left = top_eigen(lambda b: matrix.dot(matrix.back(b)), rows, k, seed=seed, tolerance=tolerance)
    else:
        squares, right = top_eigen(lambda b: matrix.back(matrix.dot(b)), columns, k, seed=seed, tolerance=tolerance)
    sound = squares > 1e-6 * squares[0]
    values = np.sqrt(squares[sound])
    return values, matrix.back(left[:, sound]) / values if rows <= columns else right[:, sound]
