"""The regression of concepts on documents behind Cr5, as an operator: nothing square is ever formed.

Josifoski et al., WSDM 2019, eqs 8 to 14, in the dual form. With Y (documents x concepts) saying which document is
about which concept, X the documents' rows, hats for centred columns, G = X X^T (block-diagonal over languages),

    M = Ŷ^T Ĝ (Ĝ + λ)^-1 Ŷ = Ŷ^T (Ŷ - λ Z),    Z = (Ĝ + λ)^-1 Ŷ,    W = Z^T X̂ = Z^T X.

A solve with Ĝ + λ is one with each language's G + λ and a rank-one correction for the mean. Knows nothing of text,
nor of which eigenvectors of M are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.solving.arrays import PANEL, Arrays, Dense, Sparse, orthonormal


class Block(NamedTuple):
    """One language's training data: weighted rows, and the concept of each row, none twice."""

    rows: sp.csr_matrix  # (documents, terms)
    concepts: npt.NDArray[np.int64]  # (documents,)


class _Language(NamedTuple):
    X: Sparse
    concepts: Dense
    place: slice  # where its documents stand among all


class _Easy(NamedTuple):
    """Leading eigenvectors of a language's G, nearly."""

    U: Dense  # (documents, directions), orthonormal
    GU: Dense
    values: Dense  # (directions, 1)


