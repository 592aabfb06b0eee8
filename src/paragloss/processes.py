"""Processes that work side by side with this one. Knows nothing of what they do."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import connection
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any, TypeVar

from paragloss.errors import ParaglossError

J = TypeVar("J")
T = TypeVar("T")
#: Jobs that wait for each process.
_AHEAD = 2
_THREADS = "OMP_NUM_THREADS"
_starting = threading.Lock()


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def pool(workers: int, begin: Callable[..., None], *told: Any) -> Iterator[ProcessPoolExecutor]:
    """Processes that die with this one, leave interrupts to it, and use one processor each; each begins with
    `begin(*told)`."""
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"  # the children's libraries read it when they are loaded
    working = ProcessPoolExecutor(workers, _Context(), _begin, (begin, *told))
    try:
        yield working
    finally:
        working.shutdown(wait=True, cancel_futures=True)
        os.environ.pop(_THREADS)
        if before is not None:
            os.environ[_THREADS] = before


def in_order(
    workers: int,
    begin: Callable[[Any], None],
    told: object,
    work: Callable[[J], T],
    jobs: Iterable[J],
    died: ParaglossError,
    *,
    few: int = 0,
    here: Callable[[J], T] | None = None,
) -> Iterator[T]:
    """What `work` makes of each job, in the order they come, a few of them being worked at meanwhile. Where reading
    jobs fails, those that were read before still come. `died` is raised where a process has died. Up to so `few` jobs
    are done by `here` in this process; so is the first of more, while the others start."""
    waiting: deque[Callable[[], T]] = deque()
    held: list[J] = []

    def finished(most: int) -> Iterator[T]:
        while len(waiting) > most:
            yield waiting.popleft()()

    def last() -> Iterator[T]:
        yield from finished(0)
        yield from map(here, held) if here else ()

    with pool(workers, begin, told) as working:
        try:
            try:
                for number, job in enumerate(jobs):
                    held.append(job)
                    if number < few:
                        continue
                    if number == few and here:
                        waiting.append(partial(here, held.pop(0)))
                    waiting.extend([working.submit(work, each).result for each in held])
                    held.clear()
                    yield from finished(_AHEAD * workers)
            except (ParaglossError, KeyboardInterrupt):
                yield from last()
                raise
            yield from last()
        except BrokenProcessPool:
            raise died from None


class _Process(SpawnProcess):
    """One that knows nothing of the program that started it: a script without `if __name__ == "__main__"` would be run
    again by it."""

    def start(self) -> None:
        with _starting, _interrupts_blocked():
            program, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
            try:
                super().start()
            finally:
                sys.modules["__main__"] = program


class _Context(SpawnContext):
    Process = _Process


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Hold back Ctrl-C in this thread. A process started within inherits that: it would print a traceback if it were
    interrupted before it can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _begin(begin: Callable[..., None], *told: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    begin(*told)


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
