"""Records and vectors for the tests of stores."""

from __future__ import annotations

import numpy as np

from paragloss.types import Document, Record, SparseVector


def make_sparse(entries: dict[int, float]) -> SparseVector:
    ids = sorted(entries)
    return SparseVector(np.array(ids, np.uint32), np.array([entries[i] for i in ids], np.float32))


def make_record(id: str, *, lang: str = "en", dense=None, terms=None, **parts) -> Record:
    """A record with the vectors "meaning" and "terms", if they are given; `parts` are other fields of the document."""
    return Record(
        Document(id, parts.pop("text", f"text of {id}"), lang, **parts),
        {} if dense is None else {"meaning": np.array(dense, np.float32)},
        {} if terms is None else {"terms": make_sparse(terms)},
    )


def list_ids(hits) -> list[str]:
    return [hit.id for hit in hits]
