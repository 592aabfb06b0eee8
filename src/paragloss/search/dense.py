"""Search by meaning: encode the query and find the nearest documents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from paragloss.encoders.explanations import explain_encoder_score
from paragloss.errors import LanguageError
from paragloss.types import (
    Document,
    Encoder,
    Floats,
    Query,
    QueryForms,
    RankedList,
    Ranking,
    ScoreExplanation,
    Store,
    Where,
)


class Dense:
    """Finds documents of every language by the dot product of the query's vector with the vectors `name`.

    A query none of whose words the encoder knows has no vector and finds nothing; a language it does not know is an
    error. `exact` compares with every document instead of walking the engine's graph.
    """

    def __init__(self, store: Store, encoder: Encoder, *, name: str, exact: bool = False) -> None:
        self.store = store
        self.encoder = encoder
        self.name = name
        self._exact = exact

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Rank the documents of all languages for each query."""
        vectors = self.encode_queries(queries)
        rankings = self._search_vectors(vectors, k, where)
        return [
            RankedList(tuple(ranking), QueryForms(vectors={self.name: vector}), partial(self._explain, query))
            for query, vector, ranking in zip(queries, vectors, rankings, strict=True)
        ]

    def max_score(self, lang: str) -> float:
        """Return the highest score of a document of a language: a cosine of 1, or 0 if the encoder can't read it."""
        return 1.0 if lang in self.encoder.langs else 0.0

    def encode_queries(self, queries: Sequence[Query]) -> Floats:
        """Encode queries, those of one language together; (n_queries, dim).

        :raises LanguageError: for a query in a language that the encoder does not know.
        """
        vectors = np.zeros((len(queries), self.encoder.dim), np.float32)
        for lang in dict.fromkeys(query.lang for query in queries):
            if lang not in self.encoder.langs:
                raise LanguageError(
                    f"the model behind {self.name!r} does not know {lang!r}; it knows {', '.join(self.encoder.langs)}"
                )
            positions = [i for i, query in enumerate(queries) if query.lang == lang]
            vectors[positions] = self.encoder.encode([queries[i].text for i in positions], lang)
        return vectors

    def _search_vectors(self, vectors: Floats, k: int, where: Where | None) -> list[Ranking]:
        """Return the best k documents for each vector; none for a vector of zeros, which is not sent to the store."""
        rankings: list[Ranking] = [[] for _ in vectors]
        nonzero_positions = np.flatnonzero(vectors.any(axis=1))
        if len(nonzero_positions):
            nonzero_vectors = vectors[nonzero_positions]
            new_rankings = self.store.search_dense(self.name, nonzero_vectors, k, where, exact=self._exact)
            for position, ranking in zip(nonzero_positions.tolist(), new_rankings, strict=True):
                rankings[position] = ranking
        return rankings

    def _explain(self, query: Query, document: Document, score: float) -> ScoreExplanation:
        def read_vectors() -> Floats | None:
            (record,) = self.store.get([document.id], vectors=[self.name])
            return record.dense.get(self.name) if record is not None else None

        return explain_encoder_score(self.encoder, self.name, query, document, score, read_vectors)
