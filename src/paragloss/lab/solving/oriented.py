"""Find the directions with the highest ratio of signal to noise: the generalised eigenproblem behind OPCA.

S v = lambda (N + gamma I) v with S the covariance of all rows and N that of their deviations from the mean of their
concept. No square matrix is formed: subspace iteration outside, conjugate gradients inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.lab.solving.arrays import PANEL, compute_whitening
from paragloss.lab.solving.spectral import Product, find_singular_vectors
from paragloss.types import Floats, Integers

#: What is added to the noise by default: docs/understand/papers/linear.md says why.
GAMMA = 0.3
#: Rounds of subspace iteration at most.
MAX_ROUNDS = 3


def find_oriented_directions(
    rows: Sequence[sp.csr_matrix],
    concepts: Sequence[Integers],
    *,
    dim: int,
    gamma: float,
    seed: int = 0,
    tolerance: float = 1e-2,
) -> tuple[Floats, Floats]:
    """Find the directions with the highest ratios of signal to noise.

    Subspace iteration v <- (N + gamma I)^-1 S v from the directions of CL-LSI. Each round is followed by the exact
    small eigenproblem within all directions so far; it ends when a round adds less than `tolerance` to the sum of the
    ratios. A solve starts from lambda v, where it would end had the iteration converged.

    :param rows: documents of each language, (documents, terms)
    :param concepts: number of the concept of each document, for each language
    :param dim: how many directions are wanted
    :param gamma: what is added to the variance of the noise in every direction
    :param seed: of the random vectors that the search for CL-LSI's directions starts from
    :param tolerance: a round that raises the sum of the ratios by less than this part is the last
    :return: ratios (dim,), largest first, and directions (all terms, dim) with v'(N + gamma I)v = 1
    """
    covariances = _Covariances(rows, concepts, gamma)
    width = min(dim + PANEL, covariances.terms)
    directions = covariances.solve_noise(covariances.sum_over_concepts(width, seed))
    values, directions = _find_best_ratios(covariances, directions, width)
    for _ in range(MAX_ROUNDS):
        previous_sum = float(values[:dim].sum())
        signal = covariances.apply_signal(directions)
        solved = covariances.solve_noise(signal, start=directions * values)
        values, directions = _find_best_ratios(covariances, np.hstack([directions, solved]), width)
        if values[:dim].sum() < (1 + tolerance) * previous_sum:
            break
    return values[:dim], np.ascontiguousarray(directions[:, :dim])


class _Covariances:
    """The covariances S and N as operators on directions, (all terms, columns)."""

    def __init__(self, rows: Sequence[sp.csr_matrix], concepts: Sequence[Integers], gamma: float) -> None:
        """Prepare the products with the documents and with their sums and means by concept.

        :param rows: documents of each language, (documents, terms)
        :param concepts: number of the concept of each document, for each language
        :param gamma: what is added to the variance of the noise in every direction
        """
        documents = sp.block_diag(rows, format="csr").astype(np.float32)  # (documents, all terms)
        self._concept = np.concatenate(list(concepts))  # of each document
        sizes = np.bincount(self._concept)[self._concept]  # of each document's concept, in documents
        membership = _mark_concepts(self._concept)
        self.terms: int = documents.shape[1]
        self._gamma = np.float32(gamma)
        self._documents = Product(documents)
        self._mean_by_concept = Product(sp.diags(1 / np.sqrt(sizes)) @ membership)
        self._sum_by_concept = Product((membership.T @ documents).tocsr())
        # A term of one document among m deviates by (1 - 1/m) there and by 1/m in each of the others.
        diagonal = documents.multiply(documents).T @ (1 - 1 / sizes) + gamma
        self.inverse_diagonal: Floats = (1 / diagonal).astype(np.float32)[:, None]  # of N + gamma I

    def apply_noise(self, directions: Floats) -> Floats:
        """Compute (N + gamma I) directions."""
        deviations = self._documents.dot(directions)
        deviations -= self._mean_by_concept.dot(self._mean_by_concept.back(deviations))
        image = self._documents.back(deviations)
        image += self._gamma * directions
        return image

    def solve_noise(self, right: Floats, start: Floats | None = None) -> Floats:
        """Solve (N + gamma I) x = right approximately for every column of `right`, from `start` (by default zeros)."""
        return conjugate_gradients(self.apply_noise, right, scale=self.inverse_diagonal, start=start)

    def center_documents(self, directions: Floats) -> Floats:
        """Project the documents on directions and subtract their mean: (documents, columns)."""
        projected = self._documents.dot(directions)
        return np.asarray(projected - projected.mean(axis=0), np.float32)

    def apply_signal(self, directions: Floats) -> Floats:
        """Compute S directions."""
        return self._documents.back(self.center_documents(directions))

    def sum_over_concepts(self, width: int, seed: int) -> Floats:
        """Project each document's concept on the directions of CL-LSI and map the result back: (all terms, width)."""
        _, directions = find_singular_vectors(self._sum_by_concept, width, seed=seed, tolerance=0.1)
        return self._documents.back(self._sum_by_concept.dot(directions)[self._concept])


