"""The regression of concepts on documents behind Cr5, as an operator: nothing square is ever formed.

Josifoski et al., WSDM 2019, eqs 8 to 14. With Y (documents x concepts) saying which document is about which concept, X
the documents' rows (block-diagonal over languages) and hats for centred columns,

    M = Ŷ^T X̂ B,    B = (X̂^T X̂ + λ)^-1 X̂^T Ŷ,    W = B^T.

Systems are solved for words rather than documents: there each word's own weight, the diagonal, is nearly all the
preconditioning that conjugate gradients need. What remains are the words' correlations, which do not grow with the
documents as eigenvalues do, and so a solve takes few more steps for a million documents than for ten thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
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
    X: Sparse  # (documents, terms)
    concepts: Dense  # (documents,)
    rows: slice  # its documents among those of all languages
    words: slice  # its terms among those of all languages


class Regression:
    """M and the solves behind it, for one λ."""

    def __init__(self, parts: Sequence[tuple[Sparse, Dense]], concepts: int, arrays: Arrays, *, lambda_: float) -> None:
        """Make a regression of languages, each given by its documents' rows and their concepts; see also `from_blocks`.

        :param parts: the rows of each language's documents, (documents, terms), and the concept of each document
        :param concepts: number of concepts
        :param arrays: the device that computes
        :param lambda_: strength of the regularization
        """
        self.arrays = arrays
        self.concepts = concepts
        self.lambda_ = lambda_
        self.languages: list[_Language] = []
        self.documents = 0  # of all languages
        self.terms = 0  # of all languages
        self.sizes = arrays.zeros(concepts, 1)  # documents per concept
        for X, concept_of_document in parts:
            n_documents, n_terms = X.shape
            document_rows = slice(self.documents, self.documents + n_documents)
            term_rows = slice(self.terms, self.terms + n_terms)
            self.languages.append(_Language(X, concept_of_document, document_rows, term_rows))
            self.documents += n_documents
            self.terms += n_terms
            self.sizes[concept_of_document] += 1
        self.iterations = 0.0  # steps of conjugate gradients so far, summed over the columns that were solved for

    @classmethod
    def from_blocks(cls, blocks: Sequence[Block], concepts: int, arrays: Arrays, *, lambda_: float) -> Regression:
        """Make a regression of the training data of each language."""
        parts = [(arrays.sparse(block.rows), arrays.put(block.concepts)) for block in blocks]
        return cls(parts, concepts, arrays, lambda_=lambda_)

    def with_lambda(self, lambda_: float) -> Regression:
        """Return the same regression at another λ."""
        parts = [(language.X, language.concepts) for language in self.languages]
        return Regression(parts, self.concepts, self.arrays, lambda_=lambda_)

    def copy_to_documents(self, u: Dense) -> Dense:
        """Compute Ŷ u: give each document the row of its concept, centred.

        :param u: (concepts, columns)
        :return: (documents, columns)
        """
        rows = self.arrays.zeros(self.documents, u.shape[1])
        for language in self.languages:
            rows[language.rows] = u[language.concepts]
        means = (self.sizes * u).sum(0) / self.documents
        return rows - means

    def sum_by_concept(self, rows: Dense) -> Dense:
        """Compute Ŷ^T rows: add up the centred rows of the documents of each concept.

        :param rows: (documents, columns)
        :return: (concepts, columns)
        """
        sums = self.arrays.zeros(self.concepts, rows.shape[1])
        for language in self.languages:
            sums[language.concepts] += rows[language.rows]
        means = rows.sum(0) / self.documents
        return sums - self.sizes * means

    def multiply_similarity(self, u: Dense) -> Dense:
        """Compute Ŷ^T G Ŷ u; G compares documents by their words, summed over languages as in CL-LSI.

        :param u: (concepts, columns), and so is the result
        """
        rows = self.copy_to_documents(u)
        for panel in _panels(u.shape[1]):
            words = self.multiply_transposed(_contiguous(rows[:, panel]))
            rows[:, panel] = self.multiply(words)
        return self.sum_by_concept(rows)

    def multiply(self, words: Dense) -> Dense:
        """Compute X words: (terms, columns) -> (documents, columns)."""
        rows = self.arrays.zeros(self.documents, words.shape[1])
        for language in self.languages:
            rows[language.rows] = language.X @ _contiguous(words[language.words])
        return rows

    def multiply_transposed(self, rows: Dense) -> Dense:
        """Compute X^T rows: (documents, columns) -> (terms, columns), one language's terms after another's."""
        words = self.arrays.zeros(self.terms, rows.shape[1])
        for language in self.languages:
            words[language.words] = language.X.back(_contiguous(rows[language.rows]))
        return words

    def split_by_language(self, words: Dense) -> list[Dense]:
        """Split rows of all terms by language."""
        return [words[language.words] for language in self.languages]

    def solve(self, rows: Dense, *, tolerance: float, max_steps: int = 200) -> tuple[Dense, Dense]:
        """Solve for B = (X̂^T X̂ + λ)^-1 X̂^T rows; return B and Ŷ^T X̂ B.

        :param rows: (documents, columns), of which each column sums to zero
        :param tolerance: how small a residual has to be, as a part of the right side
        :param max_steps: steps at most, for each panel of columns
        :return: (terms, columns) and (concepts, columns)
        """
        solved = self.arrays.zeros(self.terms, rows.shape[1])
        summed = self.arrays.zeros(self.concepts, rows.shape[1])
        for panel in _panels(rows.shape[1]):
            B = self._solve_panel(_contiguous(rows[:, panel]), tolerance, max_steps, centred=True)
            solved[:, panel] = B
            summed[:, panel] = self.sum_by_concept(self.multiply(B))
        return solved, summed

    def solve_plainly(self, rows: Dense, tolerance: float, max_steps: int = 200) -> Dense:
        """Solve for (X^T X + λ)^-1 X^T rows, without centring: (terms, columns).

        :param rows: (documents, columns)
        :param tolerance: how small a residual has to be, as a part of the right side
        """
        solved = self.arrays.zeros(self.terms, rows.shape[1])
        for panel in _panels(rows.shape[1]):
            solved[:, panel] = self._solve_panel(_contiguous(rows[:, panel]), tolerance, max_steps, centred=False)
        return solved

    def _solve_panel(self, rows: Dense, tolerance: float, max_steps: int, *, centred: bool) -> Dense:
        """Solve (X^T X + λ) x = X^T rows by conjugate gradients, for all columns at once: (terms, columns).

        The preconditioner is the diagonal; the solve ends when the preconditioned residual of every column is below
        `tolerance` of that of its right side. The letters are those of the textbook: x solution, r residual, z
        preconditioned residual, p direction, q its image.

        :param rows: (documents, columns)
        :param tolerance: how small a residual has to be, as a part of the right side
        :param max_steps: steps at most
        :param centred: whether the columns of X are centred
        """
        diagonal = self._compute_diagonal(centred=centred)
        r = self.multiply_transposed(rows)
        z = r / diagonal
        x = 0 * r
        p = z
        rz = (r * z).sum(0)  # (columns,) squared length of the preconditioned residual
        residual_bounds = tolerance**2 * rz
        for _ in range(max_steps):
            has_converged = not bool((rz > residual_bounds).any())
            if has_converged:
                break
            q = self._multiply_regularized(p, centred=centred)
            step = rz / _positive((p * q).sum(0))
            x += step * p
            r -= step * q
            z = r / diagonal
            previous_rz = rz
            rz = (r * z).sum(0)
            p = z + (rz / _positive(previous_rz)) * p
            self.iterations += rows.shape[1]
        return x

    def _multiply_regularized(self, directions: Dense, *, centred: bool) -> Dense:
        """Compute (X^T X + λ) directions: (terms, columns).

        :param directions: (terms, columns)
        :param centred: whether the columns of X are centred
        """
        product = self.multiply(directions)  # (documents, columns)
        if centred:
            product -= product.sum(0) / self.documents
        return self.multiply_transposed(product) + self.lambda_ * directions

    def _compute_diagonal(self, *, centred: bool) -> Dense:
        """Return the diagonal of X^T X + λ: (terms, 1).

        :param centred: whether the columns of X are centred
        """
        return (self._centred_squares if centred else self._squares) + self.lambda_

    @cached_property
    def _squares(self) -> Dense:
        """The sum of the squares of each column of X: (terms, 1)."""
        return self.arrays.vstack([language.X.energy(self.arrays) for language in self.languages])

    @cached_property
    def _centred_squares(self) -> Dense:
        """The same for centred columns: (terms, 1)."""
        sums = self.multiply_transposed(self.arrays.zeros(self.documents, 1) + 1)
        centred_squares = self._squares - sums * sums / self.documents
        return centred_squares * (centred_squares > 0)  # rounding can make them negative


def _panels(columns: int) -> list[slice]:
    """Split columns into ranges of PANEL columns."""
    return [slice(start, min(start + PANEL, columns)) for start in range(0, columns, PANEL)]


def _contiguous(view: Dense) -> Dense:
    """Copy a view into contiguous memory, as sparse products need it."""
    return view.contiguous() if hasattr(view, "contiguous") else np.ascontiguousarray(view)


def _positive(x: Dense) -> Dense:
    """Keep a sum of squares from being zero, to divide by it."""
    return x + 1e-30
