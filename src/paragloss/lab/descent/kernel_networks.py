"""Train K-NRM on triples of counted texts, with the kernels and their gradient computed in one pass. Needs torch.

The ten soft kernels are evenly spaced and equally wide, so each is its neighbour times exp(2 d (m - middle) / 2 s^2):
three exponentials give all of them, going outwards from the middle so that nothing overflows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from paragloss.encoders.kernel_features import FLOOR, MEANS, SCALE, WIDTHS
from paragloss.lab.descent.bags import Bags, mask_terms, select, take
from paragloss.lab.descent.batches import shuffled
from paragloss.lab.descent.loop import History, TrainingSettings, descend
from paragloss.types import Integers

SOFT_WIDTH = WIDTHS[1]
SOFT_STEP = MEANS[1] - MEANS[2]  # distance between the means of neighbouring soft kernels
MIDDLE = 5  # number of the kernel at 0.1; soft kernels with higher means are 4 to 1, those with lower ones 6 to 10


class Ranker(NamedTuple):
    """The parameters that are learned, and which kernels are used."""

    table: torch.Tensor  # (terms, dim)
    weight: torch.Tensor  # (kernels,)
    bias: torch.Tensor  # ()
    active: torch.Tensor  # (kernels,) 0 for kernels that are switched off, else 1


def make_ranker(table: npt.NDArray[np.float32], off: tuple[int, ...], rng: np.random.Generator, device: str) -> Ranker:
    """Make an untrained ranker; kernel weights are random within +-sqrt(6 / (kernels + 1)), as the authors' are.

    :param table: (terms, dim) word vectors to start from
    :param off: numbers of the kernels that are switched off; their weights count nothing
    :param device: of torch, such as "cpu" or "cuda"
    """
    n_kernels = len(MEANS)
    bound = math.sqrt(6 / (n_kernels + 1))
    weight = rng.uniform(-bound, bound, n_kernels).astype(np.float32)
    active = np.array([kernel not in off for kernel in range(n_kernels)], np.float32)
    return Ranker(
        torch.tensor(table, device=device, requires_grad=True),
        torch.tensor(weight, device=device, requires_grad=True),
        torch.zeros((), device=device, requires_grad=True),
        torch.tensor(active, device=device),
    )


def train_ranker(
    model: Ranker,
    queries: Bags,
    documents: Bags,
    draw_triples: Callable[[np.random.Generator], Integers],
    training: TrainingSettings,
    *,
    batch_size: int,
    validate: Callable[[], float] | None = None,
) -> History:
    """Train a ranker, in place, by the pairwise hinge loss with margin 1 on tanh of the scores.

    :param queries: terms of all queries with their counts; `documents` likewise
    :param draw_triples: rng -> numbers of the queries, the better and the worse documents of one epoch, (3, triples)
    :param batch_size: triples in a batch
    :param validate: measures the parameters after each epoch; those of the best one are kept
    :return: the loss and the measure of each epoch
    """

    def draw_batches(_epoch: int, rng: np.random.Generator) -> Iterator[Integers]:
        triples = draw_triples(rng)
        for positions in shuffled(triples.shape[1], batch_size, rng):
            yield triples[:, positions]

    parameters = {"table": model.table, "weight": model.weight, "bias": model.bias}
    compute_loss = partial(_compute_hinge_loss, model, queries, documents)
    return descend(parameters, draw_batches, compute_loss, training, validate)


def _compute_hinge_loss(model: Ranker, queries: Bags, documents: Bags, triples: Integers) -> torch.Tensor:
    """Compute the mean hinge loss of triples with margin 1 on tanh of the scores.

    :param model: the parameters to be trained
    :param queries: all queries; `documents` likewise
    :param triples: (3, triples) numbers of the query, the better and the worse document
    """
    numbers = torch.as_tensor(triples, device=model.table.device)
    query_texts = select(queries, numbers[0])
    document_texts = select(documents, numbers[1:].flatten())  # the better ones, then the worse ones
    scores = score_documents(model, query_texts, document_texts).tanh()
    better, worse = torch.split(scores, numbers.shape[1])
    return (1 - better + worse).clamp(min=0).mean()


def score_documents(model: Ranker, queries: Bags, documents: Bags) -> torch.Tensor:
    """Score each document for its query, w . features + b: (documents,).

    There may be several times as many documents as queries; the queries are then repeated in order.

    :param model: the word vectors and the weights w and b
    :param queries: terms of the queries with their counts
    :param documents: terms of the documents with their counts
    """
    terms, term_rows = torch.unique(torch.cat([queries.ids, documents.ids]), return_inverse=True)
    vectors = torch.nn.functional.normalize(take(model.table, terms.long()), dim=1, eps=1e-12)
    n_query_terms = len(queries.ids)
    padded_queries = _pad_texts(queries, vectors, term_rows[:n_query_terms])
    padded_documents = _pad_texts(documents, vectors, term_rows[n_query_terms:])
    return _compute_features(padded_queries, padded_documents) @ (model.weight * model.active) + model.bias


def _compute_features(queries: _PaddedTexts, documents: _PaddedTexts) -> torch.Tensor:
    """Measure how well each document matches its query, by one number for each kernel: K-NRM's features.

    A kernel counts the words of the document that are about as similar to a query term as its mean says, such as 0.9.
    The logarithms of these soft counts are added up over the terms of the query.

    :param queries: they are repeated in order until there are as many as documents
    :param documents: a document for each query, or several times as many: first one for each, then the next for each
    :return: (documents, kernels), 0 for an empty document
    """
    repetitions = len(documents.counts) // len(queries.counts)
    query_vectors = queries.vectors.repeat(repetitions, 1, 1)  # (documents, query terms, dim)
    query_counts = queries.counts.repeat(repetitions, 1)  # (documents, query terms), 0 for padding
    cosines = torch.bmm(query_vectors, documents.vectors.transpose(1, 2))  # (documents, query terms, document terms)
    sums = kernel_sums(cosines, documents.counts)  # (documents, query terms, kernels)
    log_sums = sums.clamp(min=FLOOR).log() * query_counts[..., None]
    has_words = documents.is_word.any(1, keepdim=True)  # (documents, 1)
    return log_sums.sum(1) * SCALE * has_words


class _PaddedTexts(NamedTuple):
    """Texts of different lengths as one array, padded at their ends."""

    vectors: torch.Tensor  # (texts, longest, dim)
    counts: torch.Tensor  # (texts, longest)
    is_word: torch.Tensor  # (texts, longest) False for padding


def _pad_texts(texts: Bags, vectors: torch.Tensor, term_rows: torch.Tensor) -> _PaddedTexts:
    """Arrange texts of different lengths as one array, padded at their ends.

    :param vectors: (distinct terms, dim) vectors of the terms of all texts
    :param term_rows: the row of `vectors` of each term of the texts, text after text
    """
    is_word = mask_terms(texts)  # (texts, longest)
    rows = is_word.new_zeros(is_word.shape, dtype=torch.long)
    rows[is_word] = term_rows
    counts = vectors.new_zeros(is_word.shape)
    counts[is_word] = texts.weights.to(vectors.dtype)
    # Padding has the vector of row 0; its count of 0 keeps it out of every sum, and its gradient at 0.
    padded_vectors = vectors.index_select(0, rows.flatten()).view(*rows.shape, -1)
    return _PaddedTexts(padded_vectors, counts, is_word)


class _KernelSums(torch.autograd.Function):
    """Sum kernels over document terms, with a gradient that recomputes the kernels instead of storing them."""

    @staticmethod
    def forward(ctx: Any, cosines: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        """Compute the sums, (pairs, query terms, kernels)."""
        ctx.save_for_backward(cosines, counts)
        sums = cosines.new_empty(*cosines.shape[:2], len(MEANS))
        for k, response in _compute_responses(cosines):
            sums[..., k] = torch.bmm(response, counts[..., None])[..., 0]
        return sums

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        """Compute the gradient of the cosines m from the gradients g_k of the sums of each kernel k.

        With kernel k = e_k = exp(-(m - mu_k)^2 / 2 s_k^2) it is sum_k g_k mu_k / s_k^2 e_k - m sum_k g_k / s_k^2 e_k.
        """
        cosines, counts = ctx.saved_tensors
        (gradient,) = gradients  # (pairs, query terms, kernels)
        mean_sum = torch.zeros_like(cosines)  # sum_k g_k mu_k / s_k^2 e_k
        plain_sum = torch.zeros_like(cosines)  # sum_k g_k / s_k^2 e_k
        for k, response in _compute_responses(cosines):
            scaled_gradient = gradient[..., k, None] / WIDTHS[k] ** 2
            plain_sum.addcmul_(response, scaled_gradient)
            mean_sum.addcmul_(response, scaled_gradient * MEANS[k])
        cosine_gradient = mean_sum.addcmul_(cosines, plain_sum, value=-1).mul_(counts[:, None])
        return cosine_gradient, None


def _compute_responses(cosines: torch.Tensor) -> Iterator[tuple[int, torch.Tensor]]:
    """Yield each kernel's number and its response to every cosine; a response is only valid until the next.

    The soft kernels are computed outwards from the middle one, each from its neighbour.
    """
    yield 0, _compute_gaussian(cosines, MEANS[0], WIDTHS[0])
    middle = _compute_gaussian(cosines, MEANS[MIDDLE], SOFT_WIDTH)
    yield MIDDLE, middle
    kernels_above = range(MIDDLE - 1, 0, -1)  # numbers fall while means rise
    kernels_below = range(MIDDLE + 1, len(MEANS))
    yield from _step_outwards(cosines, middle, kernels_above, direction=1)
    yield from _step_outwards(cosines, middle, kernels_below, direction=-1)


def _step_outwards(
    cosines: torch.Tensor, middle_responses: torch.Tensor, kernel_numbers: Sequence[int], *, direction: int
) -> Iterator[tuple[int, torch.Tensor]]:
    """Compute how strongly soft kernels respond to cosines, from the middle kernel outwards to one side.

    A kernel responds by exp(-(cosine - mean)^2 / (2 width^2)): a bell around its mean. The soft kernels are equally
    wide, and from one to the next the mean moves by the same step. So the responses of a kernel are those of its
    neighbour times a ratio, which is cheaper than an exponential for every kernel:

    - from the middle kernel to the first one it is exp((step (cosine - middle mean) - step^2 / 2) / width^2);
    - each later ratio is the one before times the constant exp(-step^2 / width^2).

    :param cosines: cosines of word pairs, of any shape
    :param middle_responses: what the middle kernel responds to each of them, in the same shape
    :param kernel_numbers: the kernels on one side of the middle one, the nearest first, such as 4, 3, 2, 1
    :param direction: 1 if their means are above that of the middle kernel, -1 if below
    :return: yields each kernel's number and its responses, in the shape of `cosines`
    """
    middle_mean = MEANS[MIDDLE]
    slope = SOFT_STEP / SOFT_WIDTH**2
    ratios = torch.exp((cosines - middle_mean) * (direction * slope) - SOFT_STEP * slope / 2)
    ratio_change = math.exp(-SOFT_STEP * slope)
    responses = middle_responses
    for number in kernel_numbers:
        responses = responses * ratios
        yield number, responses
        ratios *= ratio_change


def _compute_gaussian(cosines: torch.Tensor, mean: float, width: float) -> torch.Tensor:
    """Compute exp(-(cosine - mean)^2 / 2 width^2)."""
    return (cosines - mean).square_().mul_(-1 / (2 * width**2)).exp_()


def kernel_sums(cosines: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """Sum over a document's terms of count x kernel(cosine): (pairs, query terms, kernels)."""
    sums: torch.Tensor = _KernelSums.apply(cosines, counts)  # type: ignore[no-untyped-call]
    return sums
