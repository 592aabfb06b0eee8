"""K-NRM's steps on a graphics card: texts, word vectors and moments stay there, and every step has the same shape.

A small batch leaves a card waiting for the next order. Here a step asks nothing back (no lengths, no distinct terms),
so it is recorded once as a CUDA graph and replayed. The result is that of `lab.descent.kernel_networks` with
row-sparse Adam (`lab.descent.loop`), which stays the way for a processor. Needs torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch

from paragloss.encoders.kernel_features import FLOOR, MEANS, SCALE, WIDTHS
from paragloss.lab.descent.bags import Bags
from paragloss.lab.descent.loop import correct_rate, update_moments
from paragloss.types import Integers

#: Texts are padded to a multiple of this many terms, so that few shapes are met.
_ROUND = 32
#: Shapes that are recorded; batches of any other are computed step by step.
_MOST_GRAPHS = 24


class Corpus(NamedTuple):
    """Texts on the device, and their lengths on the host, where batches are drawn."""

    texts: Bags
    lengths: Integers

    @classmethod
    def of(cls, texts: Bags) -> Corpus:
        return cls(texts, texts.bounds.diff().cpu().numpy().astype(np.int64))


class _State(NamedTuple):
    """A parameter and its two moments; the table has a row more than there are terms, for what is not there."""

    value: torch.Tensor
    first: torch.Tensor
    second: torch.Tensor


class Steps:
    """Takes the steps of an epoch in place of the loop: see `descend`."""

    def __init__(
        self, parameters: dict[str, torch.Tensor], active: torch.Tensor, queries: Bags, documents: Bags, epsilon: float
    ) -> None:
        self.parameters, self.active, self.epsilon = parameters, active, epsilon
        self.queries, self.documents = Corpus.of(queries), Corpus.of(documents)
        device = active.device
        self.nobody = parameters["table"].shape[0]
        self.owner = torch.zeros(self.nobody + 1, dtype=torch.long, device=device)
        self.means = torch.tensor(MEANS, device=device)
        self.narrow = -1 / (2 * torch.tensor(WIDTHS, device=device) ** 2)
        self.rate = torch.zeros((), device=device)
        self.graphs: dict[tuple[int, int, int], _Recorded] = {}
        self.state: dict[str, _State] = {}

    def __call__(
        self, batches: Iterable[Integers], moments: Mapping[str, tuple[torch.Tensor, ...]], steps_done: int, rate: float
    ) -> Iterator[torch.Tensor]:
        """The loss of each step; `batches` are numbers of queries, better and worse documents, on the host."""
        with torch.no_grad():
            self._take_in(moments)
        for number, chosen in enumerate(batches, steps_done + 1):
            self.rate.fill_(correct_rate(rate, number))
            widths = (_padded(self.queries.lengths[chosen[0]]), _padded(self.documents.lengths[chosen[1:]]))
            yield self._step(torch.from_numpy(np.ascontiguousarray(chosen)), widths)
        with torch.no_grad():
            self._hand_back(moments)

    def _take_in(self, moments: Mapping[str, tuple[torch.Tensor, ...]]) -> None:
        for name, value in self.parameters.items():
            parts = (value.detach(), *moments[name])
            if name == "table":
                parts = tuple(torch.cat([part, part.new_zeros(1, part.shape[1])]) for part in parts)
            if name not in self.state:
                self.state[name] = _State(*(part.clone() for part in parts))
            else:  # recorded steps go on using the same memory
                for buffer, part in zip(self.state[name], parts, strict=True):
                    buffer.copy_(part)

    def _hand_back(self, moments: Mapping[str, tuple[torch.Tensor, ...]]) -> None:
        for name, value in self.parameters.items():
            for buffer, part in zip(self.state[name], (value.detach(), *moments[name]), strict=True):
                part.copy_(buffer[:-1] if name == "table" else buffer)

    def _step(self, chosen: torch.Tensor, widths: tuple[int, int]) -> torch.Tensor:
        device = self.active.device
        key = (chosen.shape[1], *widths)
        if device.type != "cuda" or (key not in self.graphs and len(self.graphs) >= _MOST_GRAPHS):
            return self.learn(chosen.to(device), widths)
        if key not in self.graphs:
            self.graphs[key] = _Recorded(self, chosen.to(device), widths)
            return self.graphs[key].loss.clone()  # the first batch was learned while warming up
        return self.graphs[key].replay(chosen)

    def learn(self, chosen: torch.Tensor, widths: tuple[int, int]) -> torch.Tensor:
        query_ids, query_counts, _ = self._read(self.queries.texts, chosen[0], widths[0])
        document_ids, document_counts, is_term = self._read(self.documents.texts, chosen[1:].flatten(), widths[1])
        ids = torch.cat([query_ids.flatten(), document_ids.flatten()])
        rows = self.state["table"].value[ids].requires_grad_()
        weight, bias = (self.state[name].value.detach().requires_grad_() for name in ("weight", "bias"))
        with torch.enable_grad():
            unit = torch.nn.functional.normalize(rows, dim=1, eps=1e-12)
            left, right = (
                unit[: query_ids.numel()].view(*query_ids.shape, -1),
                unit[query_ids.numel() :].view(2, *_half(document_ids), -1),
            )
            cosines = left @ right.transpose(2, 3)  # (2, batch, query terms, document terms)
            sums = _Pooled.apply(cosines, document_counts.view(2, *_half(document_ids)), self.means, self.narrow)  # type: ignore[no-untyped-call]
            activations = (sums.clamp(min=FLOOR).log() * query_counts[..., None]).sum(2) * SCALE
            activations = activations * is_term.any(1).view(2, -1, 1)
            better, worse = (activations @ (weight * self.active) + bias).tanh()
            loss = (1 - better + worse).clamp(min=0).mean()
        gradients = torch.autograd.grad(loss, (rows, weight, bias))
        with torch.no_grad():
            self._update_rows(ids, rows.detach(), gradients[0])
            for name, gradient in zip(("weight", "bias"), gradients[1:], strict=True):
                buffers = self.state[name]
                update_moments(buffers.first, buffers.second, gradient)
                buffers.value.sub_(self.rate * buffers.first / (buffers.second.sqrt() + self.epsilon))
        loss_value: torch.Tensor = loss.detach()
        return loss_value

    def _read(self, texts: Bags, chosen: torch.Tensor, width: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Term ids, counts and a mask of some texts, padded with a term that nobody has: (texts, width) each."""
        starts, stops = texts.bounds[chosen].long()[:, None], texts.bounds[chosen + 1].long()[:, None]
        positions = starts + torch.arange(width, device=starts.device)
        is_term = positions < stops
        positions = positions.clamp(max=max(len(texts.ids) - 1, 0))
        return (
            torch.where(is_term, texts.ids[positions].long(), self.nobody),
            texts.weights[positions] * is_term,
            is_term,
        )

    def _update_rows(self, ids: torch.Tensor, rows: torch.Tensor, gradient: torch.Tensor) -> None:
        """Adam for the rows that were used. One of a term's places stands for all of them: its gradients are added
        up there, and then every place writes the same."""
        self.owner[ids] = torch.arange(len(ids), device=ids.device)
        representative = self.owner[ids]
        summed_gradient = torch.zeros_like(gradient).index_add_(0, representative, gradient)[representative]
        _, first, second = self.state["table"]
        m, v = update_moments(first[ids], second[ids], summed_gradient)
        first.index_copy_(0, ids, m)
        second.index_copy_(0, ids, v)
        self.state["table"].value.index_copy_(0, ids, rows - self.rate * m / (v.sqrt_() + self.epsilon))


