"""Divide training items into batches, and hold some out for early stopping."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from paragloss.types import Integers

#: Share of the items that is held out for early stopping; none if that is fewer than the minimum.
HELD_OUT_SHARE, MIN_HELD_OUT = 0.05, 20
#: A small corpus has smaller batches, of at least 10 items, so that an epoch has about this many steps.
MIN_STEPS_PER_EPOCH, MIN_BATCH_SIZE = 20, 10

Rows: TypeAlias = Integers


def shuffled(count: int, size: int, rng: np.random.Generator) -> Iterator[Rows]:
    """Yield every item once, in batches of `size`, in random order."""
    order = rng.permutation(count)
    for start in range(0, count, size):
        yield order[start : start + size]


def batches(rows: Rows, max_size: int) -> Callable[[int, np.random.Generator], Iterator[Rows]]:
    """Return the `batches` argument of `descend`: all rows in every epoch, in batches of at most `max_size`."""
    size = min(max_size, max(len(rows) // MIN_STEPS_PER_EPOCH, MIN_BATCH_SIZE))
    return lambda _, rng: (rows[positions] for positions in shuffled(len(rows), size, rng))


def held_out(count: int, max_held_out: int, seed: int) -> tuple[Rows, Rows]:
    """Split item numbers at random into those held out for early stopping and those to train on.

    :param count: number of items
    :param max_held_out: how many are held out at most
    """
    n_held_out = min(int(count * HELD_OUT_SHARE), max_held_out)
    if n_held_out < MIN_HELD_OUT:
        n_held_out = 0
    order = np.random.default_rng(seed).permutation(count)
    return order[:n_held_out], order[n_held_out:]
