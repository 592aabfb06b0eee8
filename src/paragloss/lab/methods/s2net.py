"""S2Net: one linear projection per language, learned so that a text is closer to its counterpart than to others.

Yih, Toutanova, Platt and Meek, "Learning discriminative projections for text similarity measures", CoNLL 2011: a
Siamese network whose logistic loss on the difference of two cosines is `loss="logistic"`; the XCNN authors' code
maximises the difference itself, `loss="difference"`. Learning needs torch, serving does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from paragloss.encoders.bag import BagEncoder
from paragloss.errors import ModelError
from paragloss.lab.learning.counting import CountedTexts, TextPairs, count, text_of
from paragloss.lab.settings import (
    Batch,
    Dim,
    Loss,
    MaxTerms,
    MinDf,
    Negatives,
    Optimizer,
    Patience,
    Rate,
    Seed,
    Setting,
    Stem,
    checked,
)
from paragloss.lab.solving.oriented import GAMMA, find_oriented_directions
from paragloss.types import Aligned, Floats, Integers

if TYPE_CHECKING:
    from paragloss.lab.descent.loop import EpochProgress

STARTS = ("random", "opca")
#: Standard deviation of the table before training: cosines do not depend on it, step sizes do.
INITIAL_DEVIATION = 0.1
#: What the learning rate is divided by when training starts from a trained model, so as not to undo it.
SLOWDOWN = 10


Start: TypeAlias = Annotated[str | BagEncoder, Setting("Initial projection: random, opca, or a saved linear model.")]


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 128,
    seed: Seed = 0,
    start: Start = "random",
    loss: Loss = "logistic",
    learning_rate: Rate = 0.01,
    stem: Stem = True,
    max_terms: MaxTerms = 50_000,
    min_df: MinDf = 2,
    **training: Annotated[Any, _train],
) -> BagEncoder:
    """Learn an encoder from texts about the same concepts in any number of languages.

    The projection starts from random numbers, from OPCA ("opca", as the papers do), or from a given linear model: its
    vocabularies and dimensions are then used, and steps are a tenth as long, so as not to undo it. `training` are the
    settings of `_train`.

    :param aligned: concepts with their texts in several languages
    :return: an encoder of these languages
    """
    if isinstance(start, str) and start not in STARTS:
        raise ModelError(f"start {start!r}: expected one of {', '.join(STARTS)}, or a linear model")
    if isinstance(start, BagEncoder):
        counted = _count_for_model(aligned, start)
    else:
        counted, _ = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df)
    rng = np.random.default_rng(seed)
    table = _make_start_table(counted, start, dim, seed, rng)
    texts = sp.block_diag([part.weigh_terms() for part in counted.values()], format="csr")  # (all texts, all terms)
    left, right = _pair_texts(counted, rng)  # positions of rows of `texts`
    if start != "random":
        learning_rate /= SLOWDOWN
    table = _train(table, texts[left], texts[right], seed=seed, loss=loss, learning_rate=learning_rate, **training)
    vocabularies = {lang: part.vocabulary for lang, part in counted.items()}
    meta = {"method": "s2net", "concepts": len(aligned), "pairs": len(left), "loss": loss, "seed": seed}
    return BagEncoder.stacked(vocabularies, table, meta=meta)


def _train(
    table: Floats,
    left: sp.csr_matrix,
    right: sp.csr_matrix,
    *,
    seed: int,
    loss: str,
    learning_rate: float,
    scale: Annotated[float, Setting("Scale of the difference of cosines (logistic).", above=0, max=1e6)] = 10.0,
    negatives: Negatives = 10,
    optimizer: Optimizer = "adam",
    batch: Batch = 100,
    epochs: Annotated[int, Setting("Epochs of training; 0 keeps the initial model.", min=0, max=100_000)] = 30,
    patience: Patience = 3,
    progress: Callable[[EpochProgress], None] | None = None,
) -> Floats:
    """Train a table of term vectors until each text is closer to its counterpart than to other texts.

    A text's vector is the weighted sum of the vectors of its terms.

    :param table: (terms, dim) initial vectors, changed in place and returned
    :param left: (pairs, terms) weights of the terms of texts
    :param right: (pairs, terms) the same for their counterparts in another language
    :param loss: "difference" of cosines, or "logistic" of that difference
    :param negatives: how many other texts each text is compared with
    :param batch: pairs in one step; `patience` is how many epochs without improvement end the training
    """
    import torch

    from paragloss.lab.descent.contrast import contrast, learn
    from paragloss.lab.descent.loop import TrainingSettings

    trained_table = torch.from_numpy(table).requires_grad_()
    get_term_vectors = itemgetter(0)  # the parameters are a list of one: the rows of the table are the vectors
    compute_loss = partial(contrast, loss=loss, scale=scale, negatives=negatives)
    training = TrainingSettings(epochs, seed, learning_rate, optimizer, patience=patience, progress=progress)
    learn({"table": trained_table}, get_term_vectors, TextPairs(left, right), compute_loss, training, batch_size=batch)
    return np.asarray(trained_table.detach().numpy())


def _make_start_table(
    counted: Mapping[str, CountedTexts], start: str | BagEncoder, dim: int, seed: int, rng: np.random.Generator
) -> Floats:
    """Return the table of the terms of all languages before training: (terms, dim), its deviation INITIAL_DEVIATION.

    :param counted: the texts of each language
    :param start: one of STARTS, or the model to start from
    :param seed: for OPCA
    :param rng: draws a random start
    """
    if isinstance(start, BagEncoder):
        table = np.concatenate([start.towers[lang].table for lang in counted])
    elif start == "opca":
        rows = [part.weigh_terms() for part in counted.values()]  # (texts, terms) of each language
        concepts = [part.concepts for part in counted.values()]  # (texts,) of each language
        _ratios, table = find_oriented_directions(rows, concepts, dim=dim, gamma=GAMMA, seed=seed)
    else:
        n_terms = sum(len(part.vocabulary) for part in counted.values())
        table = rng.standard_normal((n_terms, dim), np.float32)
    return np.asarray(table * (INITIAL_DEVIATION / table.std()), np.float32)


def _count_for_model(aligned: Aligned, model: BagEncoder) -> dict[str, CountedTexts]:
    """Count the texts of the languages that a linear model knows, over its vocabularies.

    :raises ModelError: if the model is not linear over tf-idf weights
    """
    counted = {}
    for lang, tower in model.towers.items():
        if not tower.is_only_table or model.weighting != "tfidf":
            raise ModelError(f"can't start from a {model.meta.get('method', 'model')}: S2Net is linear over tf-idf")
        concepts = [i for i, concept in enumerate(aligned) if lang in concept.texts]
        counts = tower.vocabulary.counts(text_of(aligned[i], lang) for i in concepts)
        counted[lang] = CountedTexts(tower.vocabulary, counts, np.asarray(concepts, np.int64))
    return counted


def _pair_texts(counted: Mapping[str, CountedTexts], rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Choose the pairs to learn from: two texts about one concept in different languages.

    Texts are given by their position in the list of all texts, language by language: with 3 English and 2 French texts
    the English ones are 0 to 2 and the French ones 3 and 4. Texts without a term that is counted are in no pair.

    A concept's texts are put in a random circle and each is paired with the next. So there are as many pairs as texts
    (one pair for two texts), and the work grows with the texts and not with the pairs of languages.

    :param counted: the texts of each language, with the number of each text's concept
    :param rng: draws the order of the circles
    :return: the position of the first and of the second text of each pair, (pairs,) each
    :raises ModelError: if no concept has texts in two languages
    """
    positions, concepts = _list_texts_with_terms(counted)
    random_numbers = rng.random(len(positions))
    order = np.lexsort((random_numbers, concepts))  # by concept, the texts of a concept in random order
    first_of_pairs, second_of_pairs = _link_circles(concepts[order])
    if not len(first_of_pairs):
        raise ModelError("no concept has texts in two languages: give aligned texts, or lower min_df")
    ordered_positions = positions[order]
    return ordered_positions[first_of_pairs], ordered_positions[second_of_pairs]