class _Recorded:
    """One shape of step as a CUDA graph; making it takes the first one."""

    def __init__(self, steps: Steps, chosen: torch.Tensor, widths: tuple[int, int]) -> None:
        self.chosen = chosen
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.loss = steps.learn(chosen, widths).clone()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss_value = steps.learn(self.chosen, widths)

    def replay(self, chosen: torch.Tensor) -> torch.Tensor:
        self.chosen.copy_(chosen, non_blocking=True)
        self.graph.replay()
        return self.loss_value.clone()


class _Pooled(torch.autograd.Function):
    """Sums over a document's terms of count x kernel(cosine), all kernels at once: (..., query terms, kernels)."""

    @staticmethod
    def forward(
        ctx: Any, cosines: torch.Tensor, counts: torch.Tensor, means: torch.Tensor, narrow: torch.Tensor
    ) -> torch.Tensor:
        away = cosines[..., None] - means
        activations = (away.square() * narrow).exp_() * counts[..., None, :, None]
        ctx.save_for_backward(away, activations, narrow)
        return activations.sum(-2)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        away, activations, narrow = ctx.saved_tensors
        return (activations * away * (2 * narrow * gradients[0])[..., None, :]).sum(-1), None, None, None


def _half(texts: torch.Tensor) -> tuple[int, int]:
    return texts.shape[0] // 2, texts.shape[1]


def _padded(lengths: Integers) -> int:
    """The longest of some texts, rounded up: by eights while it is short, as queries are."""
    longest = max(int(lengths.max()), 1)
    step = 8 if longest <= _ROUND else _ROUND
    return -(-longest // step) * step
