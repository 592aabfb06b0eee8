"""Which directions of concepts a rank-limited regression keeps: the leading eigenvectors of M (see `ridge`), found
without forming it, and the embedding that follows from them (Josifoski et al., WSDM 2019, eqs 12 to 15).

The solves made for the basis also give the embedding, so there is no second eigenproblem. Ways to a basis: "one-pass"
is one block Krylov pass of 2.6 rank vectors from a random start, which captures what the authors' restarted Lanczos of
2 rank + 1 does; "early" stops that at 1.5 rank, with rougher solves; "converged" starts from the directions that CL-LSI
would take (no solves needed, and within a percent of the optimum on our corpora) and adds what the residuals lack. The
nearer the optimum, the worse short queries fared (docs/understand/papers/cr5.md).
"""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp

from paragloss.atomic_files import replace_file
from paragloss.errors import ModelError
from paragloss.lab.solving.arrays import PANEL, Arrays, Dense, orthonormal
from paragloss.lab.solving.ridge import Block, Regression
from paragloss.types import Floats

#: How large a Krylov basis one pass makes, in multiples of the rank; "converged" goes on until little is gained.
_BASIS = {"early": 1.5, "one-pass": 2.6}
#: "auto" is the closed form for few documents, "early" for many; any other is obeyed whatever the size.
SOLVERS = ("auto", "closed-form", *_BASIS, "converged")
#: Called with the share of the work done (0 to 1) and the seconds that are probably left.
Progress = Callable[[float, float], None]

_STEPS = 5  # a pass takes blocks of rank / 5, 64 at most: wide for the sparse products, and short queries like it
_PASSES = 3  # of subspace iteration towards the CL-LSI directions
_MOST_EXPANSIONS = 20


#: Up to this many documents dense algebra is quicker than iterating.
SMALL = 1500
#: Beyond this many, their square matrix does not fit a laptop.
MOST_DENSE = 20_000


class Solution(NamedTuple):
    """Orthonormal embedding maps and where they came from."""

    tables: list[Floats]  # per language (terms, rank); stacked, their columns are orthonormal
    values: npt.NDArray[np.float64]  # eigenvalues of eq. 12, largest first; the objective drops by half their sum
    vectors: Floats  # (concepts, rank): P of eq. 12
    report: dict[str, Any]


def chosen(solver: str, blocks: Sequence[Block], device: str | None) -> str:
    """Return the solver that was asked for; for "auto" the quicker one, on the device that was asked for."""
    documents = sum(block.rows.shape[0] for block in blocks)
    if solver == "closed-form" and documents > MOST_DENSE:
        raise ModelError(f"solver 'closed-form': {documents:,} documents are too many for it, {MOST_DENSE:,} at most")
    if solver == "closed-form" and device not in (None, "cpu", "numpy"):
        raise ModelError(f"device {device!r}: the closed form is computed on the processor; choose another solver")
    if solver == "auto":
        return "closed-form" if documents <= SMALL and device is None else "early"
    return solver


def reduced_rank(
    blocks: list[Block],
    concepts: int,
    *,
    rank: int,
    lambda_: float,
    solver: str,
    device: str | None = None,
    **how: Any,
) -> Solution:
    """The rank-limited regression of concepts on rows, by the solver asked for ("auto": the quicker one). `how` are
    further settings of `leading`."""
    solver = chosen(solver, blocks, device)
    if solver == "closed-form":
        return closed_form(blocks, concepts, rank=rank, lambda_=lambda_)
    regression = Regression.of(blocks, concepts, Arrays(device), lambda_=lambda_)
    key = _fingerprint(blocks) if how.get("checkpoint") else ""
    return leading(regression, rank=rank, solver=solver, key=key, **how)


def closed_form(blocks: Sequence[Block], concepts: int, *, rank: int, lambda_: float) -> Solution:
    """Solve the regression exactly by dense algebra in float64, for a few thousand documents at most."""
    X = sp.block_diag([block.rows for block in blocks], format="csr").astype(np.float64)
    owner = np.concatenate([block.concepts for block in blocks])
    n = len(owner)
    Y = np.zeros((n, concepts))
    Y[np.arange(n), owner] = 1
    Y -= Y.mean(axis=0)
    G = np.asarray((X @ X.T).todense())
    G -= G.mean(axis=0)
    G -= G.mean(axis=1, keepdims=True)
    Z = scipy.linalg.solve(G + lambda_ * np.eye(n), Y, assume_a="pos")  # (n, concepts)
    M = Y.T @ (Y - lambda_ * Z)
    values, P = np.linalg.eigh((M + M.T) / 2)
    values, P = values[::-1][:rank], P[:, ::-1][:, :rank]
    widths = [block.rows.shape[1] for block in blocks]
    phi = np.split(np.asarray(X.T @ (Z @ P)), np.cumsum(widths)[:-1])
    tables = _maps(Arrays("numpy"), phi, tolerance=1e-12)
    report = {"solver": "closed-form", "captured": float(values.sum())}
    return Solution([table.astype(np.float32) for table in tables], values, P.astype(np.float32), report)


