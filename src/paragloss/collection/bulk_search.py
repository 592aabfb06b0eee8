"""Rank many queries, in this process or in several; the rankings are the same, in the same order."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from paragloss.collection import opening, retrieval
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.state import State
from paragloss.errors import StoreError
from paragloss.types import Query, Ranking

#: Queries searched together.
BATCH_SIZE = 64
#: Other processes take a second or two to start: they are used if more than so many seconds of work are left.
_MIN_SECONDS_FOR_WORKERS = 5.0


def rank_batches(
    state: State, queries: Sequence[Query], options: SearchOptions, *, workers: int
) -> Iterator[list[Ranking]]:
    """Yield the rankings of one batch of queries after another.

    :param workers: how many processes rank. This process begins; others are started if many batches remain.
    """
    batches = [queries[start : start + BATCH_SIZE] for start in range(0, len(queries), BATCH_SIZE)]
    start_time = time.perf_counter()
    for number, batch in enumerate(batches):
        elapsed_seconds = time.perf_counter() - start_time
        seconds_per_batch = elapsed_seconds / max(number, 1)
        remaining_seconds = (len(batches) - number) * seconds_per_batch
        if number and workers > 1 and remaining_seconds > _MIN_SECONDS_FOR_WORKERS:
            yield from _rank_in_processes(state, batches[number:], options, workers)
            return
        yield retrieval.rank_plain_queries(state, batch, options)


def _rank_in_processes(
    state: State, batches: Sequence[Sequence[Query]], options: SearchOptions, workers: int
) -> Iterator[list[Ranking]]:
    """Rank batches in other processes. This process only reads the collection for them, a fifth of the work."""
    from paragloss.processes import run_in_order

    state.index.commit()
    died = StoreError("a process that searched died: is there memory for all? --workers 1 needs least")
    jobs = ((batch, options) for batch in batches)
    yield from run_in_order(workers, _start, (state.location, state.default is not None), _rank, jobs, died)


# In the other processes

_state: State | None = None


def _start(opening_arguments: tuple[str, bool]) -> None:
    global _state
    location, default = opening_arguments
    _state = opening.open_collection(location, default=default)


def _rank(job: tuple[Sequence[Query], SearchOptions]) -> list[Ranking]:
    assert _state is not None
    return retrieval.rank_plain_queries(_state, *job)
