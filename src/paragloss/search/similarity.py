"""The semantic half of the default search: how far documents are more similar to a query than unrelated ones are.

Cosines of unrelated texts differ from language to language and from query to query. A similarity is therefore given in
standard deviations above the cosines of a fixed sample of the collection's documents in the same language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paragloss.types import Floats, Store, Where

#: Documents of each language in the background sample.
DOCS_IN_BACKGROUND = 100
#: A language's background leans on that of all languages as if they had this many more documents.
PRIOR_DOCS = 10
#: The least standard deviation that is taken for one: of two documents alike it would be 0.
MIN_DEVIATION = 0.02
#: Terms of a text for each passage that the encoder reads.
TERMS_PER_PASSAGE = 60.0


@dataclass(frozen=True)
class Background:
    """Vectors of a fixed sample of documents in each language."""

    samples: Mapping[str, Floats]  # (n_vectors, dim) each; equal vectors once

    def standardize(self, query_vector: Floats, languages: Sequence[str], cosines: Floats) -> Floats:
        """Express cosines in standard deviations above the background of each document's language."""
        moments = self._moments(query_vector)
        default = moments[""]
        means = np.array([moments.get(lang, default)[0] for lang in languages], np.float32)
        deviations = np.array([moments.get(lang, default)[1] for lang in languages], np.float32)
        return (cosines - means) / deviations

    def _moments(self, query_vector: Floats) -> dict[str, tuple[float, float]]:
        """Return mean and standard deviation of the cosines of each language's sample; "" stands for all together."""
        cosines = {lang: sample @ query_vector for lang, sample in self.samples.items() if len(sample)}
        if not cosines:
            return {"": (0.0, 1.0)}
        mean = float(np.mean([values.mean() for values in cosines.values()]))
        variance = float(np.mean([values.var() for values in cosines.values()]))
        moments = {"": (mean, max(variance**0.5, MIN_DEVIATION))}
        for lang, values in cosines.items():
            share = len(values) / (len(values) + PRIOR_DOCS)
            lang_variance = share * float(values.var()) + (1 - share) * variance
            lang_mean = share * float(values.mean()) + (1 - share) * mean
            moments[lang] = lang_mean, max(lang_variance**0.5, MIN_DEVIATION)
        return moments


def sample_background(store: Store, vector_name: str, languages: Sequence[str]) -> Background:
    """Read the vectors of a fixed number of documents of each language; equal vectors are taken once, so that copies of
    a document change nothing."""
    samples = {}
    for lang in languages:
        records = next(store.scroll({"lang": [lang]}, batch=DOCS_IN_BACKGROUND, vectors=[vector_name], text=False), [])
        rows = [np.atleast_2d(record.dense[vector_name]) for record in records if vector_name in record.dense]
        if rows:
            samples[lang] = np.unique(np.concatenate(rows).astype(np.float32), axis=0)
    return Background(samples)


def expected_best_of(n_passages: npt.ArrayLike) -> Floats:
    """Return how far the best of n unrelated passages is expected to lie above their mean, in standard deviations.

    sqrt(2 ln n) approximates the maximum of n independent normal variables. Neighbouring passages share words and the
    title, so that half of it was measured to be right.
    """
    return np.asarray(np.sqrt(2.0 * np.log(np.maximum(n_passages, 1.0))), np.float32)


class SimilaritySearcher:
    """Finds documents by one vector name, and measures documents that others found."""

    def __init__(self, store: Store, vector_name: str, background: Callable[[], Background]) -> None:
        self.vector_name = vector_name
        self._store, self._background = store, background

    def search(self, query_vector: Floats, limit: int, where: Where | None) -> dict[str, float]:
        """Return the cosines of the most similar documents of all languages."""
        (hits,) = self._store.search_dense(self.vector_name, query_vector[None], limit, where)
        return {hit.id: hit.score for hit in hits}

    def complete(self, query_vector: Floats, cosines: dict[str, float], doc_ids: Sequence[str]) -> dict[str, float]:
        """Add the cosines of further documents that have a vector."""
        missing = [doc_id for doc_id in doc_ids if doc_id not in cosines]
        if not missing:
            return cosines
        (hits,) = self._store.search_dense(
            self.vector_name, query_vector[None], len(missing), exact=True, candidate_ids=missing
        )
        return cosines | {hit.id: hit.score for hit in hits}

    def standardize(self, query_vector: Floats, languages: Sequence[str], cosines: Floats) -> Floats:
        """Express cosines in standard deviations above the background of each document's language."""
        return self._background().standardize(query_vector, languages, cosines)
