"""Reduced-rank ridge regression of concepts on documents, solved without any square matrix at scale.

Josifoski et al., "Crosslingual Document Embedding as Reduced-Rank Ridge Regression", WSDM 2019, eqs 8 to 15, in the
dual form. Knows nothing of text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp

from paragloss.types import Floats


class Block(NamedTuple):
    """One language's training data: weighted rows, and the concept of each row."""

    rows: sp.csr_matrix  # (documents, terms)
    concepts: npt.NDArray[np.int64]  # (documents,)


class Solution(NamedTuple):
    """Orthonormal embedding maps and what they were made of."""

    tables: list[Floats]  # per language (terms, rank); stacked, their columns are orthonormal
    values: npt.NDArray[np.float64]  # eigenvalues of eq. 12, largest first


def closed_form(blocks: Sequence[Block], concepts: int, *, rank: int, lambda_: float) -> Solution:
    """The exact answer by dense algebra, float64: for a few thousand documents at most."""
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
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    values, P = values[::-1][:rank], vectors[:, ::-1][:, :rank]
    return _orthonormal(np.asarray(X.T @ (Z @ P)), blocks, values)


def _orthonormal(phi: npt.NDArray[np.float64], blocks: Sequence[Block], values: npt.NDArray[np.float64]) -> Solution:
    """Eq. 15: the right singular vectors of W = P phi^T."""
    spread, Q = np.linalg.eigh(phi.T @ phi)
    spread, Q = spread[::-1], Q[:, ::-1]
    sound = spread > spread[0] * 1e-10
    T = phi @ (Q[:, sound] / np.sqrt(spread[sound]))
    edges = np.cumsum([block.rows.shape[1] for block in blocks])[:-1]
    return Solution([part.astype(np.float32) for part in np.split(T, edges)], values)
