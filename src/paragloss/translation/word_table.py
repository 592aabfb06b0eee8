"""Word translations as tables: for each source term its likely translations, as words that people read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss import artefacts
from paragloss.analysis import analyzer
from paragloss.errors import LanguageError, ModelError
from paragloss.groups import list_groups, list_positions
from paragloss.types import Alternative, Query, Span, Translation

if TYPE_CHECKING:
    import scipy.sparse as sp

KIND = "table"
#: The weight of a user's own table relative to the default model.
USER_TABLE_TRUST = 3.0
#: The least share of a translation after sharpening.
_MIN_SHARPENED_SHARE = 0.01


class TermSpellings(NamedTuple):
    """The terms of one language and how each is most often written."""

    terms: list[str]
    surfaces: list[str]


class Table:
    """A Translator: for every learned pair of languages, P(target term | source term).

    A query term without a translation stays as it is: names and numbers are often the same. `trust` is its weight
    relative to the default model. Probabilities are raised to the power `sharpness` when they are looked up: above 1,
    likely translations become likelier and chance ones disappear.
    """

    def __init__(
        self,
        words: Mapping[str, TermSpellings],
        probabilities: Mapping[tuple[str, str], sp.csr_matrix],
        *,
        max_alternatives: int = 20,
        trust: float = USER_TABLE_TRUST,
        sharpness: float = 1.0,
    ) -> None:
        """Make a table.

        :param words: the terms of each language and their spellings
        :param probabilities: (source, target) -> a matrix (source terms, target terms), the best of a row first
        :param max_alternatives: how many alternatives of a term are used at most
        :param trust: the weight of its alternatives relative to those of the default model
        :param sharpness: the exponent of probabilities when they are looked up
        """
        self.words = dict(words)
        self.probabilities = dict(probabilities)
        self.max_alternatives = max_alternatives
        self.trust = trust
        self.sharpness = sharpness
        self._index: dict[str, dict[str, int]] = {}
        for lang, spellings in self.words.items():
            self._index[lang] = {term: number for number, term in enumerate(spellings.terms)}

    @property
    def meta(self) -> dict[str, dict[str, int]]:
        """Number of translations in each direction; shown by `paragloss info`."""
        return {"translations": {f"{a}->{b}": int(self.probabilities[a, b].nnz) for a, b in self.pairs}}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of languages, as (source, target)."""
        return sorted(self.probabilities)

    @property
    def langs(self) -> tuple[str, ...]:
        """The languages that it translates from."""
        return tuple(sorted({source for source, _ in self.probabilities}))

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        return (source, target) in self.probabilities

    def has_term(self, term: str, lang: str) -> bool:
        """Say whether the table has an analysed term."""
        return term in self._index.get(lang, ())

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate the terms of a query, two neighbours that are a learned phrase as one; unknown words stay.

        :return: a clause for each word or phrase, in the order of the query
        :raises LanguageError: if the table has no probabilities for these languages
        """
        self._require_direction(query.lang, to)
        spans = analyzer(query.lang).spans(query.text)
        translations = []
        position = 0
        while position < len(spans):
            words = spans[position : position + 2]
            if not self._is_phrase(words, query.lang, to):
                words = words[:1]
            written = query.text[words[0].start : words[-1].end]
            term = " ".join(span.term for span in words)
            alternatives = self.alternatives(term, query.lang, to) or (Alternative(written, 1.0),)
            translations.append(Translation(written, alternatives))
            position += len(words)
        return translations

    def _require_direction(self, source: str, target: str) -> None:
        """Raise LanguageError if the table does not translate from one language into another."""
        if not self.knows(source, target):
            directions = ", ".join(f"{source}->{target}" for source, target in self.pairs)
            learn_it = "paragloss train table FILE... --out TABLE learns one"
            raise LanguageError(f"no table for {source}->{target}; have {directions} ({learn_it})")

    def _is_phrase(self, spans: Sequence[Span], source: str, target: str) -> bool:
        """Tell whether these are two words that the table translates as one term."""
        return len(spans) == 2 and bool(self.alternatives(f"{spans[0].term} {spans[1].term}", source, target))

    def alternatives(self, term: str, source: str, target: str) -> tuple[Alternative, ...]:
        """Return translations of an analysed term, best first; none if the table does not have it.

        :param term: the term of a word, or those of a phrase with a space between them.
        :param source: its language.
        :param target: the language to translate into.
        """
        term_number = self._index[source].get(term)
        if term_number is None:
            return ()
        matrix = self.probabilities[source, target]
        entries = slice(matrix.indptr[term_number], matrix.indptr[term_number + 1])  # the row of the term, best first
        target_numbers = matrix.indices[entries]
        weights = matrix.data[entries].astype(np.float64)
        if self.sharpness != 1:
            weights = _sharpen(weights, self.sharpness)
        spellings = self.words[target].surfaces
        alternatives = []
        for target_number, weight in zip(target_numbers, weights.tolist(), strict=True):
            if weight:
                alternatives.append(Alternative(spellings[target_number], min(weight, 1.0)))
        return tuple(alternatives[: self.max_alternatives])

    def without(self, word: str, meaning: str) -> tuple[Table, int]:
        """Return a table like this one without a translation, which is left out in both directions.

        The remaining translations of a word share the probability of a removed one.

        :param word: a word as it is spelled, in any case
        :param meaning: its translation, likewise
        :return: the table, and the number of entries that it lacks
        """
        n_removed = 0
        probabilities = {}
        for pair, matrix in self.probabilities.items():
            entries = self._find_entries(pair, word, meaning) + self._find_entries(pair, meaning, word)
            n_removed += len(entries)
            probabilities[pair] = _remove_entries(matrix, entries)
        reduced_table = Table(
            self.words,
            probabilities,
            max_alternatives=self.max_alternatives,
            trust=self.trust,
            sharpness=self.sharpness,
        )
        return reduced_table, n_removed

    def _find_entries(self, pair: tuple[str, str], word: str, meaning: str) -> list[int]:
        """List the entries of a pair's matrix where a word is translated by a meaning, both in any case.

        :param pair: (source, target), the languages of `word` and `meaning`
        :return: positions in the `data` of the matrix
        """
        source, target = pair
        matrix = self.probabilities[pair]
        rows = _find_spelling(self.words[source], word)  # several terms may have the same spelling
        columns = set(_find_spelling(self.words[target], meaning))
        entries: list[int] = []
        for row in rows:
            row_entries = range(matrix.indptr[row], matrix.indptr[row + 1])
            entries += [entry for entry in row_entries if matrix.indices[entry] in columns]
        return entries

    def save(self, path: str | Path) -> None:
        """Write the model to a folder."""
        arrays: dict[str, npt.NDArray[np.generic]] = {}
        lists: dict[str, Sequence[str]] = {}
        for lang, words in self.words.items():
            lists[f"{lang}.terms"] = words.terms
            lists[f"{lang}.surfaces"] = words.surfaces
        for (source, target), matrix in self.probabilities.items():
            name = f"{source}.{target}"
            arrays[f"{name}.start"] = matrix.indptr
            arrays[f"{name}.target"] = matrix.indices
            arrays[f"{name}.probability"] = matrix.data
        settings = {"most": self.max_alternatives, "trust": self.trust, "sharpness": self.sharpness}
        meta = {"langs": list(self.words), "pairs": self.pairs, **settings}
        artefacts.save(path, KIND, meta=meta, arrays=arrays, words=lists)

    @classmethod
    def load(cls, path: str | Path) -> Table:
        """Open a saved model.

        :raises ModelError: if the folder is damaged or holds another kind of model
        """
        saved = artefacts.load(path, kind=KIND)
        words: dict[str, TermSpellings] = {}
        for lang in saved.meta["langs"]:
            words[lang] = TermSpellings(saved.words[f"{lang}.terms"], saved.words[f"{lang}.surfaces"])
            if len(words[lang].terms) != len(words[lang].surfaces):
                raise ModelError(f"{path}: the word lists of {lang} differ in length: train or copy the model again")
        probabilities = {}
        for source, target in saved.meta["pairs"]:
            shape = (len(words[source].terms), len(words[target].terms))
            probabilities[source, target] = _load_matrix(saved.arrays, f"{source}.{target}", shape)
        return cls(
            words,
            probabilities,
            max_alternatives=int(saved.meta["most"]),
            trust=float(saved.meta.get("trust", USER_TABLE_TRUST)),  # tables of older versions have no trust
            sharpness=float(saved.meta.get("sharpness", 1.0)),
        )


def _find_spelling(words: TermSpellings, spelling: str) -> list[int]:
    """Return the numbers of the terms that are spelled so, in any case."""
    return [number for number, surface in enumerate(words.surfaces) if surface.lower() == spelling.lower()]


def _load_matrix(arrays: Mapping[str, npt.NDArray[Any]], name: str, shape: tuple[int, int]) -> sp.csr_matrix:
    """Make a sparse matrix of the three saved arrays whose names begin with `name`."""
    import scipy.sparse as sp

    parts = (arrays[f"{name}.probability"], arrays[f"{name}.target"], arrays[f"{name}.start"])
    matrix = sp.csr_matrix(parts, shape=shape, copy=False)
    matrix.check_format(full_check=True)  # a number too large would be read from anywhere
    return matrix


def _sharpen(weights: npt.NDArray[np.float64], exponent: float) -> npt.NDArray[np.float64]:
    """Raise weights to a power and scale them so that they sum to one; very small ones become 0."""
    sharpened = weights**exponent
    sharpened[sharpened < _MIN_SHARPENED_SHARE * sharpened.sum()] = 0.0
    return np.asarray(sharpened / (sharpened.sum() or 1.0))


def prune(weights: sp.csr_matrix, *, min_probability: float, most: int) -> sp.csr_matrix:
    """Turn the weights of each row into probabilities and keep the best.

    :param min_probability: entries below it are dropped
    :param most: how many entries of a row are kept
    :return: rows that sum to one again, the best entries first, in single precision
    """
    sorted_rows = _sort_rows(_normalize_rows(weights))
    ranks = list_positions(np.diff(sorted_rows.indptr))
    is_best = (ranks < most) & (sorted_rows.data >= min_probability)
    return _to_single_precision(_normalize_rows(_select_entries(sorted_rows, is_best)))


def _sort_rows(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """Sort the entries of each row, the greatest first; equal ones by their column."""
    rows = list_groups(np.diff(matrix.indptr))  # of the entries
    order = np.lexsort((matrix.indices, -matrix.data, rows))
    return type(matrix)((matrix.data[order], matrix.indices[order], matrix.indptr), shape=matrix.shape)


def _select_entries(matrix: sp.csr_matrix, is_selected: npt.NDArray[np.bool_]) -> sp.csr_matrix:
    """Return a matrix with some of the entries of each row, in their order."""
    selected_before = np.concatenate([[0], np.cumsum(is_selected)])
    row_starts = selected_before[matrix.indptr]
    return type(matrix)((matrix.data[is_selected], matrix.indices[is_selected], row_starts), shape=matrix.shape)


def _to_single_precision(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """Convert the data of a matrix; `astype` would sort each row by column."""
    return type(matrix)((matrix.data.astype(np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)


def _remove_entries(matrix: sp.csr_matrix, entries: Sequence[int]) -> sp.csr_matrix:
    """Set entries of a matrix, given by their positions in its data, to zero, and scale the rows to sum to one."""
    data = matrix.data.copy()
    data[entries] = 0.0
    reduced = type(matrix)((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    return _to_single_precision(_normalize_rows(reduced))


def _normalize_rows(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """Scale each row to sum to one; rows without weight stay zero."""
    rows = list_groups(np.diff(matrix.indptr))  # of the entries
    row_sums = np.bincount(rows, matrix.data, minlength=matrix.shape[0])
    divisors = row_sums[rows]
    data = np.divide(matrix.data, divisors, out=np.zeros(len(divisors)), where=divisors > 0)
    return type(matrix)((data, matrix.indices, matrix.indptr), shape=matrix.shape)


load = Table.load
