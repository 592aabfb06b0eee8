"""Learn linear maps between two word-vector spaces from pairs of words that translate each other.

Row i of `source` and row i of `target` are the vectors of the i-th pair. A function that learns a map returns a matrix
P by which source vectors are multiplied to be in the space of the target vectors, or a pair (P, Q): source vectors are
multiplied by P and target vectors by Q, and both are then in one space.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.linalg

from paragloss.ranking import csls_documents, csls_queries, neighbourhood
from paragloss.types import Floats, Integers

MapPair = tuple[Floats, Floats]
#: How many of the most frequent words a rotation is learned from.
WORDS_FOR_REFINEMENT, WORDS_FOR_SELF_LEARNING = 10_000, 20_000
#: Rounds of self-learning at most.
SELF_LEARNING_ROUNDS = 50


def make_unit_rows(rows: Floats) -> Floats:
    """Scale rows to length one; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)


def subtract_mean(rows: Floats) -> Floats:
    """Subtract the mean vector of the words; rows of zeros stay and do not count."""
    is_nonzero = np.any(rows != 0, axis=1)
    if not is_nonzero.any():
        return np.asarray(rows, np.float32)
    return np.asarray(np.where(is_nonzero[:, None], rows - rows[is_nonzero].mean(axis=0), 0), np.float32)


def normalize_and_center(rows: Floats) -> Floats:
    """Normalize rows, subtract the mean row, and normalize again (Artetxe et al. 2016)."""
    return make_unit_rows(subtract_mean(make_unit_rows(rows)))


def learn_least_squares(source: Floats, target: Floats) -> Floats:
    """Learn the P that minimizes |X P - Y|: (source dimensions, target dimensions).

    Mikolov, Le and Sutskever, "Exploiting similarities among languages", 2013, eq. 3.
    """
    P = np.linalg.lstsq(source.astype(np.float64), target.astype(np.float64), rcond=None)[0]
    return np.asarray(P, np.float32)


def learn_rotation(source: Floats, target: Floats) -> Floats:
    """Learn the rotation P that minimizes |X P - Y|: U V' of the decomposition X'Y = U S V'.

    Xing et al. 2015; Artetxe et al. 2016; Conneau et al. 2018.
    """
    U, _, Vt = np.linalg.svd(source.T.astype(np.float64) @ target)
    return np.asarray(U @ Vt, np.float32)


def learn_two_rotations(source: Floats, target: Floats, *, keep: float = 1.0) -> MapPair:
    """Rotate both languages to where their words agree most: U and V of the decomposition X'Y = U S V'.

    Smith et al., "Offline bilingual word vectors", ICLR 2017.

    :param keep: the share of directions that are kept, those of the greatest agreement
    """
    U, _, Vt = np.linalg.svd(source.T.astype(np.float64) @ target)
    width = max(1, round(keep * U.shape[1]))
    return U[:, :width].astype(np.float32), Vt.T[:, :width].astype(np.float32)


def learn_canonical_projections(source: Floats, target: Floats, *, keep: float = 1.0, ridge: float = 1e-6) -> MapPair:
    """Project both languages on their canonical correlations, the most correlated directions first.

    Faruqui and Dyer, "Improving vector space word representations using multilingual correlation", EACL 2014. The pairs
    are centred here; vectors that are mapped later must be centred too (`subtract_mean`).

    :param source: (pairs, source dimensions)
    :param target: (pairs, target dimensions)
    :param keep: the share of directions that are kept
    :param ridge: regularization in units of the mean variance, for directions in which no pair of words differs
    :return: the projections of the source and of the target, each (dimensions, directions)
    """
    centred_source = source.astype(np.float64) - source.mean(axis=0)
    centred_target = target.astype(np.float64) - target.mean(axis=0)
    whiten_source = _whitening(centred_source, ridge)
    whiten_target = _whitening(centred_target, ridge)
    correlations = whiten_source.T @ centred_source.T @ centred_target @ whiten_target
    U, _, Vt = np.linalg.svd(correlations, full_matrices=False)
    n_directions = max(1, round(keep * U.shape[1]))
    source_projection = (whiten_source @ U)[:, :n_directions]
    target_projection = (whiten_target @ Vt.T)[:, :n_directions]
    return source_projection.astype(np.float32), target_projection.astype(np.float32)


