"""Vectors for words a model never saw, from the characters they are made of.

Character n-grams get vectors by ridge regression of the known words' vectors on their n-grams; an unknown word is
the sum of its n-grams. Wraps a linear BagEncoder; how that was trained does not matter.
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


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    max_grams: Annotated[int, Setting("The most word parts a language may have.", min=1)] = 200_000,
) -> SubwordEncoder:
    """Learn Cr5 with its defaults, and vectors for the words it has not seen."""
    learned = cr5.fit_space(aligned, dim=dim, seed=seed)
    about = {**learned.meta, "method": "subwords"}
    return extend(BagEncoder(learned.towers, meta=about), max_grams=max_grams)


def extend(
    encoder: BagEncoder, *, lambda_: float = 1.0, max_grams: int = 200_000, device: str | None = None
) -> SubwordEncoder:
    """Learn n-gram vectors B of every language: minimise sum over known words ||v_w - B^T g_w||² + λ ||B||², with
    g_w the unit-length bag of the word's n-grams of 3 to 5 characters, its ends marked."""
    if any(tower.layers or tower.activation != "linear" or tower.bias is not None for tower in encoder.towers.values()):
        raise ModelError("only a linear model (cr5, lsi, opca, cca) can add up word parts; this one has layers")
    arrays = Arrays(device)
    words_by_lang = {lang: (tower.vocabulary.terms, tower.table) for lang, tower in encoder.towers.items()}
    return SubwordEncoder(
        encoder, {lang: _learn(*words, lambda_, max_grams, arrays) for lang, words in words_by_lang.items()}
    )


def _learn(terms: Sequence[str], table: Floats, lambda_: float, max_grams: int, arrays: Arrays) -> Grams:
    gram_counts: Counter[str] = Counter()
    for term in terms:
        gram_counts.update(set(grams_of(term)))
    chosen = [gram for gram, words in gram_counts.most_common(max_grams) if words > 1]
    index = {gram: i for i, gram in enumerate(chosen)}
    if not index:
        return Grams({}, np.zeros((0, table.shape[1]), np.float32))
    block = Block(make_gram_bags(terms, index), np.arange(len(terms)))
    regression = Regression.of([block], len(terms), arrays, lambda_=lambda_)
    return Grams(index, arrays.get(regression.solve_plainly(arrays.put(np.array(table, np.float32)), 1e-3)))
