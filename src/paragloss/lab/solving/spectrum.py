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
import warnings
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp

from paragloss.atomic_files import replace_file
from paragloss.errors import ModelError
from paragloss.lab.solving.arrays import PANEL, Arrays, Dense, orthonormalize
from paragloss.lab.solving.ridge import Block, Regression
from paragloss.types import Floats

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


def solve_reduced_rank(
    blocks: list[Block],
    concepts: int,
    *,
    rank: int,
    lambda_: float,
    solver: str,
    device: str | None = None,
    **options: Any,
) -> Solution:
    """Solve the rank-limited regression of concepts on documents with one of SOLVERS.

    :param blocks: training data of each language
    :param concepts: number of concepts
    :param lambda_: strength of the regularization
    :param options: further arguments of `solve_iteratively`, for the iterative solvers
    """
    solver = choose_solver(solver, blocks, device)
    if solver == "closed-form":
        return solve_closed_form(blocks, concepts, rank=rank, lambda_=lambda_)
    regression = Regression.from_blocks(blocks, concepts, Arrays(device), lambda_=lambda_)
    key = _compute_checksum(blocks) if options.get("checkpoint") else ""
    return solve_iteratively(regression, rank=rank, solver=solver, key=key, **options)


def solve_closed_form(blocks: Sequence[Block], concepts: int, *, rank: int, lambda_: float) -> Solution:
    """Solve the regression exactly by dense algebra in float64, for a few thousand documents at most.

    The letters are those of the paper; X and Y are the documents' rows and concepts, centred in the products.

    :param blocks: training data of each language
    :param concepts: number of concepts
    :param lambda_: strength of the regularization
    """
    X = sp.block_diag([block.rows for block in blocks], format="csr").astype(np.float64)  # (documents, terms)
    concept_of_document = np.concatenate([block.concepts for block in blocks])
    n = len(concept_of_document)
    Y = np.zeros((n, concepts))
    Y[np.arange(n), concept_of_document] = 1
    Y -= Y.mean(axis=0)
    G = np.asarray((X @ X.T).todense())  # (documents, documents), then centred on both sides
    G -= G.mean(axis=0)
    G -= G.mean(axis=1, keepdims=True)
    Z = scipy.linalg.solve(G + lambda_ * np.eye(n), Y, assume_a="pos")  # (documents, concepts)
    M = Y.T @ (Y - lambda_ * Z)  # (concepts, concepts)
    values, vectors = np.linalg.eigh((M + M.T) / 2)  # ascending
    values, P = values[::-1][:rank], vectors[:, ::-1][:, :rank]
    phi = np.asarray(X.T @ (Z @ P))  # (terms, rank), one language's terms after another's
    term_bounds = np.cumsum([block.rows.shape[1] for block in blocks])
    tables = _orthonormalize_maps(Arrays("numpy"), np.split(phi, term_bounds[:-1]), tolerance=1e-12)
    report = {"solver": "closed-form", "captured": float(values.sum())}
    return Solution([table.astype(np.float32) for table in tables], values, P.astype(np.float32), report)


def solve_iteratively(
    regression: Regression,
    *,
    rank: int,
    solver: str = "converged",
    seed: int = 0,
    tolerance: float = 5e-3,
    solve_tolerance: float | None = None,
    start: Floats | None = None,
    checkpoint: Path | None = None,
    checkpoint_every: float = 30.0,
    key: str = "",
    progress: Progress | None = None,
) -> Solution:
    """Solve the regression for an embedding of `rank` dimensions by iteration.

    :param solver: "converged" or one of KRYLOV_BASIS
    :param tolerance: "converged" stops when an expansion raises the captured sum of eigenvalues by less than this part
    :param solve_tolerance: solves end when their residual is this part of the right side; see SOLVE_TOLERANCES
    :param start: (concepts, columns) directions to start "converged" from, in place of those of CL-LSI
    :param checkpoint: a file from which a killed run continues; written at most every `checkpoint_every` seconds
    :param key: identifies the data; a checkpoint with another key is ignored
    """
    started = time.monotonic()
    search = _make_search(solver, regression, rank, solve_tolerance or SOLVE_TOLERANCES[solver], tolerance)
    saver = Checkpoint(checkpoint, checkpoint_every, f"{key} {rank} {solver} {seed} {regression.lambda_} 2")
    saved = saver.load()
    if saved:
        search.restore(saved)
    search.prepare(seed, start)
    for share_done in _extend_basis(search, saver):
        if progress:
            elapsed = time.monotonic() - started
            progress(share_done, elapsed * (1 - share_done) / share_done)
    solution = search.finish()
    solution.report.update(solver=solver, seconds=round(time.monotonic() - started, 2))
    saver.remove()
    if progress:
        progress(1.0, 0.0)
    return solution


