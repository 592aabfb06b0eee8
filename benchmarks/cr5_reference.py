"""Cr5 solved plainly, to be compared with: float64, one vector at a time, the matrices of all languages as one.

`plain` reads eqs 12 to 15 of Josifoski et al. (WSDM 2019): Lanczos for P, one solve per column of it, a small
eigenproblem. `solve_twice` does what the authors ran: after P, a second Lanczos on the words x words matrix W^T W, two
solves per step. Both take the paper's settings: conjugate gradients to 0.01 in at most 500 steps, Lanczos to 0.1 with a
basis of 2 rank + 1.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl
import torch


class Seconds(NamedTuple):
    """Of the clock, and of all processors together: on a busy machine only the second can be compared."""

    clock: float
    processor: float

    @classmethod
    def read_clocks(cls) -> Seconds:
        return cls(time.perf_counter(), time.process_time())

    def since(self) -> Seconds:
        return Seconds(time.perf_counter() - self.clock, time.process_time() - self.processor)

    def plus(self, other: Seconds) -> Seconds:
        return Seconds(self.clock + other.clock, self.processor + other.processor)

    def times(self, factor: float) -> Seconds:
        return Seconds(self.clock * factor, self.processor * factor)


class Reference(NamedTuple):
    vectors: np.ndarray  # P (concepts, rank)
    table: np.ndarray  # (terms of all languages, rank)
    seconds: Seconds


class Plain:
    def __init__(self, rows: list[sp.csr_matrix], concepts: list[np.ndarray], count: int, lambda_: float) -> None:
        X = sp.block_diag(rows, format="csr").astype(np.float64)
        self.X, self.XT = _fast(X), _fast(X.T.tocsr())  # MKL's products, with all threads
        self.owner, self.count, self.lambda_ = np.concatenate(concepts), count, lambda_
        self.n, self.p = X.shape
        self.solves = 0

    def M(self, u: np.ndarray) -> np.ndarray:
        x = self.solve(self.XT(_centred(u.ravel()[self.owner])))
        return np.bincount(self.owner, _centred(self.X(x)), minlength=self.count)

    def solve(self, b: np.ndarray) -> np.ndarray:
        self.solves += 1
        A = spl.LinearOperator((self.p, self.p), self._A, dtype=np.float64)
        return spl.cg(A, b, rtol=0.01, maxiter=500)[0]

    def _A(self, v: np.ndarray) -> np.ndarray:
        return self.XT(_centred(self.X(v.ravel()))) + self.lambda_ * v.ravel()

    def eigenvectors(self, rank: int) -> np.ndarray:
        M = spl.LinearOperator((self.count, self.count), self.M, dtype=np.float64)
        return spl.eigsh(M, k=rank, tol=0.1, ncv=2 * rank + 1, maxiter=250, v0=_start(self.count))[1]

    def plain(self, rank: int) -> Reference:
        begun = Seconds.read_clocks()
        P = self.eigenvectors(rank)
        phi = np.stack([self.solve(self.XT(_centred(P[self.owner, j]))) for j in range(rank)], axis=1)
        spread, Q = np.linalg.eigh(phi.T @ phi)
        return Reference(P, phi @ (Q / np.sqrt(spread)), begun.since())

    def solve_twice(self, rank: int) -> Reference:
        begun = Seconds.read_clocks()
        P = self.eigenvectors(rank)

        def WtW(x: np.ndarray) -> np.ndarray:
            u = np.bincount(self.owner, _centred(self.X(self.solve(x.ravel()))), minlength=self.count)
            return self.solve(self.XT(_centred((P @ (P.T @ u))[self.owner])))

        operator = spl.LinearOperator((self.p, self.p), WtW, dtype=np.float64)
        table = spl.eigsh(operator, k=rank, tol=0.1, ncv=2 * rank + 1, maxiter=250, v0=_start(self.p))[1]
        return Reference(P, table, begun.since())

    def seconds_of(self, rank: int, *, steps: int) -> tuple[Seconds, Seconds]:
        """Estimate what `plain` and `solve_twice` would take.

        The basis of 2 rank + 1 is built once (the tolerance is met then): each step costs a solve, or two, measured on
        the first `steps` Lanczos vectors, and one orthogonalisation against the basis so far, measured on one of
        average size.
        """
        u = _start(self.count)
        begun = Seconds.read_clocks()
        for _ in range(steps):
            u = self.M(u)
            u /= np.linalg.norm(u)
        solve = begun.since().times(1 / steps)
        lanczos = 2 * rank + 1
        first = solve.plus(_orthogonalisation(self.count, rank)).times(lanczos)
        second = solve.times(2).plus(_orthogonalisation(self.p, rank)).times(lanczos)
        return first.plus(solve.times(rank)), first.plus(second)


def _orthogonalisation(size: int, vectors: int) -> Seconds:
    basis, w = np.ones((vectors, size)), np.ones(size)
    begun = Seconds.read_clocks()
    for _ in range(3):
        w = w - (basis @ w) @ basis / (vectors * size)
    return begun.since().times(1 / 3)


def captured(plain: Plain, P: np.ndarray, *, tolerance: float = 1e-4, columns: int = 0) -> float:
    """trace(P^T M P) with accurate solves: how much of the objective a set of directions holds. With `columns`, from
    that many random directions within the span of P."""
    P = np.linalg.qr(np.asarray(P, np.float64))[0]
    scale = 1.0
    if columns and columns < P.shape[1]:
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (P.shape[1], columns))
        P, scale = P @ signs, 1 / columns  # Hutchinson's estimate of the trace
    A = spl.LinearOperator((plain.p, plain.p), plain._A, dtype=np.float64)
    total = 0.0
    for u in P.T:
        b = plain.XT(_centred(u[plain.owner]))
        total += float(b @ spl.cg(A, b, rtol=tolerance, maxiter=1000)[0])
    return total * scale


def _centred(v: np.ndarray) -> np.ndarray:
    return v - v.mean()


def _start(size: int) -> np.ndarray:
    v = np.random.default_rng(0).standard_normal(size)
    return v / np.linalg.norm(v)


def _fast(matrix: sp.csr_matrix) -> Any:
    parts = (matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data)
    tensor = torch.sparse_csr_tensor(*map(torch.from_numpy, parts), size=matrix.shape, check_invariants=False)
    return lambda v: (tensor @ torch.from_numpy(np.ascontiguousarray(v))).numpy()
