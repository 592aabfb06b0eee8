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
    rows = part.weigh_terms()
    _, basis = find_singular_vectors(Product(rows), width, seed=seed)
    documents = np.asarray(rows @ basis)
    return _View(documents, basis, documents.mean(axis=0))


def correlate(
    views: Sequence[Floats], concepts: Sequence[Integers], *, dim: int, ridge: float
) -> tuple[Floats, list[Floats]]:
    """Find the projections of several views of the same concepts that agree most (canonical correlation analysis).

    The projections solve B v = rho (T + ridge) v, where T holds the covariances within views and B those of the
    concepts that the views share. For two complete views rho = (1 + regularised canonical correlation) / 2, and the
    projections are the canonical ones, scaled alike.

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

    shared: npt.NDArray[np.float64]  # B
    own: npt.NDArray[np.float64]  # T + ridge, with a block on the diagonal for each view


def _make_covariances(views: Sequence[Floats], concepts: Sequence[Integers], ridge: float) -> _Covariances:
    """Compute the matrices B and T + ridge, whose eigenvectors are the projections that `correlate` finds.

    T has the covariance of each view as a block on its diagonal. B is the covariance of the sums over the views of a
    concept, each divided by the square root of how many views the concept has; it has its part of the ridge, too.

    :param views: centred documents of each language, (documents, width)
    :param concepts: concept of each document of each language
    :param ridge: in units of the mean variance of a view
    """
    views_per_concept = np.bincount(np.concatenate(list(concepts)))
    own_blocks, shared_ridges = [], []  # of each view, (width, width)
    for view, concept_of_row in zip(views, concepts, strict=True):
        width = view.shape[1]
        covariance = view.T.astype(np.float64) @ view
        view_ridge = ridge * np.trace(covariance) / width * np.eye(width)
        own_blocks.append(covariance + view_ridge)
        n_views = views_per_concept[concept_of_row]  # (documents,)
        shared_ridges.append(view_ridge * np.mean(1 / n_views))
    sums = _sum_by_concept(views, concepts, views_per_concept)  # (concepts, width of all views)
    shared_covariance = sums.T @ sums + scipy.linalg.block_diag(*shared_ridges)
    return _Covariances(shared_covariance, scipy.linalg.block_diag(*own_blocks))


def _sum_by_concept(
    views: Sequence[Floats], concepts: Sequence[Integers], views_per_concept: Integers
) -> npt.NDArray[np.float64]:
    """Return for each concept its documents of all views side by side, divided by the root of how many it has.

    A view without a document of the concept has zeros: (concepts, width of all views).
    """
    sums = np.zeros((len(views_per_concept), sum(view.shape[1] for view in views)))
    start = 0
    for view, concept_of_row in zip(views, concepts, strict=True):
        stop = start + view.shape[1]
        n_views = views_per_concept[concept_of_row]  # (documents,)
        sums[concept_of_row, start:stop] = view / np.sqrt(n_views)[:, None]
        start = stop
    return sums
