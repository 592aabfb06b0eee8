"""CL-LSI: one truncated SVD over documents and their translations written side by side.

Dumais, Letsche, Littman and Landauer, "Automatic cross-language retrieval using latent semantic indexing", AAAI
Spring Symposium 1997; the eigenproblem C v = lambda v that Platt, Toutanova and Yih (EMNLP 2010) start from.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import scipy.sparse as sp

from paragloss.encoders.bag import BagEncoder
from paragloss.lab.learning.counting import count
from paragloss.lab.settings import Dim, Lengths, MaxTerms, MinDf, Seed, Setting, Stem, checked
from paragloss.lab.solving.spectral import Product, singular
from paragloss.types import Aligned
from paragloss.vocabulary import weigh


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    power: Annotated[
        float,
        Setting(
            "How far directions are evened out: 0 projects, 1 is the fold-in of Deerwester et al.",
            min=0,
            max=10,
        ),
    ] = 0.0,
    stem: Stem = True,
    max_terms: MaxTerms = 200_000,
    min_df: MinDf = 2,
    lengths: Lengths = None,
) -> BagEncoder:
    """Learn from concepts in any number of languages; a language that a concept lacks is a block of zeros.

    A document of one language is folded in as x V S^-power: 0 projects on the singular vectors (what the papers
    compare), 1 is the fold-in of Deerwester et al. (1990), which gives every direction the same weight.
    """
    counted, concepts = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df, lengths=lengths)
    blocks = []
    for part in counted.values():
        rows = weigh(part.counts, part.vocabulary.idf, "tfidf")
        row = (np.ones(len(part.concepts), np.float32), (part.concepts, np.arange(len(part.concepts))))
        blocks.append(sp.csr_matrix(row, shape=(concepts, len(part.concepts))) @ rows)
    values, directions = singular(Product(sp.hstack(blocks, format="csr")), dim, seed=seed)
    table = (directions * values**-power).astype(np.float32)  # (all terms, dim)
    vocabularies = {lang: part.vocabulary for lang, part in counted.items()}
    about = {"method": "lsi", "concepts": concepts, "power": power, "seed": seed}
    return BagEncoder.stacked(vocabularies, table, meta=about)
