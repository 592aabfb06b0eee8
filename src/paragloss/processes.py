"""Run work in several processes, with results in the order of the jobs."""

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
from types import FrameType, ModuleType
from typing import Any, Generic, TypeVar

from paragloss.errors import ParaglossError

J = TypeVar("J")
T = TypeVar("T")
_MAX_WAITING_PER_PROCESS = 2
#: One processor for each process; and Python's own helper, which removes the semaphores of a process that was killed or
#: ended by a second Ctrl-C, does so silently. Both read the environment when they start.
_CHILDREN_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore:resource_tracker:UserWarning"}
_starting = threading.Lock()


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class WorkerPool(ProcessPoolExecutor):
    """Processes that die with this one, leave interrupts to it, and use one processor each."""

    def __init__(self, workers: int, initialize: Callable[..., None], *arguments: Any) -> None:
        """Let each of so many processes begin with `initialize(*arguments)`."""
        self._started = _Context()
        super().__init__(workers, self._started, _initialize_worker, (initialize, *arguments))

    def kill(self) -> None:
        """End all processes at once, whatever they are doing."""
        self.shutdown(wait=False, cancel_futures=True)
        for process in self._started.processes:
            process.kill()


@contextmanager
def open_pool(workers: int, initialize: Callable[..., None], *arguments: Any) -> Iterator[WorkerPool]:
    """Open a pool of processes for the duration of a block.

    :param workers: how many processes
    :param initialize: called with `arguments` at the start of each process
    """
    with _children_environment():
        pool = WorkerPool(workers, initialize, *arguments)
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _children_environment() -> Iterator[None]:
    """Set the environment variables that processes inherit which start within the block."""
    previous_values = {name: os.environ.get(name) for name in _CHILDREN_ENVIRONMENT}
    os.environ.update(_CHILDREN_ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in previous_values.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def run_in_order(
    workers: int,
    initialize: Callable[[Any], None],
    argument: object,
    work: Callable[[J], T],
    jobs: Iterable[J],
    error_if_killed: ParaglossError,
    *,
    max_inline: int = 0,
    run_inline: Callable[[J], T] | None = None,
) -> Iterator[T]:
    """Yield what `work` returns for each job, in the order of the jobs, while other processes do the next ones.

    Starting processes takes longer than a few jobs, so this process does them itself: all jobs if there are at most
    `max_inline`, otherwise the first one, while the other processes start.

    :param workers: the number of processes
    :param initialize: called with `argument` at the start of each process
    :param work: what a process does with a job; the function, the jobs and the results are sent between processes
    :param jobs: if reading them fails, the results of those that were read come before the error
    :param error_if_killed: raised if a process has died
    :param max_inline: how many jobs this process does itself at most; 0 leaves all to the others
    :param run_inline: what this process does with a job
    """
    max_waiting = _MAX_WAITING_PER_PROCESS * workers
    with open_pool(workers, initialize, argument) as pool:
        run = _OrderedRun(pool, work, run_inline, max_inline, max_waiting)
        try:
            yield from run.run_all(jobs)
        except BrokenProcessPool:
            raise error_if_killed from None


class _OrderedRun(Generic[J, T]):
    """The jobs of a call of `run_in_order` whose results have not been taken."""

    def __init__(
        self,
        pool: ProcessPoolExecutor,
        work: Callable[[J], T],
        run_inline: Callable[[J], T] | None,
        max_inline: int,
        max_waiting: int,
    ) -> None:
        """Begin without jobs.

        :param work: what the processes of the pool do with each job
        :param run_inline: what this process does with a job instead; None if it does none
        :param max_inline: how many jobs this process does itself, if there are no more
        :param max_waiting: how many results may wait to be taken, at most, before another job is read
        """
        self._pool = pool
        self._work = work
        self._run_inline = run_inline
        self._max_inline = max_inline
        self._max_waiting = max_waiting
        self._n_jobs = 0
        self._held_back: list[J] = []  # jobs that this process does if no more come
        self._results: deque[Callable[[], T]] = deque()

    def run_all(self, jobs: Iterable[J]) -> Iterator[T]:
        """Yield the result of each job; if reading the jobs fails, the results of those before come first."""
        try:
            for job in jobs:
                self._add(job)
                yield from self._take_surplus()
        except (ParaglossError, KeyboardInterrupt):
            yield from self._finish()
            raise
        yield from self._finish()

    def _add(self, job: J) -> None:
        """Add a job. The first `max_inline` are held back until there is one more, and then submitted with it."""
        self._held_back.append(job)
        self._n_jobs += 1
        if self._n_jobs <= self._max_inline:
            return
        if self._n_jobs == self._max_inline + 1 and self._run_inline:
            self._results.append(partial(self._run_inline, self._held_back.pop(0)))
        self._results.extend([self._pool.submit(self._work, held_job).result for held_job in self._held_back])
        self._held_back.clear()

    def _take_surplus(self) -> Iterator[T]:
        """Yield results, in order, until no more than `max_waiting` remain."""
        while len(self._results) > self._max_waiting:
            yield self._results.popleft()()

    def _finish(self) -> Iterator[T]:
        """Yield all remaining results in order."""
        while self._results:
            yield self._results.popleft()()
        if self._run_inline:
            yield from map(self._run_inline, self._held_back)


class _Process(SpawnProcess):
    """A process that does not import the program that started it.

    It would run a script without `if __name__ == "__main__"` again.
    """

    def start(self) -> None:
        with _starting, _interrupts_blocked():
            program, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
            try:
                super().start()
            finally:
                sys.modules["__main__"] = program


class _Context(SpawnContext):
    """Starts processes and remembers them."""

    def __init__(self) -> None:
        self.processes: list[_Process] = []

    def Process(self, *arguments: Any, **settings: Any) -> _Process:  # type: ignore[override]  # noqa: N802 - the base class names it
        process = _Process(*arguments, **settings)
        self.processes.append(process)
        return process


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C in this thread and put it off until the end of the block.

    A process started within inherits the mask; it would print a traceback if it were interrupted before it can ignore
    interrupts. It would also print one if this process stopped before it had sent all that the other reads first. The
    mask alone doesn't prevent that: the system gives the signal to another thread, and the main thread handles it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    with _interrupts_put_off():
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _interrupts_put_off() -> Iterator[None]:
    """Call the handler of SIGINT at the end of the block if the signal came within it.

    Signals are handled by the main thread: in other threads, and without a handler, nothing is put off.
    """
    handler = signal.getsignal(signal.SIGINT)
    is_main_thread = threading.current_thread() is threading.main_thread()
    if not is_main_thread or not callable(handler):
        yield
        return
    interrupts: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if interrupts:
            handler(signal.SIGINT, interrupts[0])


def _initialize_worker(initialize: Callable[..., None], *arguments: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    initialize(*arguments)


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
