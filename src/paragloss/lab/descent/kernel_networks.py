"""Training K-NRM on term ids: the kernels with their gradient in one pass, and batches of triples. Needs torch.

The ten soft kernels are evenly spaced and equally wide, so each is its neighbour times exp(2 d (m - middle) / 2 s^2):
three exponentials give all of them, going outwards from the middle so that nothing overflows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from paragloss.encoders.kernel_features import FLOOR, MEANS, SCALE, WIDTHS
from paragloss.lab.descent.bags import Bags, select, take
from paragloss.lab.descent.loop import History, descend
from paragloss.types import Integers

_WIDTH = WIDTHS[1]
_STEP = MEANS[1] - MEANS[2]
_MIDDLE = 5  # the kernel at 0.1: the soft ones above it are 4..1, below it 6..10


class Ranker(NamedTuple):
    """What is learned: word vectors, a weight per kernel and a bias. `active` switches kernels off."""

    table: torch.Tensor  # (terms, dim)
    weight: torch.Tensor  # (kernels,)
    bias: torch.Tensor  # ()
    active: torch.Tensor  # (kernels,) of 0 and 1


def ranker(table: npt.NDArray[np.float32], off: tuple[int, ...], rng: np.random.Generator, device: str) -> Ranker:
    """Make a ranker before training: kernel weights evenly within +-sqrt(6 / (kernels + 1)), as the authors'."""
    edge = math.sqrt(6 / (len(MEANS) + 1))
    active = np.array([i not in off for i in range(len(MEANS))], np.float32)
    return Ranker(
        torch.tensor(table, device=device, requires_grad=True),
        torch.tensor(rng.uniform(-edge, edge, len(MEANS)).astype(np.float32), device=device, requires_grad=True),
        torch.zeros((), device=device, requires_grad=True),
        torch.tensor(active, device=device),
    )


def train(
    model: Ranker,
    queries: Bags,
    documents: Bags,
    triples: Callable[[int, np.random.Generator], Integers],
    *,
    batch: int,
    epsilon: float,
    **steps: Any,
) -> History:
    """Minimise the pairwise hinge with margin 1 on tanh of the scores, in place. `triples(epoch, rng)` gives the
    numbers of queries, better and worse documents of one epoch: (3, triples). `steps` are further settings of
    `descend`."""

    def batches(epoch: int, rng: np.random.Generator) -> Iterator[Integers]:
        drawn = triples(epoch, rng)
        drawn = drawn[:, rng.permutation(drawn.shape[1])]
        for start in range(0, drawn.shape[1], batch):
            yield drawn[:, start : start + batch]

    def loss(drawn: Integers) -> torch.Tensor:
        chosen = torch.as_tensor(drawn, device=model.table.device)
        pair_scores = scores(model, select(queries, chosen[0]), select(documents, chosen[1:].flatten()))
        better, worse = torch.split(pair_scores.tanh(), chosen.shape[1])
        return (1 - better + worse).clamp(min=0).mean()

    parameters = {"table": model.table, "weight": model.weight, "bias": model.bias}
    return descend(parameters, batches, loss, epsilon=epsilon, **steps)


def scores(model: Ranker, queries: Bags, documents: Bags) -> torch.Tensor:
    """Score each document for its query, w . features + b: (documents,).

    There may be several times as many documents as queries; the queries are then repeated in order.
    """
    terms, row_numbers = torch.unique(torch.cat([queries.ids, documents.ids]), return_inverse=True)
    rows = torch.nn.functional.normalize(take(model.table, terms.long()), dim=1, eps=1e-12)
    query_vectors, times, _ = _padded(queries, rows, row_numbers[: len(queries.ids)])
    rounds = (len(documents.bounds) - 1) // (len(queries.bounds) - 1)
    query_vectors, times = query_vectors.repeat(rounds, 1, 1), times.repeat(rounds, 1)
    document_vectors, counts, is_word = _padded(documents, rows, row_numbers[len(queries.ids) :])
    sums = kernel_sums(
        torch.bmm(query_vectors, document_vectors.transpose(1, 2)), counts
    )  # (pairs, query terms, kernels)
    # Padding is known by the lengths: a query term that is not there has weight 0.
    features = (sums.clamp(min=FLOOR).log() * times[..., None]).sum(1) * SCALE * is_word.any(1, keepdim=True)
    return features @ (model.weight * model.active) + model.bias


def _padded(
    texts: Bags, rows: torch.Tensor, row_numbers: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Term vectors, counts and a mask of texts of different lengths: (texts, longest, dim), (texts, longest) twice."""
    lengths = texts.bounds.diff()
    longest = max(int(lengths.max()), 1)
    is_word = torch.arange(longest, device=lengths.device) < lengths[:, None]
    position = is_word.new_zeros(is_word.shape, dtype=torch.long)
    position[is_word] = row_numbers
    counts = rows.new_zeros(is_word.shape)
    counts[is_word] = texts.weights.to(rows.dtype)
    # Padding points at some row; its count of 0 keeps it out of every sum and its gradient at 0.
    return rows.index_select(0, position.flatten()).view(*position.shape, -1), counts, is_word


class _KernelSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, cosines: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(cosines, counts)
        sums = cosines.new_empty(*cosines.shape[:2], len(MEANS))
        for k, response in _responses(cosines):
            sums[..., k] = torch.bmm(response, counts[..., None])[..., 0]
        return sums

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        cosines, counts = ctx.saved_tensors
        (gradient,) = gradients  # (pairs, query terms, kernels)
        # d/dm sum_k g_k exp(-(m - mu_k)^2 / 2 s_k^2) = sum_k g_k mu_k / s_k^2 e_k - m sum_k g_k / s_k^2 e_k
        towards, away = torch.zeros_like(cosines), torch.zeros_like(cosines)
        for k, response in _responses(cosines):
            pull = gradient[..., k, None] / WIDTHS[k] ** 2
            away.addcmul_(response, pull)
            towards.addcmul_(response, pull * MEANS[k])
        return towards.addcmul_(cosines, away, value=-1).mul_(counts[:, None]), None


def _responses(cosines: torch.Tensor) -> Iterator[tuple[int, torch.Tensor]]:
    """Yield each kernel's number and its response to every cosine; a response is only valid until the next."""
    yield 0, (cosines - MEANS[0]).square_().mul_(-1 / (2 * WIDTHS[0] ** 2)).exp_()
    middle = (cosines - MEANS[_MIDDLE]).square_().mul_(-1 / (2 * _WIDTH**2)).exp_()
    yield _MIDDLE, middle
    slope = _STEP / _WIDTH**2
    for direction, kernels in ((1, range(_MIDDLE - 1, 0, -1)), (-1, range(_MIDDLE + 1, len(MEANS)))):
        # k(mu +- d) = k(mu) exp(+-d (m - mu) / s^2 - d^2 / 2 s^2); each further step has exp(-d^2 / s^2) less.
        ratio = cosines.sub(MEANS[_MIDDLE]).mul_(direction * slope).sub_(_STEP * slope / 2).exp_()
        response = middle
        for k in kernels:
            response = response * ratio
            yield k, response
            ratio.mul_(math.exp(-_STEP * slope))


def kernel_sums(cosines: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """Sum over a document's terms of count x kernel(cosine): (pairs, query terms, kernels)."""
    sums: torch.Tensor = _KernelSums.apply(cosines, counts)  # type: ignore[no-untyped-call]
    return sums
