"""Arrays that hold the entries of several groups, one group after the other, given the size of each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Sizes: TypeAlias = Sequence[int] | npt.NDArray[np.integer]
Positions: TypeAlias = npt.NDArray[np.int64]


def list_groups(sizes: Sizes) -> Positions:
    """Return the number of the group of each entry: [0, 0, 1, 2, 2, 2] for groups of 2, 1 and 3 entries."""
    return np.repeat(np.arange(len(sizes)), sizes)


def list_starts(sizes: Sizes) -> Positions:
    """Return the position at which each group begins: [0, 2, 3] for groups of 2, 1 and 3 entries."""
    return np.asarray(np.cumsum(sizes) - sizes, np.int64)


def list_positions(sizes: Sizes) -> Positions:
    """Return the position of each entry within its group: [0, 1, 0, 0, 1, 2] for groups of 2, 1 and 3 entries."""
    starts = np.repeat(list_starts(sizes), sizes)
    return np.arange(len(starts)) - starts
