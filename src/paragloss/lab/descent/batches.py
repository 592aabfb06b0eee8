"""Which items go together in one step, and which are kept apart. Knows nothing of what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from paragloss.types import Integers

#: Items kept apart for early stopping: this share of them; none if they'd be too few to tell.
_HELD_OUT, _FEWEST_HELD_OUT = 0.05, 20
#: A small corpus is cut into smaller batches, so that an epoch has about this many steps.
_STEPS = 20

Rows: TypeAlias = Integers


def shuffled(count: int, size: int, rng: np.random.Generator) -> Iterator[Rows]:
    """Yield every item once, in batches of `size`, in random order."""
    order = rng.permutation(count)
    for start in range(0, count, size):
        yield order[start : start + size]


def batches(rows: Rows, max_size: int) -> Callable[[int, np.random.Generator], Iterator[Rows]]:
    """Return what `descend` takes: all rows in every epoch, `max_size` at a time or, where they are few, fewer."""
    size = min(max_size, max(len(rows) // _STEPS, 10))
    return lambda _, rng: (rows[chosen] for chosen in shuffled(len(rows), size, rng))


def held_out(count: int, max_held_out: int, seed: int) -> tuple[Rows, Rows]:
    """Split items into those kept apart for early stopping, `max_held_out` at most, and those learned from."""
    number = min(int(count * _HELD_OUT), max_held_out)
    order = np.random.default_rng(seed).permutation(count)
    return np.split(order, [number if number >= _FEWEST_HELD_OUT else 0])  # type: ignore[return-value]
