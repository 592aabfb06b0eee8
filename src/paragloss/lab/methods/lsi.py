"""CL-LSI: one truncated SVD over documents and their translations written side by side.

Dumais, Letsche, Littman and Landauer, "Automatic cross-language retrieval using latent semantic indexing", AAAI
Spring Symposium 1997; the eigenproblem C v = lambda v that Platt, Toutanova and Yih (EMNLP 2010) start from.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import scipy.sparse as sp

from paragloss.encoders.bag import BagEncoder
from paragloss.lab.learning.counting import CountedTexts, count
from paragloss.lab.settings import Dim, Lengths, MaxTerms, MinDf, Seed, Setting, Stem, checked
from paragloss.lab.solving.spectral import Product, find_singular_vectors
from paragloss.types import Aligned


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    power: Annotated[
        float,
        Setting(
            "How far the weights of directions are evened out: 0 projects, 1 is the fold-in of Deerwester et al.",
            min=0,
            max=10,
        ),
    ] = 0.0,
    stem: Stem = True,
    max_terms: MaxTerms = 200_000,
    min_df: MinDf = 2,
    lengths: Lengths = None,
) -> BagEncoder:
    """Learn an encoder from texts about the same concepts in any number of languages.

    The terms of all languages of a concept are one row of a matrix (a missing language is all zeros), of which the
    singular vectors V and values S are computed. A document x of one language is then encoded as x V S^-power: 0
    projects on the singular vectors (what the papers compare), 1 is the fold-in of Deerwester et al. (1990), which
    gives every direction the same weight.

    :param aligned: concepts with their texts in several languages
    :return: an encoder of these languages
    """
    counted, n_concepts = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df, lengths=lengths)
    joint = sp.hstack([_arrange_by_concept(part, n_concepts) for part in counted.values()], format="csr")
    values, directions = find_singular_vectors(Product(joint), dim, seed=seed)
    table = (directions * values**-power).astype(np.float32)  # (all terms, dim)
    vocabularies = {lang: part.vocabulary for lang, part in counted.items()}
    meta = {"method": "lsi", "concepts": n_concepts, "power": power, "seed": seed}
    return BagEncoder.stacked(vocabularies, table, meta=meta)


def _arrange_by_concept(part: CountedTexts, n_concepts: int) -> sp.csr_matrix:
    """Return the tf-idf weights of a language with one row per concept: (concepts, terms)."""
    documents = len(part.concepts)
    entries = (np.ones(documents, np.float32), (part.concepts, np.arange(documents)))
    document_of_concept = sp.csr_matrix(entries, shape=(n_concepts, documents))
    return document_of_concept @ part.weigh_terms()
