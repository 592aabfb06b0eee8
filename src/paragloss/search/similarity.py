"""The semantic half of the default search: how much more similar documents are to a query than unrelated ones are.

Cosines of unrelated texts differ from language to language and from query to query. A similarity is therefore given in
standard deviations above the cosines of a fixed sample of the collection's documents in the same language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.types import Floats, Store, Where

#: Documents of each language in the background sample, and how many of their vectors are compared with each query.
DOCS_IN_BACKGROUND = 100
MAX_BACKGROUND_VECTORS = 256
#: The background of all languages counts in that of one language as much as this many of its documents.
PRIOR_DOCS = 10
#: The least standard deviation: that of equal documents would be 0.
MIN_DEVIATION = 0.02
#: Terms of a text for each passage that the encoder reads.
TERMS_PER_PASSAGE = 60.0


@dataclass(frozen=True)
class Background:
    """Vectors of a fixed sample of documents in each language."""

    rows: Mapping[str, int]  # position of each language in `sizes`
    vectors: Floats  # (n_vectors, dim), one language after the other
    sizes: Floats  # (n_languages,) vectors of each language, at least 1

    @classmethod
    def from_samples(cls, samples: Mapping[str, Floats]) -> Background:
        """Join the samples of several languages, each (n_vectors, dim); empty ones are left out."""
        used = {lang: sample for lang, sample in samples.items() if len(sample)}
        vectors = np.concatenate(list(used.values())) if used else np.zeros((0, 0), np.float32)
        sizes = np.array([len(sample) for sample in used.values()], np.float32)
        return cls({lang: row for row, lang in enumerate(used)}, vectors, sizes)

    def standardize(self, query_vector: Floats, languages: Sequence[str], cosines: Floats) -> Floats:
        """Express a query's cosines with documents in standard deviations above the background of their language.

        :param languages: the language of each document, (n_docs,).
        :param cosines: of the query with each document, (n_docs,).
        :return: (n_docs,); the cosines themselves if there is no sample in any language.
        """
        if not self.rows:
            return cosines
        background = self._measure_cosines(query_vector)
        mean_row = -1  # the last row is the mean of all languages, for those without a sample
        rows = np.array([self.rows.get(lang, mean_row) for lang in languages], np.int64)  # (n_docs,)
        return np.asarray((cosines - background.means[rows]) / background.deviations[rows])

    def _measure_cosines(self, query_vector: Floats) -> BackgroundCosines:
        """Measure mean and standard deviation of a query's cosines with the sample of each language."""
        cosines = self.vectors @ query_vector  # (n_vectors,)
        sizes = self.sizes.astype(np.int64)
        starts = np.cumsum(sizes) - sizes  # where each language begins in the cosines, (n_languages,)
        means = np.add.reduceat(cosines, starts) / self.sizes  # (n_languages,)
        distances = cosines - means.repeat(sizes)  # (n_vectors,)
        variances = np.add.reduceat(distances**2, starts) / self.sizes  # (n_languages,)
        deviations = np.sqrt(self._smooth(variances))
        return BackgroundCosines(self._smooth(means), np.maximum(deviations, MIN_DEVIATION))

    def _smooth(self, values: npt.NDArray[np.floating[Any]]) -> Floats:
        """Move the values of languages with small samples towards the mean of all, and append that mean.

        :param values: (n_languages,).
        :return: (n_languages + 1,); the last value is for languages without a sample.
        """
        mean = values.mean()
        own_share = self.sizes / (self.sizes + PRIOR_DOCS)
        return np.append(own_share * values + (1 - own_share) * mean, mean)


class BackgroundCosines(NamedTuple):
    """The cosines of a query with unrelated documents of each language, and of other ones; (n_languages + 1,) each."""

    means: Floats
    deviations: Floats


