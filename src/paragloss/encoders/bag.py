"""The encoder behind most models: a bag of words, a table of vectors per language, and a few layers.

Cr5, CL-LSI, OPCA, CCA, S2Net, BAE, XCNN, pooled word vectors and average-pooling towers differ only in how they learn
its weights; each has a file in the laboratory with a `fit` that returns a `BagEncoder`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from paragloss import artefacts
from paragloss.errors import LanguageError, ModelError
from paragloss.types import Floats, Integers
from paragloss.vocabulary import WEIGHTINGS, Vocabulary, weigh

if TYPE_CHECKING:
    import scipy.sparse as sp


class Layer(NamedTuple):
    """A layer of a network: rows become activation(rows @ weight + bias)."""

    weight: Floats  # (in, out)
    bias: Floats  # (out,)
    activation: str = "linear"


class Tower(NamedTuple):
    """The network of one language: term weights become activation(weights @ table + bias), then pass `layers`."""

    vocabulary: Vocabulary
    table: Floats  # (terms, width)
    bias: Floats | None = None  # (width,)
    activation: str = "linear"
    layers: tuple[Layer, ...] = ()

    @property
    def is_only_table(self) -> bool:
        """Whether the row of a text is weights @ table and nothing else."""
        return not self.layers and self.bias is None and self.activation == "linear"


class Packed(TypedDict):
    """The parts of a saved folder, as `artefacts.save` takes them."""

    meta: dict[str, Any]
    arrays: dict[str, Any]
    words: dict[str, Sequence[str]]


class BagEncoder:
    """An Encoder with one Tower per language.

    Rows are divided by their norm + `epsilon`, so that their dot product is the cosine for 0 and the smooth cosine of
    Liu et al. (SOSL) for positive values.
    """

    def __init__(
        self,
        towers: Mapping[str, Tower],
        *,
        weighting: str = "tfidf",
        epsilon: float = 0.0,
        meta: Mapping[str, Any] | None = None,
        reference: Mapping[str, Floats] | None = None,
    ) -> None:
        """Make an encoder from the network of each language.

        :param towers: the network of each language; all must give vectors of the same size.
        :param weighting: how counts become weights, one of `vocabulary.WEIGHTINGS`.
        :param epsilon: is added to the norm by which vectors are divided.
        :param meta: how the model was made (method, settings, measurements); shown by `paragloss info`.
        :param reference: vectors of typical queries in each language, see `hubness`.
        :raises ModelError: if the arrays of a tower do not fit.
        """
        if not towers:
            raise ModelError("a model needs at least one language")
        if weighting not in WEIGHTINGS:
            raise ModelError(f"weighting {weighting!r}: expected one of {', '.join(WEIGHTINGS)}")
        self.towers = dict(towers)
        self.weighting = weighting
        self.epsilon = epsilon
        self.meta = dict(meta or {})
        self.reference = dict(reference or {})
        first_tower = next(iter(self.towers.values()))
        self.dim = _get_output_width(first_tower)
        for lang, tower in self.towers.items():
            _validate_tower(tower, lang, self.dim)

    @classmethod
    def stacked(
        cls, vocabularies: Mapping[str, Vocabulary], table: Floats, *, meta: Mapping[str, Any] | None = None
    ) -> BagEncoder:
        """Make a linear model from one table with the vectors of all languages' terms, one language after the other."""
        towers: dict[str, Tower] = {}
        start = 0
        for lang, vocabulary in vocabularies.items():
            end = start + len(vocabulary)
            towers[lang] = Tower(vocabulary, np.ascontiguousarray(table[start:end]))
            start = end
        return cls(towers, meta=meta)

    @property
    def langs(self) -> tuple[str, ...]:
        """The language codes."""
        return tuple(self.towers)

    def tower(self, lang: str) -> Tower:
        """Return the tower of a language; raise LanguageError if there is none."""
        if lang not in self.towers:
            raise LanguageError(f"this model does not know {lang!r}; it knows {', '.join(self.towers)}")
        return self.towers[lang]

    def has_term(self, term: str, lang: str) -> bool:
        """Tell whether an analysed term is in the vocabulary."""
        return term in self.tower(lang).vocabulary.index

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        """Return a row for each text (texts, dim); zero for a text without known words."""
        vocabulary = self.tower(lang).vocabulary
        return self.encode_counts(vocabulary.counts(texts), lang)

    def encode_counts(self, counts: sp.csr_matrix, lang: str) -> Floats:
        """Encode texts given by their counts of the vocabulary's terms.

        :param counts: how often each text has each term, (texts, terms)
        :return: a vector for each text, scaled to length 1, (texts, dim); zero for a text without a known term
        """
        tower = self.tower(lang)
        weights = weigh(counts, tower.vocabulary.idf, self.weighting)
        rows: Floats = np.asarray(weights @ tower.table, np.float32)
        rows = _apply(rows, tower.bias, tower.activation)
        for layer in tower.layers:
            rows = _apply(rows @ layer.weight, layer.bias, layer.activation)
        has_known_term = np.diff(counts.indptr) > 0
        rows[~has_known_term] = 0  # rather than what the biases make of nothing
        return self._normalize(rows)

    def is_linear(self, lang: str) -> bool:
        """Tell whether the row of a text is the sum of rows of its terms, up to a factor."""
        tower = self.tower(lang)
        activations = [tower.activation, *(layer.activation for layer in tower.layers)]
        return all(activation == "linear" for activation in activations)

    def terms(self, text: str, lang: str) -> tuple[list[str], Floats]:
        """Split the vector of a text into what each of its known terms adds to it.

        That is possible only where the network is linear (`is_linear`).

        :return: the terms, and a vector for each, (n_terms, dim); they sum to the vector that `encode` returns. If the
            network has biases, they are the last vector, under the term "". Both are empty for a text without a known
            term.
        """
        tower = self.tower(lang)
        counts = tower.vocabulary.counts([text])
        if not counts.nnz:
            return [], np.zeros((0, self.dim), np.float32)
        terms = [tower.vocabulary.terms[i] for i in counts.indices]
        weights = weigh(counts, tower.vocabulary.idf, self.weighting)  # (1, vocabulary)
        rows = _project_terms(tower, counts.indices, weights.data)
        bias = _sum_biases(tower)
        if bias.any():
            terms.append("")
            rows = np.vstack([rows, bias])
        rows = np.asarray(rows, np.float32)
        norm = np.linalg.norm(rows.sum(axis=0)) + self.epsilon
        if norm:
            rows = rows / norm
        return terms, rows

    def words(self, lang: str) -> Floats:
        """Return the vector of each term of the vocabulary (terms, dim), normalized as texts are."""
        import scipy.sparse as sp

        n_terms = len(self.tower(lang).vocabulary)
        one_term_per_text = sp.identity(n_terms, np.float32, format="csr")
        return self.encode_counts(one_term_per_text, lang)

    def _normalize(self, rows: Floats) -> Floats:
        """Divide rows, in place, by their norm + epsilon."""
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        scale = norms + self.epsilon
        np.divide(rows, scale, out=rows, where=scale > 0)
        return rows

    def save(self, path: str | Path) -> None:
        """Write the model to a folder."""
        artefacts.save(path, "bag", **self.pack())

    @classmethod
    def load(cls, path: str | Path) -> BagEncoder:
        """Open a saved model; its arrays are memory-mapped."""
        return cls.unpack(artefacts.load(path, kind="bag"))

    def pack(self) -> Packed:
        """Return what `save` writes, so that an encoder that wraps this one can save it with its own arrays.

        These are the arguments of `artefacts.save`: `meta`, `arrays` and `words`. The keys of arrays and words begin
        with the code of a language, as in "fr.table".
        """
        arrays: dict[str, Any] = {}
        words: dict[str, Sequence[str]] = {}
        for lang, tower in self.towers.items():
            arrays |= _list_tower_arrays(lang, tower)
            words[f"{lang}.terms"] = tower.vocabulary.terms
        for lang, reference in self.reference.items():
            arrays[f"{lang}.reference"] = reference
        meta = {
            "weighting": self.weighting,
            "epsilon": self.epsilon,
            "towers": {lang: _describe_tower(tower) for lang, tower in self.towers.items()},
            "about": self.meta,
        }
        return {"meta": meta, "arrays": arrays, "words": words}

    @classmethod
    def unpack(cls, saved: artefacts.Artefact) -> BagEncoder:
        """Make an encoder from what `pack` has returned."""
        towers = {}
        references = {}
        for lang, tower_meta in saved.meta["towers"].items():
            towers[lang] = _unpack_tower(saved, lang, tower_meta)
            reference = saved.arrays.get(f"{lang}.reference")
            if reference is not None:
                references[lang] = reference
        return cls(
            towers,
            weighting=saved.meta["weighting"],
            epsilon=float(saved.meta["epsilon"]),
            meta=saved.meta["about"],
            reference=references,
        )


