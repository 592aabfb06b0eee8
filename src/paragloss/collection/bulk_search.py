"""Many queries at once: in this process, and in several side by side where that is quicker. The same rankings, in the
same order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from typing import Any

from paragloss.collection import opening, retrieval
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.processes import pool
from paragloss.collection.state import Held
from paragloss.errors import StoreError
from paragloss.types import Query, Ranking

#: Queries put to the store at once.
BATCH = 64
#: Other processes take a second or two to begin: they are started where more work than this is left, in seconds.
_WORTH = 5.0
#: Bytes of a folder that are copied in a second.
_COPIED = 300_000_000
#: Batches that lie before each other process.
_AHEAD = 2


def rankings(held: Held, queries: Sequence[Query], options: SearchOptions, *, workers: int) -> Iterator[list[Ranking]]:
    """Rankings of one batch of queries after another."""
    worth = _WORTH + held.store.size / _COPIED
    batches, done = deque(queries[start : start + BATCH] for start in range(0, len(queries), BATCH)), 0
    started = time.perf_counter()
    while batches:
        left = len(batches) * (time.perf_counter() - started) / done if done else 0.0
        if workers > 1 and left > worth:
            break
        yield retrieval.rank(held, batches.popleft(), options)
        done += 1
    if batches:
        yield from _side_by_side(held, batches, workers, options)


def _side_by_side(
    held: Held, batches: deque[Sequence[Query]], workers: int, options: SearchOptions
) -> Iterator[list[Ranking]]:
    """This process works too. Each of the others has a copy of a folder for itself: who has it open could answer all of
    them, but one question at a time."""
    held.index.commit()
    waiting: deque[Future[list[Ranking]]] = deque()
    with ExitStack() as stack:
        places = stack.enter_context(held.store.copies(workers - 1)) or [held.location] * (workers - 1)
        known = held.default is not None
        others = {stack.enter_context(pool(1, _open, place, known)): deque[Future[Any]]() for place in places}
        while batches or waiting:
            for other, given in others.items():
                while given and given[0].done():
                    given.popleft()
                while batches and len(given) < _AHEAD:
                    given.append(other.submit(_rank, batches.popleft(), options))
                    waiting.append(given[-1])
            if batches and len(waiting) < 4 * _AHEAD * workers:
                waiting.append(_done(retrieval.rank(held, batches.popleft(), options)))
            elif waiting:
                wait([waiting[0]])
            try:
                while waiting and waiting[0].done():
                    yield waiting.popleft().result()
            except BrokenProcessPool:
                raise StoreError(
                    "a process that searched died: is there memory for all? --workers 1 needs least"
                ) from None


def _done(rankings: list[Ranking]) -> Future[list[Ranking]]:
    future: Future[list[Ranking]] = Future()
    future.set_result(rankings)
    return future


# In the processes

_held: Held | None = None


def _open(location: str, default: bool) -> None:
    global _held
    _held = opening.open(location, default=default)


def _rank(queries: Sequence[Query], options: SearchOptions) -> list[Ranking]:
    assert _held is not None
    return retrieval.rank(_held, queries, options)
