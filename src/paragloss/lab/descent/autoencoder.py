"""How a bilingual autoencoder learns: Boltzmann machines layer by layer, then all layers at once. Knows nothing of
vocabularies: concepts are rows of sparse weights with one block of columns per language. Needs torch.

The visible units are a replicated softmax per language (Salakhutdinov and Hinton, "Replicated softmax", NIPS 2009);
the units above are binary. Contrastive divergence and starting values follow Hinton, "A practical guide to training
restricted Boltzmann machines", 2010.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from paragloss.lab.descent.bags import bags, pool
from paragloss.lab.descent.batches import Rows, batches, held_out
from paragloss.lab.descent.loop import Progress, descend

SPREAD = 0.01
#: Concepts kept apart for early stopping, at most.
_MOST_HELD_OUT = 1000
softplus = torch.nn.functional.softplus


class Corpus(NamedTuple):
    """Concepts as the words of their texts. A text has `words` words, and so has a concept read in all its languages
    at once: what a layer receives does not depend on how many there are."""

    blocks: list[sp.csr_matrix]  # (concepts, terms) per language; its own columns alone are not zero
    joint: sp.csr_matrix  # (concepts, terms)
    edges: list[int]  # where each language's columns begin, and where the last one's end
    present: npt.NDArray[np.bool_]  # (concepts, languages)
    words: int

    @classmethod
    def of(cls, texts: Sequence[sp.csr_matrix], owners: Sequence[Rows], concepts: int, words: int) -> Corpus:
        """Make a corpus of rows that sum to one, and the concept of each."""
        edges = np.cumsum([0, *(rows.shape[1] for rows in texts)]).tolist()
        blocks = []
        for rows, owner, start in zip(texts, owners, edges, strict=False):
            entries = rows.tocoo()
            at = (owner[entries.row], entries.col + start)
            blocks.append(sp.csr_matrix((words * entries.data, at), shape=(concepts, edges[-1]), dtype=np.float32))
        present = np.stack([np.diff(block.indptr) > 0 for block in blocks], axis=1)
        share = sp.diags_array(1 / np.maximum(present.sum(1), 1).astype(np.float32))
        return cls(blocks, sp.csr_matrix(share @ sum(blocks[1:], blocks[0])), edges, present, words)

    @property
    def terms(self) -> int:
        return self.edges[-1]

    def read(self, rows: Rows, langs: Rows) -> sp.csr_matrix:
        """Read concepts, each in one language; the other languages' columns are zero."""
        return sp.csr_matrix(
            sum(sp.diags_array((langs == i).astype(np.float32)) @ block[rows] for i, block in enumerate(self.blocks))
        )


class Machine(NamedTuple):
    """A restricted Boltzmann machine, which is also a layer of the network."""

    weight: torch.Tensor  # (visible, hidden)
    visible: torch.Tensor  # (visible,): the bias of what is seen
    hidden: torch.Tensor  # (hidden,): the bias of what is made of it


class Schedule(NamedTuple):
    """What all stages of the training share."""

    learning_rate: float
    batch: int
    seed: int
    progress: Callable[[Progress], None] | None = None


def stack(widths: Sequence[int], seed: int) -> list[Machine]:
    """Make machines on top of each other: widths[0] terms at the bottom, widths[-1] the size of the code.

    The bottom one starts small. What those above it see is around one half everywhere, of which small weights make one
    half everywhere again, and nothing is learned: theirs are four times as wide as Glorot and Bengio's (AISTATS 2010,
    for sigmoids), and their biases make one half of one half.
    """
    generator = torch.Generator().manual_seed(seed)
    machines = []
    for number, (wide, narrow) in enumerate(pairwise(widths)):
        weight, hidden = SPREAD * torch.randn(wide, narrow, generator=generator), torch.zeros(narrow)
        if number:
            edge = 4 * math.sqrt(6 / (wide + narrow))
            weight = edge * (2 * torch.rand(wide, narrow, generator=generator) - 1)
            hidden = -weight.sum(0) / 2
        machines.append(Machine(*(part.requires_grad_() for part in (weight, torch.zeros(wide), hidden))))
    return machines


def encode(machines: Sequence[Machine], texts: sp.csr_matrix) -> torch.Tensor:
    """Encode texts by eq. 3 of the XCNN paper."""
    rows = torch.sigmoid(pool(machines[0].weight, bags(texts)) + machines[0].hidden)
    for machine in machines[1:]:
        rows = torch.sigmoid(rows @ machine.weight + machine.hidden)
    return rows


def free_energy(machine: Machine, visible: torch.Tensor, driven: torch.Tensor) -> torch.Tensor:
    """Compute -v.c - sum over j of log(1 + exp(b_j + v.W_j)) for rows v, given v.c and v.W."""
    return -visible - softplus(driven + machine.hidden).sum(1)


