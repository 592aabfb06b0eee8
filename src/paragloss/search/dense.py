"""Search by meaning: encode the query, find the nearest documents. Knows nothing of how vectors are made."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from paragloss.errors import LanguageError
from paragloss.search.vector_evidence import near
from paragloss.types import Account, Document, Encoder, Floats, Query, QueryForms, RankedList, Ranking, Store, Where


class Dense:
    """Finds documents of every language by the dot product of the query's vector with the vectors `name`.

    A query none of whose words the encoder knows has no vector and finds nothing; a language it does not know
    is an error. `exact` compares with every document instead of walking the engine's graph.
    """

    def __init__(self, store: Store, encoder: Encoder, *, name: str, exact: bool = False) -> None:
        self.store = store
        self.encoder = encoder
        self.name = name
        self._exact = exact

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        vectors = self.vectors(queries)
        rankings = self._found(vectors, k, where)
        return [self._with_evidence(*each) for each in zip(queries, vectors, rankings, strict=True)]

    def _with_evidence(self, query: Query, vector: Floats, ranking: Ranking) -> RankedList:
        forms = QueryForms(vectors={self.name: vector})
        return RankedList(tuple(ranking), forms, partial(self._account, query))

    def best(self, lang: str) -> float:
        return 1.0 if lang in self.encoder.langs else 0.0

    def _account(self, query: Query, document: Document, score: float) -> Account:
        def kept() -> Floats | None:
            (record,) = self.store.get([document.id], vectors=[self.name])
            return record.dense.get(self.name) if record is not None else None

        return near(self.encoder, self.name, query, document, score, kept)

    def _found(self, vectors: Floats, k: int, where: Where | None) -> list[Ranking]:
        asked = np.flatnonzero(vectors.any(axis=1)) if len(vectors) else np.zeros(0, np.int64)
        rankings: list[Ranking] = [[] for _ in vectors]
        if len(asked):
            found = self.store.search_dense(self.name, vectors[asked], k, where, exact=self._exact)
            for i, ranking in zip(asked.tolist(), found, strict=True):
                rankings[i] = ranking
        return rankings

    def vectors(self, queries: Sequence[Query]) -> Floats:
        """One row per query, encoded together by language."""
        rows = np.zeros((len(queries), self.encoder.dim), np.float32)
        for lang in dict.fromkeys(query.lang for query in queries):
            if lang not in self.encoder.langs:
                raise LanguageError(
                    f"the model behind {self.name!r} does not know {lang!r}; it knows {', '.join(self.encoder.langs)}"
                )
            which = [i for i, query in enumerate(queries) if query.lang == lang]
            rows[which] = self.encoder.encode([queries[i].text for i in which], lang)
        return rows
