"""Vectors of the demonstration's texts by multilingual-e5-small, to compare the default model with.

They are stored in 8 bits, since encoding takes half a second per document. `studies/demo_vectors.py` makes the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.resources import as_file, files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.analysis import passages
from paragloss.types import Document, Floats, Hit, Query, Ranking

FILE = "e5.npz"


class Vectors(NamedTuple):
    """One row per text (document or query) in units of its largest value / 127, and the keys of the texts."""

    keys: npt.NDArray[np.uint64]
    rows: npt.NDArray[np.int8]


def list_texts(documents: Sequence[Document], queries: Sequence[Query]) -> list[tuple[str, bool]]:
    """Return the texts to encode, each with whether it is a query: documents (one passage each), then queries."""
    document_texts = [(passage, False) for document in documents for passage in passages.read_passages(document)]
    assert len(document_texts) == len(documents), "the demonstration's documents are short"
    return [*document_texts, *((query.text, True) for query in queries)]


def compute_keys(texts: Sequence[tuple[str, bool]]) -> npt.NDArray[np.uint64]:
    """Return a hash of each text."""
    prefixed = [f"{'query' if query else 'passage'}: {text}".encode() for text, query in texts]
    return np.array(
        [int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") for text in prefixed], np.uint64
    )


def quantize(rows: Floats) -> npt.NDArray[np.int8]:
    """Return the rows as 8-bit integers, scaled so that the largest value of each is 127."""
    scaled: npt.NDArray[np.int8] = np.rint(rows * (127 / np.abs(rows).max(axis=1, keepdims=True))).astype(np.int8)
    return scaled


def load() -> Vectors:
    """Load the vectors that are shipped with the demonstration."""
    with as_file(files(__package__) / FILE) as path, np.load(path, allow_pickle=False) as arrays:
        return Vectors(arrays["keys"], arrays["rows"])


def rank(documents: Sequence[Document], queries: Sequence[Query], *, k: int) -> list[Ranking]:
    """Rank, for each query, the best k documents in other languages by the cosine of their vectors.

    :param documents: all documents of the demonstration, in their order.
    :param queries: all its queries, likewise.
    :return: a ranking for each query.
    """
    vectors = load().rows.astype(np.float32)  # of the documents, then of the queries
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    document_vectors = vectors[: len(documents)]
    query_vectors = vectors[len(documents) :]
    cosines = query_vectors @ document_vectors.T  # (n_queries, n_documents)
    document_langs = np.array([document.lang for document in documents])
    rankings: list[Ranking] = []
    for query, query_cosines in zip(queries, cosines, strict=True):
        order = np.argsort(-query_cosines, kind="stable")
        is_foreign = document_langs[order] != query.lang
        best_positions = order[is_foreign][:k]
        rankings.append([Hit(documents[i].id, float(query_cosines[i])) for i in best_positions])
    return rankings
