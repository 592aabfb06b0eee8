"""Which items go together in one step. Knows nothing of what they are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt


def shuffled(count: int, size: int, rng: np.random.Generator) -> Iterator[npt.NDArray[np.int64]]:
    """Every item once, in batches of `size`, in random order."""
    order = rng.permutation(count)
    for start in range(0, count, size):
        yield order[start : start + size]


def by_length(
    lengths: npt.NDArray[np.int64], size: int, rng: np.random.Generator, *, window: int = 50
) -> Iterator[npt.NDArray[np.int64]]:
    """Like `shuffled`, but items of one batch are of similar length, so that little of it is padding.

    Items are sorted within random groups of `window` batches: enough for tight batches, and no two epochs alike.
    """
    order = rng.permutation(len(lengths))
    groups = [order[start : start + size * window] for start in range(0, len(order), size * window)]
    cut = [
        ranked[start : start + size]
        for group in groups
        for ranked in [group[np.argsort(lengths[group], kind="stable")]]
        for start in range(0, len(group), size)
    ]
    for i in rng.permutation(len(cut)):
        yield cut[i]
