"""The open collections by name, and the threads and processes that search them and write to them.

Searches run a few at a time and never wait for a whole upload: writing has a thread of its own and works in small
steps. Knows nothing of HTTP.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from paragloss.collection import Collection, Deadline
from paragloss.errors import InputError, ParaglossError
from paragloss.server.admission import Admission, BusyError
from paragloss.server.limits import DEFAULT, Limits
from paragloss.server.logs import LOGGER, log_event
from paragloss.server.precedence import Precedence, YieldingDeadline
from paragloss.server.workers import SearchWorkers, exempt_from_garbage_collection, warm_up

if TYPE_CHECKING:
    from paragloss.server.configuration import WatchedSource

T = TypeVar("T")
#: Seconds after the start in which nothing is read ahead: the page that somebody is about to open goes first.
SECONDS_BEFORE_READING_AHEAD = 0.25
#: Seconds for which reading ahead and encoding pause after each step while somebody searches.
PAUSE_WHILE_SEARCHING = 0.05
#: Seconds between two rounds of maintenance.
MAINTENANCE_INTERVAL = 60.0
#: Seconds before workers are started in place of dead ones.
WORKER_RESTART_DELAY = 1.0
_CLOSING_MESSAGE = "the server is ending: try again when it has started anew"


class UnknownCollectionError(ParaglossError):
    """The server has no collection of this name."""


class Library:
    """The collections that a server has open. Made by `open`; `close` ends all work and closes them."""

    def __init__(self, collections: Mapping[str, Collection], limits: Limits = DEFAULT, *, workers: int = 0) -> None:
        """Take open collections, and start the threads that search and write.

        :param collections: by name; the first is searched where no name is given.
        :param limits: how much work clients may ask for.
        :param workers: how many processes search beside this one; one client may keep half of them busy.
        """
        self.collections = dict(collections)
        self.limits = limits
        self._reads = _make_admission(limits, per_client=max(limits.per_client, workers // 2))
        self._writes = _make_admission(limits, per_client=1)
        self._precedence = Precedence()
        self._deadlines: set[Deadline] = set()  # of the work that runs, so that closing can end it
        self._search_threads = ThreadPoolExecutor(limits.threads, "search")
        self._write_thread = ThreadPoolExecutor(1, "write")
        self._workers = SearchWorkers(self.collections, workers) if workers else None
        self._starting_workers = threading.Lock()
        self._closing = threading.Event()

    @classmethod
    def open(cls, locations: Sequence[str], limits: Limits = DEFAULT, *, workers: int = 0) -> Library:
        """Open collections, each under the last part of its location.

        :param locations: folders, or addresses of collections on a Qdrant server.
        :param limits: how much work clients may ask for.
        :param workers: how many processes search beside this one.
        :raises InputError: if there is none, or two have the same name.
        """
        if not locations:
            raise InputError("no COLLECTION given: name at least one folder or address")
        location_by_name: dict[str, str] = {}
        for location in locations:
            name = _name_of(location)
            if name in location_by_name:
                raise InputError(f"two collections are called {name!r}: rename one of the folders")
            location_by_name[name] = location
        return cls(_open_collections(location_by_name), limits, workers=workers)

    def __getitem__(self, name: str | None) -> Collection:
        """Return the collection of a name, the first one where no name is given."""
        name = self.resolve_name(name)
        if name not in self.collections:
            raise UnknownCollectionError(f"no collection {name!r} here; there are {', '.join(self.collections)}")
        return self.collections[name]

    def resolve_name(self, name: str | None) -> str:
        """Return a name as it is, or that of the first collection where none is given."""
        return name or next(iter(self.collections))

    @property
    def waiting(self) -> int:
        """Count the reading work that runs or waits for its turn, also where nobody waits for its result any more."""
        return self._reads.pieces

    async def search(self, client: str, name: str, work: Callable[..., T], *arguments: Any) -> T:
        """Let a collection answer: call `work(collection, *arguments, deadline)` where it delays other clients least.

        That is a worker process if some are ready and the client may use them, else a thread of this process. The
        deadline is made here: the library's limit of seconds, waiting for the client's turn included. If a worker
        process dies, the work begins again in a thread, with a new deadline.

        :param client: the address of whoever asks, such as "192.0.2.7"; how much work a client may have is limited.
        :param name: the name of the collection.
        :param work: what to do: a function of a module, which another process can import by its name. Its last argument
            is the deadline at which it has to end.
        :param arguments: what `work` is given between the collection and the deadline.
        :return: what `work` returns.
        :raises UnknownCollectionError: if there is no collection of this name.
        :raises BusyError: if the library is being closed, or too much work is waiting.
        :raises DeadlineError: if there is no result at the deadline.
        """
        collection = self[name]
        workers = self._find_usable_workers(client)
        if workers is not None:
            try:
                return await self._run_in_worker(workers, client, name, work, arguments)
            except BrokenProcessPool:  # a worker has died: this process answers until others have started
                self._replace_workers(workers)
        run_until = partial(work, collection, *arguments)  # takes the deadline
        return await self.read(client, run_until)

    def _find_usable_workers(self, client: str) -> SearchWorkers | None:
        """Return the worker processes if there are any, they are ready, and this client may use them; else None.

        A client that has lately used more than its share of processor time would keep the only worker from the others:
        it is answered by a thread.
        """
        workers = self._workers
        if workers is None or not workers.is_ready:
            return None
        would_block_others = workers.count == 1 and self._reads.is_above_share(client)
        return None if would_block_others else workers

    async def _run_in_worker(
        self, workers: SearchWorkers, client: str, name: str, work: Callable[..., T], arguments: Sequence[Any]
    ) -> T:
        """Return the result of `work(collection, *arguments, deadline)`, called in a worker process.

        :param workers: the processes, one of which does the work.
        :param client: the address of whoever asks.
        :param name: the name of the collection, which every process has open.
        :param work: a function of a module: it is sent to the process by its name.
        :raises BrokenProcessPool: if a process has died.
        """
        versions = self[name].maintenance.read_versions()  # a process that knows older ones reads the collection again
        submit = partial(workers.submit, name, versions, work, arguments)  # takes the deadline
        timed_result = await self._run_admitted(client, submit)
        return cast(T, timed_result.result)

    async def read(self, client: str, work: Callable[[Deadline], T]) -> T:
        """Run `work(deadline)` in a thread of this process."""
        return await self._run_admitted(client, self._run_in_thread(work))

    def _run_in_thread(self, work: Callable[[Deadline], T]) -> Callable[[YieldingDeadline], Future[T]]:
        """Return a function that submits work to the threads of this process, where long work gives way to short."""
        return lambda deadline: self._search_threads.submit(self._precedence.run, deadline, work)

    async def write(self, client: str, work: Callable[[], T]) -> T:
        """Run work in the thread that writes. Once begun it is finished, even if the client hangs up.

        :param client: the address of whoever asks: it has one piece of writing work at a time, and waits for its turn
            as long as for a search.
        :param work: is called without arguments.
        :return: the result of the work.
        """
        turn = await self._writes.enter(client, self.limits.seconds)
        try:
            future = self._write_thread.submit(work)
        except BaseException:
            self._writes.leave(turn)
            raise
        self._call_when_done(future, lambda: self._writes.leave(turn))
        return await asyncio.shield(asyncio.wrap_future(future))

    async def _run_admitted(self, client: str, submit: Callable[[YieldingDeadline], Future[T]]) -> T:
        """Wait for the client's turn, submit work and wait for its result until the deadline.

        :param client: the address of whoever asks.
        :param submit: starts the work, which has to end at the deadline, and returns its future result.
        :raises BusyError: if the library is being closed, or too much work is waiting.
        :raises DeadlineError: if there is no result at the deadline.
        """
        if self._closing.is_set():
            raise BusyError(_CLOSING_MESSAGE)
        deadline = YieldingDeadline(self.limits.seconds, client, self._precedence)
        future = await self._submit_in_turn(client, deadline, submit)
        try:
            return await self._wait_until(deadline, future)
        except asyncio.CancelledError:
            # Work that had not begun was cancelled by `close`: its client gets an answer. Else the client has hung up.
            if self._closing.is_set() and future.cancelled():
                raise BusyError(_CLOSING_MESSAGE) from None
            raise

    async def _wait_until(self, deadline: Deadline, future: Future[T]) -> T:
        """Return the result of work when it is there.

        :raises DeadlineError: if it is not there at the deadline; the work ends at its next step.
        """
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), deadline.until - time.monotonic())
        except TimeoutError:
            deadline.cancel()  # ends the work, which no longer has a reader, at its next step
            deadline.check()  # raises DeadlineError, always after `cancel`
            raise

    async def _submit_in_turn(
        self, client: str, deadline: YieldingDeadline, submit: Callable[[YieldingDeadline], Future[T]]
    ) -> Future[T]:
        """Wait for the client's turn and submit work.

        The client's turn ends with the work, even if nobody waits for the result any longer. Until then `close` can
        cancel the work by its deadline.

        :param client: the address of whoever asks; the processor time of the work is charged to it.
        :param deadline: measures that time. It is marked as that of long work, which gives way to the work of others,
            if the client has used more than its share.
        :param submit: starts the work and returns its future result.
        """
        turn = await self._reads.enter(client, self.limits.seconds)
        deadline.is_long = turn.is_above_share
        try:
            future = submit(deadline)
        except BaseException:
            self._reads.leave(turn)
            raise
        self._deadlines.add(deadline)
        future.add_done_callback(lambda _: self._deadlines.discard(deadline))
        self._call_when_done(future, lambda: self._reads.leave(turn, deadline.processor_seconds))
        return future

    def _call_when_done(self, future: Future[Any], leave: Callable[[], None]) -> None:
        """Call a function in the thread of the event loop when a piece of work has ended."""
        loop = asyncio.get_running_loop()

        def call_in_loop(_: Future[Any]) -> None:
            with suppress(RuntimeError):  # the loop has been closed
                loop.call_soon_threadsafe(leave)

        future.add_done_callback(call_in_loop)

    def start_maintenance(self) -> None:
        """Prepare the first searches in the background, then look after what was added until the library closes."""
        threading.Thread(target=self._maintain, name="maintenance", daemon=True).start()

    def _maintain(self) -> None:
        """Make first searches quick, then encode new documents and build graphs again and again.

        It runs in a thread of its own until the library closes. Whatever fails is reported and tried again later.
        """
        if self._closing.wait(SECONDS_BEFORE_READING_AHEAD):
            return
        for collection in self.collections.values():
            self._report_errors("preparation", partial(self._prepare_searches, collection))
        exempt_from_garbage_collection()
        while not self._closing.is_set():
            for collection in self.collections.values():
                self._report_errors("encoding", partial(self._encode, collection))
                self._report_errors("maintenance", collection.maintenance.build_graph_if_due)
            self._closing.wait(MAINTENANCE_INTERVAL)

    def _prepare_searches(self, collection: Collection) -> None:
        """Search for the first time, and read ahead meanwhile."""
        warming_up = self._search_threads.submit(_warm_up_quietly, collection)
        self._read_ahead(collection)
        warming_up.result()

    def _report_errors(self, task: str, work: Callable[[], Any]) -> None:
        """Run a task of maintenance; report any error and go on.

        The thread must outlive a full disk or a shortage of file descriptors.
        """
        try:
            work()
        except Exception as error:
            if not self._closing.is_set():
                LOGGER.warning("maintenance failed", extra={"about": {"task": task, "error": repr(error)}})

    def _encode(self, collection: Collection) -> None:
        """Encode new documents step by step in the thread that writes, and only while nobody searches."""
        steps = collection.maintenance.encode_deferred()
        while not self._closing.is_set():
            if self.waiting:
                self._closing.wait(PAUSE_WHILE_SEARCHING)
            elif self._write_thread.submit(next, steps, None).result() is None:
                return

    def _read_ahead(self, collection: Collection) -> None:
        """Read what searches will need, step by step; whoever searches meanwhile goes first."""
        for _ in collection.maintenance.read_ahead():
            if self._closing.wait(PAUSE_WHILE_SEARCHING if self.waiting else 0.0):
                return

    def watch_sources(self, sources: Sequence[WatchedSource]) -> None:
        """Index files and folders into collections now and again and again until the library closes.

        Raises UnknownCollectionError for a source of a collection that is not here.
        """
        for source in sources:
            collection = self[source.collection]
            threading.Thread(target=self._watch, args=(source, collection), name="watch", daemon=True).start()

    def _watch(self, source: WatchedSource, collection: Collection) -> None:
        """Index a source in the thread that writes; files that have not changed are not read again."""
        index = partial(collection.index_files, list(source.paths), on_error=_log_unreadable_file)
        while not self._closing.is_set():
            self._report_errors("watching", lambda: self._write_thread.submit(index).result())
            self._closing.wait(source.interval)

    def restart_workers(self) -> None:
        """Start the worker processes anew, so that they open the collections again."""
        if self._workers is not None:
            self._replace_workers(self._workers)

    def _replace_workers(self, workers: SearchWorkers) -> None:
        """Start new workers in place of some of which one has died; once, however many requests notice it."""
        if self._workers is workers:
            self._workers = None
            LOGGER.warning("a worker died", extra={"about": {"waiting": self.waiting}})
            threading.Thread(target=self._start_workers, args=(workers,), daemon=True).start()

    def _start_workers(self, previous: SearchWorkers) -> None:
        """End worker processes and start as many new ones after a pause, unless the library closes meanwhile."""
        previous.close()
        if self._closing.wait(WORKER_RESTART_DELAY):
            return
        with self._starting_workers:
            if not self._closing.is_set():
                self._workers = SearchWorkers(self.collections, previous.count)
                log_event("workers started", workers=previous.count)

    def close(self) -> None:
        """Finish what is being written, abandon searches, and close the collections.

        Searches that run end at their next step; those that wait are answered that the server is ending.
        """
        self._closing.set()
        for deadline in list(self._deadlines):
            deadline.cancel()
        with self._starting_workers:
            if self._workers is not None:  # a worker that survives would become the owner of a folder
                self._workers.close()
        self._search_threads.shutdown(cancel_futures=True)
        self._write_thread.shutdown()
        for collection in self.collections.values():
            collection.close()


def _open_collections(location_by_name: Mapping[str, str]) -> dict[str, Collection]:
    """Open all of some collections, or none if one can't be opened."""
    with ExitStack() as opened:
        collections = {
            name: opened.enter_context(Collection.open(location)) for name, location in location_by_name.items()
        }
        opened.pop_all()  # all are open: they stay so
    return collections


def _log_unreadable_file(error: Exception) -> None:
    LOGGER.warning("a file could not be read", extra={"about": {"error": str(error)}})


def _warm_up_quietly(collection: Collection) -> None:
    with suppress(ParaglossError):
        warm_up(collection)


def _name_of(location: str) -> str:
    if "://" in location:
        return location.rstrip("/").rpartition("/")[2]
    return Path(location).resolve().name


def _make_admission(limits: Limits, *, per_client: int) -> Admission:
    """Make a queue that lets so many pieces of work of each client run at a time."""
    return Admission(per_client=per_client, waiting_per_client=limits.waiting_per_client, waiting=limits.waiting)
