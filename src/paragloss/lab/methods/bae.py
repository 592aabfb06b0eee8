"""BAE: a bilingual autoencoder, which learns to predict a concept's texts in all languages from that in one language.

Its layers are first trained as restricted Boltzmann machines. Gupta, Banchs and Rosso, as described in section 3.3 of
the XCNN paper, of which eq. 3 is the encoder that is served. Training needs torch, serving does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np

from paragloss.encoders.bag import BagEncoder, Layer, Tower
from paragloss.lab.learning.counting import CountedTexts, count
from paragloss.lab.settings import Batch, Dim, Layers, MaxTerms, MinDf, Patience, Rate, Seed, Setting, Stem, checked
from paragloss.types import Aligned
from paragloss.vocabulary import weigh

if TYPE_CHECKING:
    from paragloss.lab.descent.autoencoder import Corpus, Machine
    from paragloss.lab.descent.loop import EpochProgress

#: A text is a distribution over words; rarer words count for more of it.
WEIGHTING = "idf-mean"


HiddenWidth: TypeAlias = Annotated[int, Setting("Width of the hidden layers.", min=1, max=100_000)]
Words: TypeAlias = Annotated[
    int, Setting("Number of words that every text counts as, whatever its length.", min=1, max=100_000)
]


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 128,
    seed: Seed = 0,
    layers: Layers = 1,
    hidden: HiddenWidth = 256,
    words: Words = 20,
    stem: Stem = True,
    max_terms: MaxTerms = 10_000,
    min_df: MinDf = 2,
    **training: Annotated[Any, _train],
) -> BagEncoder:
    """Learn an encoder from texts about the same concepts: `layers` sigmoid layers, all but the last `hidden` wide.

    A text counts as `words` words, however long it is. Every word of the vocabulary is scored for every text, so
    time grows with texts x terms: `max_terms` bounds it. `training` are the settings of `_train`.

    :param aligned: concepts with their texts in several languages
    :return: an encoder of these languages
    """
    from paragloss.lab.descent import autoencoder

    counted, n_concepts = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df)
    texts = [weigh(part.counts, part.vocabulary.idf, WEIGHTING) for part in counted.values()]
    corpus = autoencoder.Corpus.from_texts(texts, [part.concepts for part in counted.values()], n_concepts, words)
    hidden_widths = [hidden] * (layers - 1)
    machines = autoencoder.make_machines([corpus.terms, *hidden_widths, dim], seed)
    _train(machines, corpus, seed=seed, **training)
    meta = {"method": "bae", "concepts": n_concepts, "layers": layers, "words": words, "seed": seed}
    return BagEncoder(_make_towers(machines, corpus, counted, words), weighting=WEIGHTING, meta=meta)


def _train(
    machines: Sequence[Machine],
    corpus: Corpus,
    *,
    seed: int,
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
    progress: Callable[[EpochProgress], None] | None = None,
) -> None:
    """Train the layers in place, as Boltzmann machines from the lowest up, and then all together.

    The paper's own network has three layers, with `pretraining_layers=3` and `pretraining_epochs=30`: after fewer, the
    outputs of a machine hardly differ, and the next one learns nothing.

    :param batch: concepts in one step
    :param patience: how many epochs without a better prediction of held-out concepts end the training
    """
    from paragloss.lab.descent import autoencoder
    from paragloss.lab.descent.loop import TrainingSettings

    training = TrainingSettings(epochs, seed, learning_rate, patience=patience, progress=progress)
    if pretraining_epochs and pretraining_layers:
        pretraining = training._replace(epochs=pretraining_epochs)
        autoencoder.pretrain(machines[:pretraining_layers], corpus, pretraining, batch_size=batch)
    if epochs:
        autoencoder.train_all_layers(machines, corpus, training, batch_size=batch)


def _make_towers(
    machines: Sequence[Machine], corpus: Corpus, counted: Mapping[str, CountedTexts], words: int
) -> dict[str, Tower]:
    """Make the network of each language from the trained layers; all but the lowest are shared.

    :param machines: the trained layers, the lowest one first
    :param corpus: which rows of the lowest layer belong to which language
    :param counted: the languages with their vocabularies
    :param words: number of words that every text counts as
    """
    bottom, *upper_machines = machines
    shared_layers = []
    for machine in upper_machines:
        weight = machine.weight.detach().numpy()
        shared_layers.append(Layer(weight, machine.hidden_bias.detach().numpy(), "sigmoid"))
    bottom_bias = bottom.hidden_bias.detach().numpy()
    tables = np.split(bottom.weight.detach().numpy(), corpus.bounds[1:-1])  # (terms, hidden) of each language
    towers = {}
    for (lang, part), table in zip(counted.items(), tables, strict=True):
        scaled_table = words * np.ascontiguousarray(table)
        towers[lang] = Tower(part.vocabulary, scaled_table, bottom_bias, "sigmoid", tuple(shared_layers))
    return towers