def leading(
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
    """Find the embedding of rank `rank` by iteration.

    "converged" stops when one more panel of directions raises the captured sum of eigenvalues by less than
    `tolerance` of it. Solves end at a residual of `solve_tolerance`: by default 0.03 of the right side, 0.1 for
    "early", which finds as well with it. `start` (concepts, some columns) replaces the CL-LSI start. A `checkpoint` is
    written at most every so many seconds and picked up if its `key` is this one's.
    """
    begun = time.monotonic()
    converging = solver == "converged"
    search = _Search(regression, rank, solve_tolerance or (0.1 if solver == "early" else 0.03))
    saver = Checkpoint(checkpoint, checkpoint_every, f"{key} {rank} {solver} {seed} {regression.lambda_}")
    if saved := saver.load():
        search.restore(saved)
    elif converging:
        search.guide = _guide(regression, search.width, seed, start)
    random = regression.arrays.normal(regression.concepts, max(1, min(PANEL, rank // _STEPS)), seed)
    columns = search.width + 2 * search.step if converging else int(_BASIS[solver] * rank) + 1
    while (block := search.guided() if converging else search.krylov(random, columns)) is not None:
        search.add(block)
        saver.save(search.state)
        if converging and search.settled(tolerance):
            break
        if progress:
            share = min(search.solved / columns, 0.99)
            progress(share, (time.monotonic() - begun) * (1 - share) / share)
    solution = search.finish()
    solution.report.update(solver=solver, seconds=round(time.monotonic() - begun, 2))
    saver.remove()
    if progress:
        progress(1.0, 0.0)
    return solution


class _Search:
    """A growing orthonormal basis V of concept directions with its solves B (see `ridge`) and M V."""

    def __init__(self, regression: Regression, rank: int, solve_tolerance: float) -> None:
        self.regression, self.arrays, self.rank = regression, regression.arrays, rank
        self.solve_tolerance = solve_tolerance
        self.limit = regression.concepts - 1  # M 1 = 0
        self.width = min(self.limit, rank + max(8, rank // 16))
        self.step = min(PANEL, max(8, rank // 4))  # columns of an expansion
        self.max_columns = min(self.limit, self.width + 6 * self.step)  # columns held before the basis is compressed
        self.V = self.MV = self.arrays.zeros(regression.concepts, 0)
        self.B = self.arrays.zeros(regression.terms, 0)
        self.guide = self.V
        self.pairs: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None  # of the basis as it is
        self.guide_columns_used = 0  # columns of the guide that are in the basis
        self.solved = 0
        self.captured: list[float] = []  # after the start, and after each expansion

    def guided(self) -> Dense | None:
        """Return the next panel of the start, then the leading residuals of the pairs so far."""
        if self.guide_columns_used < self.guide.shape[1]:
            panel = self.guide[:, self.guide_columns_used : self.guide_columns_used + PANEL]
            self.guide_columns_used += panel.shape[1]
            return orthonormal(self.arrays, panel, self.V)
        if self.V.shape[1] >= self.limit:
            return None
        values, vectors = self._ritz()
        if self.V.shape[1] + self.step > self.max_columns:
            keep = self.arrays.small(vectors[:, : self.width])
            self.V, self.B, self.MV = self.V @ keep, self.B @ keep, self.MV @ keep
            self.pairs = None
            values, vectors = self._ritz()
        Q = self.arrays.small(vectors[:, : self.rank])
        residual = self.MV @ Q - (self.V @ Q) * self.arrays.small(values[: self.rank])
        _, lead = np.linalg.eigh(self.arrays.gram(residual, residual))
        fresh = orthonormal(self.arrays, residual @ self.arrays.small(lead[:, -self.step :]), self.V)
        return fresh if fresh.shape[1] else None

    def krylov(self, random: Dense, columns: int) -> Dense | None:
        """Return the next block of a Krylov basis."""
        room = min(columns, self.limit) - self.V.shape[1]
        if room <= 0:
            return None
        block = self.MV[:, -random.shape[1] :] if self.solved else random - random.sum(0) / self.regression.concepts
        fresh = orthonormal(self.arrays, block[:, :room], self.V)
        return fresh if fresh.shape[1] else None

    def add(self, block: Dense) -> None:
        B, MV = self.regression.solve(self.regression.spread(block), tolerance=self.solve_tolerance)
        grown = zip((self.V, self.B, self.MV), (block, B, MV), strict=True)
        self.V, self.B, self.MV = (self.arrays.hstack([old, new]) for old, new in grown)
        self.solved += block.shape[1]
        self.pairs = None

    def settled(self, tolerance: float) -> bool:
        """Say whether the last expansion gained less than the tolerance."""
        if self.guide_columns_used < self.guide.shape[1]:
            return False
        self.captured.append(float(self._ritz()[0][: self.rank].sum()))
        if len(self.captured) < 2:
            return False
        gained = self.captured[-1] - self.captured[-2]
        return gained < tolerance * self.captured[-1] or len(self.captured) > _MOST_EXPANSIONS

    def _ritz(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        if self.pairs is None:
            T = self.arrays.gram(self.V, self.MV)
            values, vectors = np.linalg.eigh((T + T.T) / 2)
            self.pairs = values[::-1], np.ascontiguousarray(vectors[:, ::-1])
        return self.pairs

    def finish(self) -> Solution:
        arrays, regression = self.arrays, self.regression
        values, vectors = self._ritz()
        values, Q = values[: self.rank], arrays.small(vectors[:, : self.rank])
        P, B = self.V @ Q, self.B @ Q
        residual = self.MV @ Q - P * arrays.small(values)
        worst = np.sqrt(np.diag(arrays.gram(residual, residual)) / values**2).max()
        report = {
            "captured": float(values.sum()),
            "residual": float(worst),
            "columns": int(self.solved),
            "expansions": max(len(self.captured) - 1, 0),
            "cg_steps": round(regression.iterations / max(self.solved, 1), 1),
            "peak_bytes": arrays.memory(),
            "device": arrays.device,
        }
        tables = _maps(arrays, regression.split_by_language(B), tolerance=1e-7)
        return Solution([arrays.get(table) for table in tables], values, arrays.get(P), report)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        dense = {"V": self.V, "B": self.B, "MV": self.MV, "guide": self.guide}
        counters = {
            "done": np.array([self.guide_columns_used, self.solved], np.int64),
            "captured": np.array(self.captured),
        }
        return {**{name: self.arrays.get(array) for name, array in dense.items()}, **counters}

    def restore(self, saved: dict[str, npt.NDArray[Any]]) -> None:
        put = self.arrays.put
        self.V, self.B, self.MV = put(saved["V"]), put(saved["B"]), put(saved["MV"])
        self.guide = put(saved["guide"])
        (self.guide_columns_used, self.solved), self.captured = saved["done"].tolist(), saved["captured"].tolist()


def _guide(regression: Regression, width: int, seed: int, start: Floats | None) -> Dense:
    """Return leading eigenvectors of the concepts' shared-word similarity, largest first; or the given start."""
    arrays = regression.arrays
    width = min(width, regression.concepts - 1)
    V = arrays.normal(regression.concepts, width, seed + 1) if start is None else arrays.put(start)
    V = orthonormal(arrays, V - V.sum(0) / regression.concepts)
    if start is not None:
        return V
    for _ in range(_PASSES):
        V = orthonormal(arrays, regression.similarity(V))
    image = regression.similarity(V)
    _, vectors = np.linalg.eigh(arrays.gram(V, image))
    return V @ arrays.small(np.ascontiguousarray(vectors[:, ::-1]))


def _maps(arrays: Arrays, phi: list[Dense], *, tolerance: float) -> list[Dense]:
    """Eq. 15: the right singular vectors of W = P phi^T. A second round mends what float32 left askew; directions
    that no word speaks of are dropped."""
    for _ in range(2):
        gram = np.sum([arrays.gram(part, part) for part in phi], axis=0)
        if np.abs(gram - np.eye(len(gram))).max() < 1e-5:
            break
        spread, Q = np.linalg.eigh(gram)
        sound = spread > spread[-1] * tolerance
        turn = np.ascontiguousarray((Q[:, sound] / np.sqrt(spread[sound]))[:, ::-1])
        phi = [part @ (arrays.small(turn) if part.dtype != np.float64 else turn) for part in phi]
    return phi


def _fingerprint(blocks: Sequence[Block]) -> str:
    crc = 0
    for block in blocks:
        for array in (block.rows.indptr, block.rows.indices, block.rows.data, block.concepts):
            crc = zlib.crc32(np.ascontiguousarray(array).tobytes(), crc)
    return f"{crc:08x}"


class Checkpoint:
    """A file that lets a long fit go on after a kill, written now and then: beside its place, then over it.

    A file that is no checkpoint is never replaced; one of another fit is replaced by the first save, and stays if there
    is none.
    """

    def __init__(self, path: Path | None, seconds_between: float, key: str) -> None:
        self.path, self.seconds_between, self.key = path, seconds_between, key
        self.last = time.monotonic()
        self._is_of_this_fit = False

    def load(self) -> dict[str, npt.NDArray[Any]]:
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
        if self.path is None or time.monotonic() - self.last < self.seconds_between:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(self.path) as temporary, temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **{"key": np.array(self.key), **state()})
        self.last, self._is_of_this_fit = time.monotonic(), True

    def remove(self) -> None:
        """Remove the file if this fit wrote it or continued from it."""
        if self.path is not None and self._is_of_this_fit:
            self.path.unlink(missing_ok=True)
