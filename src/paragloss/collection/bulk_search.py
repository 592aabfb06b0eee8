"""Many queries at once: in this process, and in several side by side where that is quicker. The same rankings, in the
same order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence

from paragloss.collection import opening, retrieval
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.state import State
from paragloss.errors import StoreError
from paragloss.types import Query, Ranking

#: Queries put to the store at once.
BATCH = 64
#: Other processes take a second or two to begin: they are started where more work than this is left, in seconds.
_WORTH = 5.0


def rankings(
    state: State, queries: Sequence[Query], options: SearchOptions, *, workers: int
) -> Iterator[list[Ranking]]:
    """Rankings of one batch of queries after another."""
    batches, done = deque(queries[start : start + BATCH] for start in range(0, len(queries), BATCH)), 0
    started = time.perf_counter()
    while batches:
        left = len(batches) * (time.perf_counter() - started) / done if done else 0.0
        if workers > 1 and left > _WORTH:
            break
        yield retrieval.rank(state, batches.popleft(), options)
        done += 1
    if batches:  # this process only answers what the others ask of the collection, which is a fifth of the work
        from paragloss.processes import in_order

        state.index.commit()
        died = StoreError("a process that searched died: is there memory for all? --workers 1 needs least")
        told = state.location, state.default is not None
        jobs = ((batch, options) for batch in batches)
        yield from in_order(workers, _open, told, _rank, jobs, died)


# In the processes

_state: State | None = None


def _open(told: tuple[str, bool]) -> None:
    global _state
    location, default = told
    _state = opening.open(location, default=default)


def _rank(job: tuple[Sequence[Query], SearchOptions]) -> list[Ranking]:
    assert _state is not None
    return retrieval.rank(_state, *job)
