"""S2Net: one linear projection per language, learned so that a text is closer to its counterpart than to others.

Yih, Toutanova, Platt and Meek, "Learning discriminative projections for text similarity measures", CoNLL 2011: a
Siamese network whose logistic loss on the difference of two cosines is `loss="logistic"`; the XCNN authors' code
maximises the difference itself, `loss="difference"`. Learning needs torch, serving does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import scipy.sparse as sp

from paragloss.encoders.bag import BagEncoder
from paragloss.errors import ModelError
from paragloss.lab.learning.counting import Counted, count, text_of
from paragloss.lab.settings import (
    Batch,
    Checkpoint,
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
from paragloss.lab.solving.oriented import GAMMA, oriented
from paragloss.types import Aligned, Floats, Integers
from paragloss.vocabulary import weigh

if TYPE_CHECKING:
    from paragloss.lab.descent.loop import Progress

STARTS = ("random", "opca")
#: Tables start with entries of this size, whatever they start from: cosines don't see it, step sizes do.
SPREAD = 0.1


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 128,
    seed: Seed = 0,
    start: Annotated[str | BagEncoder, Setting("Where to start: random, opca, or a saved linear model.")] = "random",
    loss: Loss = "logistic",
    scale: Annotated[float, Setting("How sharply a difference of cosines counts (logistic).", above=0, max=1e6)] = 10.0,
    negatives: Negatives = 10,
    optimizer: Optimizer = "adam",
    learning_rate: Rate = 0.01,
    batch: Batch = 100,
    epochs: Annotated[int, Setting("Epochs of learning; 0 keeps the start.", min=0, max=100_000)] = 30,
    patience: Patience = 3,
    stem: Stem = True,
    max_terms: MaxTerms = 50_000,
    min_df: MinDf = 2,
    checkpoint: Checkpoint = None,
    progress: Callable[[Progress], None] | None = None,
) -> BagEncoder:
    """Learn from concepts in any number of languages.

    The projection starts from random numbers, from OPCA ("opca", as the papers do), or from a linear model that is
    given: its vocabularies and dimensions are then kept, and steps are a tenth as long, so as not to undo it.
    `negatives` others are set against every counterpart.
    """
    if isinstance(start, str) and start not in STARTS:
        raise ModelError(f"start {start!r}: expected one of {', '.join(STARTS)}, or a linear model")
    cutting: dict[str, Any] = {"stem": stem, "max_terms": max_terms, "min_df": min_df}
    rng = np.random.default_rng(seed)
    counted, table = _begun(aligned, start, dim, seed, rng, cutting)

    import torch

    from paragloss.lab.descent.contrast import Pairs, learn

    texts = sp.block_diag([weigh(part.counts, part.vocabulary.idf, "tfidf") for part in counted.values()], format="csr")
    left, right = _pairs(counted, rng)
    learned = torch.from_numpy(table).requires_grad_()
    rate = learning_rate if start == "random" else learning_rate / 10
    steps: dict[str, Any] = {"loss": loss, "scale": scale, "negatives": negatives, "optimizer": optimizer}
    steps |= {"learning_rate": rate, "batch": batch, "epochs": epochs, "patience": patience, "seed": seed}
    steps |= {"checkpoint": checkpoint, "progress": progress}
    learn({"table": learned}, lambda parts: parts[0], Pairs(texts[left], texts[right]), **steps)
    about = {"method": "s2net", "concepts": len(aligned), "pairs": len(left), "loss": loss, "seed": seed}
    vocabularies = {lang: part.vocabulary for lang, part in counted.items()}
    return BagEncoder.stacked(vocabularies, learned.detach().numpy(), meta=about)


def _begun(
    aligned: Aligned, start: str | BagEncoder, dim: int, seed: int, rng: np.random.Generator, cutting: Mapping[str, Any]
) -> tuple[dict[str, Counted], Floats]:
    """Return the counted texts, and the table of all their terms before training: (terms, dim)."""
    if isinstance(start, BagEncoder):
        counted = _counted(aligned, start)
        table = np.concatenate([start.towers[lang].table for lang in counted])
    else:
        counted, _ = count(aligned, **cutting)
        parts = list(counted.values())
        if start == "opca":
            rows = [weigh(part.counts, part.vocabulary.idf, "tfidf") for part in parts]
            _, table = oriented(rows, [part.concepts for part in parts], dim=dim, gamma=GAMMA, seed=seed)
        else:
            table = rng.standard_normal((sum(len(part.vocabulary) for part in parts), dim), np.float32)
    return counted, np.asarray(table * (SPREAD / table.std()), np.float32)


def _counted(aligned: Aligned, model: BagEncoder) -> dict[str, Counted]:
    """Count the texts of the languages that a linear model knows, over its vocabularies."""
    counted = {}
    for lang, tower in model.towers.items():
        if model.weighting != "tfidf" or tower.layers or tower.bias is not None or tower.activation != "linear":
            raise ModelError(f"can't start from a {model.meta.get('method', 'model')}: S2Net is linear over tf-idf")
        concepts = [i for i, concept in enumerate(aligned) if lang in concept.texts]
        counts = tower.vocabulary.counts(text_of(aligned[i], lang) for i in concepts)
        counted[lang] = Counted(tower.vocabulary, counts, np.asarray(concepts, np.int64))
    return counted


def _pairs(counted: Mapping[str, Counted], rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Pair texts of one concept in two languages, as rows of all languages' texts one after another.

    A concept's languages are put in a random circle and each is paired with the next: as many pairs as languages
    (one for two), so that the work grows with the texts and not with the pairs of languages.
    """
    full = [np.diff(part.counts.indptr) > 0 for part in counted.values()]
    rows = np.flatnonzero(np.concatenate(full))
    concepts = np.concatenate([part.concepts for part in counted.values()])[rows]
    order = np.lexsort((rng.random(len(rows)), concepts))
    rows, concepts = rows[order], concepts[order]
    first = np.flatnonzero(np.diff(concepts, prepend=-1))
    sizes = np.diff(first, append=len(rows))
    following = np.arange(1, len(rows) + 1)
    following[first + sizes - 1] = first
    size = np.repeat(sizes, sizes)
    # In a circle of two the second arrow is the first one reversed.
    selected = (size > 2) | ((size == 2) & (following > np.arange(len(rows))))
    if not selected.any():
        raise ModelError("no concept has texts in two languages: give aligned texts, or lower min_df")
    return rows[selected], rows[following[selected]]
