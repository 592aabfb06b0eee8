"""CCA of aligned documents: directions of each language along which its documents agree most with the others'.

Vinokourov, Shawe-Taylor and Cristianini, "Inferring a semantic representation of text via cross-language correlation
analysis", NIPS 2002, over rows reduced by LSI; for more than two languages the MAXVAR form of Kettenring, 1971.
The CCA of word vectors (Faruqui and Dyer) is a map between word spaces: see `alignment.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import scipy.linalg

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.lab.learning.counting import count
from paragloss.lab.settings import Dim, Lengths, MaxTerms, MinDf, Seed, Setting, Stem, checked
from paragloss.lab.solving.spectral import Product, singular
from paragloss.types import Aligned, Floats, Integers
from paragloss.vocabulary import weigh


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    reduced: Annotated[
        int, Setting("Each language is first cut down to so many singular vectors.", min=1, max=10_000)
    ] = 600,
    ridge: Annotated[float, Setting("Keeps rare directions down, in mean variances.", above=0, max=1e6)] = 0.1,
    stem: Stem = True,
    max_terms: MaxTerms = 200_000,
    min_df: MinDf = 2,
    lengths: Lengths = None,
) -> BagEncoder:
    """Learn from concepts in any number of languages. Each language's rows are first projected on their `reduced`
    largest singular vectors; `ridge` is in units of the mean variance that is left."""
    counted, concepts = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df, lengths=lengths)
    bases, views, means = [], [], []
    for part in counted.values():
        rows = weigh(part.counts, part.vocabulary.idf, "tfidf")
        _, basis = singular(Product(rows), reduced, seed=seed)
        view = np.asarray(rows @ basis)  # (documents, reduced)
        bases.append(basis)
        means.append(view.mean(axis=0))
        views.append(view - means[-1])
    _, projections = correlate(views, [part.concepts for part in counted.values()], dim=dim, ridge=ridge)
    towers = {
        lang: Tower(part.vocabulary, np.asarray(basis @ onto, np.float32), bias=np.asarray(-(mean @ onto), np.float32))
        for (lang, part), basis, onto, mean in zip(counted.items(), bases, projections, means, strict=True)
    }
    about = {"method": "cca", "concepts": concepts, "reduced": reduced, "ridge": ridge, "seed": seed}
    return BagEncoder(towers, meta=about)


def correlate(
    views: Sequence[Floats], concepts: Sequence[Integers], *, dim: int, ridge: float
) -> tuple[Floats, list[Floats]]:
    """Return agreements, largest first, and one projection (width, dim) per view of centred rows.

    B v = rho (T + ridge) v, T the views' own covariances, B that of the sums over a concept divided by the square
    root of how many views it has, with the ridge on its own blocks too: a view agrees with itself as it varies. For two
    complete views rho = (1 + regularised canonical correlation) / 2, and the projections are the canonical ones,
    scaled alike.
    """
    share = np.bincount(np.concatenate(list(concepts)))
    widths = [view.shape[1] for view in views]
    edges = np.cumsum([0, *widths])
    sums = np.zeros((len(share), edges[-1]))
    own = np.zeros((edges[-1], edges[-1]))
    extra = np.zeros_like(own)  # the part of the ridge that belongs to the sums, as part of a view's covariance does
    for view, owner, start, stop in zip(views, concepts, edges, edges[1:], strict=False):
        sums[owner, start:stop] = view / np.sqrt(share[owner])[:, None]
        covariance = view.T.astype(np.float64) @ view
        added = ridge * np.trace(covariance) / len(covariance) * np.eye(stop - start)
        own[start:stop, start:stop] = covariance + added
        extra[start:stop, start:stop] = added * np.mean(1 / share[owner])
    shared = sums.T @ sums + extra
    size = edges[-1]
    values, vectors = scipy.linalg.eigh(shared, own, subset_by_index=[max(0, size - dim), size - 1])
    values, vectors = values[::-1], vectors[:, ::-1]
    return values.astype(np.float32), [part.astype(np.float32) for part in np.split(vectors, edges[1:-1])]
