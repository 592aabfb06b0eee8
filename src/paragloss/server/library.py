"""The open collections by name, and the threads that search them and write to them.

Searches run a few at a time and never wait for a whole upload: writing has a thread of its own and works in small
steps. Knows nothing of HTTP.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from paragloss.engine import Engine
from paragloss.errors import InputError, ParaglossError
from paragloss.server.limits import DEFAULT, Limits
from paragloss.server.readers import Failed, Readers

T = TypeVar("T")
#: How long reading ahead pauses after each step while somebody searches, in seconds.
_BREATH = 0.05
#: How often it is seen to what was added, in seconds.
_TENDED = 60.0


class UnknownError(ParaglossError):
    """There is no such thing here."""


class BusyError(ParaglossError):
    """Too many are waiting already."""


class SlowError(ParaglossError):
    """It took longer than it may."""


class Library:
    """Made by `open`; `close` writes everything down."""

    def __init__(self, engines: Mapping[str, Engine], limits: Limits = DEFAULT, *, workers: int = 0) -> None:
        self.engines = dict(engines)
        self.limits = limits
        self.waiting = 0
        self._searching = ThreadPoolExecutor(limits.threads, "search")
        self._writing = ThreadPoolExecutor(1, "write")
        self._closing = threading.Event()
        self._readers = Readers(self.engines, workers) if workers else None

    @classmethod
    def open(cls, locations: Sequence[str], limits: Limits = DEFAULT, *, workers: int = 0) -> Library:
        """Every collection goes by the last part of its location; so many `workers` search beside this process."""
        names = [_name(location) for location in locations]
        if not names:
            raise InputError("no COLLECTION given: name at least one folder or address")
        if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            raise InputError(f"two collections are called {twice[0]!r}: rename one of the folders")
        engines: dict[str, Engine] = {}
        try:
            for name, location in zip(names, locations, strict=True):
                engines[name] = Engine.open(location)
        except BaseException:
            for engine in engines.values():
                engine.close()
            raise
        return cls(engines, limits, workers=workers)

    def warm(self) -> None:
        """Read, in the background, what the first searches would have to wait for."""
        for engine in self.engines.values():
            self._searching.submit(_first, engine)
        threading.Thread(target=self._tend, daemon=True).start()

    def _tend(self) -> None:
        """Read ahead; then look, now and then, whether what was added needs a graph."""
        self._read_ahead()
        while not self._closing.wait(_TENDED):
            for engine in self.engines.values():
                with suppress(ParaglossError):
                    engine.tend()

    def _read_ahead(self) -> None:
        """Step by step; whoever searches meanwhile goes first."""
        for engine in self.engines.values():
            with suppress(ParaglossError):
                for _ in engine.read_ahead():
                    if self._closing.wait(_BREATH if self.waiting else 0.0):
                        return

    def __getitem__(self, name: str | None) -> Engine:
        """The engine of a collection; the first when none is named."""
        if not name:
            return next(iter(self.engines.values()))
        if name not in self.engines:
            raise UnknownError(f"no collection {name!r} here; there are {', '.join(self.engines)}")
        return self.engines[name]

    def named(self, name: str | None) -> str:
        return name or next(iter(self.engines))

    async def read(self, work: Callable[[], T]) -> T:
        """Do something in a thread for searches. The answer is given up after a time; the thread ends by itself."""
        return await self._awaited(lambda: asyncio.get_running_loop().run_in_executor(self._searching, work))

    async def ask(self, name: str, work: Callable[..., T], *told: Any) -> T:
        """`work(engine, *told)` of a collection: in a process beside this one where there are some."""
        engine = self[name]
        if self._readers is None or not self._readers.ready:
            return await self.read(lambda: work(engine, *told))
        try:
            readers, state = self._readers, engine.state()
            found = await self._awaited(lambda: asyncio.wrap_future(readers.ask(name, state, work, *told)))
        except BrokenProcessPool:  # one was killed: this process does it all from now on
            self._readers = None
            return await self.read(lambda: work(engine, *told))
        if isinstance(found, Failed):
            raise found.error()
        return cast(T, found)

    async def _awaited(self, begin: Callable[[], asyncio.Future[T]]) -> T:
        if self.waiting >= self.limits.waiting:
            raise BusyError(f"{self.waiting} searches are waiting already: try again in a moment")
        future = begin()  # may refuse: then nobody waits
        self.waiting += 1
        future.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self.limits.seconds)
        except TimeoutError:
            future.cancel()
            raise SlowError(f"no answer in {self.limits.seconds:g} s: ask for less, or try again later") from None

    async def write(self, work: Callable[[], T]) -> T:
        """Do something in the thread for writing. Once begun it is finished, whoever hangs up."""
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._writing, work))

    def close(self) -> None:
        """Finish what is being done and let go of the collections."""
        self._closing.set()
        if self._readers is not None:  # they would take the folders over if they were still there
            self._readers.close()
        self._searching.shutdown(cancel_futures=True)
        self._writing.shutdown()
        for engine in self.engines.values():
            engine.close()

    def _done(self, future: asyncio.Future[Any]) -> None:
        self.waiting -= 1
        if not future.cancelled():
            with suppress(BaseException):
                future.exception()  # of an answer nobody waited for


def _first(engine: Engine) -> None:
    with suppress(ParaglossError):
        engine.search("a first search", k=1)


def _name(location: str) -> str:
    if location.startswith(("http://", "https://")):
        return location.rstrip("/").rpartition("/")[2]
    return Path(location).resolve().name
