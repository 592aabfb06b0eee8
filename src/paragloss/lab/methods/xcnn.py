"""XCNN: one language learns from its own texts which belong together, the others learn to say the same.

Gupta, Banchs and Rosso, "Continuous space models for CLIR", IPM 53(2), 2017 (external-data composition neural
network). A text is the sum of its terms' vectors, each term a one-hot vector sent through tanh layers; so term
vectors are a table, and the model that is served is that table. The gradient (appendix A) is taken term by term.
Knows nothing of stores; learning needs torch, serving does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import scipy.sparse as sp

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import ModelError
from paragloss.lab.learning.counting import text_of
from paragloss.lab.learning.relevance import RELEVANCE, best_matches
from paragloss.lab.settings import (
    Batch,
    Checkpoint,
    Dim,
    Layers,
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
from paragloss.types import Aligned, Floats
from paragloss.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch

    from paragloss.lab.descent.contrast import Pairs
    from paragloss.lab.descent.loop import Progress

#: Weights start as N(0, 1) x 0.1.
SPREAD = 0.1


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 128,
    seed: Seed = 0,
    hub: Annotated[str, Setting("The language the others learn from; the one with most texts if not said.")] = "",
    layers: Layers = 1,
    hub_bias: Annotated[float, Setting("Where the biases of the hub start.", min=-1000, max=1000)] = 0.0,
    bias: Annotated[float, Setting("Where the biases of the other languages start.", min=-1000, max=1000)] = 0.0,
    relevance: Annotated[str, Setting("What says which texts belong together.", words=RELEVANCE)] = "bm25",
    hub_loss: Loss = "logistic",
    loss: Loss = "difference",
    negatives: Negatives = 10,
    optimizer: Optimizer = "adam",
    learning_rate: Rate = 0.01,
    batch: Batch = 100,
    hub_epochs: Annotated[int, Setting("Epochs of the hub; 0 leaves it random.", min=0, max=100_000)] = 5,
    epochs: Annotated[int, Setting("Epochs of each other language; 0 leaves it random.", min=0, max=100_000)] = 50,
    patience: Patience = 3,
    stem: Stem = True,
    max_terms: MaxTerms = 50_000,
    min_df: MinDf = 2,
    monolingual: Annotated[
        Sequence[str], Setting("More texts of the hub language, a file with one on each line.")
    ] = (),
    clicks: Annotated[
        Sequence[tuple[str, str]], Setting("Queries and the texts clicked: pairs.tsv, or LOG,DOCUMENTS.")
    ] = (),
    checkpoint: Checkpoint = None,
    progress: Callable[[Progress], None] | None = None,
) -> BagEncoder:
    """Learn the `hub` language alone, then each other language against it with the hub's vectors held still.

    The hub (by default the language with most texts) learns from pairs of a text and its best match by `relevance`
    ("bm25" or "tfidf") among `monolingual` texts of the hub language or, without those, among the titles of the
    concepts (their texts where they have none); or from `clicks`, pairs of a query and the text that was clicked.
    `hub_epochs=0` leaves it random. `optimizer="cg"` is the paper's: conjugate gradients on every batch, with 3
    iterations of 3 line searches; its authors start biases at `hub_bias=-1` and `bias=-1.5`. `checkpoint` is a
    folder; a run that finds its own files there goes on from them.
    """
    langs = _langs(aligned, hub)
    steps: dict[str, Any] = {"optimizer": optimizer, "learning_rate": learning_rate, "batch": batch}
    steps |= {"scale": 10.0, "negatives": negatives, "patience": patience, "progress": progress}
    towers: dict[str, Tower] = {}
    vectors: Floats | None = None
    for number, lang in enumerate(langs):
        concepts = [i for i, concept in enumerate(aligned) if lang in concept.texts]
        texts = [text_of(aligned[i], lang) for i in concepts]
        external_texts = [*monolingual, *chain.from_iterable(clicks)] if number == 0 else []
        vocabulary, counts = _counted(texts, external_texts, lang, min_df=min_df, max_terms=max_terms, stem=stem)
        pairs: Pairs | None
        if vectors is None:
            titles = [aligned[i].titles.get(lang) or aligned[i].texts[lang] for i in concepts]
            pairs = _related(vocabulary, monolingual or titles, clicks, relevance) if hub_epochs else None
        else:
            pairs = _translated(counts, vectors[concepts], f"{lang} and {langs[0]}")
        table = _learn(
            len(vocabulary),
            pairs,
            dim=dim,
            layers=layers,
            bias=bias if number else hub_bias,
            loss=loss if number else hub_loss,
            epochs=epochs if number else hub_epochs,
            seed=int(np.random.SeedSequence([seed, number]).generate_state(1)[0]),
            checkpoint=Path(checkpoint) / f"{lang}.safetensors" if checkpoint else None,
            **steps,
        )
        towers[lang] = Tower(vocabulary, table)
        if vectors is None:
            vectors = np.zeros((len(aligned), dim), np.float32)
            vectors[concepts] = counts[: len(texts)] @ table
    about = {"method": "xcnn", "hub": langs[0], "concepts": len(aligned), "optimizer": optimizer, "seed": seed}
    return BagEncoder(towers, weighting="count", meta=about)


def term_vectors(rows: torch.Tensor, bias: torch.Tensor, *layers: torch.Tensor) -> torch.Tensor:
    """Compute eq. 5 for one-hot terms, of which a product with W1 picks a row: tanh(row + b1), then tanh(. Wj + bj)."""
    vectors = (rows + bias).tanh()
    for weight, shift in zip(layers[::2], layers[1::2], strict=True):
        vectors = (vectors @ weight + shift).tanh()
    return vectors


def _langs(aligned: Aligned, hub: str) -> list[str]:
    """Return the hub, then the others in alphabetical order."""
    sizes: dict[str, int] = {}
    for concept in aligned:
        for lang in concept.texts:
            sizes[lang] = sizes.get(lang, 0) + 1
    langs = sorted(sizes)
    if len(langs) < 2:
        raise ModelError(f"a bridge needs at least two languages; the training set has {', '.join(langs) or 'none'}")
    if hub and hub not in sizes:
        raise ModelError(f"hub {hub!r}: the training set has {', '.join(langs)}")
    hub = hub or min(langs, key=lambda lang: (-sizes[lang], lang))
    return [hub, *(lang for lang in langs if lang != hub)]


def _counted(
    texts: Sequence[str], external_texts: Sequence[str], lang: str, *, min_df: int, **settings: Any
) -> tuple[Vocabulary, sp.csr_matrix]:
    """Count the terms of a language's texts, its own first; of few texts also rare terms are kept."""
    fewest = min(min_df, 1 + (len(texts) + len(external_texts)) // 500)
    vocabulary, counts = Vocabulary.build(chain(texts, external_texts), lang, min_df=fewest, **settings)
    if not len(vocabulary):
        raise ModelError(f"no {lang} term is in {fewest} of {len(texts)} texts: give more texts")
    return vocabulary, counts


def _related(
    vocabulary: Vocabulary, texts: Sequence[str], clicks: Sequence[tuple[str, str]], relevance: str
) -> Pairs | None:
    """Pair texts of one language with what is relevant to them: what was clicked, or what matches best."""
    from paragloss.lab.descent.contrast import Pairs

    if clicks:
        queries, documents = (vocabulary.counts(side) for side in zip(*clicks, strict=True))
        full = np.flatnonzero((np.diff(queries.indptr) > 0) & (np.diff(documents.indptr) > 0))
        pairs = Pairs(queries[full], documents[full])
    else:
        counts = vocabulary.counts(texts)
        queries, documents = best_matches(counts, relevance=relevance)
        pairs = Pairs(counts[queries], counts[documents])
    return pairs if pairs.left.shape[0] > 1 else None


def _translated(counts: sp.csr_matrix, vectors: Floats, language_pair: str) -> Pairs:
    """Pair texts of one language with the vectors of their counterparts in the hub language."""
    from paragloss.lab.descent.contrast import Pairs

    full = np.flatnonzero((np.diff(counts.indptr) > 0) & vectors.any(axis=1))
    if not len(full):
        raise ModelError(f"no concept has texts in both {language_pair}, the hub: choose another hub")
    return Pairs(counts[full], vectors[full])


def _learn(terms: int, pairs: Pairs | None, *, dim: int, layers: int, bias: float, seed: int, **steps: Any) -> Floats:
    """Learn the term vectors of one language: (terms, dim). Without pairs they are random, as training finds them."""
    import torch

    from paragloss.lab.descent.contrast import learn

    chance = torch.Generator().manual_seed(seed)
    parameters = {"table": SPREAD * torch.randn(terms, dim, generator=chance), "bias": torch.full((dim,), float(bias))}
    for j in range(2, layers + 1):
        parameters[f"weight{j}"] = SPREAD * torch.randn(dim, dim, generator=chance)
        parameters[f"bias{j}"] = torch.full((dim,), float(bias))
    for parameter in parameters.values():
        parameter.requires_grad_()
    if pairs is not None:
        learn(parameters, lambda parts: term_vectors(*parts), pairs, seed=seed, **steps)
    with torch.no_grad():
        table: Floats = term_vectors(*parameters.values()).numpy()
    return table
