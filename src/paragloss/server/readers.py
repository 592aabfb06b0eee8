"""Processes that search beside the one that has the collections: one process does one thing at a time, however many
processors there are. They ask it for documents, keep everything else themselves, and read again what was changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Any

from paragloss.collection import Collection
from paragloss.processes import pool


class Readers:
    """So many processes for all collections, by name; `ready` once each has them open."""

    def __init__(self, engines: Mapping[str, Collection], number: int) -> None:
        self._open, self.number = ExitStack(), number
        locations = {name: engine.location for name, engine in engines.items()}
        self._pool = self._open.enter_context(pool(number, _begin, locations))
        states = {name: engine.versions() for name, engine in engines.items()}
        self._warm = [self._pool.submit(_first, states) for _ in range(number)]

    @property
    def ready(self) -> bool:
        return all(warm.done() and not warm.exception() for warm in self._warm)

    def ask(self, name: str, state: tuple[str, str], work: Callable[..., Any], *told: Any) -> Future[Any]:
        """`work(engine, *told)` with an engine that has read all that `state` says is there."""
        return self._pool.submit(_answer, name, state, work, told)

    def close(self) -> None:
        """They only read: what they are at is given up."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in list((self._pool._processes or {}).values()):
            process.kill()
        self._open.close()


def warm_up(engine: Collection) -> None:
    """Search twice: what only a second search needs is made then."""
    for text in ("a first search", "and a second one"):
        engine.search(text, k=1)


# In the processes

_locations: Mapping[str, str] = {}
_engines: dict[str, tuple[Collection, tuple[str, str]]] = {}


def _begin(locations: Mapping[str, str]) -> None:
    global _locations
    _locations = locations


def _first(states: Mapping[str, tuple[str, str]]) -> None:
    for name, state in states.items():
        warm_up(_engine(name, state))


def _answer(name: str, state: tuple[str, str], work: Callable[..., Any], told: Sequence[Any]) -> Any:
    return work(_engine(name, state), *told)


def _engine(name: str, state: tuple[str, str]) -> Collection:
    """Opened again when something else than documents was changed; terms are counted as they are now."""
    engine, read = _engines.get(name, (None, ("", "")))
    if engine is None or read[1] != state[1]:
        if engine is not None:
            engine.close()
        engine = Collection.open(_locations[name])
    elif read[0] != state[0]:
        engine.catch_up()
    _engines[name] = engine, state
    return engine
