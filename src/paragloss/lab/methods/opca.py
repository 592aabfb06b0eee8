"""OPCA: directions along which documents differ from each other but not from their translations.

Platt, Toutanova and Yih, "Translingual document representations from discriminative projections", EMNLP 2010:
S v = lambda (N + gamma I) v with S the covariance of all documents and N that of their deviations from the mean of
their concept (`lab.solving.oriented`).
"""

from __future__ import annotations

from typing import Annotated

from paragloss.encoders.bag import BagEncoder
from paragloss.lab.learning.counting import count
from paragloss.lab.settings import Dim, Lengths, MaxTerms, MinDf, Seed, Setting, Stem, checked
from paragloss.lab.solving.oriented import GAMMA, find_oriented_directions
from paragloss.types import Aligned


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    gamma: Annotated[float, Setting("Regularisation gamma, added to the noise covariance.", above=0, max=1e6)] = GAMMA,
    stem: Stem = True,
    max_terms: MaxTerms = 200_000,
    min_df: MinDf = 2,
    lengths: Lengths = None,
) -> BagEncoder:
    """Learn an encoder by oriented principal component analysis, from texts about the same concepts in some languages.

    The noise is a sum over documents of squared deviations from the concept's mean, and `gamma` is added to it. Papers
    define the noise in other ways: halve a gamma for a noise of differences between pairs of documents, and multiply
    one for an average over n documents by n.

    :param aligned: concepts with their texts in several languages
    :param dim: dimensions of the vectors
    :param gamma: regularization, added to the variance of the noise
    :param stem: whether to stem words and drop stop words
    :param max_terms: size of the vocabulary of a language, at most
    :param min_df: in how many texts a term of the vocabulary must be
    :param lengths: minimum and maximum number of distinct terms of a text to learn from
    :return: an encoder of these languages
    """
    counts_by_lang, n_concepts = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df, lengths=lengths)
    term_weights = [counts.weigh_terms() for counts in counts_by_lang.values()]  # (texts, terms) of each language
    concepts = [counts.concepts for counts in counts_by_lang.values()]  # (texts,) of each language
    _ratios, table = find_oriented_directions(term_weights, concepts, dim=dim, gamma=gamma, seed=seed)
    vocabularies = {lang: counts.vocabulary for lang, counts in counts_by_lang.items()}
    meta = {"method": "opca", "concepts": n_concepts, "gamma": gamma, "seed": seed}
    return BagEncoder.stacked(vocabularies, table, meta=meta)
