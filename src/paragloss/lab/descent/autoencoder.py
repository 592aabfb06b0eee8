"""Train a bilingual autoencoder: Boltzmann machines layer by layer, then all layers at once. Needs torch.

Concepts are rows of sparse weights with one block of columns per language. The visible units are a replicated softmax
per language (Salakhutdinov and Hinton, "Replicated softmax", NIPS 2009); the units above are binary. Contrastive
divergence and starting values follow Hinton, "A practical guide to training restricted Boltzmann machines", 2010.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from paragloss.lab.descent.bags import bags, pool
from paragloss.lab.descent.batches import Rows, batches, held_out
from paragloss.lab.descent.loop import TrainingSettings, descend

#: Standard deviation of the weights that the bottom machine starts from.
INITIAL_DEVIATION = 0.01
#: Concepts held out for early stopping, at most.
MAX_HELD_OUT = 1000
#: Added to the frequency of terms before its logarithm is taken.
MIN_FREQUENCY = 1e-6
softplus = torch.nn.functional.softplus


class Corpus(NamedTuple):
    """Concepts as bags of words in several languages.

    Every text counts as if it had the same number of words, and so does a concept read in all its languages at once, so
    that what a layer receives does not depend on how many languages there are.
    """

    blocks: list[sp.csr_matrix]  # (concepts, terms) per language; zero outside the columns of the language
    joint: sp.csr_matrix  # (concepts, terms) the mean of a concept's languages
    bounds: list[int]  # where each language's columns begin, and where the last one's end
    has_text: npt.NDArray[np.bool_]  # (concepts, languages) which concept has a text in which language
    words_per_text: int

    @classmethod
    def from_texts(
        cls, texts: Sequence[sp.csr_matrix], owners: Sequence[Rows], concepts: int, words_per_text: int
    ) -> Corpus:
        """Arrange the texts of several languages by concept, with the terms of all languages side by side.

        :param texts: texts of each language, (texts, terms); rows sum to one
        :param owners: the concept of each text, (texts,) for each language
        :param concepts: number of concepts
        :param words_per_text: how many words every text counts as
        """
        bounds = np.cumsum([0, *(rows.shape[1] for rows in texts)]).tolist()
        shape = (concepts, bounds[-1])
        blocks = []
        for rows, concept_of_text, first_column in zip(texts, owners, bounds[:-1], strict=True):
            blocks.append(_place_texts(words_per_text * rows, concept_of_text, first_column, shape))
        has_text = np.stack([np.diff(block.indptr) > 0 for block in blocks], axis=1)  # (concepts, languages)
        return cls(blocks, _average_texts(blocks, has_text), bounds, has_text, words_per_text)

    @property
    def terms(self) -> int:
        """Number of terms of all languages."""
        return self.bounds[-1]

    def read(self, rows: Rows, langs: Rows) -> sp.csr_matrix:
        """Return concepts, each in one language only: (rows, terms).

        :param rows: concept numbers
        :param langs: for each of them the number of the language
        """
        texts = sp.csr_matrix((len(rows), self.terms), dtype=np.float32)
        for lang, block in enumerate(self.blocks):
            is_chosen = sp.diags_array((langs == lang).astype(np.float32))
            texts = texts + is_chosen @ block[rows]
        return sp.csr_matrix(texts)


def _place_texts(
    counts: sp.csr_matrix, concept_of_text: Rows, first_column: int, shape: tuple[int, int]
) -> sp.csr_matrix:
    """Move the texts of one language to the rows of their concepts and to the columns of the language.

    :param counts: (texts, terms of the language)
    :param concept_of_text: (texts,)
    :param first_column: where the columns of the language begin
    :param shape: of the result, (concepts, terms of all languages)
    """
    entries = counts.tocoo()
    positions = (concept_of_text[entries.row], entries.col + first_column)
    return sp.csr_matrix((entries.data, positions), shape=shape, dtype=np.float32)


def _average_texts(blocks: Sequence[sp.csr_matrix], has_text: npt.NDArray[np.bool_]) -> sp.csr_matrix:
    """Return the mean of the languages in which a concept has a text: (concepts, terms), 0 if there is none.

    :param blocks: (concepts, terms) of each language
    :param has_text: (concepts, languages)
    """
    total = blocks[0]
    for block in blocks[1:]:
        total = total + block
    languages_per_concept = np.maximum(has_text.sum(1), 1).astype(np.float32)
    return sp.csr_matrix(sp.diags_array(1 / languages_per_concept) @ total)


class Machine(NamedTuple):
    """A restricted Boltzmann machine, which is also a layer of the network."""

    weight: torch.Tensor  # (visible, hidden)
    visible_bias: torch.Tensor  # (visible,)
    hidden_bias: torch.Tensor  # (hidden,)


def make_machines(widths: Sequence[int], seed: int) -> list[Machine]:
    """Make machines with random weights, one on top of the other.

    The bottom one starts with small weights. The inputs of those above are all about one half: with small weights
    their outputs would be, too, and nothing would be learned. So their weights are four times as wide as those of
    Glorot and Bengio (AISTATS 2010, for sigmoids), and their biases map inputs of one half to outputs of one half.

    :param widths: number of terms, then the width of each layer, the last one that of the code
    """
    generator = torch.Generator().manual_seed(seed)
    machines: list[Machine] = []
    for n_visible, n_hidden in pairwise(widths):
        # Drawn for every layer, also where it is not used: a seed gives the same machines as it always has.
        small_weight = INITIAL_DEVIATION * torch.randn(n_visible, n_hidden, generator=generator)
        if not machines:
            weight, hidden_bias = small_weight, torch.zeros(n_hidden)
        else:
            bound = 4 * math.sqrt(6 / (n_visible + n_hidden))
            weight = bound * (2 * torch.rand(n_visible, n_hidden, generator=generator) - 1)
            hidden_bias = -weight.sum(0) / 2
        machines.append(Machine(weight, torch.zeros(n_visible), hidden_bias))
    for parameter in chain.from_iterable(machines):
        parameter.requires_grad_()
    return machines


def encode(machines: Sequence[Machine], texts: sp.csr_matrix) -> torch.Tensor:
    """Compute the output of the top layer for texts, (texts, hidden), by eq. 3 of the XCNN paper."""
    rows = torch.sigmoid(pool(machines[0].weight, bags(texts)) + machines[0].hidden_bias)
    for machine in machines[1:]:
        rows = torch.sigmoid(rows @ machine.weight + machine.hidden_bias)
    return rows


def free_energy(machine: Machine, visible: torch.Tensor, products: torch.Tensor) -> torch.Tensor:
    """Compute the free energy of visible states v: -v.c - sum over j of log(1 + exp(b_j + v.W_j)), (states,).

    :param visible: (states,) v.c
    :param products: (states, hidden) v.W
    """
    return -visible - softplus(products + machine.hidden_bias).sum(1)


def pretrain(machines: Sequence[Machine], corpus: Corpus, training: TrainingSettings, *, batch_size: int) -> None:
    """Train one machine after another by contrastive divergence, each on the output of the one below, in place.

    One step of it (CD-1) is the gradient of the free energy of the data minus that of a fixed reconstruction.

    :param machines: the machines, the bottom one first
    :param corpus: the concepts to learn from
    :param training: epochs, learning rate and other settings of each machine's training
    :param batch_size: concepts in a batch
    """
    bottom, *upper_machines = machines
    draw_batches = batches(np.arange(corpus.joint.shape[0]), batch_size)
    _set_frequency_biases(bottom, corpus)
    descend(bottom._asdict(), draw_batches, partial(_compute_text_divergence, bottom, corpus), training)
    with torch.no_grad():
        inputs = encode([bottom], corpus.joint)
    for machine in upper_machines:
        descend(machine._asdict(), draw_batches, partial(_compute_binary_divergence, machine, inputs), training)
        with torch.no_grad():
            inputs = torch.sigmoid(inputs @ machine.weight + machine.hidden_bias)


@torch.no_grad()
def _set_frequency_biases(bottom: Machine, corpus: Corpus) -> None:
    """Make the bottom machine, in place, predict terms by their frequency before it learns."""
    frequency = np.asarray(corpus.joint.mean(axis=0)).ravel()
    bottom.visible_bias.add_(torch.from_numpy(np.log(frequency + MIN_FREQUENCY).astype(np.float32)))


def _compute_text_divergence(machine: Machine, corpus: Corpus, rows: Rows) -> torch.Tensor:
    """Compute the contrastive divergence of the bottom machine for some concepts, a scalar.

    :param rows: concept numbers
    """
    energy, products = _compute_text_energy(machine, corpus.joint[rows])
    reconstruction = _draw_reconstruction(machine, products, corpus, rows)
    reconstruction_energy, _ = _compute_text_energy(machine, reconstruction)
    return (energy - reconstruction_energy).mean()


def _compute_text_energy(machine: Machine, texts: sp.csr_matrix) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the free energy of texts, and their products with the weights.

    :param texts: (texts, terms)
    :return: (texts,) energies, and (texts, hidden) products, which have no gradient
    """
    entries = texts.tocoo()
    text_of_entry = torch.from_numpy(entries.row.astype(np.int64))
    term_of_entry = torch.from_numpy(entries.col.astype(np.int64))
    contributions = machine.visible_bias[term_of_entry] * torch.from_numpy(entries.data)
    visible = torch.zeros(texts.shape[0]).index_add(0, text_of_entry, contributions)  # (texts,)
    products = pool(machine.weight, bags(texts))
    return free_energy(machine, visible, products), products.detach()


