"""BAE: a bilingual autoencoder, which learns to predict a concept's texts in all languages from that in one language.

Its layers are first trained as restricted Boltzmann machines. Gupta, Banchs and Rosso, as described in section 3.3 of
the XCNN paper, of which eq. 3 is the encoder that is served. Training needs torch, serving does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import numpy as np

from paragloss.encoders.bag import BagEncoder, Layer, Tower
from paragloss.lab.learning.counting import count
from paragloss.lab.settings import Batch, Dim, Layers, MaxTerms, MinDf, Patience, Rate, Seed, Setting, Stem, checked
from paragloss.types import Aligned
from paragloss.vocabulary import weigh

if TYPE_CHECKING:
    from paragloss.lab.descent.loop import EpochProgress

#: A text is a distribution over words; rarer words count for more of it.
WEIGHTING = "idf-mean"


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 128,
    seed: Seed = 0,
    layers: Layers = 1,
    hidden: Annotated[int, Setting("Width of the hidden layers.", min=1, max=100_000)] = 256,
    words: Annotated[
        int, Setting("Number of words that every text counts as, whatever its length.", min=1, max=100_000)
    ] = 20,
    pretraining_epochs: Annotated[
        int, Setting("Epochs of the Boltzmann machines; 0 starts from random numbers.", min=0, max=100_000)
    ] = 5,
    pretraining_layers: Annotated[
        int, Setting("Number of lowest layers that are pretrained as Boltzmann machines.", min=0, max=100)
    ] = 1,
    epochs: Annotated[int, Setting("Epochs of fine-tuning; 0 keeps the pretrained weights.", min=0, max=100_000)] = 50,
    learning_rate: Rate = 0.003,
    batch: Batch = 200,
    patience: Patience = 10,
    stem: Stem = True,
    max_terms: MaxTerms = 10_000,
    min_df: MinDf = 2,
    progress: Callable[[EpochProgress], None] | None = None,
) -> BagEncoder:
    """Learn an encoder from concepts: `layers` sigmoid layers, all but the last `hidden` wide.

    A text counts as `words` words, however long it is. Every word of the vocabulary is scored for every text, so
    time grows with texts x terms: `max_terms` bounds it. `epochs=0` keeps what the Boltzmann machines found,
    `pretraining_epochs=0` starts from random numbers. The paper's own network is `layers=3, pretraining_layers=3`, with
    `pretraining_epochs=30`: after fewer, the outputs of a machine hardly differ, and the next one learns nothing.
    """
    counted, concepts = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df)
    from paragloss.lab.descent import autoencoder as network

    texts = [weigh(part.counts, part.vocabulary.idf, WEIGHTING) for part in counted.values()]
    corpus = network.Corpus.of(texts, [part.concepts for part in counted.values()], concepts, words)
    machines = network.make_machines([corpus.terms, *[hidden] * (layers - 1), dim], seed)
    schedule = network.Schedule(learning_rate, batch, seed, progress)
    if pretraining_epochs and pretraining_layers:
        network.pretrain(machines[:pretraining_layers], corpus, schedule, epochs=pretraining_epochs)
    if epochs:
        network.tune(machines, corpus, schedule, epochs=epochs, patience=patience)
    (table, bias), *upper_layers = [(m.weight.detach().numpy(), m.hidden.detach().numpy()) for m in machines]
    shared_layers = tuple(Layer(weight, layer_bias, "sigmoid") for weight, layer_bias in upper_layers)
    towers = {
        lang: Tower(part.vocabulary, words * np.ascontiguousarray(block), bias, "sigmoid", shared_layers)
        for (lang, part), block in zip(counted.items(), np.split(table, corpus.edges[1:-1]), strict=True)
    }
    about = {"method": "bae", "concepts": concepts, "layers": layers, "words": words, "seed": seed}
    return BagEncoder(towers, weighting=WEIGHTING, meta=about)
