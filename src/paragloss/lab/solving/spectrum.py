"""Solve Cr5's rank-limited regression: the leading eigenvectors of M (see `ridge`) and the embedding maps.

M is never formed (Josifoski et al., WSDM 2019, eqs 12 to 15). The solves made for the basis also give the embedding,
so there is no second eigenproblem. There are three ways to a basis. "one-pass" is one block Krylov pass of 2.6 rank
vectors from a random start, which captures what the authors' restarted Lanczos of 2 rank + 1 does; "early" stops that
at 1.5 rank, with rougher solves; "converged" starts from the directions that CL-LSI would take (no solves needed, and
within a percent of the optimum on our corpora) and adds what the residuals lack. The nearer the optimum, the worse
short queries fared (docs/understand/papers/cr5.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp

from paragloss.errors import ModelError
from paragloss.lab.solving.arrays import PANEL, Arrays, Dense, compute_whitening, orthonormalize
from paragloss.lab.solving.ridge import Block, Regression
from paragloss.types import Floats, Integers

#: Columns of the basis that one Krylov pass makes, in multiples of the rank.
KRYLOV_BASIS = {"early": 1.5, "one-pass": 2.6}
#: "auto" chooses the closed form for few documents, "early" for many.
SOLVERS = ("auto", "closed-form", *KRYLOV_BASIS, "converged")
#: Called with the share of the work done (0 to 1) and the seconds that are probably left.
Progress = Callable[[float, float], None]

#: A Krylov pass takes blocks of rank / 5 columns, PANEL at most: wide enough for fast sparse products, and best for
#: short queries.
KRYLOV_STEPS = 5
#: Rounds of subspace iteration towards the CL-LSI directions.
GUIDE_ROUNDS = 3
#: "converged" stops after so many expansions of the basis at the latest.
MAX_EXPANSIONS = 20
#: By default a solve ends when its residual is this part of its right side.
SOLVE_TOLERANCES = {"early": 0.1, "one-pass": 0.03, "converged": 0.03}
#: Up to this many documents dense algebra is faster than iterating.
MAX_DOCUMENTS_FOR_CLOSED_FORM = 1500
#: The square matrix of more documents does not fit into a laptop's memory.
MAX_DENSE_DOCUMENTS = 20_000


class Solution(NamedTuple):
    """The embedding maps of all languages, and the eigenvectors they come from."""

    tables: list[Floats]  # per language (terms, rank); stacked, their columns are orthonormal
    values: npt.NDArray[np.float64]  # eigenvalues of eq. 12, largest first; the objective drops by half their sum
    vectors: Floats  # (concepts, rank): P of eq. 12
    report: dict[str, Any]  # figures of the solve, saved with the model


def choose_solver(solver: str, blocks: Sequence[Block], device: str | None) -> str:
    """Return the solver itself, or for "auto" the fastest one for these documents.

    :param solver: one of SOLVERS
    :param blocks: the training data of each language
    :param device: where it is computed; None for the default
    :raises ModelError: if the closed form is asked for too many documents, or for a device it can't use
    """
    documents = sum(block.rows.shape[0] for block in blocks)
    if solver == "closed-form" and documents > MAX_DENSE_DOCUMENTS:
        raise ModelError(
            f"solver 'closed-form': {documents:,} documents are too many for it, {MAX_DENSE_DOCUMENTS:,} at most"
        )
    if solver == "closed-form" and device not in (None, "cpu", "numpy"):
        raise ModelError(f"device {device!r}: the closed form is computed on the processor; choose another solver")
    if solver == "auto":
        return "closed-form" if documents <= MAX_DOCUMENTS_FOR_CLOSED_FORM and device is None else "early"
    return solver


def solve_closed_form(blocks: Sequence[Block], concepts: int, *, rank: int, lambda_: float) -> Solution:
    """Solve the regression exactly by dense algebra in float64, for a few thousand documents at most.

    The letters are those of the paper; X and Y are the documents' rows and concepts, centred in the products.

    :param blocks: training data of each language
    :param concepts: number of concepts
    :param rank: dimensions of the embedding
    :param lambda_: strength of the regularization
    """
    X = sp.block_diag([block.rows for block in blocks], format="csr").astype(np.float64)  # (documents, terms)
    Y = _center_memberships(np.concatenate([block.concepts for block in blocks]), concepts)  # (documents, concepts)
    G = _compute_centred_gram(X)  # (documents, documents)
    Z = scipy.linalg.solve(G + lambda_ * np.eye(len(G)), Y, assume_a="pos")  # (documents, concepts)
    M = Y.T @ (Y - lambda_ * Z)  # (concepts, concepts)
    ascending_values, ascending_vectors = np.linalg.eigh((M + M.T) / 2)
    values = ascending_values[::-1][:rank]
    P = ascending_vectors[:, ::-1][:, :rank]  # (concepts, rank)
    phi = np.asarray(X.T @ (Z @ P))  # (terms, rank), one language's terms after another's
    term_bounds = np.cumsum([block.rows.shape[1] for block in blocks])
    tables = _orthonormalize_maps(Arrays("numpy"), np.split(phi, term_bounds[:-1]), tolerance=1e-12)
    report = {"solver": "closed-form", "captured": float(values.sum())}
    return Solution([table.astype(np.float32) for table in tables], values, P.astype(np.float32), report)


def _compute_centred_gram(rows: sp.csr_matrix) -> npt.NDArray[np.float64]:
    """Return the dot products of all rows with each other after subtracting their mean: (rows, rows)."""
    gram = np.asarray((rows @ rows.T).todense())
    gram -= gram.mean(axis=0)
    gram -= gram.mean(axis=1, keepdims=True)
    return gram


def _center_memberships(concept_of_document: Integers, concepts: int) -> npt.NDArray[np.float64]:
    """Return a matrix (documents, concepts) of 1 for the concept of each document, its columns centred."""
    marks = np.zeros((len(concept_of_document), concepts))
    marks[np.arange(len(marks)), concept_of_document] = 1
    return np.asarray(marks - marks.mean(axis=0))


def solve_iteratively(
    regression: Regression,
    *,
    rank: int,
    solver: str = "converged",
    seed: int = 0,
    tolerance: float = 5e-3,
    solve_tolerance: float | None = None,
    start: Floats | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Solve the regression for an embedding of `rank` dimensions by iteration.

    :param regression: the documents and their concepts, which multiplies and solves
    :param rank: dimensions of the embedding
    :param solver: "converged" or one of KRYLOV_BASIS
    :param seed: of the random directions that the iteration starts from
    :param tolerance: "converged" stops when an expansion raises the captured sum of eigenvalues by less than this part
    :param solve_tolerance: solves end when their residual is this part of the right side; see SOLVE_TOLERANCES
    :param start: (concepts, columns) directions to start "converged" from, in place of those of CL-LSI
    :param progress: called with the share of the work done, 0 to 1, and the seconds that are probably left
    :return: the map of each language, the eigenvalues and eigenvectors, and figures of the solve
    """
    started = time.monotonic()
    basis = _Basis(regression, rank, solve_tolerance or SOLVE_TOLERANCES[solver])
    if solver == "converged":
        expected_columns = basis.sizes.guide + 2 * basis.sizes.expansion
        growth = _grow_by_residuals(basis, _make_guide(basis, seed, start), tolerance)
    else:
        expected_columns = int(KRYLOV_BASIS[solver] * rank) + 1
        growth = _grow_by_products(basis, expected_columns, seed)
    for _ in growth:
        if progress:
            _report_progress(progress, basis.solved / expected_columns, started)
    solution = _make_solution(basis)
    solution.report.update(solver=solver, seconds=round(time.monotonic() - started, 2))
    if progress:
        progress(1.0, 0.0)
    return solution


