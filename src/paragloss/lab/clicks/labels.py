"""From scores to judgments: grades, pairs to learn from, judged queries. Knows nothing of where scores come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from paragloss.errors import InputError
from paragloss.types import Document, JudgedCollection, Qrels, Query


class Pair(NamedTuple):
    """For a query one document is better than another, by so much: what pairwise rankers learn from."""

    query: str
    better: str
    worse: str
    difference: float


def cuts(scores: Mapping[str, Mapping[str, float]], shares: Sequence[float]) -> list[float]:
    """Compute the scores above which the given shares of all documents lie: (0.3, 0.1) gives a bound for grades 1 and
    2."""
    values = [score for documents in scores.values() for score in documents.values()]
    if not values or any(not 0 < share < 1 for share in shares) or list(shares) != sorted(shares, reverse=True):
        raise InputError(f"shares {tuple(shares)}: expected falling shares between 0 and 1, such as (0.3, 0.1)")
    return [float(np.quantile(values, 1 - share)) for share in shares]


def graded(scores: Mapping[str, Mapping[str, float]], bounds: Sequence[float]) -> Qrels:
    """Turn scores into grades: how many of the bounds a score exceeds."""
    return {
        query: {document: sum(score > bound for bound in bounds) for document, score in documents.items()}
        for query, documents in scores.items()
    }


def thousandths(scores: Mapping[str, Mapping[str, float]]) -> Qrels:
    """Turn scores into grades of thousandths, so that who learns from pairs can require a difference (`fit_judged`)."""
    return {
        query: {d: round(1000 * score) for d, score in by_document.items()} for query, by_document in scores.items()
    }


def pairs(scores: Mapping[str, Mapping[str, float]], *, difference: float = 0.0) -> list[Pair]:
    """List all pairs of a query's documents whose scores (or grades) differ by more than `difference`, widest first."""
    document_pairs = []
    for query, documents in scores.items():
        ranked = sorted(documents.items(), key=lambda item: (-item[1], item[0]))
        wide = [
            Pair(query, better, worse, high - low)
            for i, (better, high) in enumerate(ranked)
            for worse, low in ranked[i + 1 :]
            if high - low > difference
        ]
        document_pairs += sorted(wide, key=lambda pair: -pair.difference)
    return document_pairs


def judged(grades: Mapping[str, Mapping[str, int]], documents: Mapping[str, Document], lang: str) -> JudgedCollection:
    """Make judged queries, numbered q1, q2, ...; documents that are not given are left out, and queries without any."""
    available = {
        query: {doc_id: grade for doc_id, grade in by_document.items() if doc_id in documents}
        for query, by_document in grades.items()
    }
    text_by_id = {f"q{number}": text for number, text in enumerate(available, 1) if available[text]}
    if not text_by_id:
        raise InputError("none of the documents in the log is at hand: give the documents that were shown")
    queries = [Query(query_id, text, lang) for query_id, text in text_by_id.items()]
    return JudgedCollection(queries, documents, {query_id: available[text] for query_id, text in text_by_id.items()})
