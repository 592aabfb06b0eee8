"""What a pretrained encoder would have found: vectors of the demonstration's texts by multilingual-e5-small, kept
beside them in 8 bits, since encoding takes half a second a document. `studies/demo_vectors.py` makes the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.resources import as_file, files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.encoders.pretrained import passages
from paragloss.types import Document, Floats, Hit, Query, Ranking

FILE = "e5.npz"


class Vectors(NamedTuple):
    """A row for each text, document or query, in units of its largest value / 127, and what it was computed from."""

    keys: npt.NDArray[np.uint64]
    rows: npt.NDArray[np.int8]


def texts(documents: Sequence[Document], queries: Sequence[Query]) -> list[tuple[str, bool]]:
    """What the encoder reads, each with whether it is a query: the documents, one passage each, then the queries."""
    read = [(passage, False) for document in documents for passage in passages.read_passages(document)]
    assert len(read) == len(documents), "the demonstration's documents are short"
    return [*read, *((query.text, True) for query in queries)]


def keys(read: Sequence[tuple[str, bool]]) -> npt.NDArray[np.uint64]:
    """A number for each text that changes when the text does."""
    named = [f"{'query' if query else 'passage'}: {text}".encode() for text, query in read]
    return np.array([int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big") for name in named], np.uint64)


def quantised(rows: Floats) -> npt.NDArray[np.int8]:
    """Eight bits a value, the largest of a row being 127."""
    scaled: npt.NDArray[np.int8] = np.rint(rows * (127 / np.abs(rows).max(axis=1, keepdims=True))).astype(np.int8)
    return scaled


def load() -> Vectors:
    """The rows that stand beside the texts."""
    with as_file(files(__package__) / FILE) as path, np.load(path, allow_pickle=False) as kept:
        return Vectors(kept["keys"], kept["rows"])


def rank(documents: Sequence[Document], queries: Sequence[Query], *, k: int) -> list[Ranking]:
    """For each query the documents in other languages whose vectors are nearest."""
    units = load().rows.astype(np.float32)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    near = units[len(documents) :] @ units[: len(documents)].T  # (queries, documents)
    langs: npt.NDArray[Any] = np.array([document.lang for document in documents])
    near[np.array([query.lang for query in queries])[:, None] == langs] = -np.inf
    best = np.argsort(-near, axis=1, kind="stable")[:, :k]
    return [
        [Hit(documents[at].id, float(row[at])) for at in places if np.isfinite(row[at])]
        for row, places in zip(near, best, strict=True)
    ]
