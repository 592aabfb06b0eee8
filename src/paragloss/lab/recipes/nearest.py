"""Measures of the papers for encoders: which of many vectors is nearest, by cosine or CSLS."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from paragloss.lab.recipes.sets import Columns
from paragloss.ranking import globally_corrected, inverted_softmax, neighbourhood
from paragloss.types import Concept, Encoder, Floats, Integers

#: Ways to compare a query with documents: cosine, CSLS over ten neighbours, and the papers' other rules against hubs.
RULES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "cosine": lambda asked, found: np.asarray(asked @ found.T),
    "CSLS": lambda asked, found: np.asarray(2 * asked @ found.T - neighbourhood(found, asked, k=10)),
    "corrected": globally_corrected,
    "inverted": inverted_softmax,
}


def places(asked: Floats, found: Floats, right: Sequence[int], *, rule: str = "cosine") -> Integers:
    """At which place each query finds its right document, from 1; equals count against it."""
    scores = RULES[rule](unit(asked), unit(found))
    own = scores[np.arange(len(right)), np.asarray(right)]
    return np.asarray((scores >= own[:, None]).sum(1), np.int64)


def unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)


def precisions(place: Integers) -> Columns:
    """P@1, P@5, P@10 (the right one among the first k) and the reciprocal rank of every query."""
    cuts = {f"P@{k}": float((place <= k).mean()) for k in (1, 5, 10)}
    return {**cuts, "RR": [round(1 / int(p), 4) for p in place]}


def across(
    model: Encoder, test: list[Concept], source: str, target: str, others: Sequence[Concept] = (), rule: str = "cosine"
) -> Columns:
    """Texts in one language find those of the same concepts in another, among `others` too."""
    asked = model.encode([c.texts[source] for c in test], source)
    found = model.encode([c.texts[target] for c in [*test, *others]], target)
    return precisions(places(asked, found, range(len(test)), rule=rule))