def _whitening(rows: npt.NDArray[np.float64], ridge: float) -> npt.NDArray[np.float64]:
    """Return the matrix W for which the regularized covariance of rows @ W is the identity: (dimensions, dimensions).

    :param rows: (pairs, dimensions), centred
    :param ridge: regularization in units of the mean variance
    """
    covariance = rows.T @ rows
    covariance += ridge * max(np.trace(covariance) / len(covariance), 1e-12) * np.eye(len(covariance))
    return np.asarray(scipy.linalg.inv(scipy.linalg.cholesky(covariance)))


def find_nearest_targets(queries: Floats, targets: Floats, *, hubness: Floats, block: int = 1024) -> Integers:
    """Return the row number of the target with the highest CSLS similarity to each query: (queries,).

    :param queries: (queries, dimensions) unit vectors
    :param targets: (targets, dimensions) unit vectors
    :param hubness: (targets,) how similar each target is to its neighbours, see `neighbourhood`
    :param block: queries computed at a time
    """
    prepared_targets = csls_documents(targets, hubness)
    prepared_queries = csls_queries(queries)
    nearest_targets = np.zeros(len(queries), np.int64)
    for start in range(0, len(queries), block):
        similarities = prepared_queries[start : start + block] @ prepared_targets.T
        nearest_targets[start : start + block] = similarities.argmax(axis=1)
    return nearest_targets


def find_mutual_neighbours(source: Floats, target: Floats, *, k: int = 10) -> Integers:
    """Find the pairs of a source and a target row that are each other's nearest neighbour by CSLS.

    :param source: (source words, dimensions) unit vectors
    :param target: (target words, dimensions) unit vectors
    :param k: neighbours from which the hubness of a row is estimated
    :return: (pairs, 2) row numbers in `source` and in `target`, ordered by source row
    """
    if not len(source) or not len(target):
        return np.zeros((0, 2), np.int64)
    nearest_targets = find_nearest_targets(source, target, hubness=neighbourhood(target, source, k=k))
    nearest_sources = find_nearest_targets(target, source, hubness=neighbourhood(source, target, k=k))
    is_mutual = nearest_sources[nearest_targets] == np.arange(len(source))
    source_rows = np.flatnonzero(is_mutual)
    return np.stack([source_rows, nearest_targets[source_rows]], axis=1)


def refine_rotation(source: Floats, target: Floats, P: Floats, *, rounds: int = 5) -> tuple[Floats, float]:
    """Improve a rotation by learning it again, `rounds` times, from the mutual neighbours that it maps together.

    :param source: (source words, dimensions) word vectors, most frequent words first
    :param target: (target words, dimensions) likewise
    :param P: (dimensions, dimensions) the rotation to start from
    :param rounds: how often it is learned again
    :return: the rotation of the best round by mean cosine (Conneau et al. 2018, section 3.5), and that mean cosine
    """
    source = source[:WORDS_FOR_REFINEMENT]
    target = target[:WORDS_FOR_REFINEMENT]
    mapped = make_unit_rows(source @ P)
    best_rotation, best_cosine = P, measure_mean_cosine(mapped, target)
    for _ in range(rounds):
        pairs = find_mutual_neighbours(mapped, target)
        if len(pairs) == 0:
            break
        rotation = learn_rotation(source[pairs[:, 0]], target[pairs[:, 1]])
        mapped = make_unit_rows(source @ rotation)
        cosine = measure_mean_cosine(mapped, target)
        if cosine > best_cosine:
            best_rotation, best_cosine = rotation, cosine
    return best_rotation, best_cosine