def pretrain(machines: Sequence[Machine], corpus: Corpus, schedule: Schedule, *, epochs: int) -> None:
    """Train one machine after another by contrastive divergence with one step, each on the output of the one below.

    CD-1 is the gradient of the free energy of the data less that of the reconstruction, which is held fixed.
    """
    bottom = machines[0]
    with torch.no_grad():  # words as frequent as they are, before anything is known of a text
        frequency = np.asarray(corpus.joint.mean(axis=0)).ravel()
        bottom.visible.add_(torch.from_numpy(np.log(frequency + 1e-6).astype(np.float32)))

    def energy(texts: sp.csr_matrix) -> tuple[torch.Tensor, torch.Tensor]:
        entries = texts.tocoo()
        at, ids = (torch.from_numpy(part.astype(np.int64)) for part in (entries.row, entries.col))
        visible = torch.zeros(len(texts.indptr) - 1).index_add(
            0, at, bottom.visible[ids] * torch.from_numpy(entries.data)
        )
        driven = pool(bottom.weight, bags(texts))
        return free_energy(bottom, visible, driven), driven.detach()

    def divergence(rows: Rows) -> torch.Tensor:
        data, driven = energy(corpus.joint[rows])
        rewritten, _ = energy(_rewritten(bottom, driven, corpus, rows))
        return (data - rewritten).mean()

    everything = np.arange(corpus.joint.shape[0])
    _run(bottom._asdict(), divergence, everything, schedule, epochs=epochs)
    with torch.no_grad():
        inputs = encode([bottom], corpus.joint)
    for machine in machines[1:]:
        _run(machine._asdict(), _binary_divergence(machine, inputs), everything, schedule, epochs=epochs)
        with torch.no_grad():
            inputs = torch.sigmoid(inputs @ machine.weight + machine.hidden)


@torch.no_grad()
def _rewritten(machine: Machine, driven: torch.Tensor, corpus: Corpus, rows: Rows) -> sp.csr_matrix:
    """Draw a reconstruction of texts: `words` words in every language the concept has."""
    logits = torch.bernoulli(torch.sigmoid(driven + machine.hidden)) @ machine.weight.T + machine.visible
    drawn = [
        torch.multinomial(logits[:, start:stop].softmax(1), corpus.words, replacement=True) + start
        for start, stop in pairwise(corpus.edges)
    ]
    ids = torch.cat(drawn, 1).numpy()
    shares = corpus.present[rows] / np.maximum(corpus.present[rows].sum(1, keepdims=True), 1)
    weights = np.repeat(shares.astype(np.float32), corpus.words, axis=1)
    bounds = np.arange(0, ids.size + 1, ids.shape[1])
    return sp.csr_matrix((weights.ravel(), ids.ravel(), bounds), shape=(len(rows), corpus.terms))


def _binary_divergence(machine: Machine, inputs: torch.Tensor) -> Callable[[Rows], torch.Tensor]:
    def divergence(rows: Rows) -> torch.Tensor:
        data = inputs[torch.from_numpy(rows)]
        with torch.no_grad():
            hidden = torch.bernoulli(torch.sigmoid(data @ machine.weight + machine.hidden))
            rebuilt = torch.sigmoid(hidden @ machine.weight.T + machine.visible)
        first, second = (free_energy(machine, v @ machine.visible, v @ machine.weight) for v in (data, rebuilt))
        return (first - second).mean()

    return divergence


def tune(machines: Sequence[Machine], corpus: Corpus, schedule: Schedule, *, epochs: int, patience: int) -> None:
    """Learn to write every language of a concept from its text in one of them, drawn anew for every batch.

    Training stops when `patience` epochs brought no better prediction of the words of held-out concepts.
    """
    # The way down starts as the way up turned around, and then goes its own way.
    down = [machine.weight.detach().clone().requires_grad_() for machine in machines]
    parameters = {f"{name}{i}": part for i, machine in enumerate(machines) for name, part in machine._asdict().items()}
    parameters |= {f"down{i}": weight for i, weight in enumerate(down)}

    def loss(rows: Rows, langs: Rows) -> torch.Tensor:
        state = encode(machines, corpus.read(rows, langs))
        for machine, weight in zip(machines[:0:-1], down[:0:-1], strict=True):
            state = torch.sigmoid(state @ weight.T + machine.visible)
        return surprise(state @ down[0].T + machines[0].visible, corpus, rows)

    def drawn(rows: Rows) -> torch.Tensor:
        chances = torch.rand(len(rows), len(corpus.blocks)).numpy() * corpus.present[rows]
        return loss(rows, chances.argmax(1))

    tested, trained = held_out(corpus.joint.shape[0], _MOST_HELD_OUT, schedule.seed)
    alternating = _some_language(corpus.present[tested])
    validate = (lambda: -float(loss(tested, alternating))) if len(tested) else None
    _run(parameters, drawn, trained, schedule, epochs=epochs, patience=patience, validate=validate)


def surprise(logits: torch.Tensor, corpus: Corpus, rows: Rows) -> torch.Tensor:
    """Compute the mean cross-entropy between a concept's words in each language and a softmax over that language."""
    total = logits.new_zeros(())
    for i, block in enumerate(corpus.blocks):
        texts = block[rows].tocoo()
        at, ids = torch.from_numpy(texts.row.astype(np.int64)), torch.from_numpy(texts.col.astype(np.int64))
        observed = torch.from_numpy(texts.data).to(logits.dtype) / corpus.words
        visible = torch.from_numpy(corpus.present[rows, i])
        own = logits[:, corpus.edges[i] : corpus.edges[i + 1]]
        total = total + own.logsumexp(1)[visible].sum() - (observed * logits[at, ids]).sum()
    return total / max(int(corpus.present[rows].sum()), 1)


def _some_language(present: npt.NDArray[np.bool_]) -> Rows:
    """Choose a language of each concept, the same at every call: the first for one, the second for the next."""
    ranks = np.cumsum(present, axis=1) * present
    chosen_rank = np.arange(len(present)) % np.maximum(present.sum(1), 1) + 1
    return np.asarray((ranks == chosen_rank[:, None]).argmax(1), np.int64)


def _run(
    parameters: Mapping[str, torch.Tensor],
    loss: Callable[[Rows], torch.Tensor],
    rows: Rows,
    schedule: Schedule,
    **steps: Any,
) -> None:
    rate, max_size, seed, progress = schedule
    descend(parameters, batches(rows, max_size), loss, learning_rate=rate, seed=seed, progress=progress, **steps)
