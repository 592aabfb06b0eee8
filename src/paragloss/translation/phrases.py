"""Neighbouring terms that belong together: found by how much more often they meet than chance has it, then treated
as one term. Normalised pointwise mutual information: Bouma, GSCL 2009. Knows only term ids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]


class Merged(NamedTuple):
    """Texts in which each occurrence of a phrase is one term; the phrase `i` is the term `width + i`."""

    start: Ids
    term: Ids


def collocations(start: Ids, term: Ids, width: int, *, least: int = 10, npmi: float = 0.5) -> Ids:
    """Pairs of neighbours as first * width + second, sorted: those met `least` times or more, and going together at
    least so far: 0 is chance, 1 is never apart."""
    key, count = np.unique(_neighbours(start, term, width), return_counts=True)
    key, count = key[(count >= least) & (key >= 0)], count[(count >= least) & (key >= 0)]
    seen = np.bincount(term, minlength=width)
    together = count / max(len(term), 1)
    apart = seen[key // width] * seen[key % width] / max(len(term), 1) ** 2
    return key[np.log(together / apart) >= npmi * -np.log(together)]


def merge(start: Ids, term: Ids, width: int, phrases: Ids) -> Merged:
    """Put phrases in place of their words, from the left: of three that chain, the first two."""
    if not len(phrases) or not len(term):
        return Merged(start, term)
    key = _neighbours(start, term, width)
    number = np.minimum(np.searchsorted(phrases, key), len(phrases) - 1)
    is_phrase = phrases[number] == key
    # In a run of overlapping phrases every other one begins at a word that is still free.
    here = np.arange(len(term))
    run = here - np.maximum.accumulate(np.where(is_phrase, 0, here + 1))
    begins = is_phrase & (run % 2 == 0)
    swallowed = np.concatenate([[False], begins[:-1]])
    kept = ~swallowed
    merged = np.where(begins, width + number, term)[kept]
    return Merged(np.concatenate([[0], np.cumsum(kept)])[start], merged)


def _neighbours(start: Ids, term: Ids, width: int) -> Ids:
    """For each term the pair it makes with the next; -1 at the end of a text."""
    key = np.full(len(term), -1, np.int64)
    key[:-1] = term[:-1].astype(np.int64) * width + term[1:]
    ends = start[1:][start[1:] > start[:-1]] - 1
    key[ends] = -1
    return key
