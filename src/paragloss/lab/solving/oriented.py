"""Directions with the most signal for their noise: the generalised eigenproblem behind OPCA. Knows nothing of text.

S v = lambda (N + gamma I) v with S the covariance of all rows and N that of their deviations from the mean of their
concept, without any square matrix: subspace iteration outside, conjugate gradients inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from paragloss.lab.solving.arrays import PANEL
from paragloss.lab.solving.spectral import Product, singular
from paragloss.types import Floats, Integers

#: What is added to the noise unless another is asked for: docs/understand/papers/linear.md says why.
GAMMA = 0.3
_TURNS = 3  # of subspace iteration at most


def oriented(
    rows: Sequence[sp.csr_matrix],
    concepts: Sequence[Integers],
    *,
    dim: int,
    gamma: float,
    seed: int = 0,
    tolerance: float = 1e-2,
) -> tuple[Floats, Floats]:
    """Return signal-to-noise ratios, largest first, and directions (all terms, dim) with v'(N + gamma I)v = 1.

    Subspace iteration v <- (N + gamma I)^-1 S v from the directions of CL-LSI, each turn followed by the exact small
    eigenproblem within all directions found so far; it ends when a turn adds less than `tolerance` to the sum of the
    ratios. A solve starts from lambda v, where it would end had the iteration converged.
    """
    joint = sp.block_diag(rows, format="csr").astype(np.float32)  # (documents, all terms)
    owner = np.concatenate(list(concepts))
    X, share = Product(joint), np.bincount(owner)
    member = sp.csr_matrix((np.ones(len(owner), np.float32), owner, np.arange(len(owner) + 1)))  # (documents, concepts)
    average = Product(sp.diags(1 / np.sqrt(share[owner])) @ member)

    def noise(block: Floats) -> Floats:
        documents = X.dot(block)
        documents -= average.dot(average.back(documents))  # what is left deviates from the concept's mean
        image = X.back(documents)
        image += np.float32(gamma) * block
        return image

    def centred(block: Floats) -> Floats:
        documents = X.dot(block)
        return np.asarray(documents - documents.mean(axis=0), np.float32)

    # A term of one document among m deviates by (1 - 1/m) there and by 1/m in each of the others.
    diagonal = joint.multiply(joint).T @ (1 - 1 / share[owner]) + gamma
    scale: Floats = (1 / diagonal).astype(np.float32)[:, None]
    width = min(dim + PANEL, joint.shape[1])
    stacked = Product((member.T @ joint).tocsr())
    _, pairs_so_far = singular(stacked, width, seed=seed, tolerance=0.1)
    pairs_so_far = conjugate_gradients(noise, X.back(stacked.dot(pairs_so_far)[owner]), scale=scale)
    values, pairs_so_far = _leading(pairs_so_far, centred(pairs_so_far), noise(pairs_so_far), width)
    for _ in range(_TURNS):
        before = float(values[:dim].sum())
        image = conjugate_gradients(noise, X.back(centred(pairs_so_far)), scale=scale, start=pairs_so_far * values)
        pairs_so_far = np.hstack([pairs_so_far, image])
        values, pairs_so_far = _leading(pairs_so_far, centred(pairs_so_far), noise(pairs_so_far), width)
        if values[:dim].sum() < (1 + tolerance) * before:
            break
    return values[:dim], np.ascontiguousarray(pairs_so_far[:, :dim])


def _leading(directions: Floats, documents: Floats, image: Floats, width: int) -> tuple[Floats, Floats]:
    """Find the best ratios within the span of `directions`, given its centred documents F v and (N + gamma I) v."""
    span_values, Q = np.linalg.eigh((directions.T @ image).astype(np.float64))
    is_independent = (
        span_values > 1e-6 * span_values[-1]
    )  # what is left out is a mixture of the rest, up to float32's rounding
    Q = Q[:, is_independent] / np.sqrt(span_values[is_independent])
    values, R = np.linalg.eigh(Q.T @ (documents.T @ documents).astype(np.float64) @ Q)
    values, R = values[::-1][:width], R[:, ::-1][:, :width]
    is_nonzero = values > 1e-6 * values[0]
    return values[is_nonzero].astype(np.float32), directions @ (Q @ R[:, is_nonzero]).astype(np.float32)


def conjugate_gradients(
    apply: Callable[[Floats], Floats],
    right: Floats,
    *,
    scale: Floats,
    start: Floats | None = None,
    tolerance: float = 0.1,
    max_steps: int = 200,
) -> Floats:
    """Solve for every column of `right`, a panel at a time, preconditioned by `scale` (the inverse diagonal). A
    column stops moving when its residual is small enough: a tenth of where it began, since what the solves are for
    is a subspace, and the small problem within it is solved exactly."""
    start = np.zeros_like(right) if start is None else start
    panels = range(0, right.shape[1], PANEL)
    parts = [slice(i, i + PANEL) for i in panels]
    return np.hstack([_panel(apply, right[:, at], scale, start[:, at], tolerance, max_steps) for at in parts])


def _panel(
    apply: Callable[[Floats], Floats], right: Floats, scale: Floats, start: Floats, tolerance: float, max_steps: int
) -> Floats:
    solution = start.copy()
    residual = right - apply(solution) if start.any() else right.copy()
    bound = tolerance**2 * np.einsum("ij,ij->j", right, right)
    direction = scale * residual
    energy = np.einsum("ij,ij->j", residual, direction)
    spare = np.empty_like(right)  # every pass over memory counts here as much as the products do
    for _ in range(max_steps):
        moving = np.einsum("ij,ij->j", residual, residual) > bound
        if not moving.any():
            break
        image = apply(direction)
        step = np.where(moving, energy / np.maximum(np.einsum("ij,ij->j", direction, image), 1e-30), 0)
        step = step.astype(np.float32)
        solution += np.multiply(direction, step, out=spare)
        residual -= np.multiply(image, step, out=spare)
        np.multiply(residual, scale, out=spare)
        fresh = np.einsum("ij,ij->j", residual, spare)
        direction *= np.where(moving, fresh / np.maximum(energy, 1e-30), 0).astype(np.float32)
        direction += spare
        energy = fresh
    return np.asarray(solution, np.float32)
