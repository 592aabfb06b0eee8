"""K-NRM when it is used: documents scored by soft matches of words, in numpy. Knows nothing of training."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss import artefacts
from paragloss.encoders import kernel_features
from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import LanguageError
from paragloss.types import Document, Floats, Query
from paragloss.vocabulary import Vocabulary

#: Texts whose words are cached: splitting a text takes longer than scoring it, and good documents are found again.
MAX_CACHED_TEXTS = 20_000
#: How many of the best scores the standard deviation is computed of.
_BEST_SCORES = 30


class Words(NamedTuple):
    """A text as K-NRM reads it."""

    ids: npt.NDArray[np.int32]  # rows of the table, in reading order
    vocabulary: Vocabulary
    known_ids: frozenset[int]  # of the words that the vocabulary has
    unknown_terms: frozenset[str]

    def has(self, term: str) -> bool:
        """Tell whether the text contains a term."""
        term_id = self.vocabulary.index.get(term)
        return term in self.unknown_terms if term_id is None else term_id in self.known_ids


class RowCounts(NamedTuple):
    """How often each of some documents has each of some rows of a table."""

    rows: npt.NDArray[np.int64]  # (n_used_rows,), ascending
    counts: Any  # sparse, (n_documents, n_used_rows)


class _DocumentPart(NamedTuple):
    """A text of a document and how it counts in the document's score."""

    text: str
    lang: str
    kernel_weights: Floats  # (n_kernels,)
    verbatim_weight: float  # of the query words that the text has as they are written
    suffix: str  # of the names of its summands


