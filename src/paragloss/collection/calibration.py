"""How likely is it that a document is what was asked for? Judged by what was searched, learned from judged searches.

A logistic regression over a document's share of the best score possible, how far it stands out of its language's other
documents, and how many there are; docs/understand/model.md has what it is worth.
"""

from __future__ import annotations

import math

#: Of 1, the logarithm of the share, the root of how far it stands out, and the logarithm of the number of documents.
WEIGHTS = (1.276, 1.646, 6.03, -0.537)
#: A document that is less likely than this, and has less than this share of the query, is no answer. Of documents that
#: are all alike none is likely, but each is one.
FLOOR, LITTLE = 0.05, 0.1
#: Of so few documents every word is common, and shares say nothing.
FEW = 10
#: Shares below this say the same.
_LEAST = 0.01


def features(standing: tuple[float, float], most: float, documents: int) -> tuple[float, ...]:
    """What tells of a document, from its evidence and how far it stands out, and the most it could have had."""
    share, out = (min(max(value / most, -1.0), 1.0) for value in standing)
    far = math.copysign(math.sqrt(abs(out)), out)
    return 1.0, math.log(max(share, 0.0) + _LEAST), far, math.log10(max(documents, 1))


def fit(standing: tuple[float, float], most: float, documents: int) -> float:
    """The share of such documents that are right."""
    told = sum(w * x for w, x in zip(WEIGHTS, features(standing, most, documents), strict=True))
    return 1 / (1 + math.exp(-told))


def answers(standing: tuple[float, float], most: float, documents: int) -> bool:
    """Whether a document should be shown at all, if it is the best there is. Words can have 1; where meaning adds to
    that nothing was learned of it, and everything is shown."""
    return most > 1 or documents < FEW or standing[0] / most >= LITTLE or fit(standing, most, documents) >= FLOOR