def _link_circles(concepts: Integers) -> tuple[Integers, Integers]:
    """Pair each text with the next one of its concept, and the last one with the first, as in a circle.

    A text alone is not paired, and of two texts only the first is, as the second pair would be the first reversed.
    Texts of concepts 7, 7, 8, 9, 9, 9 give the pairs 0-1, 3-4, 4-5 and 5-3.

    :param concepts: (texts,) the concept of each text, those of one concept side by side
    :return: positions of the left and the right texts, (pairs,) each
    """
    positions = np.arange(len(concepts))
    is_first = np.diff(concepts, prepend=-1) != 0  # of its circle
    is_last = np.diff(concepts, append=-1) != 0
    first_of_circle = np.maximum.accumulate(np.where(is_first, positions, 0))  # of the circle that a text is in
    next_in_circle = np.where(is_last, first_of_circle, positions + 1)
    has_three_or_more = positions - first_of_circle >= 2  # as seen from the last text of a circle
    left = np.flatnonzero(~is_last | has_three_or_more)
    return left, next_in_circle[left]


def _list_texts_with_terms(counted: Mapping[str, CountedTexts]) -> tuple[Integers, Integers]:
    """List the texts that have terms by their position among all texts, language by language, and their concepts.

    :param counted: the texts of each language, with the number of each text's concept
    :return: positions and numbers of concepts, (texts with terms,) each
    """
    n_terms = np.concatenate([np.diff(part.counts.indptr) for part in counted.values()])  # (texts,) distinct terms
    concepts = np.concatenate([part.concepts for part in counted.values()])  # (texts,)
    positions = np.flatnonzero(n_terms)
    return positions, concepts[positions]