@torch.no_grad()
def _draw_reconstruction(machine: Machine, products: torch.Tensor, corpus: Corpus, rows: Rows) -> sp.csr_matrix:
    """Reconstruct concepts: draw random states of their hidden units, and random texts from those.

    :param machine: the bottom machine, whose visible units are terms
    :param products: (rows, hidden) of the concepts with the weights of the machine
    :param rows: concept numbers
    :return: (rows, terms) the mean of the texts in all languages that a concept has
    """
    hidden_states = torch.bernoulli(torch.sigmoid(products + machine.hidden_bias))  # (rows, hidden) of 0 and 1
    logits = hidden_states @ machine.weight.T + machine.visible_bias  # (rows, terms)
    return _average_languages(_draw_terms(logits, corpus), corpus, rows)


def _draw_terms(logits: torch.Tensor, corpus: Corpus) -> npt.NDArray[np.int64]:
    """Draw a text of `corpus.words_per_text` terms in each language, with replacement.

    :param logits: (rows, terms) log-likelihoods of the terms, up to a number for each row and language
    :return: (rows, languages x words per text) the terms drawn, one language after the other
    """
    drawn_by_lang = []
    for first_term, end in pairwise(corpus.bounds):
        probabilities = logits[:, first_term:end].softmax(1)
        drawn_by_lang.append(torch.multinomial(probabilities, corpus.words_per_text, replacement=True) + first_term)
    return np.asarray(torch.cat(drawn_by_lang, 1).numpy(), np.int64)


