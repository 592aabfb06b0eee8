"""Encode the terms of texts as vectors by trainable networks ("towers"), and serve the trained ones. Needs torch.

There are three kinds, each with its own word vectors: average pooling, a convolution with max pooling (Shen et al.,
CIKM 2014) and a bidirectional LSTM (Palangi et al., TASLP 2016). Padding never counts: it is masked out of the
maximum, and the LSTM stops at a text's own end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from paragloss import artefacts
from paragloss.errors import LanguageError, ModelError
from paragloss.lab.descent.bags import Bags, bags, mask_terms, pool, select, take
from paragloss.types import Floats
from paragloss.vocabulary import Vocabulary

#: Settings of Liu et al., section 5.1.
WINDOW, FILTERS, UNITS, DROPOUT = 3, 300, 64, 0.4
#: Terms of a text that a convolution or an LSTM reads; average pooling reads all.
LONGEST = 200
#: Texts that are encoded at a time.
ENCODING_BATCH = 256


class LanguageTower(torch.nn.Module):
    """A network that encodes texts of one language as rows as wide as its word vectors."""

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(table)  # (terms, width)

    def forward(self, texts: Bags) -> torch.Tensor:
        """Encode texts: (texts, width)."""
        raise NotImplementedError


class Average(LanguageTower):
    """tanh of the mean word vector."""

    def forward(self, texts: Bags) -> torch.Tensor:
        """Return the vectors of texts, (texts, width)."""
        return pool(self.table, texts).tanh()


class Convolution(LanguageTower):
    """Filters over windows of three words, their maximum over the text, and a dense layer; tanh after each."""

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__(table)
        width = table.shape[1]
        self.filters = torch.nn.Conv1d(width, FILTERS, WINDOW, padding=WINDOW // 2)
        self.dense = torch.nn.Linear(FILTERS, width)

    def forward(self, texts: Bags) -> torch.Tensor:
        """Return the vectors of texts, (texts, width)."""
        words, is_word = _pad_words(self.table, texts, self.training)  # (texts, positions, width), (texts, positions)
        responses = self.filters(words.transpose(1, 2)).tanh()  # (texts, filters, positions)
        best = responses.masked_fill(~is_word[:, None], -torch.inf).amax(2)  # (texts, filters)
        is_empty = ~is_word.any(1, keepdim=True)  # (texts, 1)
        rows: torch.Tensor = self.dense(best.masked_fill(is_empty, 0.0)).tanh()
        return rows.masked_fill(is_empty, 0.0)


class Recurrent(LanguageTower):
    """A bidirectional LSTM; the state of each direction once it has read the whole text, and a dense layer."""

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__(table)
        width = table.shape[1]
        self.cells = torch.nn.LSTM(width, UNITS, batch_first=True, bidirectional=True)
        self.dense = torch.nn.Linear(2 * UNITS, width)

    def forward(self, texts: Bags) -> torch.Tensor:
        """Return the vectors of texts, (texts, width)."""
        words, is_word = _pad_words(self.table, texts, self.training)  # (texts, positions, width), (texts, positions)
        lengths = is_word.sum(1)  # (texts,)
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            words, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )
        _, (last_states, _) = self.cells(packed)
        both_directions = torch.cat([last_states[0], last_states[1]], 1)  # (texts, 2 units)
        rows: torch.Tensor = self.dense(both_directions).tanh()
        return rows.masked_fill(lengths[:, None] == 0, 0.0)


KINDS: Mapping[str, type[LanguageTower]] = {"average": Average, "cnn": Convolution, "lstm": Recurrent}


def _pad_words(table: torch.Tensor, texts: Bags, training: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Arrange the word vectors of texts of different lengths as one array, padded with zeros.

    :param table: (terms, width) word vectors
    :param training: whether a part of the values is dropped at random
    :return: (texts, longest, width) the vectors, and (texts, longest) which of them are words and no padding
    """
    is_word = mask_terms(texts)  # (texts, longest)
    terms, term_rows = torch.unique(texts.ids.long(), return_inverse=True)
    vectors = take(table, terms).index_select(0, term_rows)  # (all words, width)
    padded = table.new_zeros(*is_word.shape, table.shape[1])
    # `ids` holds text after text, in the order in which the mask is filled.
    padded = padded.masked_scatter(is_word[..., None], vectors)
    return torch.nn.functional.dropout(padded, DROPOUT, training), is_word


def list_terms_in_order(texts: Sequence[str], vocabulary: Vocabulary, *, longest: int = LONGEST) -> sp.csr_matrix:
    """Return the known terms of texts in reading order as rows of a sparse matrix of ones: (texts, terms).

    The entries of a row are not sorted: their order is that of the text, and a term may come several times.

    :param longest: how many terms of a text are used, from its beginning
    """
    ids_by_text = [vocabulary.ids(text)[:longest] for text in texts]
    bounds = np.cumsum([0, *map(len, ids_by_text)])
    all_ids = np.fromiter(chain.from_iterable(ids_by_text), np.int32, count=int(bounds[-1]))
    ones = np.ones(len(all_ids), np.float32)
    return sp.csr_matrix((ones, all_ids, bounds), shape=(len(texts), max(len(vocabulary), 1)))


