"""OPCA: directions along which documents differ from each other but not from their translations.

Platt, Toutanova and Yih, "Translingual document representations from discriminative projections", EMNLP 2010:
S v = lambda (N + gamma I) v with S the covariance of all documents and N that of their deviations from the mean of
their concept. Solved without any terms-by-terms matrix: Lanczos outside, conjugate gradients inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.models._counting import count
from paragloss.models._spectral import Product, top_eigen
from paragloss.models.bag import BagEncoder, Tower
from paragloss.types import Aligned, Floats
from paragloss.vocabulary import weigh


def fit(
    aligned: Aligned,
    *,
    dim: int = 300,
    seed: int = 0,
    gamma: float = 0.3,
    stem: bool = True,
    max_terms: int = 200_000,
    min_df: int = 3,
    lengths: tuple[int, int] = (50, 1000),
) -> BagEncoder:
    """Learn from concepts in any number of languages.

    `gamma` stands beside a sum over documents of squared deviations from the concept's mean. A value quoted for
    noise taken from differences of pairs is halved, and one for an average over n documents is multiplied by n.
    """
    counted, concepts = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df, lengths=lengths)
    rows = [weigh(part.counts, part.vocabulary.idf, "tfidf") for part in counted.values()]
    _, table = solve(rows, [part.concepts for part in counted.values()], dim=dim, gamma=gamma, seed=seed)
    edges = np.cumsum([len(part.vocabulary) for part in counted.values()])[:-1]
    towers = {
        lang: Tower(part.vocabulary, np.ascontiguousarray(block))
        for (lang, part), block in zip(counted.items(), np.split(table, edges), strict=True)
    }
    return BagEncoder(towers, meta={"method": "opca", "concepts": concepts, "gamma": gamma, "seed": seed})


def solve(
    rows: Sequence[sp.csr_matrix],
    concepts: Sequence[npt.NDArray[np.int64]],
    *,
    dim: int,
    gamma: float,
    seed: int = 0,
    tolerance: float = 3e-2,
) -> tuple[Floats, Floats]:
    """Signal-to-noise ratios, largest first, and directions (all terms, dim) with v'(N + gamma I)v = 1.

    With F the centred documents, S = F'F, and F (N + gamma I)^-1 F' has the same eigenvalues: symmetric, so
    Lanczos applies, and v = (N + gamma I)^-1 F'u / sqrt(lambda). `tolerance` is how far each solve goes.
    """
    joint = sp.block_diag(rows, format="csr").astype(np.float32)  # (documents, all terms)
    owner = np.concatenate(list(concepts))
    documents, X = len(owner), Product(joint)
    share = np.bincount(owner)
    average = Product(
        sp.csr_matrix((1 / np.sqrt(share[owner]), (np.arange(documents), owner)), shape=(documents, len(share)))
    )

    def noise(block: Floats) -> Floats:
        deviations = X.dot(block)
        deviations -= average.dot(average.back(deviations))  # minus the concept's mean
        result: Floats = X.back(deviations) + np.float32(gamma) * block
        return result

    # In a concept of m documents a term of one of them deviates by x (1 - 1/m) and x/m in the others.
    squares = joint.multiply(joint)
    diagonal = squares.T @ (1 - 1 / share[owner]) + gamma
    scale: Floats = (1 / diagonal).astype(np.float32)[:, None]

    def inverse(block: Floats) -> Floats:
        return conjugate_gradients(noise, block, scale=scale, tolerance=tolerance)

    def centred(block: Floats) -> Floats:
        return np.asarray(block - block.mean(axis=0), np.float32)

    def ratio(block: Floats) -> Floats:
        return centred(X.dot(inverse(X.back(centred(block)))))

    values, left = top_eigen(ratio, documents, dim, seed=seed, tolerance=max(tolerance, 1e-3))
    sound = values > 1e-6 * values[0]
    table: Floats = inverse(X.back(centred(left[:, sound]))) / np.sqrt(values[sound])
    return values[sound], table


def conjugate_gradients(
    apply: Callable[[Floats], Floats],
    right: Floats,
    *,
    scale: Floats,
    tolerance: float,
    most: int = 200,
) -> Floats:
    """Solve for every column of `right` at once, preconditioned by `scale` (the inverse diagonal). A column stops
    moving when its residual is small enough."""
    solution = np.zeros_like(right)
    residual = right.copy()
    bound = tolerance * np.linalg.norm(right, axis=0)
    direction = scale * residual
    energy = np.einsum("ij,ij->j", residual, direction)
    for _ in range(most):
        image = apply(direction)
        moving = np.linalg.norm(residual, axis=0) > bound
        if not moving.any():
            break
        step = np.where(moving, energy / np.maximum(np.einsum("ij,ij->j", direction, image), 1e-30), 0)
        solution += step.astype(np.float32) * direction
        residual -= step.astype(np.float32) * image
        ready = scale * residual
        fresh = np.einsum("ij,ij->j", residual, ready)
        direction = ready + np.where(moving, fresh / np.maximum(energy, 1e-30), 0).astype(np.float32) * direction
        energy = fresh
    return solution
