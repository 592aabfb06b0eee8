"""The regression of concepts on documents behind Cr5, as an operator: nothing square is ever formed.

Josifoski et al., WSDM 2019, eqs 8 to 14. With Y (documents x concepts) saying which document is about which concept, X
the documents' rows (block-diagonal over languages) and hats for centred columns,

    M = Ŷ^T X̂ B,    B = (X̂^T X̂ + λ)^-1 X̂^T Ŷ,    W = B^T.

Solves are made on the side of words: there each word's own weight, the diagonal, is nearly all that conjugate gradients
have to be told. What it leaves are the words' correlations, which do not grow with the documents as eigenvalues do,
and so a solve takes few more steps for a million documents than for ten thousand. Knows nothing of text, nor of which
eigenvectors of M are wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from paragloss.lab.solving.arrays import PANEL, Arrays, Dense, Sparse
from paragloss.types import Integers


class Block(NamedTuple):
    """One language's training data: weighted rows, and the concept of each row, none twice."""

    rows: sp.csr_matrix  # (documents, terms)
    concepts: Integers  # (documents,)


class _Language(NamedTuple):
    X: Sparse
    concepts: Dense
    rows: slice  # where its documents stand among all
    words: slice  # and where its terms do


class Regression:
    """M and the solves behind it, for one λ."""

    def __init__(self, parts: Sequence[tuple[Sparse, Dense]], concepts: int, arrays: Arrays, *, lambda_: float) -> None:
        documents, terms = (np.cumsum([0, *(X.shape[side] for X, _ in parts)]).tolist() for side in (0, 1))
        self.languages = [
            _Language(X, owner, slice(*documents[i : i + 2]), slice(*terms[i : i + 2]))
            for i, (X, owner) in enumerate(parts)
        ]
        self.arrays, self.concepts, self.lambda_ = arrays, concepts, lambda_
        self.documents, self.terms = documents[-1], terms[-1]
        self.sizes = arrays.zeros(concepts, 1)  # documents per concept
        for language in self.languages:
            self.sizes[language.concepts] += 1
        self.iterations = 0.0  # of conjugate gradients, times the columns they were for
        self._diagonal: tuple[Dense, Dense] | None = None  # of X^T X, and of the same with centred columns

    @classmethod
    def of(cls, blocks: Sequence[Block], concepts: int, arrays: Arrays, *, lambda_: float) -> Regression:
        parts = [(arrays.sparse(block.rows), arrays.put(block.concepts)) for block in blocks]
        return cls(parts, concepts, arrays, lambda_=lambda_)

    def at(self, lambda_: float) -> Regression:
        """Return the same regression at another λ."""
        parts = [(language.X, language.concepts) for language in self.languages]
        other = Regression(parts, self.concepts, self.arrays, lambda_=lambda_)
        other._diagonal = self._diagonal
        return other

    def spread(self, u: Dense) -> Dense:
        """Compute Ŷ u: each document gets its concept's row, centred."""
        rows = self.arrays.zeros(self.documents, u.shape[1])
        for language in self.languages:
            rows[language.rows] = u[language.concepts]
        return rows - (self.sizes * u).sum(0) / self.documents

    def gather(self, rows: Dense) -> Dense:
        """Compute Ŷ^T rows."""
        u = self.arrays.zeros(self.concepts, rows.shape[1])
        for language in self.languages:
            u[language.concepts] += rows[language.rows]
        return u - self.sizes * (rows.sum(0) / self.documents)

    def similarity(self, u: Dense) -> Dense:
        """Compute Ŷ^T G Ŷ u: concepts by the words they share, summed over languages, as in CL-LSI. Needs no solve."""
        rows = self.spread(u)
        for panel in _panels(u.shape[1]):
            rows[:, panel] = self.read(self.words(_own(rows[:, panel])))
        return self.gather(rows)

    def read(self, words: Dense) -> Dense:
        """Compute X words, a row per document."""
        rows = self.arrays.zeros(self.documents, words.shape[1])
        for language in self.languages:
            rows[language.rows] = language.X @ _own(words[language.words])
        return rows

    def words(self, rows: Dense) -> Dense:
        """Compute X^T rows, one language's terms after another's."""
        words = self.arrays.zeros(self.terms, rows.shape[1])
        for language in self.languages:
            words[language.words] = language.X.back(_own(rows[language.rows]))
        return words

    def split_by_language(self, words: Dense) -> list[Dense]:
        """Split rows of all terms by language."""
        return [words[language.words] for language in self.languages]

    def solve(self, rows: Dense, *, tolerance: float, max_steps: int = 200) -> tuple[Dense, Dense]:
        """Compute B = (X̂^T X̂ + λ)^-1 X̂^T rows and Ŷ^T X̂ B, for rows whose columns sum to zero."""
        solved, residual = self.arrays.zeros(self.terms, rows.shape[1]), self.arrays.zeros(self.concepts, rows.shape[1])
        for panel in _panels(rows.shape[1]):
            B = self._conjugate(_own(rows[:, panel]), tolerance, max_steps, centred=True)
            solved[:, panel], residual[:, panel] = B, self.gather(self.read(B))
        return solved, residual

    def solve_plainly(self, rows: Dense, tolerance: float, max_steps: int = 200) -> Dense:
        """Compute (X^T X + λ)^-1 X^T rows, without centring."""
        solved = self.arrays.zeros(self.terms, rows.shape[1])
        for panel in _panels(rows.shape[1]):
            solved[:, panel] = self._conjugate(_own(rows[:, panel]), tolerance, max_steps, centred=False)
        return solved

    def _conjugate(self, rows: Dense, tolerance: float, max_steps: int, *, centred: bool) -> Dense:
        """Conjugate gradients for all columns at once, in units of each word's own weight, until every column's
        residual is below `tolerance` of its right side."""
        weight = self._weights(centred)
        r = self.words(rows)
        z = r / weight
        x, p, rz = 0 * r, z, (r * z).sum(0)
        residual_bounds = tolerance**2 * rz
        for _ in range(max_steps):
            if not bool((rz > residual_bounds).any()):
                break
            product = self.read(p)
            if centred:
                product -= product.sum(0) / self.documents
            q = self.words(product) + self.lambda_ * p
            step = rz / _positive((p * q).sum(0))
            x += step * p
            r -= step * q
            z = r / weight
            before, rz = rz, (r * z).sum(0)
            p = z + (rz / _positive(before)) * p
            self.iterations += rows.shape[1]
        return x

    def _weights(self, centred: bool) -> Dense:
        """Return the diagonal of X^T X + λ, or of the same with centred columns: (terms, 1)."""
        if self._diagonal is None:
            plain = self.arrays.vstack([language.X.energy(self.arrays) for language in self.languages])
            total = self.words(self.arrays.zeros(self.documents, 1) + 1)
            spread = plain - total * total / self.documents
            self._diagonal = plain, spread * (spread > 0)
        return self._diagonal[centred] + self.lambda_


def _panels(columns: int) -> list[slice]:
    return [slice(start, min(start + PANEL, columns)) for start in range(0, columns, PANEL)]


def _own(view: Dense) -> Dense:
    """Copy a view into one piece, as sparse products need it."""
    return view.contiguous() if hasattr(view, "contiguous") else np.ascontiguousarray(view)


def _positive(x: Dense) -> Dense:
    return x + 1e-30