def self_learn_rotation(source: Floats, target: Floats, P: Floats, *, tolerance: float = 1e-6) -> Floats:
    """Improve a rotation by learning it again from every word and its nearest target, until their cosine stays.

    Artetxe, Labaka and Agirre, "Learning bilingual word embeddings with (almost) no bilingual data", ACL 2017.

    :param source: (source words, dimensions) word vectors, most frequent words first
    :param target: (target words, dimensions) likewise
    :param P: (dimensions, dimensions) the rotation to start from
    :param tolerance: by how much the mean cosine must rise for another round
    """
    source = source[:WORDS_FOR_SELF_LEARNING]
    target = target[:WORDS_FOR_SELF_LEARNING]
    no_hubness = np.zeros(len(target), np.float32)
    rotation, best_cosine = P, -np.inf
    for _ in range(SELF_LEARNING_ROUNDS):
        mapped = make_unit_rows(source @ rotation)
        nearest_targets = find_nearest_targets(mapped, target, hubness=no_hubness)
        cosine = _average_cosines(mapped, target[nearest_targets])
        if cosine < best_cosine + tolerance:
            break
        best_cosine = cosine
        rotation = learn_rotation(source, target[nearest_targets])
    return rotation


def measure_mean_cosine(mapped: Floats, target: Floats) -> float:
    """Compute the mean cosine between words and their CSLS translations: high when a map is good."""
    nearest_targets = find_nearest_targets(mapped, target, hubness=neighbourhood(target, mapped))
    return _average_cosines(mapped, target[nearest_targets])


def _average_cosines(left: Floats, right: Floats) -> float:
    """Return the mean of the dot products of unit vectors, row by row; both are (rows, dimensions)."""
    return float(np.einsum("ij,ij->i", left, right).mean())


def measure_agreement(mapped: Floats, target: Floats, *, seed: int = 0) -> tuple[float, int]:
    """Measure whether the word pairs that a map finds agree on one rotation.

    A rotation is learned from half of the mutual neighbours. A pair of the other half is confirmed if its words are
    each other's nearest under that rotation. Then the halves change places.

    The number of mutual neighbours itself says nothing, because refinement makes them even in unrelated spaces (0.67 of
    the words there, 0.67 under a sound map, measured with 300 dimensions); but pairs that are not translations hardly
    predict each other (0.04 against 0.83).

    :param mapped: (source words, dimensions) mapped source vectors
    :param target: (target words, dimensions)
    :param seed: of the random split into halves
    :return: the share of mutual neighbours that are confirmed, and how many mutual neighbours there are
    """
    pairs = find_mutual_neighbours(mapped, target)
    if len(pairs) < 4:
        return 0.0, len(pairs)
    order = np.random.default_rng(seed).permutation(len(pairs))
    first_half, second_half = pairs[order[::2]], pairs[order[1::2]]
    n_confirmed = _count_confirmed_pairs(mapped, target, first_half, second_half)
    n_confirmed += _count_confirmed_pairs(mapped, target, second_half, first_half)
    return n_confirmed / len(pairs), len(pairs)


def _count_confirmed_pairs(mapped: Floats, target: Floats, training_pairs: Integers, held_out_pairs: Integers) -> int:
    """Count held-out pairs that are each other's nearest under the rotation that the training pairs learn.

    :param mapped: (source words, dimensions) mapped source vectors
    :param target: (target words, dimensions)
    :param training_pairs: (pairs, 2) row numbers in `mapped` and in `target`
    :param held_out_pairs: likewise
    """
    rotation = learn_rotation(mapped[training_pairs[:, 0]], target[training_pairs[:, 1]])
    rotated_sources = make_unit_rows(mapped[held_out_pairs[:, 0]] @ rotation)
    similarities = rotated_sources @ target[held_out_pairs[:, 1]].T  # (pairs, pairs)
    pair_numbers = np.arange(len(held_out_pairs))
    is_nearest_target = similarities.argmax(axis=1) == pair_numbers
    is_nearest_source = similarities.argmax(axis=0) == pair_numbers
    return int((is_nearest_target & is_nearest_source).sum())
