"""The open collections by name, and the threads that search them and write to them.

Searches run a few at a time and never wait for a whole upload: writing has a thread of its own and works in small
steps. Knows nothing of HTTP.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from paragloss.collection import Collection, Deadline
from paragloss.errors import InputError, ParaglossError
from paragloss.server.limits import DEFAULT, Limits
from paragloss.server.logs import LOGGER, note
from paragloss.server.readers import Readers, warm_up

T = TypeVar("T")
#: How long nothing is read ahead after the start, in seconds.
_PAGE_FIRST = 0.25
#: How long reading ahead pauses after each step while somebody searches, in seconds.
_BREATH = 0.05
#: How often it is seen to what was added, in seconds.
_TENDED = 60.0
#: How long it is waited before processes are started in place of dead ones, in seconds.
_AGAIN = 1.0


class UnknownError(ParaglossError):
    """There is no such thing here."""


class BusyError(ParaglossError):
    """Too many are waiting already."""


class Library:
    """Made by `open`; `close` writes everything down."""

    def __init__(self, engines: Mapping[str, Collection], limits: Limits = DEFAULT, *, workers: int = 0) -> None:
        self.engines = dict(engines)
        self.limits = limits
        self._running: dict[Future[Any], Deadline] = {}
        self._searching = ThreadPoolExecutor(limits.threads, "search")
        self._writing = ThreadPoolExecutor(1, "write")
        self._closing, self._starting = threading.Event(), threading.Lock()
        self._readers = Readers(self.engines, workers) if workers else None

    @property
    def waiting(self) -> int:
        """Searches that run or wait for their turn, also where nobody waits for them any more."""
        return len(self._running)

    @classmethod
    def open(cls, locations: Sequence[str], limits: Limits = DEFAULT, *, workers: int = 0) -> Library:
        """Every collection goes by the last part of its location; so many `workers` search beside this process."""
        names = [_name(location) for location in locations]
        if not names:
            raise InputError("no COLLECTION given: name at least one folder or address")
        if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            raise InputError(f"two collections are called {twice[0]!r}: rename one of the folders")
        engines: dict[str, Collection] = {}
        try:
            for name, location in zip(names, locations, strict=True):
                engines[name] = Collection.open(location)
        except BaseException:
            for engine in engines.values():
                engine.close()
            raise
        return cls(engines, limits, workers=workers)

    def warm(self) -> None:
        """Read, in the background, what the first searches would have to wait for; the page that somebody is about to
        open goes first."""
        threading.Thread(target=self._tend, daemon=True).start()

    def _tend(self) -> None:
        """Search once and read ahead; then look, now and then, whether what was added needs vectors or a graph."""
        if self._closing.wait(_PAGE_FIRST):
            return
        for engine in self.engines.values():
            with suppress(RuntimeError):  # the threads for searching may have ended
                self._searching.submit(_first, engine)
        self._read_ahead()
        while not self._closing.is_set():
            for engine in self.engines.values():
                with suppress(ParaglossError, RuntimeError):  # the thread for writing may have ended
                    self._encode(engine)
                    engine.tend()
            self._closing.wait(_TENDED)

    def _encode(self, engine: Collection) -> None:
        """Step by step in the thread for writing, and only while nobody searches."""
        steps = engine.encode()
        while not self._closing.is_set():
            if self.waiting:
                self._closing.wait(_BREATH)
            elif self._writing.submit(next, steps, None).result() is None:
                return

    def _read_ahead(self) -> None:
        """Step by step; whoever searches meanwhile goes first."""
        for engine in self.engines.values():
            with suppress(ParaglossError):
                for _ in engine.read_ahead():
                    if self._closing.wait(_BREATH if self.waiting else 0.0):
                        return

    def __getitem__(self, name: str | None) -> Collection:
        """The engine of a collection; the first when none is named."""
        if not name:
            return next(iter(self.engines.values()))
        if name not in self.engines:
            raise UnknownError(f"no collection {name!r} here; there are {', '.join(self.engines)}")
        return self.engines[name]

    def named(self, name: str | None) -> str:
        return name or next(iter(self.engines))

    async def read(self, work: Callable[[], T]) -> T:
        """Do something short in a thread for searches."""
        return await self._awaited(lambda _: self._searching.submit(work))

    async def ask(self, name: str, work: Callable[..., T], *told: Any) -> T:
        """`work(engine, *told, deadline)` of a collection: in a process beside this one where there are some."""
        engine, readers = self[name], self._readers
        if readers is not None and readers.ready:
            state = engine.versions()
            try:
                return cast(T, await self._awaited(lambda deadline: readers.ask(name, state, work, *told, deadline)))
            except BrokenProcessPool:  # one has died: this process answers until others have begun
                self._begin_again(readers)
        return await self._awaited(lambda deadline: self._searching.submit(work, engine, *told, deadline))

    async def _awaited(self, begin: Callable[[Deadline], Future[T]]) -> T:
        """What runs counts until it ends, whether or not somebody waits for it; it sees itself that its time is up."""
        if self.waiting >= self.limits.waiting:
            raise BusyError(f"{self.waiting} searches are waiting already: try again in a moment")
        deadline = Deadline(self.limits.seconds)
        future = begin(deadline)  # may refuse: then nobody waits
        self._running[future] = deadline
        future.add_done_callback(self._running.pop)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.limits.seconds)
        except TimeoutError:
            deadline.cancel()
            deadline.check()
            raise

    def _begin_again(self, readers: Readers) -> None:
        """Start new processes in place of some of which one has died; once, however many requests it was answering."""
        if self._readers is readers:
            self._readers = None
            LOGGER.warning("a worker died", extra={"about": {"waiting": self.waiting}})
            threading.Thread(target=self._start_readers, args=(readers,), daemon=True).start()

    def _start_readers(self, before: Readers) -> None:
        before.close()
        if not self._closing.wait(_AGAIN):
            with self._starting:
                if not self._closing.is_set():
                    self._readers = Readers(self.engines, before.number)
                    note("workers started", workers=before.number)

    async def write(self, work: Callable[[], T]) -> T:
        """Do something in the thread for writing. Once begun it is finished, whoever hangs up."""
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._writing, work))

    def close(self) -> None:
        """Finish what is being written, give up what is searched, and let go of the collections."""
        self._closing.set()
        for deadline in list(self._running.values()):
            deadline.cancel()
        with self._starting:
            if self._readers is not None:  # they would take the folders over if they were still there
                self._readers.close()
        self._searching.shutdown(cancel_futures=True)
        self._writing.shutdown()
        for engine in self.engines.values():
            engine.close()


def _first(engine: Collection) -> None:
    with suppress(ParaglossError):
        warm_up(engine)


def _name(location: str) -> str:
    if location.startswith(("http://", "https://")):
        return location.rstrip("/").rpartition("/")[2]
    return Path(location).resolve().name
