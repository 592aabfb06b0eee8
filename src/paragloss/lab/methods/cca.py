"""CCA of aligned documents: the directions along which documents of different languages are most correlated.

Vinokourov, Shawe-Taylor and Cristianini, "Inferring a semantic representation of text via cross-language correlation
analysis", NIPS 2002, over rows reduced by LSI; for more than two languages the MAXVAR form of Kettenring, 1971.
The CCA of word vectors (Faruqui and Dyer) is a map between word spaces: see `alignment.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.lab.learning.counting import CountedTexts, count
from paragloss.lab.settings import Dim, Lengths, MaxTerms, MinDf, Seed, Setting, Stem, checked
from paragloss.lab.solving.spectral import Product, find_singular_vectors
from paragloss.types import Aligned, Floats, Integers


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    reduced: Annotated[
        int, Setting("Singular vectors that each language is reduced to first.", min=1, max=10_000)
    ] = 600,
    ridge: Annotated[float, Setting("Ridge, in units of the mean variance.", above=0, max=1e6)] = 0.1,
    stem: Stem = True,
    max_terms: MaxTerms = 200_000,
    min_df: MinDf = 2,
    lengths: Lengths = None,
) -> BagEncoder:
    """Learn an encoder from texts about the same concepts in any number of languages.

    The documents of each language are first projected on their `reduced` largest singular vectors; `ridge` is in units
    of the mean variance of these projections.

    :param aligned: concepts with their texts in several languages
    :return: an encoder of these languages
    """
    counted, n_concepts = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df, lengths=lengths)
    views = [_reduce_documents(part, reduced, seed) for part in counted.values()]
    centred = [view.documents - view.mean for view in views]  # of each language, (documents, width)
    concepts = [part.concepts for part in counted.values()]
    _, projections = correlate(centred, concepts, dim=dim, ridge=ridge)  # (width, dim) of each language
    towers = {}
    for (lang, part), view, projection in zip(counted.items(), views, projections, strict=True):
        table = np.asarray(view.basis @ projection, np.float32)
        bias = np.asarray(-(view.mean @ projection), np.float32)
        towers[lang] = Tower(part.vocabulary, table, bias=bias)
    meta = {"method": "cca", "concepts": n_concepts, "reduced": reduced, "ridge": ridge, "seed": seed}
    return BagEncoder(towers, meta=meta)


class _View(NamedTuple):
    """The documents of one language, projected on their largest singular vectors."""

    documents: Floats  # (documents, width)
    basis: Floats  # (terms, width)
    mean: Floats  # (width,) of the documents


def _reduce_documents(part: CountedTexts, width: int, seed: int) -> _View:
    """Project the documents of a language on their `width` largest singular vectors."""
    term_weights = part.weigh_terms()  # (documents, terms)
    _, basis = find_singular_vectors(Product(term_weights), width, seed=seed)
    documents = np.asarray(term_weights @ basis)
    return _View(documents, basis, documents.mean(axis=0))


def correlate(
    views: Sequence[Floats], concepts: Sequence[Integers], *, dim: int, ridge: float
) -> tuple[Floats, list[Floats]]:
    """Find the projections of several views of the same concepts that agree most (canonical correlation analysis).

    The projections v solve shared v = rho own v, where `own` holds the covariances within views and `shared` those of
    the concepts that the views share, both with a ridge. For two complete views rho = (1 + regularised canonical
    correlation) / 2, and the projections are the canonical ones, scaled alike.

    :param views: centred documents of each language, (documents, width)
    :param concepts: concept of each document of each language
    :param dim: how many projections are wanted
    :param ridge: regularization in units of the mean variance of a view
    :return: agreements rho, largest first, and one projection (width, dim) per view
    """
    shared_covariance, own_covariance = _make_covariances(views, concepts, ridge)
    agreements, stacked_projections = _find_largest_eigenpairs(shared_covariance, own_covariance, dim)
    view_ends = np.cumsum([view.shape[1] for view in views])
    return agreements, np.split(stacked_projections, view_ends[:-1])


def _find_largest_eigenpairs(
    matrix: npt.NDArray[np.float64], metric: npt.NDArray[np.float64], n: int
) -> tuple[Floats, Floats]:
    """Solve matrix v = value metric v, both symmetric; return the `n` largest values, (n,), and vectors, (size, n)."""
    size = len(matrix)
    positions = [max(0, size - n), size - 1]  # scipy orders the values from the smallest to the largest
    values, vectors = scipy.linalg.eigh(matrix, metric, subset_by_index=positions)
    return values[::-1].astype(np.float32), vectors[:, ::-1].astype(np.float32)


class _Covariances(NamedTuple):
    """The matrices of `correlate`, (width of all views, width of all views)."""

    shared: npt.NDArray[np.float64]  # of what the views of a concept have in common
    own: npt.NDArray[np.float64]  # within each view, with a block on the diagonal for each view


def _make_covariances(views: Sequence[Floats], concepts: Sequence[Integers], ridge: float) -> _Covariances:
    """Compute the covariances within each language, and those of concepts over all languages.

    Canonical correlation analysis looks for directions in which the second are large compared with the first.

    A view is the documents of one language, a row each. Both matrices have a row and a column for every column of every
    view, one view after the other: with views of 3 and 2 columns they are 5 x 5.

    - `own` has the covariance of each view in a block on its diagonal, and zeros elsewhere.
    - `shared` is the covariance of concepts: a concept's row is its documents in all views side by side, divided by
      the square root of how many it has, so that concepts in many languages do not count more.

    A ridge is added to the diagonals, so that directions of little variance do not seem to agree. That of `shared` is
    smaller, as a concept's row is: by the mean of 1 / (documents of the concept).

    :param views: centred documents of each language, (documents, columns)
    :param concepts: number of the concept of each document of each language
    :param ridge: in units of the mean variance of a view's columns
    """
    documents_per_concept = np.bincount(np.concatenate(list(concepts)))
    covariances = [view.T.astype(np.float64) @ view for view in views]  # of each view, (columns, columns)
    own_ridges = [_make_ridge(covariance, ridge) for covariance in covariances]
    shared_ridges = [
        own_ridge * np.mean(1 / documents_per_concept[concept_of_row])
        for own_ridge, concept_of_row in zip(own_ridges, concepts, strict=True)
    ]
    own_blocks = [covariance + own_ridge for covariance, own_ridge in zip(covariances, own_ridges, strict=True)]
    concept_rows = _join_by_concept(views, concepts, documents_per_concept)  # (concepts, columns of all views)
    return _Covariances(
        shared=concept_rows.T @ concept_rows + scipy.linalg.block_diag(*shared_ridges),
        own=scipy.linalg.block_diag(*own_blocks),
    )


def _make_ridge(covariance: npt.NDArray[np.float64], ridge: float) -> npt.NDArray[np.float64]:
    """Return a diagonal matrix of `ridge` times the mean variance, which is the mean of the covariance's diagonal."""
    width = len(covariance)
    return np.asarray(ridge * np.trace(covariance) / width * np.eye(width))


def _join_by_concept(
    views: Sequence[Floats], concepts: Sequence[Integers], documents_per_concept: Integers
) -> npt.NDArray[np.float64]:
    """Put the documents of each concept side by side, divided by the square root of how many there are.

    :param views: documents of each language, (documents, columns)
    :param concepts: number of the concept of each document of each language
    :param documents_per_concept: how many languages have a document of each concept, (concepts,)
    :return: (concepts, columns of all views), with zeros where a language has no document of the concept
    """
    joined = np.zeros((len(documents_per_concept), sum(view.shape[1] for view in views)))
    start = 0
    for view, concept_of_row in zip(views, concepts, strict=True):
        stop = start + view.shape[1]
        divisors = np.sqrt(documents_per_concept[concept_of_row])  # (documents,)
        joined[concept_of_row, start:stop] = view / divisors[:, None]
        start = stop
    return joined