class Knrm:
    """A Reranker. One table of word vectors; each language's vocabulary says which row a word has."""

    def __init__(
        self,
        vocabularies: Mapping[str, Vocabulary],
        rows: Mapping[str, npt.NDArray[np.int64]],
        table: Floats,
        kernel_weights: Floats,
        bias: float,
        *,
        title_kernel_weights: npt.ArrayLike | None = None,
        first_search_weights: npt.ArrayLike = (0.0, 0.0, 0.0),
        verbatim_weights: npt.ArrayLike = (0.0, 0.0),
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Make a ranker of learned weights.

        :param vocabularies: the words of each language.
        :param rows: the row of `table` for each word of a language.
        :param table: word vectors of unit length (words, dim).
        :param kernel_weights: a weight for each kernel of `kernel_features.MEANS`; 0 for a kernel that is switched off.
        :param bias: is added to every score.
        :param title_kernel_weights: the same for kernels of the title alone; by default 0.
        :param first_search_weights: a weight for each column of `describe_first_scores`, which `rescore` adds.
        :param verbatim_weights: weights of the shares of query words that the text, and that the title, has verbatim:
            names and identifiers have no vector.
        :param meta: how the model was made.
        """
        self.vocabularies = dict(vocabularies)
        self.rows = dict(rows)
        self.table = table
        self.kernel_weights = np.asarray(kernel_weights, np.float32)
        if title_kernel_weights is None:
            title_kernel_weights = np.zeros_like(self.kernel_weights)
        self.title_kernel_weights = np.asarray(title_kernel_weights, np.float32)
        self.bias = bias
        self.first_search_weights = np.asarray(first_search_weights, np.float32)
        self.verbatim_weights = np.asarray(verbatim_weights, np.float32)
        self.meta = dict(meta or {})
        self._cached_words: dict[tuple[str, bytes], Words] = {}

    @property
    def langs(self) -> tuple[str, ...]:
        """The language codes."""
        return tuple(self.vocabularies)

    def score(self, query: Query, documents: Sequence[Document]) -> Floats:
        """Score documents for a query by their words alone, without the scores of a search before.

        The score is the weighted sum of the kernel features of text and title and of the shares of words that they have
        verbatim, plus the bias. Xiong et al. (SIGIR 2017) map it to (-1, 1) by tanh, which is left out: it changes no
        order, but rounds the scores of all very good documents to the same number. Kernels skip words that the model
        does not know; a document without a known word gets the bias.

        :return: (n_documents,), the higher, the more relevant.
        """
        query_ids = self.ids(query.text, query.lang)
        texts = [self._read_words(document.full_text, document.lang) for document in documents]
        scores = self.score_rows(query_ids, [words.ids for words in texts])
        uses_titles_or_spelling = self.title_kernel_weights.any() or self.verbatim_weights.any()
        if not uses_titles_or_spelling:
            return scores
        # Without a title, the text is used: features of zero would look like a perfect match.
        titles = [self._read_words(document.title or document.text, document.lang) for document in documents]
        title_features = self.compute_features(query_ids, [words.ids for words in titles])  # (n_documents, n_kernels)
        verbatim_shares = self.measure_shared_words(query.text, query.lang, [texts, titles])  # (n_documents, 2)
        scores += title_features @ self.title_kernel_weights
        scores += verbatim_shares @ self.verbatim_weights
        return scores

    def measure_shared_words(self, text: str, lang: str, parts: Sequence[Sequence[Words]]) -> Floats:
        """Return the share of a query's words, weighted by rarity, that each text has verbatim.

        :param text: the query
        :param lang: its language
        :param parts: lists of texts of the same documents, such as their bodies and their titles
        :return: between 0 and 1, (documents, parts)
        """
        weight_by_term = self._weigh_by_rarity(text, lang)
        shares_by_part = []
        for texts in parts:
            shares_by_part.append([_sum_weights(weight_by_term, words) for words in texts])
        shares = np.asarray(shares_by_part, np.float32).reshape(len(parts), -1)  # two axes also without documents
        return shares.T

    def _weigh_by_rarity(self, text: str, lang: str) -> dict[str, float]:
        """Return the weight of each different word of a query: its idf, scaled so that all sum to 1.

        A word that the vocabulary lacks is as rare as can be. A query without words gives an empty dict.
        """
        vocabulary = self.vocabularies[lang]
        ids, unknown_terms = vocabulary.split_text(text)
        largest_idf = np.log(max(vocabulary.documents, 1)) + 1
        idf_by_term = {vocabulary.terms[i]: float(vocabulary.idf[i]) for i in set(ids)}
        idf_by_term |= dict.fromkeys(unknown_terms, largest_idf)
        total = sum(idf_by_term.values())
        return {term: idf / total for term, idf in idf_by_term.items()}

    def rescore(self, query: Query, documents: Sequence[Document], scores: Floats) -> Floats:
        """Return `score` plus the learned weight of the scores of the first search."""
        return np.asarray(
            self.score(query, documents) + describe_first_scores(scores) @ self.first_search_weights, np.float32
        )

    def ids(self, text: str, lang: str) -> npt.NDArray[np.int64]:
        """Return the rows of the table for the known words of a text, in reading order."""
        return self.words(text, lang).ids.astype(np.int64)

    def words(self, text: str, lang: str) -> Words:
        """Return the rows of the words of a text, and the words that have none."""
        if lang not in self.vocabularies:
            raise LanguageError(f"this model does not know {lang!r}; it knows {', '.join(self.vocabularies)}")
        vocabulary = self.vocabularies[lang]
        ids, unknown_terms = vocabulary.split_text(text)
        return Words(self.rows[lang][ids].astype(np.int32), vocabulary, frozenset(ids), frozenset(unknown_terms))

    def _read_words(self, text: str, lang: str) -> Words:
        """Return `words` of a text, cached for the latest texts."""
        digest = hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()
        key = (lang, digest)
        if key not in self._cached_words:
            if len(self._cached_words) >= MAX_CACHED_TEXTS:
                oldest_key = next(iter(self._cached_words))
                del self._cached_words[oldest_key]
            self._cached_words[key] = self.words(text, lang)
        return self._cached_words[key]

    def score_rows(self, query: npt.ArrayLike, documents: Sequence[npt.ArrayLike]) -> Floats:
        """Return the scores of documents that are given as rows of the table."""
        return np.asarray(self.compute_features(query, documents) @ self.kernel_weights + self.bias, np.float32)

    def compute_features(self, query: npt.ArrayLike, documents: Sequence[npt.ArrayLike]) -> Floats:
        """Compute the kernel features of documents for a query; (n_documents, n_kernels).

        :param query: the row of the table for each term of the query.
        :param documents: the same for the terms of each document.
        """
        query_rows, query_counts = np.unique(np.asarray(query, np.int64), return_counts=True)  # (n_query_terms,)
        used_rows, counts = self._count_rows([np.asarray(document, np.int64) for document in documents])
        query_vectors, document_vectors = self.table[query_rows], self.table[used_rows]
        query_weights = query_counts.astype(np.float32)
        return kernel_features.compute_features(query_vectors, query_weights, document_vectors, counts)

    def _count_rows(self, documents: Sequence[npt.NDArray[np.int64]]) -> RowCounts:
        """Count how often each document has each row of the table, without the rows that none of them has.

        :param documents: the row of the table for each word of a document, in reading order
        """
        from scipy import sparse

        no_rows = np.zeros(0, np.int64)  # makes an array of integers even if there are no documents
        all_rows = np.concatenate([no_rows, *documents])  # (n_tokens,), of one document after the other
        document_ends = np.cumsum([0, *map(len, documents)])  # (n_documents + 1,)
        is_used = np.zeros(len(self.table), bool)  # cheaper than sorting the words of a thousand documents
        is_used[all_rows] = True
        column_by_row = np.cumsum(is_used) - 1  # (n_rows,), of rows that are used
        counts = sparse.csr_matrix(
            (np.ones(len(all_rows), np.float32), column_by_row[all_rows], document_ends),
            shape=(len(documents), int(is_used.sum())),
        )
        return RowCounts(np.flatnonzero(is_used), counts)

    def split_score(self, query: Query, document: Document) -> list[tuple[str, str, str, float]]:
        """Return the summands of `score` as (query word, document word, name of the summand, value).

        There is one for each query word and kernel, with the document word of the strongest response; one for each
        query word that the document has verbatim; and the bias, without words.
        """
        title = document.title or document.text
        text_weight, title_weight = self.verbatim_weights.tolist()
        parts = (
            _DocumentPart(document.full_text, document.lang, self.kernel_weights, text_weight, ""),
            _DocumentPart(title, document.lang, self.title_kernel_weights, title_weight, " of titles"),
        )
        summands: list[tuple[str, str, str, float]] = [("", "", "bias", float(self.bias))]
        for part in parts:
            if part.verbatim_weight:
                summands += self._list_verbatim_summands(query, part)
            if part.kernel_weights.any():
                summands += self._list_kernel_summands(query, part)
        return summands

    def _list_verbatim_summands(self, query: Query, part: _DocumentPart) -> list[tuple[str, str, str, float]]:
        """Return what each query word that a text has verbatim adds to a score, as `split_score` does."""
        words = self.words(part.text, part.lang)
        summands = []
        for term, share in self._weigh_by_rarity(query.text, query.lang).items():
            if words.has(term):
                summands.append((term, term, f"as it stands{part.suffix}", part.verbatim_weight * share))
        return summands

    def _list_kernel_summands(self, query: Query, part: _DocumentPart) -> list[tuple[str, str, str, float]]:
        """List what each query word adds to the score of a text by each kernel that has a weight.

        :param part: the text, and the weights of the kernels
        :return: (query word, the word of the text that the kernel responds to most, name of the kernel, value)
        """
        query_terms = self._list_terms(query.text, query.lang)
        text_terms = self._list_terms(part.text, part.lang)
        if not text_terms:
            return []
        responses = self._compute_responses(query, part)  # (n_query_terms, n_text_terms, n_kernels)
        strongest = responses.argmax(axis=1)  # (n_query_terms, n_kernels), positions in text_terms
        values = _score_responses(responses) * part.kernel_weights  # (n_query_terms, n_kernels)
        summands = []
        for i, query_term in enumerate(query_terms):
            for kernel in np.flatnonzero(part.kernel_weights).tolist():
                text_term = text_terms[strongest[i, kernel]]
                name = f"kernel {kernel_features.MEANS[kernel]:+.1f}{part.suffix}"
                summands.append((query_term, text_term, name, float(values[i, kernel])))
        return summands

    def _compute_responses(self, query: Query, part: _DocumentPart) -> npt.NDArray[np.floating]:
        """Return the response of each kernel to each pair of words: (n_query_terms, n_text_terms, n_kernels)."""
        query_rows, text_rows = self.ids(query.text, query.lang), self.ids(part.text, part.lang)
        cosines = (self.table[query_rows] @ self.table[text_rows].T).astype(np.float32)
        return kernel_features.compute_responses(cosines)

    def _list_terms(self, text: str, lang: str) -> list[str]:
        """Return the terms whose rows `ids` returns."""
        vocabulary = self.vocabularies[lang]
        return [vocabulary.terms[i] for i in vocabulary.ids(text)]

    def encoder(self) -> BagEncoder:
        """Return the word vectors as an encoder: the mean of the unit vectors of the words of a text."""
        towers = {}
        for lang, vocabulary in self.vocabularies.items():
            towers[lang] = Tower(vocabulary, self.table[self.rows[lang]])
        return BagEncoder(towers, weighting="mean", meta=self.meta)

    def save(self, path: str | Path) -> None:
        """Write the model to a folder, which `load` opens.

        Arrays and settings keep the names they were first saved under, so that old models stay readable.
        """
        arrays: dict[str, Any] = {
            "table": self.table,
            "weight": self.kernel_weights,
            "title": self.title_kernel_weights,
        }
        words = {}
        vocabulary_meta = {}
        for lang, vocabulary in self.vocabularies.items():
            arrays[f"{lang}.df"] = vocabulary.df
            arrays[f"{lang}.rows"] = self.rows[lang]
            words[f"{lang}.terms"] = vocabulary.terms
            vocabulary_meta[lang] = vocabulary.meta()
        meta = {
            "bias": self.bias,
            "trust": self.first_search_weights.tolist(),
            "alike": self.verbatim_weights.tolist(),
            "vocabularies": vocabulary_meta,
            "about": self.meta,
        }
        artefacts.save(path, "knrm", meta=meta, arrays=arrays, words=words)

    @classmethod
    def load(cls, path: str | Path) -> Knrm:
        """Open a model that `save` wrote; its arrays are memory-mapped. Weights that an old model lacks are 0."""
        saved = artefacts.load(path, kind="knrm")
        arrays, meta = saved.arrays, saved.meta
        vocabularies = {}
        rows = {}
        for lang, vocabulary_meta in meta["vocabularies"].items():
            terms = saved.words[f"{lang}.terms"]
            vocabularies[lang] = Vocabulary.restore(vocabulary_meta, terms, arrays[f"{lang}.df"])
            rows[lang] = np.asarray(arrays[f"{lang}.rows"])
        return cls(
            vocabularies,
            rows,
            arrays["table"],
            arrays["weight"],
            float(meta["bias"]),
            title_kernel_weights=arrays.get("title"),
            first_search_weights=meta.get("trust", (0.0, 0.0, 0.0)),
            verbatim_weights=meta.get("alike", (0.0, 0.0)),
            meta=meta["about"],
        )


def describe_first_scores(scores: npt.ArrayLike) -> Floats:
    """Describe the scores of a first search independently of their scale (documents, 3).

    The columns are: the distance below the best score, in standard deviations of the thirty best scores, so that it
    does not depend on how many documents were found; minus the logarithm of the rank; and, for the best document only,
    its lead over the second.

    :param scores: (documents,)
    """
    values = np.asarray(scores, np.float64)
    if not len(values):
        return np.zeros((0, 3), np.float32)
    distances = _measure_distances(values)
    order = np.argsort(-values, kind="stable")  # best first
    ranks = np.empty(len(values))
    ranks[order] = np.arange(1, len(values) + 1)
    leads = np.zeros(len(values))
    if len(values) > 1:
        best, second = order[:2]
        leads[best] = -distances[second]
    return np.stack([distances, -np.log(ranks), leads], axis=1).astype(np.float32)


def _measure_distances(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return scores minus the best, in standard deviations of the thirty best; 0 if these are equal."""
    deviation = np.sort(scores)[-_BEST_SCORES:].std()
    return (scores - scores.max()) / deviation if deviation > 0 else np.zeros(len(scores))


def _sum_weights(weight_by_term: Mapping[str, float], words: Words) -> float:
    """Add up the weights of the terms that a text contains."""
    return sum(weight for term, weight in weight_by_term.items() if words.has(term))


def load(path: str | Path) -> Knrm:
    """Open a saved model."""
    return Knrm.load(path)


def _score_responses(responses: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Return the score of each query term by each kernel: the scaled logarithm of the sum over the terms of a text.

    :param responses: (n_query_terms, n_text_terms, n_kernels)
    :return: (n_query_terms, n_kernels)
    """
    sums = np.maximum(responses.sum(axis=1), kernel_features.FLOOR)
    return np.asarray(np.log(sums) * kernel_features.SCALE)
