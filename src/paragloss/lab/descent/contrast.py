"""Train term vectors so that a text is closer to its counterpart than to other texts, for XCNN and S2Net. Needs torch.

Texts are rows of sparse weights over terms, and terms are rows of one table, whatever their language.

Cosine difference: eqs 7 to 9 of the XCNN paper. Logistic loss on the difference: Yih et al., "Learning
discriminative projections for text similarity measures", CoNLL 2011, eq. 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from paragloss.lab.descent.bags import Bags, sums, take
from paragloss.lab.descent.batches import Rows, batches, held_out
from paragloss.lab.descent.conjugate import make_stepping_loss, minimise
from paragloss.lab.descent.loop import History, TrainingSettings, descend
from paragloss.lab.learning.counting import TextPairs

#: Pairs held out for early stopping, at most.
MAX_HELD_OUT = 2000
#: How far conjugate gradients go for one batch, as a part of the length of the parameters.
REACH = 0.1
#: Rows of the table followed by the other parameters -> the vectors of those terms.
TermVectors = Callable[[Sequence[Tensor]], Tensor]
#: Vectors of texts and of their counterparts, (pairs, dim) each -> a scalar.
PairLoss = Callable[[Tensor, Tensor], Tensor]


def learn(
    parameters: Mapping[str, Tensor],
    term_vectors: TermVectors,
    pairs: TextPairs,
    compute_loss: PairLoss,
    training: TrainingSettings,
    *,
    batch_size: int,
) -> History:
    """Train `parameters`, the table first, in place, until texts are closer to their counterparts than to others.

    Training stops when `patience` epochs brought no better mean of cos(pair) - cos(not a pair) on held-out pairs.

    :param parameters: the table of the terms, (terms, width), and whatever else `term_vectors` needs, by name
    :param term_vectors: computes the vectors of terms from their rows of the table and the other parameters
    :param pairs: the texts to learn from, with their counterparts
    :param compute_loss: such as `contrast` with its settings
    :param training: its optimizer may also be "cg", for conjugate gradients, which choose the length of their steps
    :param batch_size: number of pairs in a batch
    """
    held_out_rows, training_rows = held_out(pairs.left.shape[0], MAX_HELD_OUT, training.seed)
    losses = _PairLosses(parameters, term_vectors, pairs, compute_loss)
    validate = partial(losses.measure_margin, held_out_rows) if len(held_out_rows) else None
    draw_batches = batches(training_rows, batch_size)
    if training.optimizer != "cg":
        return descend(parameters, draw_batches, losses.compute, training, validate)
    # A plain gradient step of rate 1 on this loss goes where conjugate gradients lead.
    single_steps = training._replace(optimizer="sgd", learning_rate=1.0)
    return descend(parameters, draw_batches, losses.compute_for_conjugate_gradients, single_steps, validate)


@dataclass(frozen=True)
class _PairLosses:
    """The losses of pairs, given by their numbers, by the current parameters."""

    parameters: Mapping[str, Tensor]  # the table first
    term_vectors: TermVectors
    pairs: TextPairs
    compute_loss: PairLoss

    def compute(self, rows: Rows) -> Tensor:
        """Compute the loss of some pairs."""
        texts, parts = self._gather(rows)
        return self._compute_with_parts(rows, texts, parts)

    def compute_for_conjugate_gradients(self, rows: Rows) -> Tensor:
        """Compute the loss of some pairs, with the gradient of `make_stepping_loss`."""
        texts, parts = self._gather(rows)
        return make_stepping_loss(partial(self._compute_with_parts, rows, texts), parts, partial(minimise, reach=REACH))

    def measure_margin(self, rows: Rows) -> float:
        """Compute the mean of cos(pair) - cos(not a pair) over some pairs."""
        texts, parts = self._gather(rows)
        return -float(contrast(*self._encode(rows, texts, parts), loss="difference"))

    def _gather(self, rows: Rows) -> tuple[Bags, list[Tensor]]:
        """Gather the texts of some pairs, and the parameters that their vectors depend on.

        :return: the texts, see `_gather_texts`; and the rows of the table for their terms with the other parameters
        """
        texts, terms = _gather_texts(self.pairs, rows)
        table, *other_parameters = self.parameters.values()
        return texts, [take(table, terms), *other_parameters]

    def _compute_with_parts(self, rows: Rows, texts: Bags, parts: Sequence[Tensor]) -> Tensor:
        """Compute the loss of some pairs with given values of what `_gather` returns."""
        return self.compute_loss(*self._encode(rows, texts, parts))

    def _encode(self, rows: Rows, texts: Bags, parts: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Return the vectors of the left and the right texts of some pairs, (rows, dim) each.

        :param texts: left texts, then right ones unless these are fixed vectors
        :param parts: the rows of the table for the terms of the texts, and the other parameters
        """
        term_vectors = self.term_vectors(parts)
        summed = sums(term_vectors, texts)
        if sp.issparse(self.pairs.right):
            return summed[: len(rows)], summed[len(rows) :]
        return summed, torch.from_numpy(self.pairs.right[rows]).to(term_vectors.dtype)


def contrast(left: Tensor, right: Tensor, *, loss: str, scale: float = 10.0, negatives: int = 1) -> Tensor:
    """Compute the mean over rows and negatives of the loss of cos(left_i, right_i) - cos(left_i, right_j).

    The negatives of row i are the counterparts of the next rows, i + 1, i + 2, ...: batches come shuffled, so that
    is a random choice that never hits the positive. A row of zeros has cosine 0 with everything, and no gradient.

    :param left: (pairs, dim) vectors of texts
    :param right: (pairs, dim) vectors of their counterparts
    :param loss: "difference", which is minus the difference, or "logistic", log(1 + exp(-scale x difference))
    :param scale: of the logistic loss
    :param negatives: how many each row is compared with; fewer if there are not so many other rows
    """
    unit_left = torch.nn.functional.normalize(left, dim=1, eps=1e-12)
    unit_right = torch.nn.functional.normalize(right, dim=1, eps=1e-12)
    positive_cosines = (unit_left * unit_right).sum(1)  # (pairs,)
    n_negatives = min(negatives, max(len(left) - 1, 1))
    losses = []  # of each negative, (pairs,)
    for shift in range(1, n_negatives + 1):
        negative_cosines = (unit_left * unit_right.roll(-shift, 0)).sum(1)
        difference = positive_cosines - negative_cosines
        if loss == "difference":
            losses.append(-difference)
        else:
            losses.append(torch.nn.functional.softplus(-scale * difference))
    return torch.stack(losses).mean()


def _gather_texts(pairs: TextPairs, rows: Rows) -> tuple[Bags, Tensor]:
    """Gather the texts of some pairs, left ones before right ones; right sides that are vectors are no texts.

    :param rows: numbers of the pairs
    :return: the texts, and the numbers of the distinct terms that occur in them; a term in a text is given by its
        position among these
    """
    texts = pairs.left[rows]
    if sp.issparse(pairs.right):
        texts = sp.vstack([texts, pairs.right[rows]], format="csr")
    distinct_terms, positions = np.unique(texts.indices, return_inverse=True)
    ids = torch.from_numpy(positions.astype(np.int64))
    bounds = torch.from_numpy(texts.indptr.astype(np.int64))
    weights = torch.from_numpy(texts.data)
    return Bags(ids, bounds, weights), torch.from_numpy(distinct_terms.astype(np.int64))