class Regression:
    """M and the solves behind it, for one λ."""

    def __init__(self, parts: Sequence[tuple[Sparse, Dense]], concepts: int, arrays: Arrays, *, lambda_: float) -> None:
        edges = np.cumsum([0, *(X.shape[0] for X, _ in parts)]).tolist()
        self.languages = [
            _Language(X, owner, slice(start, stop))
            for (X, owner), start, stop in zip(parts, edges[:-1], edges[1:], strict=True)
        ]
        self.arrays, self.concepts, self.lambda_ = arrays, concepts, lambda_
        self.documents = edges[-1]
        self.sizes = arrays.zeros(concepts, 1)  # documents per concept
        for language in self.languages:
            self.sizes[language.concepts] += 1
        self.easy: list[_Easy] = []  # per language
        self.iterations = 0.0  # of conjugate gradients, times the columns they were for
        self._mean: tuple[Dense, float] | None = None

    @classmethod
    def of(cls, blocks: Sequence[Block], concepts: int, arrays: Arrays, *, lambda_: float) -> Regression:
        parts = [(arrays.sparse(block.rows), arrays.put(block.concepts)) for block in blocks]
        return cls(parts, concepts, arrays, lambda_=lambda_)

    def at(self, lambda_: float) -> Regression:
        """The same data and the same easy directions at another λ."""
        parts = [(language.X, language.concepts) for language in self.languages]
        other = Regression(parts, self.concepts, self.arrays, lambda_=lambda_)
        other.easy = self.easy
        return other

    def spread(self, u: Dense) -> Dense:
        """Ŷ u: what concepts say, said to each of their documents, centred."""
        rows = self.arrays.zeros(self.documents, u.shape[1])
        for language in self.languages:
            rows[language.place] = u[language.concepts]
        return rows - (self.sizes * u).sum(0) / self.documents

    def gather(self, rows: Dense) -> Dense:
        """Ŷ^T rows."""
        u = self.arrays.zeros(self.concepts, rows.shape[1])
        for language in self.languages:
            u[language.concepts] += rows[language.place]
        return u - self.sizes * (rows.sum(0) / self.documents)

    def similarity(self, u: Dense) -> Dense:
        """Ŷ^T G Ŷ u: concepts by the words they share, all languages added up, as in CL-LSI. Needs no solve."""
        rows = self.spread(u)
        for language in self.languages:
            X = language.X
            for panel in _panels(u.shape[1]):
                rows[language.place, panel] = X.gram(_own(rows[language.place, panel]))
        return self.gather(rows)

    def learn_easy(self, u: Dense) -> None:
        """Take the concept directions `u` as a guess at each language's leading eigenvectors of G. Conjugate
        gradients, told of them, spend their steps on the rest: 6 instead of 13 with 100 directions on MDN (10 if the
        guess is not improved by a product with G first)."""
        self.easy = []
        for language in self.languages:
            X = language.X
            U = orthonormal(self.arrays, u[language.concepts])
            U = orthonormal(self.arrays, _times(self.arrays, X.gram, U))
            GU = _times(self.arrays, X.gram, U)
            gram = self.arrays.gram(U, GU)
            values, vectors = np.linalg.eigh((gram + gram.T) / 2)
            turn = self.arrays.small(vectors)
            self.easy.append(_Easy(U @ turn, GU @ turn, self.arrays.small(np.maximum(values, 0)[:, None])))
        self._mean = None

    def words(self, rows: Dense) -> list[Dense]:
        """X^T rows, per language."""
        return [_times(self.arrays, language.X.back, rows[language.place]) for language in self.languages]

    def solve(self, rows: Dense, *, tolerance: float, most: int = 200) -> Dense:
        """(Ĝ + λ)^-1 rows, for rows whose columns sum to zero."""
        if self._mean is None:
            ones = self.arrays.zeros(self.documents, 1) + 1
            R1 = self.solve_each(ones, min(tolerance, 1e-4), most)
            self._mean = (R1, float(R1.sum()))
        R1, total = self._mean
        solved = self.solve_each(rows, tolerance, most)
        return solved - R1 * (solved.sum(0) / total)

    def solve_each(self, rows: Dense, tolerance: float, most: int = 200) -> Dense:
        """(G + λ)^-1 rows, language by language, without centring."""
        solved = self.arrays.zeros(*rows.shape)
        for i, language in enumerate(self.languages):
            for panel in _panels(rows.shape[1]):
                solved[language.place, panel] = self._conjugate(i, _own(rows[language.place, panel]), tolerance, most)
        return solved

    def _conjugate(self, i: int, b: Dense, tolerance: float, most: int) -> Dense:
        """Conjugate gradients for (G + λ) x = b of one language, all columns at once, until every column's residual
        is below `tolerance` of its right side."""
        X, easy = self.languages[i].X, self.easy[i] if self.easy else None
        if easy is None:
            x, r, z = 0 * b, b, b
        else:
            U, GU, w = easy
            damp = (w.min() + self.lambda_) / (w + self.lambda_) - 1  # brings them down to the least of them
            c = (U.T @ b) / (w + self.lambda_)
            x = U @ c
            r = b - GU @ c - self.lambda_ * x
            z = r + U @ (damp * (U.T @ r))
        p, rz = z, (r * z).sum(0)
        enough = tolerance**2 * (b * b).sum(0)
        for _ in range(most):
            if not bool(((r * r).sum(0) > enough).any()):
                break
            q = X.gram(p) + self.lambda_ * p
            step = rz / _positive((p * q).sum(0))
            x = x + step * p
            r = r - step * q
            z = r if easy is None else r + U @ (damp * (U.T @ r))
            before, rz = rz, (r * z).sum(0)
            p = z + (rz / _positive(before)) * p
            self.iterations += b.shape[1] * b.shape[0] / self.documents
        return x


def _times(arrays: Arrays, product: Callable[[Dense], Dense], dense: Dense) -> Dense:
    return arrays.hstack([product(_own(dense[:, panel])) for panel in _panels(dense.shape[1])])


def _panels(columns: int) -> list[slice]:
    return [slice(start, min(start + PANEL, columns)) for start in range(0, columns, PANEL)]


def _own(view: Dense) -> Dense:
    """A copy that lies in one piece, as sparse products want it."""
    return view.contiguous() if hasattr(view, "contiguous") else np.ascontiguousarray(view)


def _positive(x: Dense) -> Dense:
    return x + 1e-30
