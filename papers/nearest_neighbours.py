"""Measures of the papers for encoders: the rank of the right vector among many, by cosine, CSLS and other rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from papers.corpora import Columns
from paragloss.encoders.kernel_features import normalize_rows
from paragloss.ranking import inverted_softmax, neighbourhood, score_globally_corrected
from paragloss.types import Concept, Encoder, Floats, Integers

#: Similarity of queries and documents: cosine, CSLS over ten neighbours, and two other corrections for hubness.
SIMILARITIES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "cosine": lambda queries, documents: np.asarray(queries @ documents.T),
    "CSLS": lambda queries, documents: np.asarray(2 * queries @ documents.T - neighbourhood(documents, queries, k=10)),
    "corrected": score_globally_corrected,
    "inverted": inverted_softmax,
}


def rank_of_targets(queries: Floats, documents: Floats, targets: Sequence[int], *, rule: str = "cosine") -> Integers:
    """Rank each query's target document, from 1; documents with the same score count against the target."""
    scores = SIMILARITIES[rule](normalize_rows(queries), normalize_rows(documents))
    target_scores = scores[np.arange(len(targets)), np.asarray(targets)]
    return np.asarray((scores >= target_scores[:, None]).sum(1), np.int64)


def measure_translation_retrieval(
    model: Encoder,
    concepts: list[Concept],
    source: str,
    target: str,
    distractors: Sequence[Concept] = (),
    rule: str = "cosine",
) -> Columns:
    """Let texts in one language find the texts of the same concepts in another, among those of `distractors` too.

    :return: P@1, P@5 and P@10, how often the right text is among the first k, and each query's reciprocal rank, RR
    """
    queries = model.encode([c.texts[source] for c in concepts], source)
    documents = model.encode([c.texts[target] for c in [*concepts, *distractors]], target)
    ranks = rank_of_targets(queries, documents, range(len(concepts)), rule=rule)
    precisions = {f"P@{k}": float((ranks <= k).mean()) for k in (1, 5, 10)}
    return {**precisions, "RR": [round(1 / int(rank), 4) for rank in ranks]}


def join_directions(forward: Columns, backward: Columns) -> Columns:
    """Put the columns of both directions side by side, those of the way back named "back ..."."""
    return {**forward, **{f"back {name}": value for name, value in backward.items()}}
