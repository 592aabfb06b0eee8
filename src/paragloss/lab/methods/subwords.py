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
from paragloss.types import Aligned, Floats


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
    word_encoder = BagEncoder(encoder.towers, meta={**encoder.meta, "method": "subwords"})
    return extend(word_encoder, max_grams=max_grams)


def extend(
    encoder: BagEncoder, *, lambda_: float = 1.0, max_grams: int = 200_000, device: str | None = None
) -> SubwordEncoder:
    """Learn n-gram vectors for every language of a linear encoder.

    They minimise sum over known words ||v_w - B^T g_w||² + λ ||B||², with g_w the unit-length bag of the word's n-grams
    of 3 to 5 characters, its ends marked.

    :param encoder: the encoder; it stays as it is
    :param lambda_: strength of the regularization
    :param max_grams: n-grams of a language at most
    :param device: see `cr5.regress_on_vectors`
    :raises ModelError: if the encoder is not linear
    """
    for tower in encoder.towers.values():
        if not tower.is_only_table:
            raise ModelError("only a linear model (cr5, lsi, opca, cca) can add up word parts; this one has layers")
    grams = {}
    for lang, tower in encoder.towers.items():
        grams[lang] = _learn_gram_vectors(tower.vocabulary.terms, tower.table, lambda_, max_grams, device)
    return SubwordEncoder(encoder, grams)


def _learn_gram_vectors(
    terms: Sequence[str], table: Floats, lambda_: float, max_grams: int, device: str | None
) -> Grams:
    """Learn vectors of the character n-grams that occur in two terms or more, by ridge regression.

    :param terms: the known terms
    :param table: (terms, dim) their vectors
    :param lambda_: strength of the regularization
    :param max_grams: only so many of the most frequent n-grams get a vector
    """
    terms_per_gram: Counter[str] = Counter()
    for term in terms:
        terms_per_gram.update(list(dict.fromkeys(grams_of(term))))  # in order: a model is the same every time
    grams = [gram for gram, n_terms in terms_per_gram.most_common(max_grams) if n_terms > 1]
    if not grams:
        return Grams({}, np.zeros((0, table.shape[1]), np.float32))
    number_by_gram = {gram: number for number, gram in enumerate(grams)}
    gram_bags = make_gram_bags(terms, number_by_gram)  # (terms, grams)
    vectors = cr5.regress_on_vectors(gram_bags, np.array(table, np.float32), lambda_=lambda_, device=device)
    return Grams(number_by_gram, vectors)
