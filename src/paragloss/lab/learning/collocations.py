"""Neighbouring terms that belong together: found by how much more often they meet than chance has it, then treated
as one term. Normalised pointwise mutual information: Bouma, GSCL 2009. Knows only term ids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]


#: A pair of neighbours is met so often before it can be a phrase, a word alone so often before phrases may take it.
LEAST = 10


class Merged(NamedTuple):
    """Texts in which phrases are terms; the phrase `i` is the term `width + i`."""

    start: Ids
    term: Ids


def collocations(start: Ids, term: Ids, width: int, *, least: int = LEAST, npmi: float = 0.5) -> Ids:
    """Pairs of neighbours as first * width + second, sorted: those met `least` times or more, and going together at
    least so far: 0 is chance, 1 is never apart."""
    key, count = np.unique(_neighbours(start, term, width), return_counts=True)
    key, count = key[(count >= least) & (key >= 0)], count[(count >= least) & (key >= 0)]
    seen = np.bincount(term, minlength=width)
    together = count / max(len(term), 1)
    apart = seen[key // width] * seen[key % width] / max(len(term), 1) ** 2
    return key[np.log(together / apart) >= npmi * -np.log(together)]


def merge(start: Ids, term: Ids, width: int, phrases: Ids, *, least: int = LEAST) -> Merged:
    """Put phrases in place of their words, from the left: of three words that chain, the first two.

    A word that is met alone fewer than `least` times stays beside the phrase, or nothing would be known of it.
    """
    if not len(phrases):
        return Merged(start, term)
    key = _neighbours(start, term, width)
    number = np.minimum(np.searchsorted(phrases, key), len(phrases) - 1)
    is_phrase = phrases[number] == key
    # In a run of overlapping phrases every other one begins at a word that is still free.
    here = np.arange(len(term))
    run = here - np.maximum.accumulate(np.where(is_phrase, 0, here + 1))
    begins = is_phrase & (run % 2 == 0)
    inside = begins | np.concatenate([[False], begins[:-1]])
    alone = np.bincount(term[~inside], minlength=width)
    places = np.flatnonzero(begins)
    kept = np.insert(~inside | (alone[term] < least), places, True)
    before = np.concatenate([[0], np.cumsum(kept)])
    return Merged(before[start + np.searchsorted(places, start)], np.insert(term, places, width + number[places])[kept])


def _neighbours(start: Ids, term: Ids, width: int) -> Ids:
    """For each term the pair it makes with the next; -1 at the end of a text."""
    key = np.full(len(term), -1, np.int64)
    key[:-1] = term[:-1].astype(np.int64) * width + term[1:]
    ends = start[1:][start[1:] > start[:-1]] - 1
    key[ends] = -1
    return key
