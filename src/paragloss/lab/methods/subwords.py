"""Add vectors of unknown words, made of their characters, to any linear encoder.

Character n-grams get vectors by ridge regression of the known words' vectors on their n-grams; the vector of an unknown
word is the sum of those of its n-grams.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.subword_vectors import Grams, SubwordEncoder, grams_of, make_gram_bags
from paragloss.errors import ModelError
from paragloss.lab.methods import cr5
from paragloss.lab.settings import Dim, Seed, Setting, checked
from paragloss.lab.solving.arrays import Arrays
from paragloss.lab.solving.ridge import Block, Regression
from paragloss.types import Aligned, Floats

#: A solve ends when its residual is this part of the right side.
SOLVE_TOLERANCE = 1e-3


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    max_grams: Annotated[int, Setting("How many character n-grams a language has at most.", min=1)] = 200_000,
) -> SubwordEncoder:
    """Train Cr5 with its default settings, and extend it by vectors of n-grams.

    :param aligned: concepts with their texts in several languages
    :return: an encoder that also knows parts of words
    """
    encoder = cr5.fit_space(aligned, dim=dim, seed=seed)
    return extend(BagEncoder(encoder.towers, meta={**encoder.meta, "method": "subwords"}), max_grams=max_grams)


def extend(
    encoder: BagEncoder, *, lambda_: float = 1.0, max_grams: int = 200_000, device: str | None = None
) -> SubwordEncoder:
    """Learn n-gram vectors for every language of a linear encoder.

    They minimise sum over known words ||v_w - B^T g_w||² + λ ||B||², with g_w the unit-length bag of the word's n-grams
    of 3 to 5 characters, its ends marked.

    :param lambda_: strength of the regularization
    :param max_grams: n-grams of a language at most
    :raises ModelError: if the encoder is not linear
    """
    for tower in encoder.towers.values():
        if tower.layers or tower.activation != "linear" or tower.bias is not None:
            raise ModelError("only a linear model (cr5, lsi, opca, cca) can add up word parts; this one has layers")
    arrays = Arrays(device)
    grams = {}
    for lang, tower in encoder.towers.items():
        grams[lang] = _learn_gram_vectors(tower.vocabulary.terms, tower.table, lambda_, max_grams, arrays)
    return SubwordEncoder(encoder, grams)


def _learn_gram_vectors(terms: Sequence[str], table: Floats, lambda_: float, max_grams: int, arrays: Arrays) -> Grams:
    """Learn vectors of the character n-grams that occur in two terms or more, by ridge regression.

    :param table: (terms, dim) the vectors of the terms
    :param lambda_: strength of the regularization
    :param max_grams: only so many of the most frequent n-grams get a vector
    """
    terms_per_gram: Counter[str] = Counter()
    for term in terms:
        terms_per_gram.update(set(grams_of(term)))
    grams = [gram for gram, n_terms in terms_per_gram.most_common(max_grams) if n_terms > 1]
    number_by_gram = {gram: number for number, gram in enumerate(grams)}
    if not grams:
        return Grams({}, np.zeros((0, table.shape[1]), np.float32))
    gram_bags = make_gram_bags(terms, number_by_gram)  # (terms, grams)
    regression = Regression.from_blocks([Block(gram_bags, np.arange(len(terms)))], len(terms), arrays, lambda_=lambda_)
    vectors = regression.solve_plainly(arrays.put(np.array(table, np.float32)), SOLVE_TOLERANCE)
    return Grams(number_by_gram, arrays.get(vectors))
