"""Turn estimated relevance into training data: grades and judged queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paragloss.errors import InputError
from paragloss.types import Document, JudgedCollection, Qrels, Query


def cuts(scores: Mapping[str, Mapping[str, float]], shares: Sequence[float]) -> list[float]:
    """Compute the bounds of grades: shares (0.3, 0.1) give the scores that 30 % and 10 % of all documents exceed."""
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
    """Turn scores into grades of thousandths, so that `fit_judged` can learn from pairs of a minimum difference."""
    return {
        query: {doc_id: round(1000 * score) for doc_id, score in score_by_document.items()}
        for query, score_by_document in scores.items()
    }


def judged(grades: Mapping[str, Mapping[str, int]], documents: Mapping[str, Document], lang: str) -> JudgedCollection:
    """Make a judged collection of graded queries, numbered q1, q2, ...

    :param grades: text of the query -> document id -> grade; documents that are not in `documents` are left out, and
        queries that have no other documents
    :param lang: language of the queries
    """
    available = {
        text: {doc_id: grade for doc_id, grade in grade_by_document.items() if doc_id in documents}
        for text, grade_by_document in grades.items()
    }
    text_by_id = {f"q{number}": text for number, text in enumerate(available, 1) if available[text]}
    if not text_by_id:
        raise InputError("none of the documents in the log is at hand: give the documents that were shown")
    queries = [Query(query_id, text, lang) for query_id, text in text_by_id.items()]
    return JudgedCollection(queries, documents, {query_id: available[text] for query_id, text in text_by_id.items()})
