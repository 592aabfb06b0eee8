"""Turn estimated relevance into training data: grades and judged queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paragloss.errors import InputError
from paragloss.types import Document, JudgedCollection, Qrels, Query


def compute_grade_bounds(scores: Mapping[str, Mapping[str, float]], shares: Sequence[float]) -> list[float]:
    """Compute the bounds of grades: shares (0.3, 0.1) give the scores that 30 % and 10 % of all documents exceed."""
    values = [score for score_by_document in scores.values() for score in score_by_document.values()]
    are_shares = all(0 < share < 1 for share in shares)
    are_falling = list(shares) == sorted(shares, reverse=True)
    if not values or not are_shares or not are_falling:
        raise InputError(f"shares {tuple(shares)}: expected falling shares between 0 and 1, such as (0.3, 0.1)")
    return [float(np.quantile(values, 1 - share)) for share in shares]


def grade_scores(scores: Mapping[str, Mapping[str, float]], bounds: Sequence[float]) -> Qrels:
    """Turn scores into grades: how many of the bounds a score exceeds."""
    qrels: Qrels = {}
    for query, score_by_document in scores.items():
        qrels[query] = {}
        for doc_id, score in score_by_document.items():
            qrels[query][doc_id] = sum(score > bound for bound in bounds)
    return qrels


def round_to_thousandths(scores: Mapping[str, Mapping[str, float]]) -> Qrels:
    """Turn scores into grades of thousandths, so that `fit_judged` can learn from pairs of a minimum difference."""
    return {
        query: {doc_id: round(1000 * score) for doc_id, score in score_by_document.items()}
        for query, score_by_document in scores.items()
    }


def make_judged_collection(
    grades: Mapping[str, Mapping[str, int]], documents: Mapping[str, Document], lang: str
) -> JudgedCollection:
    """Make a judged collection of graded queries, numbered q1, q2, ...

    :param grades: text of the query -> document id -> grade; documents that are not in `documents` are left out, and
        queries that have no other documents
    :param documents: the documents at hand, by id
    :param lang: language of the queries
    :raises InputError: if no graded document is at hand
    """
    queries: list[Query] = []
    qrels: Qrels = {}
    for number, (text, grade_by_document) in enumerate(grades.items(), 1):
        available = {doc_id: grade for doc_id, grade in grade_by_document.items() if doc_id in documents}
        if available:
            query = Query(f"q{number}", text, lang)
            queries.append(query)
            qrels[query.id] = available
    if not queries:
        raise InputError("none of the documents in the log is at hand: give the documents that were shown")
    return JudgedCollection(queries, documents, qrels)