def _report_progress(progress: Progress, share_done: float, started: float) -> None:
    """Report how much of the work is done, 0.99 at most, and the seconds left if it goes on as fast as so far.

    :param share_done: more than 0; more than 1 if the work takes longer than was expected
    :param started: when it began, by `time.monotonic`
    """
    share_done = min(share_done, 0.99)
    seconds_spent = time.monotonic() - started
    progress(share_done, seconds_spent * (1 - share_done) / share_done)


class _BasisSizes(NamedTuple):
    """How many columns the matrices of a search have."""

    limit: int  # of any basis at most, because M 1 = 0
    guide: int  # of the directions to start from, and of a compressed basis
    expansion: int  # that are added at a time
    before_compression: int  # of a basis at most


def _choose_sizes(concepts: int, rank: int) -> _BasisSizes:
    """Choose sizes for an embedding of `rank` dimensions: some spare columns converge while the leading ones do."""
    limit = concepts - 1
    guide = min(limit, rank + max(8, rank // 16))
    expansion = min(PANEL, max(8, rank // 4))
    return _BasisSizes(limit, guide, expansion, min(limit, guide + 6 * expansion))


class _RitzPairs(NamedTuple):
    """The eigenvalues of M within a basis (Rayleigh-Ritz), largest first, and their eigenvectors."""

    values: npt.NDArray[np.float64]  # (columns,)
    vectors: npt.NDArray[np.float64]  # (columns, columns) coefficients of the basis, a column for each eigenvalue

    def sum_largest(self, n: int) -> float:
        """Add up the n largest eigenvalues."""
        return float(self.values[:n].sum())


class _Basis:
    """A growing orthonormal basis V of concept directions, with the solves and the products of M that it needs."""

    def __init__(self, regression: Regression, rank: int, solve_tolerance: float) -> None:
        """Start with an empty basis.

        :param regression: the problem, which multiplies by M and solves
        :param rank: number of eigenvectors that are wanted
        :param solve_tolerance: solves end when their residual is this part of the right side
        """
        self.regression = regression
        self.arrays = regression.arrays
        self.rank = rank
        self.solve_tolerance = solve_tolerance
        self.sizes = _choose_sizes(regression.concepts, rank)
        self.V = self.arrays.zeros(regression.concepts, 0)  # (concepts, columns) the basis
        self.MV = self.arrays.zeros(regression.concepts, 0)  # (concepts, columns) M V
        self.B = self.arrays.zeros(regression.terms, 0)  # (terms, columns) the ridge solutions for V
        self.solved = 0  # columns solved for so far, also those that are no longer in the basis
        self.expansions = 0  # how often residuals were added

    @property
    def can_expand(self) -> bool:
        """Whether another expansion by residuals is possible and allowed."""
        return self.V.shape[1] < self.sizes.limit and self.expansions < MAX_EXPANSIONS

    def add(self, block: Dense) -> None:
        """Extend the basis by orthonormal columns, and solve for them."""
        B, MV = self.regression.solve(self.regression.copy_to_documents(block), tolerance=self.solve_tolerance)
        self.V = self.arrays.hstack([self.V, block])
        self.B = self.arrays.hstack([self.B, B])
        self.MV = self.arrays.hstack([self.MV, MV])
        self.solved += block.shape[1]

    def find_ritz_pairs(self) -> _RitzPairs:
        """Compute the eigenvalues of M within the basis, and their eigenvectors."""
        T = self.arrays.gram(self.V, self.MV)
        values, vectors = np.linalg.eigh((T + T.T) / 2)  # ascending
        return _RitzPairs(values[::-1], np.ascontiguousarray(vectors[:, ::-1]))

    def compute_residual(self, ritz: _RitzPairs) -> Dense:
        """Return how far M moves the leading eigenvectors off themselves: M P - P diag(values), (concepts, rank)."""
        Q = self.arrays.small(ritz.vectors[:, : self.rank])
        return self.MV @ Q - (self.V @ Q) * self.arrays.small(ritz.values[: self.rank])

    def compress(self, ritz: _RitzPairs) -> None:
        """Reduce the basis to its `sizes.guide` leading eigenvectors."""
        Q = self.arrays.small(ritz.vectors[:, : self.sizes.guide])
        self.V, self.B, self.MV = self.V @ Q, self.B @ Q, self.MV @ Q


def _grow_by_products(basis: _Basis, n_columns: int, seed: int) -> Iterator[None]:
    """Extend a basis by random directions, and then by what M makes of the block before: one Krylov pass.

    Control returns to the caller after each block.

    :param basis: an empty basis, which is extended
    :param n_columns: columns of the basis in the end
    :param seed: of the random directions
    """
    regression, arrays = basis.regression, basis.arrays
    width = max(1, min(PANEL, basis.rank // KRYLOV_STEPS))
    random = arrays.normal(regression.concepts, width, seed)
    block = random - random.sum(0) / regression.concepts
    max_columns = min(n_columns, basis.sizes.limit)
    while basis.V.shape[1] < max_columns:
        columns_left = max_columns - basis.V.shape[1]
        new_directions = orthonormalize(arrays, block[:, :columns_left], basis.V)
        if not new_directions.shape[1]:
            return
        basis.add(new_directions)
        yield
        block = basis.MV[:, -width:]


def _grow_by_residuals(basis: _Basis, guide: Dense, tolerance: float) -> Iterator[None]:
    """Extend a basis by directions that are known to be good, and then by residuals, until these gain little.

    Control returns to the caller after each block.

    :param basis: an empty basis, which is extended
    :param guide: (concepts, columns) the good directions, orthonormal
    :param tolerance: residuals gain little if they raise the sum of the leading eigenvalues by less than this part
    """
    yield from _add_in_panels(basis, guide)
    ritz = basis.find_ritz_pairs()
    while basis.can_expand:
        captured = ritz.sum_largest(basis.rank)
        ritz = _make_room(basis, ritz)
        new_directions = orthonormalize(basis.arrays, _take_largest_residuals(basis, ritz), basis.V)
        if not new_directions.shape[1]:
            return
        basis.add(new_directions)
        basis.expansions += 1
        yield
        ritz = basis.find_ritz_pairs()
        new_captured = ritz.sum_largest(basis.rank)
        if new_captured - captured < tolerance * new_captured:
            return


def _add_in_panels(basis: _Basis, directions: Dense) -> Iterator[None]:
    """Extend a basis by directions, (concepts, columns), PANEL at a time; control returns after each panel."""
    for first_column in range(0, directions.shape[1], PANEL):
        panel = directions[:, first_column : first_column + PANEL]
        basis.add(orthonormalize(basis.arrays, panel, basis.V))
        yield


def _make_room(basis: _Basis, ritz: _RitzPairs) -> _RitzPairs:
    """Compress a basis that is too wide for another expansion; return the eigenpairs within what it holds then."""
    if basis.V.shape[1] + basis.sizes.expansion <= basis.sizes.before_compression:
        return ritz
    basis.compress(ritz)
    return basis.find_ritz_pairs()


def _take_largest_residuals(basis: _Basis, ritz: _RitzPairs) -> Dense:
    """Return the directions in which the leading eigenvectors are least exact: (concepts, expansion)."""
    residual = basis.compute_residual(ritz)
    _, vectors = np.linalg.eigh(basis.arrays.gram(residual, residual))  # ascending
    return residual @ basis.arrays.small(vectors[:, -basis.sizes.expansion :])


def _make_guide(basis: _Basis, seed: int, start: Floats | None) -> Dense:
    """Return directions for a basis to start from, (concepts, columns): those of `start`, by default of CL-LSI."""
    if start is None:
        return _find_start_directions(basis.regression, basis.sizes.guide, seed)
    return _orthonormalize_centred(basis.regression, basis.arrays.put(start))


def _make_solution(basis: _Basis) -> Solution:
    """Make the embedding maps of the leading eigenvectors of M within a basis, and report how exact they are.

    :param basis: V, spanning the eigenvectors, and the solution B of the regression for each column of V
    """
    arrays = basis.arrays
    ritz = basis.find_ritz_pairs()
    Q = arrays.small(ritz.vectors[:, : basis.rank])  # (columns, rank) coefficients of the basis
    phi = basis.regression.split_by_language(basis.B @ Q)  # of each language, (terms, rank)
    tables = [arrays.get(table) for table in _orthonormalize_maps(arrays, phi, tolerance=1e-7)]
    eigenvectors = arrays.get(basis.V @ Q)  # (concepts, rank)
    return Solution(tables, ritz.values[: basis.rank], eigenvectors, _report_solve(basis, ritz))


def _report_solve(basis: _Basis, ritz: _RitzPairs) -> dict[str, Any]:
    """Say how exact the leading eigenvectors are, and what computing them took."""
    arrays = basis.arrays
    values = ritz.values[: basis.rank]
    residual = basis.compute_residual(ritz)
    relative_residuals = np.sqrt(np.diag(arrays.gram(residual, residual)) / values**2)
    return {
        "captured": float(values.sum()),
        "residual": float(relative_residuals.max()),
        "columns": int(basis.solved),
        "expansions": basis.expansions,
        "cg_steps": round(basis.regression.iterations / max(basis.solved, 1), 1),
        "peak_bytes": arrays.memory(),
        "device": arrays.device,
    }


def _find_start_directions(regression: Regression, width: int, seed: int) -> Dense:
    """Find the leading directions of CL-LSI by subspace iteration: (concepts, width), largest first.

    They are orthonormal, and each sums to zero.

    :param regression: the documents and their concepts
    :param width: how many directions
    :param seed: of the random directions that the iteration starts from
    """
    arrays = regression.arrays
    width = min(width, regression.concepts - 1)
    V = _orthonormalize_centred(regression, arrays.normal(regression.concepts, width, seed + 1))
    for _ in range(GUIDE_ROUNDS):
        V = orthonormalize(arrays, regression.multiply_similarity(V))
    image = regression.multiply_similarity(V)
    _, vectors = np.linalg.eigh(arrays.gram(V, image))  # ascending
    return V @ arrays.small(np.ascontiguousarray(vectors[:, ::-1]))


def _orthonormalize_centred(regression: Regression, directions: Dense) -> Dense:
    """Make directions, (concepts, columns), orthonormal after subtracting the mean of each."""
    return orthonormalize(regression.arrays, directions - directions.sum(0) / regression.concepts)


def _orthonormalize_maps(arrays: Arrays, phi: list[Dense], *, tolerance: float) -> list[Dense]:
    """Make the columns of the maps of all languages, one map on top of the other, orthonormal and keep their span.

    A map gives each word of a language its vector, and a text is embedded by the sum of its words' vectors. In eq. 15
    of the Cr5 paper they come from the regression matrix W = P phi^T, where P has a column for each eigenvector of
    eq. 12 (concepts, rank) and phi is all maps on top of each other (terms, rank). As the columns of P are orthonormal,
    the right singular vectors of W are the columns of phi made orthonormal, and W itself is not needed.
    A second round corrects the rounding of float32.

    :param arrays: where the maps are computed
    :param phi: the map of each language, (terms, rank)
    :param tolerance: a direction is dropped if its squared length in phi is below this part of the greatest
    :return: the orthonormal map of each language, (terms, directions), the direction greatest in phi first
    """
    for _ in range(2):
        gram = np.sum([arrays.gram(lang_map, lang_map) for lang_map in phi], axis=0)  # phi^T phi, (rank, rank)
        is_orthonormal = np.abs(gram - np.eye(len(gram))).max() < 1e-5
        if is_orthonormal:
            break
        whitening = np.ascontiguousarray(compute_whitening(gram, tolerance=tolerance)[:, ::-1])  # largest first
        if phi[0].dtype != np.float64:
            whitening = arrays.small(whitening)
        phi = [lang_map @ whitening for lang_map in phi]
    return phi
