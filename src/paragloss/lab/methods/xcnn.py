"""XCNN: one language, the hub, learns which of its own texts are similar; the others learn to agree with its vectors.

Gupta, Banchs and Rosso, "Continuous space models for CLIR", IPM 53(2), 2017 (external-data composition neural
network). A text is the sum of its terms' vectors, each term a one-hot vector sent through tanh layers; so term
vectors are a table, and the model that is served is that table. The gradient (appendix A) is taken term by term.
Training needs torch, serving does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import ModelError
from paragloss.lab.learning.counting import CountedTexts, TextPairs, lower_min_df, text_of
from paragloss.lab.learning.relevance import RELEVANCE, find_best_matches
from paragloss.lab.settings import (
    Batch,
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

    from paragloss.lab.descent.loop import EpochProgress

#: Standard deviation of the weights that training starts from.
INITIAL_DEVIATION = 0.1
#: See `contrast.contrast`.
LOGISTIC_SCALE = 10.0


Hub: TypeAlias = Annotated[str, Setting("The language the others learn from; by default the one with most texts.")]
Monolingual: TypeAlias = Annotated[
    Sequence[str], Setting("Further texts of the hub language, one on each line of a file.")
]
Clicks: TypeAlias = Annotated[
    Sequence[tuple[str, str]], Setting("Queries and the texts clicked: pairs.tsv, or LOG,DOCUMENTS.")
]
Relevance: TypeAlias = Annotated[str, Setting("How the best match of a text is chosen.", words=RELEVANCE)]
HubBias: TypeAlias = Annotated[float, Setting("Initial bias of the hub language.", min=-1000, max=1000)]
Bias: TypeAlias = Annotated[float, Setting("Initial bias of the other languages.", min=-1000, max=1000)]
HubEpochs: TypeAlias = Annotated[
    int, Setting("Epochs of the hub language; 0 leaves it at its random start.", min=0, max=100_000)
]
Epochs: TypeAlias = Annotated[
    int, Setting("Epochs of each other language; 0 leaves it at its random start.", min=0, max=100_000)
]


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 128,
    seed: Seed = 0,
    hub: Hub = "",
    monolingual: Monolingual = (),
    clicks: Clicks = (),
    relevance: Relevance = "bm25",
    hub_loss: Loss = "logistic",
    loss: Loss = "difference",
    hub_bias: HubBias = 0.0,
    bias: Bias = 0.0,
    hub_epochs: HubEpochs = 5,
    epochs: Epochs = 50,
    optimizer: Optimizer = "adam",
    stem: Stem = True,
    max_terms: MaxTerms = 50_000,
    min_df: MinDf = 2,
    **training: Annotated[Any, _train_tower],
) -> BagEncoder:
    """Learn an encoder: one language, the hub, alone, then each other language against the fixed vectors of the hub.

    The hub learns from `clicks`. Without clicks it learns from pairs of similar texts: each of the `monolingual` texts,
    or of the concepts' titles if there are none, with its best match by `relevance`. `optimizer="cg"` is the paper's,
    with biases of -1 (hub) and -1.5.
    """
    hub, *other_langs = _order_languages(aligned, hub)
    count_texts = partial(_count_texts, aligned, min_df=min_df, max_terms=max_terms, stem=stem)
    train: Callable[..., Tower] = partial(_train_tower, dim=dim, seed=seed, optimizer=optimizer, **training)
    hub_texts = count_texts(hub, [*monolingual, *chain.from_iterable(clicks)])
    hub_pairs = _pair_hub_texts(aligned, hub, hub_texts, monolingual, clicks, relevance) if hub_epochs else None
    towers = {hub: train(0, hub_texts.vocabulary, hub_pairs, bias=hub_bias, loss=hub_loss, epochs=hub_epochs)}
    hub_vectors = _sum_hub_terms(hub_texts, towers[hub].table, len(aligned))  # (concepts, dim)
    for number, lang in enumerate(other_langs, 1):
        texts = count_texts(lang, [])
        pairs = _pair_with_hub(texts.counts, hub_vectors[texts.concepts], f"{lang} and {hub}")
        towers[lang] = train(number, texts.vocabulary, pairs, bias=bias, loss=loss, epochs=epochs)
    meta = {"method": "xcnn", "hub": hub, "concepts": len(aligned), "optimizer": optimizer, "seed": seed}
    return BagEncoder(towers, weighting="count", meta=meta)


def compute_term_vectors(rows: torch.Tensor, bias: torch.Tensor, *layers: torch.Tensor) -> torch.Tensor:
    """Compute the vectors of terms by eq. 5: tanh(row + b1), then tanh(. Wj + bj) for each further layer.

    :param rows: (terms, dim) rows of the first weight matrix, which are its products with one-hot terms
    :param bias: (dim,) b1
    :param layers: the weight, (dim, dim), and the bias, (dim,), of each further layer, in turn
    """
    vectors = (rows + bias).tanh()
    for weight, layer_bias in zip(layers[::2], layers[1::2], strict=True):
        vectors = (vectors @ weight + layer_bias).tanh()
    return vectors


def _order_languages(aligned: Aligned, hub: str) -> list[str]:
    """Return the hub (if none is given, the language of most texts), then the others in alphabetical order.

    :raises ModelError: if there is one language only, or none has the name of the hub
    """
    text_counts = Counter(lang for concept in aligned for lang in concept.texts)
    langs = sorted(text_counts)
    if len(langs) < 2:
        raise ModelError(f"a bridge needs at least two languages; the training set has {', '.join(langs) or 'none'}")
    if hub and hub not in text_counts:
        raise ModelError(f"hub {hub!r}: the training set has {', '.join(langs)}")
    if not hub:
        hub = max(langs, key=text_counts.__getitem__)
    return [hub, *(lang for lang in langs if lang != hub)]


def _count_texts(
    aligned: Aligned, lang: str, external_texts: Sequence[str], *, min_df: int, **settings: Any
) -> CountedTexts:
    """Count the terms of the concepts' texts in one language; external texts only add to the vocabulary.

    :param external_texts: further texts in the language
    :param min_df: documents that must contain a term; fewer where there are few texts
    :param settings: further ones of `Vocabulary.build`
    :raises ModelError: if no term is in enough texts
    """
    concepts = [i for i, concept in enumerate(aligned) if lang in concept.texts]
    texts = [text_of(aligned[i], lang) for i in concepts]
    df_bound = lower_min_df(min_df, len(texts) + len(external_texts))
    vocabulary, counts = Vocabulary.build(chain(texts, external_texts), lang, min_df=df_bound, **settings)
    if not len(vocabulary):
        raise ModelError(f"no {lang} term is in {df_bound} of {len(texts)} texts: give more texts")
    concept_counts = counts[: len(texts)]  # the rows of external texts come after them
    return CountedTexts(vocabulary, concept_counts, np.array(concepts, np.int64))


def _pair_hub_texts(
    aligned: Aligned,
    hub: str,
    hub_texts: CountedTexts,
    monolingual: Sequence[str],
    clicks: Sequence[tuple[str, str]],
    relevance: str,
) -> TextPairs | None:
    """Pair the texts that the hub language learns from; return None if there are fewer than two pairs.

    These are clicked texts with their queries; without clicks, its monolingual texts with their best matches; without
    monolingual texts, the titles of the concepts with theirs (the text of a concept that has no title).

    :param hub: code of the hub language
    :param hub_texts: the concepts' texts in the hub language, and the vocabulary
    :param monolingual: further texts in the hub language
    :param clicks: pairs of a query and a clicked text
    :param relevance: how matches are scored, one of RELEVANCE
    """
    if clicks:
        pairs = _pair_clicks(hub_texts.vocabulary, clicks)
    else:
        titles = [aligned[i].titles.get(hub) or aligned[i].texts[hub] for i in hub_texts.concepts]
        pairs = _pair_best_matches(hub_texts.vocabulary, monolingual or titles, relevance)
    return pairs if pairs.left.shape[0] > 1 else None


def _pair_clicks(vocabulary: Vocabulary, clicks: Sequence[tuple[str, str]]) -> TextPairs:
    """Count the terms of queries and of the texts that were clicked; pairs without known terms are left out."""
    queries = vocabulary.counts(query for query, _ in clicks)
    documents = vocabulary.counts(text for _, text in clicks)
    is_nonempty = (np.diff(queries.indptr) > 0) & (np.diff(documents.indptr) > 0)
    return TextPairs(queries[is_nonempty], documents[is_nonempty])


def _pair_best_matches(vocabulary: Vocabulary, texts: Sequence[str], relevance: str) -> TextPairs:
    """Pair each text with the one that matches it best.

    :param relevance: how matches are scored, one of RELEVANCE
    """
    counts = vocabulary.counts(texts)
    query_rows, match_rows = find_best_matches(counts, relevance=relevance)
    return TextPairs(counts[query_rows], counts[match_rows])


def _sum_hub_terms(texts: CountedTexts, table: Floats, n_concepts: int) -> Floats:
    """Return the vector of each concept in the hub language, zero where the hub has no text: (n_concepts, dim)."""
    vectors = np.zeros((n_concepts, table.shape[1]), np.float32)
    vectors[texts.concepts] = texts.counts @ table
    return vectors


def _pair_with_hub(counts: sp.csr_matrix, hub_vectors: Floats, language_pair: str) -> TextPairs:
    """Pair texts of one language with the vectors of the same concepts in the hub language.

    :param counts: (texts, terms)
    :param hub_vectors: (texts, dim), zero where the hub has no text
    :param language_pair: for the error message
    :raises ModelError: if no concept has both
    """
    in_both = np.flatnonzero((np.diff(counts.indptr) > 0) & hub_vectors.any(axis=1))
    if not len(in_both):
        raise ModelError(f"no concept has texts in both {language_pair}, the hub: choose another hub")
    return TextPairs(counts[in_both], hub_vectors[in_both])


def _train_tower(
    number: int,
    vocabulary: Vocabulary,
    pairs: TextPairs | None,
    *,
    dim: int,
    seed: int,
    loss: str,
    epochs: int,
    optimizer: str,
    bias: float,
    layers: Layers = 1,
    negatives: Negatives = 10,
    learning_rate: Rate = 0.01,
    batch: Batch = 100,
    patience: Patience = 3,
    progress: Callable[[EpochProgress], None] | None = None,
) -> Tower:
    """Train the term vectors of one language. Without pairs they stay random.

    :param number: number of the language; together with `seed` it decides the random numbers
    :param pairs: texts to learn from, with their counterparts
    :param bias: where all biases start
    :param batch: pairs in one step; `patience` is how many epochs without improvement end the training
    """
    import torch

    from paragloss.lab.descent.contrast import contrast, learn
    from paragloss.lab.descent.loop import TrainingSettings

    lang_seed = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
    random = torch.Generator().manual_seed(lang_seed)
    parameters = _make_parameters(len(vocabulary), dim, layers, bias, random)
    if pairs is not None:
        compute_loss = partial(contrast, loss=loss, scale=LOGISTIC_SCALE, negatives=negatives)
        training = TrainingSettings(epochs, lang_seed, learning_rate, optimizer, patience=patience, progress=progress)
        learn(parameters, lambda parts: compute_term_vectors(*parts), pairs, compute_loss, training, batch_size=batch)
    with torch.no_grad():
        table: Floats = compute_term_vectors(*parameters.values()).numpy()
    return Tower(vocabulary, table)


def _make_parameters(
    n_terms: int, dim: int, layers: int, bias: float, random: torch.Generator
) -> dict[str, torch.Tensor]:
    """Return the parameters that the training of one language starts from, by name.

    :param layers: how many; the first one has a row of weights for each term, the others are dim x dim
    :param bias: where all biases start
    :param random: draws the weights
    :return: in the order of `compute_term_vectors`: the table, its bias, then weight and bias of each further layer
    """
    import torch

    parameters = {
        "table": INITIAL_DEVIATION * torch.randn(n_terms, dim, generator=random),
        "bias": torch.full((dim,), float(bias)),
    }
    for layer in range(2, layers + 1):
        parameters[f"weight{layer}"] = INITIAL_DEVIATION * torch.randn(dim, dim, generator=random)
        parameters[f"bias{layer}"] = torch.full((dim,), float(bias))
    for parameter in parameters.values():
        parameter.requires_grad_()
    return parameters
