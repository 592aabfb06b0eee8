"""Terms of one language to ids, sparse counts and their weights. Knows nothing of models or stores."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.groups import list_groups
from paragloss.types import Floats, Integers

if TYPE_CHECKING:
    import scipy.sparse as sp

#: How counts become weights before a table is applied; see `weigh`.
WEIGHTINGS = ("tfidf", "idf-mean", "mean", "count")


class Vocabulary:
    """The terms of one language that a model knows, most frequent first, with their document frequencies.

    `stem` says how text is cut: with stemming and stop words removed, or into plain lower-cased words.
    """

    def __init__(
        self, lang: str, terms: Sequence[str], df: npt.ArrayLike, documents: int, *, stem: bool = True
    ) -> None:
        self.lang = lang
        self.terms = list(terms)
        self.df = np.asarray(df, np.int64)
        self.documents = documents
        self.stem = stem
        self._analyzer = analyzer(lang, stem=stem, stop=stem)

    def __len__(self) -> int:
        return len(self.terms)

    @cached_property
    def index(self) -> dict[str, int]:
        """The id of each term."""
        return {term: i for i, term in enumerate(self.terms)}

    @cached_property
    def idf(self) -> Floats:
        """ln(n / df) + 1 over the training documents."""
        return (np.log(max(self.documents, 1) / np.maximum(self.df, 1)) + 1).astype(np.float32)

    def ids(self, text: str) -> list[int]:
        """Return the ids of the terms of a text that are in the vocabulary, in reading order."""
        term_ids = map(self.index.get, self._analyzer.terms(text))
        return [term_id for term_id in term_ids if term_id is not None]

    def list_unknown_terms(self, text: str) -> list[str]:
        """List the terms of a text that are not in the vocabulary."""
        return [term for term in self._analyzer.terms(text) if term not in self.index]

    def split_text(self, text: str) -> tuple[list[int], list[str]]:
        """Return the ids of the terms of a text that are in the vocabulary, and the other terms, in reading order."""
        ids, unknown_terms = [], []
        for term in self._analyzer.terms(text):
            term_id = self.index.get(term)
            if term_id is None:
                unknown_terms.append(term)
            else:
                ids.append(term_id)
        return ids, unknown_terms

    def counts(self, texts: Iterable[str]) -> sp.csr_matrix:
        """Count the terms of texts; one row per text, float32."""
        return self.count_ids(map(self.ids, texts))

    def count_ids(self, ids: Iterable[list[int]]) -> sp.csr_matrix:
        """Do what `counts` does for texts that are lists of term ids."""
        return count_rows(ids, len(self))

    @classmethod
    def build(
        cls, texts: Iterable[str], lang: str, *, max_terms: int = 200_000, min_df: int = 3, stem: bool = True
    ) -> tuple[Vocabulary, sp.csr_matrix]:
        """Learn a vocabulary in one pass, and the counts of the same texts over it.

        The `max_terms` terms of highest document frequency first, then those in at least `min_df` documents
        (the order Cr5's authors used); ties go to the term that comes first in the alphabet.
        """
        terms, counts = count_all_terms(texts, lang, stem=stem)
        return cls.choose(lang, terms, counts, max_terms=max_terms, min_df=min_df, stem=stem)

    @classmethod
    def choose(
        cls, lang: str, terms: Sequence[str], counts: sp.csr_matrix, *, max_terms: int, min_df: int, stem: bool
    ) -> tuple[Vocabulary, sp.csr_matrix]:
        """Choose a vocabulary among the terms of texts: those of highest document frequency, equal ones by alphabet.

        :param lang: the language of the texts.
        :param terms: all different terms of the texts.
        :param counts: how often each text has each of them, (n_texts, n_terms).
        :param max_terms: how many terms are chosen at most.
        :param min_df: how many texts must have a term.
        :param stem: whether the terms are stems.
        :return: the vocabulary, and the counts of its terms, (n_texts, n_chosen_terms).
        """
        df = np.bincount(counts.indices, minlength=len(terms))
        candidates = np.flatnonzero(df >= min_df).tolist()
        order = sorted(candidates, key=lambda i: (-int(df[i]), terms[i]))[:max_terms]
        vocabulary = cls(lang, [terms[i] for i in order], df[order], counts.shape[0], stem=stem)
        chosen_counts = counts[:, order]
        chosen_counts.sort_indices()
        return vocabulary, chosen_counts

    def meta(self) -> dict[str, Any]:
        """Return what `artefacts.save` writes besides the terms and `df`; `restore` reads it."""
        return {"lang": self.lang, "documents": self.documents, "stem": self.stem}

    @classmethod
    def restore(cls, meta: Mapping[str, Any], terms: Sequence[str], df: npt.ArrayLike) -> Vocabulary:
        """Build the vocabulary that `meta` described."""
        return cls(meta["lang"], terms, df, int(meta["documents"]), stem=meta["stem"])


def count_all_terms(texts: Iterable[str], lang: str, *, stem: bool = True) -> tuple[list[str], sp.csr_matrix]:
    """Count how often each text has each of the terms that occur in any of them.

    :param lang: the language of the texts.
    :param stem: whether terms are stems.
    :return: the terms, in the order in which they first appear, and the counts, (n_texts, n_terms).
    """
    tokenize = analyzer(lang, stem=stem, stop=stem).terms
    ids: dict[str, int] = {}  # a new term gets the next number
    counts = count_rows([ids.setdefault(term, len(ids)) for term in tokenize(text)] for text in texts)
    counts.resize(counts.shape[0], len(ids))
    return list(ids), counts


def merge_word_vectors(words: Sequence[str], rows: Floats, lang: str, *, stem: bool) -> tuple[list[str], Floats]:
    """Turn vectors of written words into vectors of the terms that texts are split into.

    Several words become one term where case, marks or endings are removed; its vector is their mean, weighted by how
    often each is likely to occur. That is estimated from its rank: the commonest words come first in nearly every file
    of vectors, and the n-th word of a language is about n times as rare as the first. A word that is split into several
    terms, or into none, is left out.

    :param words: the words, commonest first.
    :param rows: their vectors, shape (n_words, dim).
    :param stem: whether terms are stems.
    :return: the terms and their vectors, shape (n_terms, dim).
    """
    import scipy.sparse as sp

    ranks_by_term = _group_words_by_term(words, lang, stem=stem)
    n_terms = len(ranks_by_term)
    # One item for each word that becomes a term: the term, the word, and its share in the mean.
    term_ids = list_groups([len(ranks) for ranks in ranks_by_term.values()])
    ranks = np.array([rank for ranks in ranks_by_term.values() for rank in ranks], np.int64)
    frequencies = 1 / (ranks + 1)
    shares = frequencies / np.bincount(term_ids, frequencies, minlength=n_terms)[term_ids]
    averaging = sp.csr_matrix((shares.astype(np.float32), (term_ids, ranks)), shape=(n_terms, len(words)))
    return list(ranks_by_term), np.asarray(averaging @ np.asarray(rows, np.float32), np.float32)


def _group_words_by_term(words: Sequence[str], lang: str, *, stem: bool) -> dict[str, list[int]]:
    """Return for each term the positions in `words` of those that become this term alone, ascending."""
    tokenize = analyzer(lang, stem=stem, stop=stem).terms
    positions_by_term: dict[str, list[int]] = defaultdict(list)
    for position, word in enumerate(words):
        terms = tokenize(word)
        if len(terms) == 1:
            positions_by_term[terms[0]].append(position)
    return positions_by_term


def weigh(counts: sp.csr_matrix, idf: Floats, weighting: str) -> sp.csr_matrix:
    """Turn counts into weights, in a new matrix.

    :param counts: how often each text (row) has each term (column).
    :param idf: the idf of each term, shape (n_terms,).
    :param weighting: "tfidf": count x idf, rows of unit length. "idf-mean": count x idf, rows that sum to one. "mean":
        rows that sum to one. "count": as they are. A row without terms stays empty.
    """
    import scipy.sparse as sp

    if weighting not in WEIGHTINGS:
        raise ValueError(f"weighting {weighting!r}: expected one of {', '.join(WEIGHTINGS)}")
    weights = counts.data.astype(np.float32)  # (n_weights,)
    if weighting in ("tfidf", "idf-mean"):
        weights *= idf[counts.indices]
    if weighting != "count":
        text_of_weight = list_groups(np.diff(counts.indptr))  # (n_weights,) the row of each entry
        norms = _measure_rows(weights, text_of_weight, counts.shape[0], is_euclidean=weighting == "tfidf")
        weights /= norms.astype(np.float32)[text_of_weight]
    return sp.csr_matrix((weights, counts.indices, counts.indptr), shape=counts.shape)


def _measure_rows(
    weights: Floats, text_of_weight: Integers, n_texts: int, *, is_euclidean: bool
) -> npt.NDArray[np.float64]:
    """Return the sum of the weights of each text, or its Euclidean length; at least a tiny number, to divide by.

    :param weights: the weights of all texts, (n_weights,).
    :param text_of_weight: the number of the text of each weight, (n_weights,).
    """
    if is_euclidean:
        norms = np.sqrt(np.bincount(text_of_weight, weights * weights, minlength=n_texts))
    else:
        norms = np.bincount(text_of_weight, weights, minlength=n_texts)
    return np.maximum(norms, np.finfo(np.float32).tiny)


def count_rows(ids: Iterable[Iterable[int]], width: int | None = None) -> sp.csr_matrix:
    """Count how often each text has each id, as a sparse matrix.

    :param ids: the ids of each text, each as often as the text has it.
    :param width: the number of columns; None for as many as the largest id needs.
    :return: the counts, float32, a row per text and a column per id.
    """
    import scipy.sparse as sp

    columns, values, row_ends = array("i"), array("f"), array("q", [0])
    for text_ids in ids:
        counts = Counter(text_ids)
        columns.extend(counts)
        values.extend(counts.values())
        row_ends.append(len(columns))
    indices = np.array(columns, np.int32)
    if width is None:
        width = int(indices.max(initial=-1)) + 1
    shape = (len(row_ends) - 1, width)
    matrix = sp.csr_matrix((np.array(values, np.float32), indices, np.array(row_ends)), shape=shape)
    matrix.sort_indices()
    return matrix
