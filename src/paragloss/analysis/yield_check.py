"""Warn when an analyzer finds suspiciously few terms, most often because the language is wrong."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

#: A text of more letters is suspicious if it has more letters per term than this.
MIN_LETTERS = 200
MAX_LETTERS_PER_TERM = 40


def check_yield(texts: Sequence[str], term_counts: Sequence[int], lang: str) -> int:
    """Warn if some texts of a batch gave too few terms for their number of letters; one warning counts them all.

    :param texts: the texts of a batch
    :param term_counts: the number of terms of each text
    :param lang: the language of the texts
    :return: the number of texts with too few terms
    """
    suspects: list[tuple[int, int]] = []  # (letters, terms) of each text with too few terms
    for text, term_count in zip(texts, term_counts, strict=True):
        max_letters = max(MIN_LETTERS, MAX_LETTERS_PER_TERM * term_count)
        if len(text) <= max_letters:  # rules most texts out without looking at their letters
            continue
        letter_count = sum(map(str.isalpha, text))
        if letter_count > max_letters:
            suspects.append((letter_count, term_count))
    if suspects:
        letter_count, term_count = max(suspects)
        warnings.warn(
            f"{len(suspects)} of {len(texts)} texts in {lang!r} gave fewer than one term per {MAX_LETTERS_PER_TERM} "
            f"letters (such as {term_count} from {letter_count} letters): is that their language, and are they text?",
            stacklevel=2,
        )
    return len(suspects)
