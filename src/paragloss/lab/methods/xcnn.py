"""XCNN: one language, the hub, learns which of its own texts are similar; the others learn to agree with its vectors.

Gupta, Banchs and Rosso, "Continuous space models for CLIR", IPM 53(2), 2017 (external-data composition neural
network). A text is the sum of its terms' vectors, each term a one-hot vector sent through tanh layers; so term
vectors are a table, and the model that is served is that table. The gradient (appendix A) is taken term by term.
Training needs torch, serving does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import scipy.sparse as sp

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import ModelError
from paragloss.lab.learning.counting import Counted, text_of
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

    from paragloss.lab.descent.contrast import TextPairs
    from paragloss.lab.descent.loop import EpochProgress

#: Standard deviation of the weights that training starts from.
INITIAL_DEVIATION = 0.1
#: One more document per so many must contain a term, up to `min_df`.
TEXTS_PER_DF = 500
#: See `contrast.contrast`.
LOGISTIC_SCALE = 10.0


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 128,
    seed: Seed = 0,
    hub: Annotated[str, Setting("The language the others learn from; by default the one with most texts.")] = "",
    layers: Layers = 1,
    hub_bias: Annotated[float, Setting("Initial bias of the hub language.", min=-1000, max=1000)] = 0.0,
    bias: Annotated[float, Setting("Initial bias of the other languages.", min=-1000, max=1000)] = 0.0,
    relevance: Annotated[str, Setting("How the best match of a text is chosen.", words=RELEVANCE)] = "bm25",
    hub_loss: Loss = "logistic",
    loss: Loss = "difference",
    negatives: Negatives = 10,
    optimizer: Optimizer = "adam",
    learning_rate: Rate = 0.01,
    batch: Batch = 100,
    hub_epochs: Annotated[
        int, Setting("Epochs of the hub language; 0 leaves it at its random start.", min=0, max=100_000)
    ] = 5,
    epochs: Annotated[
        int, Setting("Epochs of each other language; 0 leaves it at its random start.", min=0, max=100_000)
    ] = 50,
    patience: Patience = 3,
    stem: Stem = True,
    max_terms: MaxTerms = 50_000,
    min_df: MinDf = 2,
    monolingual: Annotated[
        Sequence[str], Setting("Further texts of the hub language, one on each line of a file.")
    ] = (),
    clicks: Annotated[
        Sequence[tuple[str, str]], Setting("Queries and the texts clicked: pairs.tsv, or LOG,DOCUMENTS.")
    ] = (),
    checkpoint: Checkpoint = None,
    progress: Callable[[EpochProgress], None] | None = None,
) -> BagEncoder:
    """Learn the hub language alone, then each other language against the fixed vectors of the hub.

    The hub (by default the language with most texts) learns from pairs of a text and its best match by `relevance`
    ("bm25" or "tfidf") among `monolingual` texts of the hub language or, without those, among the titles of the
    concepts (their texts where they have none); or from `clicks`, pairs of a query and the text that was clicked.
    `hub_epochs=0` leaves it random. `optimizer="cg"` is the paper's: conjugate gradients on every batch, with 3
    iterations of 3 line searches; its authors start biases at `hub_bias=-1` and `bias=-1.5`. `checkpoint` is a
    folder; a run that finds its own files there continues from them.
    """
    hub, *other_langs = _order_languages(aligned, hub)
    counting: dict[str, Any] = {"min_df": min_df, "max_terms": max_terms, "stem": stem}
    training: dict[str, Any] = {"dim": dim, "layers": layers, "optimizer": optimizer, "learning_rate": learning_rate}
    training |= {"batch": batch, "scale": LOGISTIC_SCALE, "negatives": negatives, "patience": patience}
    training |= {"progress": progress}

    def seed_and_checkpoint(number: int, lang: str) -> dict[str, Any]:
        lang_seed = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
        return {"seed": lang_seed, "checkpoint": Path(checkpoint) / f"{lang}.safetensors" if checkpoint else None}

    hub_texts = _count_texts(aligned, hub, [*monolingual, *chain.from_iterable(clicks)], **counting)
    titles = [aligned[i].titles.get(hub) or aligned[i].texts[hub] for i in hub_texts.concepts]
    hub_pairs = _pair_similar(hub_texts.vocabulary, monolingual or titles, clicks, relevance) if hub_epochs else None
    hub_settings = {"bias": hub_bias, "loss": hub_loss, "epochs": hub_epochs, **seed_and_checkpoint(0, hub)}
    hub_table = _train_table(len(hub_texts.vocabulary), hub_pairs, **hub_settings, **training)
    hub_vectors = np.zeros((len(aligned), dim), np.float32)
    hub_vectors[hub_texts.concepts] = hub_texts.counts @ hub_table
    towers = {hub: Tower(hub_texts.vocabulary, hub_table)}
    for number, lang in enumerate(other_langs, 1):
        texts = _count_texts(aligned, lang, [], **counting)
        pairs = _pair_with_hub(texts.counts, hub_vectors[texts.concepts], f"{lang} and {hub}")
        settings = {"bias": bias, "loss": loss, "epochs": epochs, **seed_and_checkpoint(number, lang)}
        towers[lang] = Tower(texts.vocabulary, _train_table(len(texts.vocabulary), pairs, **settings, **training))
    meta = {"method": "xcnn", "hub": hub, "concepts": len(aligned), "optimizer": optimizer, "seed": seed}
    return BagEncoder(towers, weighting="count", meta=meta)


def term_vectors(rows: torch.Tensor, bias: torch.Tensor, *layers: torch.Tensor) -> torch.Tensor:
    """Compute the vectors of terms by eq. 5: tanh(row + b1), then tanh(. Wj + bj) for each further layer.

    :param rows: (terms, dim) rows of the first weight matrix, which are its products with one-hot terms
    :param layers: the weight and bias of each further layer, in turn
    """
    vectors = (rows + bias).tanh()
    for weight, shift in zip(layers[::2], layers[1::2], strict=True):
        vectors = (vectors @ weight + shift).tanh()
    return vectors


def _order_languages(aligned: Aligned, hub: str) -> list[str]:
    """Return the hub (if none is given, the language of most texts), then the others in alphabetical order."""
    sizes = Counter(lang for concept in aligned for lang in concept.texts)
    langs = sorted(sizes)
    if len(langs) < 2:
        raise ModelError(f"a bridge needs at least two languages; the training set has {', '.join(langs) or 'none'}")
    if hub and hub not in sizes:
        raise ModelError(f"hub {hub!r}: the training set has {', '.join(langs)}")
    hub = hub or min(langs, key=lambda lang: (-sizes[lang], lang))
    return [hub, *(lang for lang in langs if lang != hub)]


def _count_texts(
    aligned: Aligned, lang: str, external_texts: Sequence[str], *, min_df: int, **settings: Any
) -> Counted:
    """Count the terms of the concepts' texts in one language; external texts only add to the vocabulary.

    :param min_df: documents that must contain a term; fewer where there are few texts
    :param settings: further ones of `Vocabulary.build`
    """
    concepts = [i for i, concept in enumerate(aligned) if lang in concept.texts]
    texts = [text_of(aligned[i], lang) for i in concepts]
    bound = min(min_df, 1 + (len(texts) + len(external_texts)) // TEXTS_PER_DF)
    vocabulary, counts = Vocabulary.build(chain(texts, external_texts), lang, min_df=bound, **settings)
    if not len(vocabulary):
        raise ModelError(f"no {lang} term is in {bound} of {len(texts)} texts: give more texts")
    return Counted(vocabulary, counts[: len(texts)], np.array(concepts, np.int64))


def _pair_similar(
    vocabulary: Vocabulary, texts: Sequence[str], clicks: Sequence[tuple[str, str]], relevance: str
) -> TextPairs | None:
    """Pair queries with the texts that were clicked, or without clicks each text with its best match.

    Returns None if there are fewer than two pairs.
    """
    from paragloss.lab.descent.contrast import TextPairs

    if clicks:
        queries, documents = (vocabulary.counts(texts) for texts in zip(*clicks, strict=True))
        nonempty = np.flatnonzero((np.diff(queries.indptr) > 0) & (np.diff(documents.indptr) > 0))
        pairs = TextPairs(queries[nonempty], documents[nonempty])
    else:
        counts = vocabulary.counts(texts)
        query_rows, match_rows = best_matches(counts, relevance=relevance)
        pairs = TextPairs(counts[query_rows], counts[match_rows])
    return pairs if pairs.left.shape[0] > 1 else None


def _pair_with_hub(counts: sp.csr_matrix, hub_vectors: Floats, language_pair: str) -> TextPairs:
    """Pair texts of one language with the vectors of the same concepts in the hub language.

    :param counts: (texts, terms)
    :param hub_vectors: (texts, dim), zero where the hub has no text
    :param language_pair: for the error message
    :raises ModelError: if no concept has both
    """
    from paragloss.lab.descent.contrast import TextPairs

    in_both = np.flatnonzero((np.diff(counts.indptr) > 0) & hub_vectors.any(axis=1))
    if not len(in_both):
        raise ModelError(f"no concept has texts in both {language_pair}, the hub: choose another hub")
    return TextPairs(counts[in_both], hub_vectors[in_both])


def _train_table(
    terms: int, pairs: TextPairs | None, *, dim: int, layers: int, bias: float, seed: int, **settings: Any
) -> Floats:
    """Train the term vectors of one language: (terms, dim). Without pairs they stay random.

    :param bias: where all biases start
    :param settings: further ones of `contrast.learn`
    """
    import torch

    from paragloss.lab.descent.contrast import learn

    random = torch.Generator().manual_seed(seed)
    parameters = {
        "table": INITIAL_DEVIATION * torch.randn(terms, dim, generator=random),
        "bias": torch.full((dim,), float(bias)),
    }
    for layer in range(2, layers + 1):
        parameters[f"weight{layer}"] = INITIAL_DEVIATION * torch.randn(dim, dim, generator=random)
        parameters[f"bias{layer}"] = torch.full((dim,), float(bias))
    for parameter in parameters.values():
        parameter.requires_grad_()
    if pairs is not None:
        learn(parameters, lambda parts: term_vectors(*parts), pairs, seed=seed, **settings)
    with torch.no_grad():
        table: Floats = term_vectors(*parameters.values()).numpy()
    return table
