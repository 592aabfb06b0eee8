"""Terms of one language to ids, sparse counts and their weights. Knows nothing of models or stores."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.types import Floats

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
        return {term: i for i, term in enumerate(self.terms)}

    @cached_property
    def idf(self) -> Floats:
        """ln(n / df) + 1 over the training documents."""
        return (np.log(max(self.documents, 1) / np.maximum(self.df, 1)) + 1).astype(np.float32)

    def ids(self, text: str) -> list[int]:
        """The ids of the known terms of a text, in reading order."""
        return self.known(self._analyzer.terms(text))

    def known(self, terms: Iterable[str]) -> list[int]:
        """The ids of those terms that are known."""
        return [i for i in map(self.index.get, terms) if i is not None]

    def unknown(self, text: str) -> list[str]:
        """The terms of a text that are not in the vocabulary."""
        return [term for term in self._analyzer.terms(text) if term not in self.index]

    def split(self, text: str) -> tuple[list[int], list[str]]:
        """The ids of the known terms of a text, and its other terms, both in reading order."""
        index, ids, others = self.index, [], []
        for term in self._analyzer.terms(text):
            place = index.get(term)
            if place is None:
                others.append(term)
            else:
                ids.append(place)
        return ids, others

    def counts(self, texts: Iterable[str]) -> sp.csr_matrix:
        """Term counts, one row per text, float32."""
        return self.count_ids(map(self.ids, texts))

    def count_ids(self, ids: Iterable[list[int]]) -> sp.csr_matrix:
        """`counts` for texts that are already known term ids."""
        return count_rows(ids, len(self))

    @classmethod
    def build(
        cls, texts: Iterable[str], lang: str, *, max_terms: int = 200_000, min_df: int = 3, stem: bool = True
    ) -> tuple[Vocabulary, sp.csr_matrix]:
        """Learn a vocabulary in one pass, and the counts of the same texts over it.

        The `max_terms` terms of highest document frequency first, then those in at least `min_df` documents
        (the order Cr5's authors used); ties go to the term that comes first in the alphabet.
        """
        terms, counts = grow(texts, lang, stem=stem)
        return cls.choose(lang, terms, counts, max_terms=max_terms, min_df=min_df, stem=stem)

    @classmethod
    def choose(
        cls, lang: str, terms: Sequence[str], counts: sp.csr_matrix, *, max_terms: int, min_df: int, stem: bool
    ) -> tuple[Vocabulary, sp.csr_matrix]:
        """The second half of `build`, for counts over every term (see `grow`), or some rows of them."""
        df = np.bincount(counts.indices, minlength=len(terms))
        order = sorted(np.flatnonzero(df >= min_df).tolist(), key=lambda i: (-int(df[i]), terms[i]))[:max_terms]
        vocabulary = cls(lang, [terms[i] for i in order], df[order], counts.shape[0], stem=stem)
        chosen = counts[:, order]
        chosen.sort_indices()
        return vocabulary, chosen

    def meta(self) -> dict[str, Any]:
        """What `artefacts.save` writes beside the terms and `df`; `restore` takes it back."""
        return {"lang": self.lang, "documents": self.documents, "stem": self.stem}

    @classmethod
    def restore(cls, meta: Mapping[str, Any], terms: Sequence[str], df: npt.ArrayLike) -> Vocabulary:
        return cls(meta["lang"], terms, df, int(meta["documents"]), stem=meta["stem"])


def grow(texts: Iterable[str], lang: str, *, stem: bool = True) -> tuple[list[str], sp.csr_matrix]:
    """Every term of the texts, in the order in which they first appear, and the counts of the texts over them."""
    cut = analyzer(lang, stem=stem, stop=stem).terms
    known: dict[str, int] = {}
    counts = count_rows(_grow(known, cut(text)) for text in texts)
    counts.resize(counts.shape[0], len(known))
    return list(known), counts


def by_term(words: Sequence[str], rows: Floats, lang: str, *, stem: bool) -> tuple[list[str], Floats]:
    """Vectors of words as they are written, made vectors of the terms that texts are cut into.

    Several words become one term where case, marks or endings are taken off. Each then counts as often as it is
    likely to be met, going by its place among the words: the commonest come first in nearly every file of vectors, and
    the n-th word of a language is about n times as rare as the first. A word that is cut into several, or into
    none, has no term.
    """
    import scipy.sparse as sp

    cut = analyzer(lang, stem=stem, stop=stem).terms
    known: dict[str, int] = {}
    owner = [known.setdefault(terms[0], len(known)) if len(terms := cut(word)) == 1 else -1 for word in words]
    place = np.asarray(owner, np.int64)
    there = np.flatnonzero(place >= 0)
    share = (1 / (there + 1)).astype(np.float64)
    share /= np.bincount(place[there], share, minlength=len(known))[place[there]]
    mix = sp.csr_matrix((share.astype(np.float32), (place[there], there)), shape=(len(known), len(words)))
    return list(known), np.asarray(mix @ np.asarray(rows, np.float32), np.float32)


def weigh(counts: sp.csr_matrix, idf: Floats, weighting: str) -> sp.csr_matrix:
    """Counts to weights, a new matrix.

    tfidf: count x idf, rows of unit length. idf-mean: count x idf, rows that sum to one. mean: rows that sum
    to one. count: as they are. A row without terms stays empty.
    """
    import scipy.sparse as sp

    if weighting not in WEIGHTINGS:
        raise ValueError(f"weighting {weighting!r}: expected one of {', '.join(WEIGHTINGS)}")
    data = counts.data.astype(np.float32)
    if weighting in ("tfidf", "idf-mean"):
        data *= idf[counts.indices]
    if weighting != "count":
        owner = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        mass = np.bincount(owner, data * data if weighting == "tfidf" else data, minlength=counts.shape[0])
        if weighting == "tfidf":
            mass = np.sqrt(mass)
        data /= np.maximum(mass, np.finfo(np.float32).tiny).astype(np.float32)[owner]
    return sp.csr_matrix((data, counts.indices, counts.indptr), shape=counts.shape)


def _grow(known: dict[str, int], terms: list[str]) -> list[int]:
    return [known.setdefault(term, len(known)) for term in terms]


def count_rows(ids: Iterable[Iterable[int]], width: int | None = None) -> sp.csr_matrix:
    """How often each row has each id, float32; as wide as the largest id where no width is given."""
    import scipy.sparse as sp

    columns, values, ends = array("i"), array("f"), array("q", [0])
    for row in ids:
        counted = Counter(row)
        columns.extend(counted)
        values.extend(counted.values())
        ends.append(len(columns))
    indices = np.array(columns, np.int32)
    if width is None:
        width = int(indices.max(initial=-1)) + 1
    matrix = sp.csr_matrix((np.array(values, np.float32), indices, np.array(ends)), shape=(len(ends) - 1, width))
    matrix.sort_indices()
    return matrix