def sample_background(store: Store, vector_name: str, languages: Sequence[str]) -> Background:
    """Read the vectors of a fixed number of documents of each language.

    :param vector_name: the vectors that are read; a document may have several, one for each passage.
    :param languages: the languages of the documents.
    """
    return Background.from_samples({lang: _sample_vectors(store, vector_name, lang) for lang in languages})


def _sample_vectors(store: Store, vector_name: str, lang: str) -> Floats:
    """Read some different vectors of the first documents of a language; (n_vectors, dim), (0, 0) if there are none.

    Equal vectors are taken once, so that copies of a document change nothing.
    """
    batches = store.scroll({"lang": [lang]}, batch_size=DOCS_IN_BACKGROUND, vectors=[vector_name], text=False)
    records = next(batches, [])
    vectors = [np.atleast_2d(record.dense[vector_name]) for record in records if vector_name in record.dense]
    if not vectors:
        return np.zeros((0, 0), np.float32)
    distinct_vectors = np.unique(np.concatenate(vectors).astype(np.float32), axis=0)
    return distinct_vectors[_spread_evenly(len(distinct_vectors), MAX_BACKGROUND_VECTORS)]


def _spread_evenly(count: int, limit: int) -> npt.NDArray[np.int64]:
    """Return up to `limit` positions from 0 to `count`, at equal distances."""
    return np.unique(np.linspace(0, count - 1, min(count, limit)).astype(np.int64))


def expected_best_of(n_passages: npt.ArrayLike) -> Floats:
    """Return how far the best of n unrelated passages is expected to lie above their mean, in standard deviations.

    sqrt(2 ln n) approximates the maximum of n independent normal variables. Neighbouring passages share words and the
    title, so that half of it was measured to be right.
    """
    return np.asarray(np.sqrt(2.0 * np.log(np.maximum(n_passages, 1.0))), np.float32)


class MeasuredSimilarity(NamedTuple):
    """How similar documents are to a query; (n_docs,) each."""

    similarities: Floats  # in standard deviations above unrelated documents of the same language
    has_vectors: npt.NDArray[np.bool_]


class SimilaritySearcher:
    """Finds documents by one vector name, and measures documents that others found."""

    def __init__(self, store: Store, vector_name: str, background: Callable[[], Background]) -> None:
        """Search a store.

        :param vector_name: the name of the vectors that queries are compared with.
        :param background: returns the sample of documents that similarities are measured against.
        """
        self.vector_name = vector_name
        self._store, self._background = store, background

    def search(self, query_vector: Floats, limit: int, where: Where | None) -> dict[str, float]:
        """Return the cosines of the most similar documents of all languages."""
        (hits,) = self._store.search_dense(self.vector_name, query_vector[None], limit, where)
        return {hit.id: hit.score for hit in hits}

    def measure(
        self, query_vector: Floats, cosines: dict[str, float], doc_ids: Sequence[str], languages: Sequence[str]
    ) -> MeasuredSimilarity:
        """Measure how similar documents are to a query, in standard deviations above unrelated documents.

        :param cosines: the known cosines by document id; the others are read from the store.
        :param doc_ids: the documents that are measured, (n_docs,).
        :param languages: the language of each document, (n_docs,).
        """
        all_cosines = self._complete(query_vector, cosines, doc_ids)
        has_vectors = np.array([doc_id in all_cosines for doc_id in doc_ids], bool)
        cosines_of_documents = np.array([all_cosines.get(doc_id, 0.0) for doc_id in doc_ids], np.float32)
        similarities = self._background().standardize(query_vector, languages, cosines_of_documents)
        return MeasuredSimilarity(similarities, has_vectors)

    def _complete(self, query_vector: Floats, cosines: dict[str, float], doc_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosines of those documents that have a vector; the missing ones are read from the store."""
        missing = [doc_id for doc_id in doc_ids if doc_id not in cosines]
        if not missing:
            return cosines
        (hits,) = self._store.search_dense(
            self.vector_name, query_vector[None], len(missing), exact=True, candidate_ids=missing
        )
        return cosines | {hit.id: hit.score for hit in hits}