def _mark_concepts(concept_of_document: Integers) -> sp.csr_matrix:
    """Return a matrix (documents, concepts) with a 1 for the concept of each document."""
    n_documents = len(concept_of_document)
    return sp.csr_matrix((np.ones(n_documents, np.float32), concept_of_document, np.arange(n_documents + 1)))


def _find_best_ratios(covariances: _Covariances, directions: Floats, width: int) -> tuple[Floats, Floats]:
    """Find the best ratios of signal to noise within the span of some directions.

    The small problem is solved exactly: in coordinates in which the noise is the identity, the ratios are the
    eigenvalues of the signal.

    :param covariances: of signal and noise
    :param directions: (all terms, columns)
    :param width: how many ratios are wanted
    :return: ratios, largest first, and their directions, (all terms, width or fewer)
    """
    noise = (directions.T @ covariances.apply_noise(directions)).astype(np.float64)  # (columns, columns)
    documents = covariances.center_documents(directions)
    signal = (documents.T @ documents).astype(np.float64)  # (columns, columns)
    whitening = compute_whitening(noise, tolerance=1e-6)
    ascending_values, ascending_vectors = np.linalg.eigh(whitening.T @ signal @ whitening)
    values = ascending_values[::-1][:width]
    vectors = ascending_vectors[:, ::-1][:, :width]  # (independent columns, width)
    is_nonzero = values > 1e-6 * values[0]
    mixture = (whitening @ vectors[:, is_nonzero]).astype(np.float32)
    return values[is_nonzero].astype(np.float32), directions @ mixture


def conjugate_gradients(
    apply: Callable[[Floats], Floats],
    right: Floats,
    *,
    scale: Floats,
    start: Floats | None = None,
    tolerance: float = 0.1,
    max_steps: int = 200,
) -> Floats:
    """Solve a linear system for every column of `right` by conjugate gradients: (size, columns).

    A column stops when its residual is below `tolerance` of its right side. A tenth is enough here: the solutions only
    span a subspace, and the small problem within it is solved exactly.

    :param apply: multiplies the matrix by columns
    :param right: (size, columns)
    :param scale: (size, 1) the inverse diagonal of the matrix, as preconditioner
    :param start: (size, columns) where to start; zeros by default
    :param tolerance: how small a residual has to be, as a part of the right side
    :param max_steps: steps at most, for each panel of columns
    """
    start = np.zeros_like(right) if start is None else start
    solutions = []
    for first in range(0, right.shape[1], PANEL):
        panel = slice(first, first + PANEL)
        solutions.append(_solve_panel(apply, right[:, panel], scale, start[:, panel], tolerance, max_steps))
    return np.hstack(solutions)


def _solve_panel(
    apply: Callable[[Floats], Floats], right: Floats, scale: Floats, start: Floats, tolerance: float, max_steps: int
) -> Floats:
    """Solve A X = B for at most PANEL columns together by preconditioned conjugate gradients.

    All matrices are (size, columns), and each column is a system of its own. A column that has reached its tolerance
    stays as it is.

    :param apply: multiplies A by columns
    :param right: B, (size, columns)
    :param scale: the inverse diagonal of A, (size, 1)
    :param start: where X starts, (size, columns)
    :param tolerance: a column is solved when its residual is below this part of its right side
    :param max_steps: steps at most
    :return: X
    """
    solution = start.copy()
    residual = right.copy()
    if start.any():
        residual -= apply(start)
    search = scale * residual  # the direction in which each column is searched
    residual_norms = _dot_columns(residual, search)  # (columns,) squared, in the metric of `scale`
    buffer = np.empty_like(right)  # for products: passes over memory cost as much as applying A
    max_squared_residuals = tolerance**2 * _dot_columns(right, right)
    for _ in range(max_steps):
        is_moving = _dot_columns(residual, residual) > max_squared_residuals  # (columns,)
        if not is_moving.any():
            break
        image = apply(search)
        step_lengths = _divide_where(is_moving, residual_norms, _dot_columns(search, image))
        solution += np.multiply(search, step_lengths, out=buffer)
        residual -= np.multiply(image, step_lengths, out=buffer)
        preconditioned = np.multiply(residual, scale, out=buffer)
        previous_norms = residual_norms
        residual_norms = _dot_columns(residual, preconditioned)
        search *= _divide_where(is_moving, residual_norms, previous_norms)
        search += preconditioned
    return np.asarray(solution, np.float32)


def _divide_where(condition: npt.NDArray[np.bool_], numerators: Floats, denominators: Floats) -> Floats:
    """Divide where a condition holds, and return 0 elsewhere; a denominator below 1e-30 counts as that."""
    return np.where(condition, numerators / np.maximum(denominators, 1e-30), 0).astype(np.float32)


def _dot_columns(left: Floats, right: Floats) -> Floats:
    """Compute the dot product of each column of `left` with the same column of `right`."""
    return np.asarray(np.einsum("ij,ij->j", left, right))