def _list_tower_arrays(lang: str, tower: Tower) -> dict[str, Any]:
    """Return the arrays of a tower by the names under which they are saved."""
    arrays: dict[str, Any] = {f"{lang}.df": tower.vocabulary.df, f"{lang}.table": tower.table}
    if tower.bias is not None:
        arrays[f"{lang}.bias"] = tower.bias
    for i, layer in enumerate(tower.layers):
        arrays[f"{lang}.{i}.weight"] = layer.weight
        arrays[f"{lang}.{i}.bias"] = layer.bias
    return arrays


def _describe_tower(tower: Tower) -> dict[str, Any]:
    """Return what is saved of a tower beside its arrays: the vocabulary's metadata and the activation functions."""
    return {
        "vocabulary": tower.vocabulary.meta(),
        "activation": tower.activation,
        "layers": [layer.activation for layer in tower.layers],
    }


def _unpack_tower(saved: artefacts.Artefact, lang: str, tower_meta: Mapping[str, Any]) -> Tower:
    """Make the tower of a language from the arrays, words and metadata that `BagEncoder.pack` has returned.

    :param tower_meta: the vocabulary's metadata, and the activations of the table and of each layer
    """
    arrays = saved.arrays
    vocabulary = Vocabulary.restore(tower_meta["vocabulary"], saved.words[f"{lang}.terms"], arrays[f"{lang}.df"])
    layers = []
    for i, activation in enumerate(tower_meta["layers"]):
        layers.append(Layer(arrays[f"{lang}.{i}.weight"], arrays[f"{lang}.{i}.bias"], activation))
    return Tower(
        vocabulary,
        arrays[f"{lang}.table"],
        arrays.get(f"{lang}.bias"),
        tower_meta["activation"],
        tuple(layers),
    )


