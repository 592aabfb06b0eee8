"""Maps between two word-vector spaces, learned from rows that translate each other. Plain dense algebra.

Each function takes the dictionary's rows, source and target side by side, and returns (P, Q): source words go
through P, target words through Q, and both arrive in one space.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.linalg

from paragloss.ranking import csls_documents, csls_queries, neighbourhood
from paragloss.types import Floats, Integers

Pair = tuple[Floats, Floats]


def unit(rows: Floats) -> Floats:
    """Scale rows to length one; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)


def without_mean(rows: Floats) -> Floats:
    """Subtract every dimension's mean over the words; rows of zeros stay."""
    is_nonzero = np.any(rows != 0, axis=1)
    return np.asarray(
        np.where(is_nonzero[:, None], rows - rows[is_nonzero].mean(axis=0), 0) if is_nonzero.any() else rows, np.float32
    )


def centred(rows: Floats) -> Floats:
    """Scale rows to length one, subtract every dimension's mean, and scale again (Artetxe et al. 2016)."""
    return unit(without_mean(unit(rows)))


def least_squares(source: Floats, target: Floats) -> Pair:
    """min |X P - Y|: Mikolov, Le and Sutskever, "Exploiting similarities among languages", 2013, eq. 3."""
    P = np.linalg.lstsq(source.astype(np.float64), target.astype(np.float64), rcond=None)[0]
    return P.astype(np.float32), np.eye(target.shape[1], dtype=np.float32)


def procrustes(source: Floats, target: Floats) -> Pair:
    """min |X P - Y| over rotations: P = U V' of X'Y. Xing et al. 2015; Artetxe et al. 2016; Conneau et al. 2018."""
    U, _, Vt = np.linalg.svd(source.T.astype(np.float64) @ target)
    return (U @ Vt).astype(np.float32), np.eye(target.shape[1], dtype=np.float32)


def both_rotated(source: Floats, target: Floats, *, keep: float = 1.0) -> Pair:
    """X'Y = U S V': both languages are turned to where their words agree most, and the last directions, where they
    agree least, can be dropped. Smith et al., "Offline bilingual word vectors", ICLR 2017."""
    U, _, Vt = np.linalg.svd(source.T.astype(np.float64) @ target)
    width = max(1, round(keep * U.shape[1]))
    return U[:, :width].astype(np.float32), Vt.T[:, :width].astype(np.float32)


def canonical(source: Floats, target: Floats, *, keep: float = 1.0, ridge: float = 1e-6) -> Pair:
    """Canonical correlations: Faruqui and Dyer, "Improving vector space word representations using multilingual
    correlation", EACL 2014. `keep` is their share of directions, most correlated first. What is mapped has to be
    centred, as what is learned from is here (`without_mean`).

    `ridge`, in units of the mean variance, keeps directions the dictionary never shows from blowing up.
    """
    X, Y = (rows.astype(np.float64) - rows.mean(axis=0) for rows in (source, target))
    A, B = _whitening(X, ridge), _whitening(Y, ridge)
    U, _, Vt = np.linalg.svd(A.T @ X.T @ Y @ B, full_matrices=False)
    width = max(1, round(keep * U.shape[1]))
    return (A @ U)[:, :width].astype(np.float32), (B @ Vt.T)[:, :width].astype(np.float32)


def _whitening(rows: npt.NDArray[np.float64], ridge: float) -> npt.NDArray[np.float64]:
    covariance = rows.T @ rows
    covariance += ridge * max(np.trace(covariance) / len(covariance), 1e-12) * np.eye(len(covariance))
    return np.asarray(scipy.linalg.inv(scipy.linalg.cholesky(covariance)))


def nearest(queries: Floats, targets: Floats, *, hubness: Floats, block: int = 1024) -> Integers:
    """Find for each query the target of highest CSLS; `hubness` is that of the targets."""
    prepared = csls_documents(targets, hubness)
    prepared_queries = csls_queries(queries)
    best = [
        np.argmax(prepared_queries[i : i + block] @ prepared.T, axis=1) for i in range(0, len(prepared_queries), block)
    ]
    return np.concatenate(best) if best else np.zeros(0, np.int64)


def mutual(source: Floats, target: Floats, *, k: int = 10) -> Integers:
    """Find pairs (source row, target row) of unit rows that are each other's nearest by CSLS, in source order."""
    if not len(source) or not len(target):
        return np.zeros((0, 2), np.int64)
    nearest_targets = nearest(source, target, hubness=neighbourhood(target, source, k=k))
    nearest_sources = nearest(target, source, hubness=neighbourhood(source, target, k=k))
    agreeing = np.flatnonzero(nearest_sources[nearest_targets] == np.arange(len(source)))
    return np.stack([agreeing, nearest_targets[agreeing]], axis=1)


def refined(source: Floats, target: Floats, P: Floats, *, rounds: int = 5, words: int = 10_000) -> tuple[Floats, float]:
    """Procrustes again and again on the mutual neighbours among the `words` most frequent words. The best rotation
    by the unsupervised criterion of Conneau et al. 2018, section 3.5, and that criterion: the mean cosine of the
    words and what they translate to."""
    source, target = source[:words], target[:words]
    best, best_score = P, -np.inf
    for turn in range(rounds + 1):
        mapped = unit(source @ P)
        score = criterion(mapped, target)
        if score > best_score:
            best, best_score = P, score
        pairs = mutual(mapped, target)
        if turn == rounds or len(pairs) == 0:
            break
        P, _ = procrustes(source[pairs[:, 0]], target[pairs[:, 1]])
    return best, float(best_score)


def criterion(mapped: Floats, target: Floats) -> float:
    """Compute the mean cosine between words and their CSLS translations: high when a map is good."""
    nearest_targets = nearest(mapped, target, hubness=neighbourhood(target, mapped))
    return float(np.einsum("ij,ij->i", mapped, target[nearest_targets]).mean())


def agreement(mapped: Floats, target: Floats, *, seed: int = 0, words: int = 2000) -> tuple[float, int]:
    """Do the words that a map pairs agree on one rotation? How many of its mutual neighbours, among the most frequent
    words, are each other's nearest under a rotation learned from the other half of them; and how many there are.

    Refinement makes mutual neighbours even in unrelated spaces, so that their number says nothing (0.67 of the words
    there, 0.67 under a sound map, measured with 300 dimensions); but pairs that are not translations hardly predict
    each other (0.04 against 0.83).
    """
    mapped, target = mapped[:words], target[:words]
    pairs = mutual(mapped, target)
    if len(pairs) < 4:
        return 0.0, len(pairs)
    order = np.random.default_rng(seed).permutation(len(pairs))
    halves = pairs[order[::2]], pairs[order[1::2]]
    confirmed = 0
    for seed_pairs, held_out in (halves, halves[::-1]):
        P, Q = procrustes(mapped[seed_pairs[:, 0]], target[seed_pairs[:, 1]])
        similarity = unit(mapped[held_out[:, 0]] @ P) @ (target[held_out[:, 1]] @ Q).T
        nearest_targets, nearest_sources = similarity.argmax(axis=1), similarity.argmax(axis=0)
        confirmed += int(
            (
                (nearest_targets == np.arange(len(nearest_targets)))
                & (nearest_sources == np.arange(len(nearest_sources)))
            ).sum()
        )
    return confirmed / len(pairs), len(pairs)