def _average_languages(term_ids: npt.NDArray[np.int64], corpus: Corpus, rows: Rows) -> sp.csr_matrix:
    """Return the mean of texts of a concept in several languages, (rows, terms); a language that it lacks counts 0.

    :param term_ids: (rows, languages x words per text) as `_draw_terms` returns
    :param rows: concept numbers
    """
    has_text = corpus.has_text[rows]  # (rows, languages)
    lang_weights = has_text / np.maximum(has_text.sum(1, keepdims=True), 1)
    word_weights = np.repeat(lang_weights.astype(np.float32), corpus.words_per_text, axis=1)  # as term_ids
    row_bounds = np.arange(0, term_ids.size + 1, term_ids.shape[1])
    return sp.csr_matrix((word_weights.ravel(), term_ids.ravel(), row_bounds), shape=(len(rows), corpus.terms))


def _compute_binary_divergence(machine: Machine, inputs: torch.Tensor, rows: Rows) -> torch.Tensor:
    """Compute the contrastive divergence of a machine with binary visible units for some concepts.

    It is the mean free energy of the inputs minus that of their reconstructions. Both energies have a gradient with
    respect to the machine's parameters; the reconstructions themselves have none.

    :param inputs: (concepts, visible) probabilities of the visible units
    :param rows: concept numbers
    """
    batch_inputs = inputs[torch.from_numpy(rows)]
    reconstruction = _reconstruct_binary(machine, batch_inputs)
    return (_compute_binary_energy(machine, batch_inputs) - _compute_binary_energy(machine, reconstruction)).mean()


@torch.no_grad()
def _reconstruct_binary(machine: Machine, visible: torch.Tensor) -> torch.Tensor:
    """Draw hidden units at random from visible ones, and return the probabilities of the visible units given those.

    :param visible: (rows, visible)
    """
    hidden = torch.bernoulli(torch.sigmoid(visible @ machine.weight + machine.hidden_bias))
    return torch.sigmoid(hidden @ machine.weight.T + machine.visible_bias)


def _compute_binary_energy(machine: Machine, visible: torch.Tensor) -> torch.Tensor:
    """Compute the free energy of visible units, (rows, visible), for each row."""
    return free_energy(machine, visible @ machine.visible_bias, visible @ machine.weight)


def train_all_layers(
    machines: Sequence[Machine], corpus: Corpus, training: TrainingSettings, *, batch_size: int
) -> None:
    """Train all layers together, in place, to predict a concept's texts in all languages from its text in one.

    For each concept of a batch a random one of its languages is read. Some concepts are held out to validate every
    epoch, so that training can stop early.

    :param machines: the pretrained layers, the bottom one first
    :param corpus: the concepts to learn from
    :param training: epochs, learning rate and other settings of the optimizer
    :param batch_size: concepts in a batch
    """
    # The decoder starts from the weights of the encoder; the two are then trained independently.
    decoder = [machine.weight.detach().clone().requires_grad_() for machine in machines]
    loss = _TranslationLoss(machines, decoder, corpus)
    held_out_rows, training_rows = held_out(corpus.joint.shape[0], MAX_HELD_OUT, training.seed)
    validate = partial(loss.measure, held_out_rows) if len(held_out_rows) else None
    draw_batches = batches(training_rows, batch_size)
    descend(loss.name_parameters(), draw_batches, loss.compute_for_random_languages, training, validate)


