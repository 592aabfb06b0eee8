"""Notices when an analyzer finds suspiciously few terms: most often text given the wrong language."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

_FEWEST_LETTERS = 200
_MOST_LETTERS_PER_TERM = 40


def check_yield(texts: Sequence[str], counts: Sequence[int], lang: str) -> int:
    """Warn once for a batch in which texts gave too few terms, and say how many; `counts` are their numbers of terms.

    Letters are counted only in the few texts whose mere length is suspicious, so this costs next to nothing.
    """
    suspects = [
        (letters, count)
        for text, count in zip(texts, counts, strict=True)
        if len(text) > max(_FEWEST_LETTERS, _MOST_LETTERS_PER_TERM * count)
        and (letters := sum(map(str.isalpha, text))) > max(_FEWEST_LETTERS, _MOST_LETTERS_PER_TERM * count)
    ]
    if suspects:
        letters, count = max(suspects)
        warnings.warn(
            f"{len(suspects)} of {len(texts)} texts in {lang!r} gave fewer than one term per {_MOST_LETTERS_PER_TERM} "
            f"letters (such as {count} from {letters} letters): is that their language, and are they text?",
            stacklevel=2,
        )
    return len(suspects)
