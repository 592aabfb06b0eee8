"""Processes that work side by side with this one. Knows nothing of what they do."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection, get_context
from typing import Any

_THREADS = "OMP_NUM_THREADS"


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def pool(workers: int, begin: Callable[..., None], *told: Any) -> Iterator[ProcessPoolExecutor]:
    """Processes that die with this one, leave interrupts to it, and use one processor each; each begins with
    `begin(*told)`."""
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"  # the children's libraries read it when they are loaded
    working = ProcessPoolExecutor(workers, get_context("spawn"), _begin, (begin, *told))
    try:
        yield working
    finally:
        working.shutdown(wait=True, cancel_futures=True)
        os.environ.pop(_THREADS)
        if before is not None:
            os.environ[_THREADS] = before


def _begin(begin: Callable[..., None], *told: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    begin(*told)


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