class TowerEncoder:
    """An Encoder of trained towers; vectors are divided by norm + `epsilon`, so that a dot product is the score."""

    def __init__(
        self,
        towers: Mapping[str, LanguageTower],
        vocabularies: Mapping[str, Vocabulary],
        *,
        kind: str,
        epsilon: float,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Wrap trained towers as an encoder; they are moved to the CPU.

        :param towers: the network of each language
        :param vocabularies: the words of each language, in the order of its tower's table
        :param kind: of the towers, one of KINDS
        :param epsilon: what is added to the norm of a vector before the vector is divided by it
        :param meta: how the model was made
        """
        self.towers = {lang: tower.cpu().eval() for lang, tower in towers.items()}
        self.vocabularies = dict(vocabularies)
        self.kind = kind
        self.epsilon = epsilon
        self.meta = dict(meta or {})
        self.dim = int(next(iter(self.towers.values())).table.shape[1])

    @property
    def langs(self) -> tuple[str, ...]:
        """Languages that the model knows."""
        return tuple(self.towers)

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        """Encode texts of one language as rows divided by their norm + epsilon: (texts, dim).

        :raises LanguageError: if the model does not know the language
        """
        if lang not in self.towers:
            raise LanguageError(f"this model does not know {lang!r}; it knows {', '.join(self.towers)}")
        all_texts = bags(list_terms_in_order(texts, self.vocabularies[lang]))
        vectors = np.zeros((len(texts), self.dim), np.float32)
        by_length = torch.argsort(all_texts.bounds.diff(), stable=True)  # little padding within a batch
        with torch.inference_mode():
            for text_numbers in torch.split(by_length, ENCODING_BATCH):
                batch = select(all_texts, text_numbers)
                vectors[text_numbers.numpy()] = self.towers[lang](batch).numpy()
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(norms + self.epsilon, 1e-12), np.float32)

    def save(self, path: str | Path) -> None:
        """Save the vocabulary and the parameters of each language in a folder, which `load` opens."""
        arrays: dict[str, Any] = {}
        words: dict[str, Sequence[str]] = {}
        vocabulary_meta = {}
        for lang, tower in self.towers.items():
            vocabulary = self.vocabularies[lang]
            for name, value in tower.state_dict().items():
                arrays[f"{lang}.{name}"] = value.numpy()
            arrays[f"{lang}.df"] = vocabulary.df
            words[f"{lang}.terms"] = vocabulary.terms
            vocabulary_meta[lang] = vocabulary.meta()
        meta = {"kind": self.kind, "epsilon": self.epsilon, "towers": vocabulary_meta, "about": self.meta}
        artefacts.save(path, "towers", meta=meta, arrays=arrays, words=words)

    @classmethod
    def load(cls, path: str | Path) -> TowerEncoder:
        """Load a saved model.

        :raises ModelError: if the folder holds another kind of model, or is damaged
        """
        saved = artefacts.load(path, kind="towers")
        kind = saved.meta["kind"]
        if kind not in KINDS:
            raise ModelError(f"{path} holds towers of kind {kind!r}; expected one of {', '.join(KINDS)}")
        towers, vocabularies = {}, {}
        for lang, vocabulary_meta in saved.meta["towers"].items():
            terms, df = saved.words[f"{lang}.terms"], saved.arrays[f"{lang}.df"]
            vocabularies[lang] = Vocabulary.restore(vocabulary_meta, terms, df)
            state = _read_tower_state(saved.arrays, lang)
            if len(state["table"]) < len(vocabularies[lang]):
                raise ModelError(f"{path}: {lang} has more words than vectors: train or copy the model again")
            towers[lang] = _restore_tower(kind, state)
        return cls(towers, vocabularies, kind=kind, epsilon=float(saved.meta["epsilon"]), meta=saved.meta["about"])


def _restore_tower(kind: str, state: Mapping[str, torch.Tensor]) -> LanguageTower:
    """Make the tower of a language from its parameters.

    :param kind: one of KINDS
    :param state: the parameters by name; that of its word vectors is "table"
    """
    tower = KINDS[kind](state["table"])
    tower.load_state_dict(state)
    return tower


def _read_tower_state(arrays: Mapping[str, Any], lang: str) -> dict[str, torch.Tensor]:
    """Return the parameters of the tower of a language, by name, from the arrays that `TowerEncoder.save` wrote."""
    prefix = f"{lang}."
    state = {}
    for name, array in arrays.items():
        if name.startswith(prefix) and name != f"{lang}.df":
            state[name.removeprefix(prefix)] = torch.from_numpy(np.array(array))
    return state


#: How a saved model of this kind is opened (see the entry point in pyproject.toml).
load = TowerEncoder.load