def _validate_tower(tower: Tower, lang: str, dim: int) -> None:
    """Raise ModelError if the arrays of a language's tower do not fit, or make vectors of another size than `dim`."""
    has_row_per_term = len(tower.table) == len(tower.vocabulary)
    if not (_is_consistent(tower) and has_row_per_term and _get_output_width(tower) == dim):
        raise ModelError(f"{lang}: table {tower.table.shape} for {len(tower.vocabulary)} terms and {dim} dimensions")


def _is_consistent(tower: Tower) -> bool:
    """Tell whether the arrays of a tower are real numbers and can be multiplied one after the other."""
    matrices = [tower.table, *(layer.weight for layer in tower.layers)]
    biases = [tower.bias, *(layer.bias for layer in tower.layers)]
    if any(matrix.ndim != 2 or matrix.dtype.kind != "f" for matrix in matrices):
        return False
    for matrix, bias in zip(matrices, biases, strict=True):
        if bias is not None and (bias.dtype.kind != "f" or bias.shape != (matrix.shape[1],)):
            return False
    return all(next_matrix.shape[0] == matrix.shape[1] for matrix, next_matrix in pairwise(matrices))


def _project_terms(tower: Tower, term_ids: Integers, weights: Floats) -> Floats:
    """Return what weighted terms add to the output of a tower of linear layers, without biases: (n_terms, dim).

    :param term_ids: (n_terms,) numbers of the terms in the vocabulary
    :param weights: (n_terms,)
    """
    rows = weights[:, None] * tower.table[term_ids]  # (n_terms, width)
    for layer in tower.layers:
        rows = rows @ layer.weight
    return rows


def _sum_biases(tower: Tower) -> Floats:
    """Return what the biases of a tower of linear layers add to every vector: (dim,)."""
    total = np.zeros(tower.table.shape[1], np.float32) if tower.bias is None else tower.bias
    for layer in tower.layers:
        total = total @ layer.weight + layer.bias
    return total


def _get_output_width(tower: Tower) -> int:
    return int(tower.layers[-1].weight.shape[1] if tower.layers else tower.table.shape[1])


def _apply(rows: Floats, bias: Floats | None, activation: str) -> Floats:
    """Add a bias and apply an activation function."""
    if bias is not None:
        rows = rows + bias
    if activation == "tanh":
        return np.tanh(rows, out=rows)
    if activation == "sigmoid":
        return np.asarray(1 / (1 + np.exp(-rows)), np.float32)
    return rows


load = BagEncoder.load