def _extend_basis(search: _Search, saver: Checkpoint) -> Iterator[float]:
    """Add blocks to the basis until it is good enough; yield about which share of all has been solved for."""
    block = search.make_block()
    while block is not None:
        search.add(block)
        saver.save(search.state)
        if search.has_converged():
            return
        yield min(search.solved / search.expected_columns, 0.99)
        block = search.make_block()


def _make_search(solver: str, regression: Regression, rank: int, solve_tolerance: float, tolerance: float) -> _Search:
    """Return the search of an iterative solver, with an empty basis; for the arguments see `solve_iteratively`."""
    if solver == "converged":
        return _GuidedSearch(regression, rank, solve_tolerance, tolerance)
    return _KrylovSearch(regression, rank, solve_tolerance, KRYLOV_BASIS[solver])


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


class _Search(ABC):
    """A growing orthonormal basis V of concept directions, (concepts, columns), with its solves B and the products M V.

    The eigenvectors of M are approximated within the basis (Rayleigh-Ritz). Subclasses say which directions are added.
    """

    #: Columns that are probably solved for in all.
    expected_columns: int

    def __init__(self, regression: Regression, rank: int, solve_tolerance: float) -> None:
        """Start with an empty basis.

        :param regression: the problem, which multiplies by M and solves
        :param rank: number of eigenvectors that are wanted
        :param solve_tolerance: solves end when their residual is this part of the right side
        """
        self.regression, self.arrays, self.rank = regression, regression.arrays, rank
        self.solve_tolerance = solve_tolerance
        self.sizes = _choose_sizes(regression.concepts, rank)
        self.V = self.MV = self.arrays.zeros(regression.concepts, 0)
        self.B = self.arrays.zeros(regression.terms, 0)  # (terms, columns)
        #: Eigenvalues and eigenvectors of M within the basis; None after the basis changed.
        self.ritz_pairs: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None
        self.solved = 0  # columns solved for so far

    @abstractmethod
    def prepare(self, seed: int, start: Floats | None) -> None:
        """Compute what the first block is made of, unless a checkpoint had it.

        :param start: (concepts, columns) directions to start from
        """

    @abstractmethod
    def make_block(self) -> Dense | None:
        """Return orthonormal columns to add to the basis; None when there are no more."""

    def has_converged(self) -> bool:
        """Tell whether the basis is good enough."""
        return False

    @property
    def expansions(self) -> int:
        """How often the basis has been extended by residuals."""
        return 0

    def add(self, block: Dense) -> None:
        """Extend the basis by orthonormal columns, and solve for them."""
        B, MV = self.regression.solve(self.regression.copy_to_documents(block), tolerance=self.solve_tolerance)
        self.V = self.arrays.hstack([self.V, block])
        self.B = self.arrays.hstack([self.B, B])
        self.MV = self.arrays.hstack([self.MV, MV])
        self.solved += block.shape[1]
        self.ritz_pairs = None

    def find_ritz_pairs(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the eigenvalues of M within the basis, largest first, and their eigenvectors, as coefficients of V."""
        if self.ritz_pairs is None:
            T = self.arrays.gram(self.V, self.MV)
            values, vectors = np.linalg.eigh((T + T.T) / 2)
            self.ritz_pairs = values[::-1], np.ascontiguousarray(vectors[:, ::-1])
        return self.ritz_pairs

    def compute_residual(self) -> Dense:
        """Return how far M moves the leading eigenvectors off themselves: M P - P diag(values), (concepts, rank)."""
        values, vectors = self.find_ritz_pairs()
        Q = self.arrays.small(vectors[:, : self.rank])
        return self.MV @ Q - (self.V @ Q) * self.arrays.small(values[: self.rank])

    def finish(self) -> Solution:
        """Make the embedding maps of the leading eigenvectors, and report how exact they are."""
        arrays = self.arrays
        all_values, all_vectors = self.find_ritz_pairs()
        values, Q = all_values[: self.rank], arrays.small(all_vectors[:, : self.rank])
        phi = self.regression.split_by_language(self.B @ Q)
        tables = [arrays.get(table) for table in _orthonormalize_maps(arrays, phi, tolerance=1e-7)]
        return Solution(tables, values, arrays.get(self.V @ Q), self._make_report(values))

    def _make_report(self, values: npt.NDArray[np.float64]) -> dict[str, Any]:
        """Return the figures that are saved with the model.

        :param values: the leading eigenvalues
        """
        residual = self.compute_residual()
        relative_residuals = np.sqrt(np.diag(self.arrays.gram(residual, residual)) / values**2)
        return {
            "captured": float(values.sum()),
            "residual": float(relative_residuals.max()),
            "columns": int(self.solved),
            "expansions": self.expansions,
            "cg_steps": round(self.regression.iterations / max(self.solved, 1), 1),
            "peak_bytes": self.arrays.memory(),
            "device": self.arrays.device,
        }

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return what a checkpoint holds."""
        dense = {"V": self.V, "B": self.B, "MV": self.MV}
        arrays = {name: self.arrays.get(array) for name, array in dense.items()}
        return {**arrays, "solved": np.array(self.solved, np.int64)}

    def restore(self, saved: dict[str, npt.NDArray[Any]]) -> None:
        """Continue from the state of a checkpoint."""
        put = self.arrays.put
        self.V, self.B, self.MV = put(saved["V"]), put(saved["B"]), put(saved["MV"])
        self.solved = int(saved["solved"])


class _KrylovSearch(_Search):
    """Adds what M makes of the block before, starting with random directions, up to a number of columns."""

    def __init__(self, regression: Regression, rank: int, solve_tolerance: float, columns_per_rank: float) -> None:
        super().__init__(regression, rank, solve_tolerance)
        self.expected_columns = int(columns_per_rank * rank) + 1
        self.random = self.V  # directions to start from, (concepts, columns of a block)

    def prepare(self, seed: int, start: Floats | None) -> None:
        width = max(1, min(PANEL, self.rank // KRYLOV_STEPS))
        self.random = self.arrays.normal(self.regression.concepts, width, seed)

    def make_block(self) -> Dense | None:
        columns_left = min(self.expected_columns, self.sizes.limit) - self.V.shape[1]
        if columns_left <= 0:
            return None
        if self.solved:
            block = self.MV[:, -self.random.shape[1] :]
        else:
            block = self.random - self.random.sum(0) / self.regression.concepts
        new_directions = orthonormalize(self.arrays, block[:, :columns_left], self.V)
        return new_directions if new_directions.shape[1] else None


class _GuidedSearch(_Search):
    """Adds directions that are known to be good, and then those of the largest residuals, until they gain little."""

    def __init__(self, regression: Regression, rank: int, solve_tolerance: float, tolerance: float) -> None:
        """Start with an empty basis.

        :param tolerance: an expansion gains little if it raises the captured sum of eigenvalues by less than this part
        """
        super().__init__(regression, rank, solve_tolerance)
        self.tolerance = tolerance
        self.expected_columns = self.sizes.guide + 2 * self.sizes.expansion
        self.guide = self.V  # directions to start from, (concepts, columns)
        self.guide_columns_used = 0  # columns of the guide that are in the basis
        self.captured: list[float] = []  # sum of the leading eigenvalues after the guide and after each expansion

    def prepare(self, seed: int, start: Floats | None) -> None:
        if not self.guide.shape[1]:
            if start is None:
                self.guide = _find_start_directions(self.regression, self.sizes.guide, seed)
            else:
                self.guide = _orthonormalize_centred(self.regression, self.arrays.put(start))

    def make_block(self) -> Dense | None:
        if self._has_guide_left():
            panel = self.guide[:, self.guide_columns_used : self.guide_columns_used + PANEL]
            self.guide_columns_used += panel.shape[1]
            return orthonormalize(self.arrays, panel, self.V)
        if self.V.shape[1] >= self.sizes.limit:
            return None
        if self.V.shape[1] + self.sizes.expansion > self.sizes.before_compression:
            self._compress_basis()
        new_directions = orthonormalize(self.arrays, self._take_largest_residuals(), self.V)
        return new_directions if new_directions.shape[1] else None

    def _take_largest_residuals(self) -> Dense:
        """Return the directions in which the leading eigenvectors are least exact: (concepts, expansion)."""
        residual = self.compute_residual()
        _, vectors = np.linalg.eigh(self.arrays.gram(residual, residual))  # ascending
        return residual @ self.arrays.small(vectors[:, -self.sizes.expansion :])

    def add(self, block: Dense) -> None:
        super().add(block)
        if not self._has_guide_left():
            values, _ = self.find_ritz_pairs()
            self.captured.append(float(values[: self.rank].sum()))

    def has_converged(self) -> bool:
        if len(self.captured) < 2:
            return False
        gained = self.captured[-1] - self.captured[-2]
        return gained < self.tolerance * self.captured[-1] or len(self.captured) > MAX_EXPANSIONS

    @property
    def expansions(self) -> int:
        return max(len(self.captured) - 1, 0)

    def _has_guide_left(self) -> bool:
        return bool(self.guide_columns_used < self.guide.shape[1])

    def _compress_basis(self) -> None:
        """Reduce the basis to its `sizes.guide` leading eigenvectors."""
        _, vectors = self.find_ritz_pairs()
        leading_vectors = self.arrays.small(vectors[:, : self.sizes.guide])
        self.V, self.B, self.MV = self.V @ leading_vectors, self.B @ leading_vectors, self.MV @ leading_vectors
        self.ritz_pairs = None

    def state(self) -> dict[str, npt.NDArray[Any]]:
        return {
            **super().state(),
            "guide": self.arrays.get(self.guide),
            "guide_columns_used": np.array(self.guide_columns_used, np.int64),
            "captured": np.array(self.captured),
        }

    def restore(self, saved: dict[str, npt.NDArray[Any]]) -> None:
        super().restore(saved)
        self.guide = self.arrays.put(saved["guide"])
        self.guide_columns_used = int(saved["guide_columns_used"])
        self.captured = saved["captured"].tolist()


def _find_start_directions(regression: Regression, width: int, seed: int) -> Dense:
    """Find the leading directions of CL-LSI by subspace iteration: (concepts, width), largest first.

    They are orthonormal, and each sums to zero.

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
        whitening = _compute_whitening(gram, tolerance)
        if phi[0].dtype != np.float64:
            whitening = arrays.small(whitening)
        phi = [lang_map @ whitening for lang_map in phi]
    return phi


def _compute_whitening(gram: npt.NDArray[np.float64], tolerance: float) -> npt.NDArray[np.float64]:
    """Compute a matrix T with T' gram T = I, (rank, directions), the eigenvector of the largest eigenvalue first.

    :param gram: a symmetric matrix, (rank, rank)
    :param tolerance: eigenvectors are dropped if their eigenvalue is below this part of the largest
    """
    values, vectors = np.linalg.eigh(gram)  # ascending
    is_used = values > values[-1] * tolerance
    scaled_vectors = vectors[:, is_used] / np.sqrt(values[is_used])
    return np.ascontiguousarray(scaled_vectors[:, ::-1])


def _compute_checksum(blocks: Sequence[Block]) -> str:
    """Compute a checksum of the training data."""
    crc = 0
    for block in blocks:
        for array in (block.rows.indptr, block.rows.indices, block.rows.data, block.concepts):
            crc = zlib.crc32(np.ascontiguousarray(array).tobytes(), crc)
    return f"{crc:08x}"


class Checkpoint:
    """A file of named arrays from which a killed fit continues; without a path nothing is saved.

    A file that is no checkpoint is never replaced; one of another fit is replaced by the first save, and stays if there
    is none.
    """

    def __init__(self, path: Path | None, seconds_between: float, key: str) -> None:
        """Prepare a checkpoint that is written at most every `seconds_between` seconds.

        :param key: identifies the data and settings
        """
        self.path, self.seconds_between, self.key = path, seconds_between, key
        self.last_saved = time.monotonic()
        self._is_of_this_fit = False

    def load(self) -> dict[str, npt.NDArray[Any]]:
        """Read the saved arrays; warn and return nothing if the file has another key.

        :raises ModelError: if the file is no checkpoint
        """
        if self.path is None or not self.path.exists():
            return {}
        try:
            with np.load(self.path, allow_pickle=False) as saved:
                if str(saved["key"]) == self.key:
                    self._is_of_this_fit = True
                    return {name: saved[name] for name in saved.files if name != "key"}
        except (OSError, EOFError, ValueError, KeyError, AttributeError, BadZipFile) as error:
            reason = " ".join(str(error).split())
            raise ModelError(
                f"{self.path} can't be read as a checkpoint ({reason}): remove it, or name another file"
            ) from None
        warnings.warn(f"{self.path} is of other data or other settings: starting anew", stacklevel=4)
        return {}

    def save(self, state: Callable[[], dict[str, npt.NDArray[Any]]]) -> None:
        """Save what `state` returns if it is time; the file is replaced atomically."""
        if self.path is None or time.monotonic() - self.last_saved < self.seconds_between:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(self.path) as temporary, temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **{"key": np.array(self.key), **state()})
        self.last_saved, self._is_of_this_fit = time.monotonic(), True

    def remove(self) -> None:
        """Remove the file if this fit wrote it or continued from it."""
        if self.path is not None and self._is_of_this_fit:
            self.path.unlink(missing_ok=True)
