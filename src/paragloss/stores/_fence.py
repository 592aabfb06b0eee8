"""The right to write a collection on a server: a number that only grows, which the server checks with every write.

The number and who has it are the name of an alias of the collection, `NAME--writer-NUMBER-WHO`. Everything is written
through that alias, never by the collection's own name. Why that is sound:

- **Taking is compare-and-set.** Whoever takes renames the alias he saw to one with the next number and his own name.
  The server fails to rename what is not there, and changes aliases one after another (in a cluster by consensus): of
  two who saw the same number one succeeds. A number never comes back, so a rename that arrives late finds nothing.
- **Who lost it is refused**, however long he stalled: the name he writes to is no longer there. The server looks the
  name up within the write itself; between our looking and our writing there is no moment in which it could change.
- **What the server had begun is waited for.** A taker who finds that the one before did not finish (or who is not sure
  of a write of his own, which may still be on its way through the server) takes the next number, then writes something
  that changes nothing to every shard, which stands in line behind all that came before, and counts all documents.
- **No clock decides anything.** Taking from somebody who lives is safe at any time: he is refused from then on. That
  it is done only when asked for, or when he was a process of this machine that is gone, is courtesy.

What is left: in a cluster, a node that lags behind the consensus knows the old name a little longer. The server waits
for all nodes it reaches before it says that an alias has been renamed, and whoever writes down statistics compares the
number of documents with that of his own count first. Knows nothing of documents.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from paragloss.errors import InUseError, StoreError

#: Seconds that a writer waits for another to finish, and between two looks.
PATIENCE, PAUSE = 5.0, 0.1
#: Who has a number that nobody has: the statistics are those of the documents, or somebody left in the middle.
FREE, LEFT = "free", "left"


class Right(NamedTuple):
    """A number, and who has it."""

    number: int
    who: str


class Fence:
    """The right of one process, over a collection and its blobs; `ask` makes a call of the client and minds errors."""

    def __init__(self, client: Any, name: str, ask: Callable[..., Any], where: str) -> None:
        self._client, self._name, self._ask, self._where = client, name, ask, where
        self._me = f"{uuid.uuid4().hex[:12]}_{_host()}_{os.getpid()}"
        self._right: Right | None = None
        self._whole = True
        self._depth = 0
        self._turn = threading.RLock()
        #: Take from whoever has it, once.
        self.take_over = False

    def begin(self, who: str = FREE) -> Right:
        """Of a collection that has no number yet: the first."""
        first = Right(0, who)
        self._change(*self._created(first))
        return first

    def through(self, collection: str) -> str:
        """What to call a collection when writing to it."""
        assert self._right is not None
        return _alias(collection, self._right)

    def claim_writing(self) -> tuple[int, bool]:
        """Have the right, or say who has it. Its number, and whether the statistics in the store are those of its
        documents."""
        with self._turn:
            if self._right is None:
                self._take()
            assert self._right is not None
            return self._right.number, self._whole

    @contextmanager
    def write_session(self) -> Iterator[None]:
        """Whatever is claimed within is given back at the end of the outermost."""
        with self._turn:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if not self._depth:
                    self.give_back()

    def mark_statistics_stale(self) -> None:
        """A write failed, and may yet be done: the next claim takes a new number."""
        with self._turn:
            self._right, self._whole = None, False

    def mark_statistics_current(self) -> None:
        """The statistics in the store are those of its documents."""
        self._whole = True

    def lost(self) -> str:
        """Who has taken it from us, or ""."""
        now = self._look()
        if now is None or now == self._right:
            return ""
        self._right = None
        return "somebody else" if now.who in (FREE, LEFT) else _told(now.who)

    def free(self) -> bool:
        """Whether nobody writes, and whoever did has finished."""
        now = self._look()
        return now is not None and now.who == FREE

    def give_back(self) -> None:
        with self._turn, suppress(StoreError):
            mine = self._right
            if mine is None and not self._whole:  # a write failed: the next one counts
                now = self._look()
                mine = now if now is not None and now.who == self._me else None
            self._right, whole, self._whole = None, self._whole, True
            if mine is not None:
                self._renamed(mine, Right(mine.number, FREE if whole else LEFT))

    def _take(self) -> None:
        until = time.monotonic() + PATIENCE
        while True:
            now = self._look() or self.begin(LEFT)
            if now.who in (FREE, LEFT, self._me) or self.take_over or _gone(now.who):
                mine = Right(now.number + 1, self._me)
                if self._renamed(now, mine):
                    self._right, self._whole, self.take_over = mine, now.who == FREE, False
                    if not self._whole:
                        self._settle()
                    return
            elif time.monotonic() > until:
                raise InUseError(
                    f"{self._where} is being written by another process ({_told(now.who)}): wait until it has "
                    "finished, or, if it never will, take over (paragloss index --take-over)"
                )
            else:
                time.sleep(PAUSE)

    def _settle(self) -> None:
        """Wait until everything that was sent to the server before is done."""
        from qdrant_client import models

        nothing = models.FilterSelector(filter=models.Filter(must=[models.HasIdCondition(has_id=[])]))
        for collection in (self._name, _blobs(self._name)):
            self._ask(self._client.delete, self.through(collection), nothing, wait=True)

    def _look(self) -> Right | None:
        found = self._ask(self._client.get_collection_aliases, self._name).aliases
        names = (re.fullmatch(r".*--writer-(\d+)-(.+)", alias.alias_name) for alias in found)
        return max((Right(int(match[1]), match[2]) for match in names if match), default=None)

    def _renamed(self, old: Right, new: Right) -> bool:
        """Whether the alias had the old name and has the new one."""
        from qdrant_client import models

        rename = models.RenameAlias(old_alias_name=_alias(self._name, old), new_alias_name=_alias(self._name, new))
        gone = models.DeleteAlias(alias_name=_alias(_blobs(self._name), old))
        try:  # the first of them fails where the old name is gone, and then nothing is done
            self._change(
                models.RenameAliasOperation(rename_alias=rename),
                models.DeleteAliasOperation(delete_alias=gone),
                self._created(new)[1],
            )
        except StoreError:
            now = self._look()
            if now == old:
                raise
            return now == new
        return True

    def _created(self, right: Right) -> list[Any]:
        from qdrant_client import models

        made = [
            models.CreateAlias(collection_name=collection, alias_name=_alias(collection, right))
            for collection in (self._name, _blobs(self._name))
        ]
        return [models.CreateAliasOperation(create_alias=alias) for alias in made]

    def _change(self, *operations: Any) -> None:
        self._ask(self._client.update_collection_aliases, change_aliases_operations=list(operations))


def _alias(collection: str, right: Right) -> str:
    return f"{collection}--writer-{right.number}-{right.who}"


def _blobs(name: str) -> str:
    return f"{name}--blobs"


def _told(who: str) -> str:
    _, host, pid = who.split("_")
    return f"{host}, process {pid}"


def _gone(who: str) -> bool:
    """Whether somebody was a process of this machine that is no more."""
    _, host, pid = who.split("_")
    if host != _host() or sys.platform == "win32":  # where signal 0 is an interrupt, not a question
        return False
    try:
        os.kill(int(pid), 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())[:60]