class _TranslationLoss(NamedTuple):
    """How badly the layers predict the texts of a concept in all languages from that in one."""

    machines: Sequence[Machine]
    decoder: Sequence[torch.Tensor]  # starts as the transposed encoder; the two are then trained independently
    corpus: Corpus

    def name_parameters(self) -> dict[str, torch.Tensor]:
        """Return the parameters of all layers by name: those of the encoder, and the weights of the decoder."""
        parameters: dict[str, torch.Tensor] = {}
        for i, (machine, decoder_weight) in enumerate(zip(self.machines, self.decoder, strict=True)):
            parameters |= {f"{name}{i}": value for name, value in machine._asdict().items()}
            parameters[f"down{i}"] = decoder_weight
        return parameters

    def compute(self, rows: Rows, langs: Rows) -> torch.Tensor:
        """Compute the cross-entropy for some concepts, each read in one language.

        :param rows: concept numbers
        :param langs: for each of them the number of the language
        """
        state = encode(self.machines, self.corpus.read(rows, langs))  # (rows, width of the code)
        layers = list(zip(self.machines, self.decoder, strict=True))
        for machine, weight in reversed(layers[1:]):  # from the code down to the bottom layer
            state = torch.sigmoid(state @ weight.T + machine.visible_bias)
        bottom, bottom_weight = layers[0]
        logits = state @ bottom_weight.T + bottom.visible_bias
        return cross_entropy(logits, self.corpus, rows)

    def compute_for_random_languages(self, rows: Rows) -> torch.Tensor:
        """Compute the cross-entropy for some concepts, each read in a random one of its languages."""
        random_numbers = torch.rand(len(rows), len(self.corpus.blocks)).numpy()
        priorities = random_numbers * self.corpus.has_text[rows]  # 0 for a language that the concept lacks
        return self.compute(rows, priorities.argmax(1))

    def measure(self, rows: Rows) -> float:
        """Measure the prediction of held-out concepts, higher is better; they are read in the same languages always."""
        return -float(self.compute(rows, _alternate_languages(self.corpus.has_text[rows])))


def cross_entropy(logits: torch.Tensor, corpus: Corpus, rows: Rows) -> torch.Tensor:
    """Compute the mean cross-entropy between a concept's words in each language and a softmax over that language.

    The mean is over all texts of the concepts. The cross-entropy of a text is log(sum over terms of exp(logit)), its
    normalizer, minus the sum over its words of share x logit.

    :param logits: (rows, terms) a log-likelihood of each term of all languages, up to a number per row and language
    :param rows: concept numbers
    """
    total = logits.new_zeros(())
    for lang, block in enumerate(corpus.blocks):
        is_present = torch.from_numpy(corpus.has_text[rows, lang])  # (rows,)
        lang_logits = logits[:, corpus.bounds[lang] : corpus.bounds[lang + 1]]
        normalizers = lang_logits.logsumexp(1)  # (rows,)
        total = total + normalizers[is_present].sum()
        total = total - _sum_word_logits(logits, block[rows], corpus.words_per_text)
    n_texts = int(corpus.has_text[rows].sum())
    return total / max(n_texts, 1)


def _sum_word_logits(logits: torch.Tensor, texts: sp.csr_matrix, words_per_text: int) -> torch.Tensor:
    """Add up share x logit over all words of some texts.

    :param logits: (texts, terms)
    :param texts: (texts, terms) counts of the words, which add up to `words_per_text` in each text
    """
    entries = texts.tocoo()
    text_of_word = torch.from_numpy(entries.row.astype(np.int64))
    term_of_word = torch.from_numpy(entries.col.astype(np.int64))
    shares = torch.from_numpy(entries.data).to(logits.dtype) / words_per_text
    return (shares * logits[text_of_word, term_of_word]).sum()


def _alternate_languages(has_text: npt.NDArray[np.bool_]) -> Rows:
    """Choose a language of each concept, always the same: its first, second, ... language in turn: (concepts,).

    :param has_text: (concepts, languages)
    """
    numbers = np.cumsum(has_text, axis=1) * has_text  # of the languages that a concept has, from 1; 0 for others
    n_languages = np.maximum(has_text.sum(1), 1)
    chosen_number = np.arange(len(has_text)) % n_languages + 1
    return np.asarray((numbers == chosen_number[:, None]).argmax(1), np.int64)
