"""Processes that search beside the server's own, which has one interpreter lock for all its threads.

A worker asks the server's process for documents, keeps everything else itself, and reads again what was changed.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

from paragloss.collection import Collection
from paragloss.errors import DeadlineError
from paragloss.processes import open_pool
from paragloss.server.precedence import YieldingDeadline

#: What has changed in a collection: the versions of its documents and of everything else.
Versions = tuple[str, str]


class TimedResult(NamedTuple):
    """The result of a piece of work, and the processor time that it took."""

    result: Any
    processor_seconds: float


class SearchWorkers:
    """Some processes that search all collections of a server."""

    def __init__(self, collections: Mapping[str, Collection], count: int) -> None:
        """Start `count` processes; they open the collections in the background."""
        self._resources, self.count = ExitStack(), count
        locations = {name: collection.location for name, collection in collections.items()}
        self._pool = self._resources.enter_context(open_pool(count, _start_worker, locations))
        versions = {name: collection.maintenance.read_versions() for name, collection in collections.items()}
        self._warm_ups = [self._pool.submit(_warm_up_worker, versions) for _ in range(count)]

    @property
    def is_ready(self) -> bool:
        """Tell whether every process has its collections open."""
        return all(warm_up.done() and not warm_up.exception() for warm_up in self._warm_ups)

    def submit(
        self,
        name: str,
        versions: Versions,
        work: Callable[..., Any],
        arguments: Sequence[Any],
        deadline: YieldingDeadline,
    ) -> Future[TimedResult]:
        """Run `work(collection, *arguments, deadline)` in one of the processes.

        :param name: the name of the collection.
        :param versions: those of the collection here; a process that knows older ones reads the collection again.
        :param work: a function of a module: it is sent by its name.
        :param deadline: the work is given one with the same time, and this one then knows its processor time.
        :return: the future result with the processor time that it took.
        """
        all_arguments = (*arguments, deadline.without_precedence())
        future = self._pool.submit(_run_in_worker, name, versions, work, all_arguments)
        future.add_done_callback(partial(_note_processor_time, deadline))
        return future

    def close(self) -> None:
        """End the processes at once: they only read, so what they are doing can be abandoned."""
        self._pool.kill()
        self._resources.close()


def _note_processor_time(deadline: YieldingDeadline, future: Future[TimedResult]) -> None:
    """Let a deadline know how much processor time its work took; work that ran out of time took all of it."""
    if future.cancelled():
        return
    error = future.exception()
    if error is None:
        deadline.processor_seconds = future.result().processor_seconds
    elif isinstance(error, DeadlineError):
        deadline.processor_seconds = deadline.seconds


def warm_up(collection: Collection) -> None:
    """Search and explain twice, so that a user's first search finds everything loaded.

    Some parts are made by the second search, and some for unknown words only.
    """
    for text in ("a first search", "and a secnod one"):
        answer = collection.search(text, k=1)
        for result in answer.results:
            answer.why(result.id)


def exempt_from_garbage_collection() -> None:
    """Let the garbage collector pass over all objects that there are now.

    Looking through models and statistics stops every thread for 60 to 80 ms, again and again while somebody sends long
    queries.
    """
    gc.collect()
    gc.freeze()


# In the worker processes

_locations: Mapping[str, str] = {}
_collections: dict[str, tuple[Collection, Versions]] = {}


def _start_worker(locations: Mapping[str, str]) -> None:
    """Remember where each collection lies; it is opened when it is first searched."""
    global _locations
    _locations = locations


def _warm_up_worker(versions: Mapping[str, Versions]) -> None:
    """Open all collections and search them for the first time."""
    for name, collection_versions in versions.items():
        warm_up(_open_collection(name, collection_versions))
    exempt_from_garbage_collection()


def _run_in_worker(name: str, versions: Versions, work: Callable[..., Any], arguments: Sequence[Any]) -> TimedResult:
    """Run `work(collection, *arguments)` in this process, and measure the processor time that it takes."""
    collection = _open_collection(name, versions)
    start_time = time.thread_time()
    result = work(collection, *arguments)
    return TimedResult(result, time.thread_time() - start_time)


def _open_collection(name: str, versions: Versions) -> Collection:
    """Return the collection of this process, as it is now.

    It catches up with changed documents, and is opened again if anything else has changed.

    :param versions: those that the server's process knows.
    """
    documents_version, other_version = versions
    if name in _collections:
        collection, (known_documents_version, known_other_version) = _collections[name]
        if known_other_version != other_version:
            collection.close()
            collection = Collection.open(_locations[name])
        elif known_documents_version != documents_version:
            collection.maintenance.catch_up()
    else:
        collection = Collection.open(_locations[name])
    _collections[name] = collection, versions
    return collection
