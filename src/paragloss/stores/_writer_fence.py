"""A fencing token that lets one process at a time write to a collection on a server.

The token is a number that only grows. The number and its holder are part of the name of an alias of the collection,
`NAME--writer-NUMBER-HOLDER`. Everything is written through that alias, never by the collection's own name.

- **Taking the token is compare-and-set.** A process renames the alias it has read to one with the next number and
  its own name. The server refuses to rename an alias that does not exist, and changes aliases one after another (in a
  cluster by consensus), so of two processes that have read the same number one succeeds. A number is never used
  again, so a rename that arrives late fails.
- **A process that has lost the token is refused**, however long it stalled: the alias it writes to no longer exists.
  The server resolves the alias within the write itself, so there is no moment between check and write.
- **Unfinished writes are waited for.** If the previous holder did not finish (or a write of this process failed, and
  may still be on its way through the server), the new holder sends a write that changes nothing to every shard. It is
  queued behind all earlier ones. Then the holder counts all documents again.
- **No clock decides anything.** Taking the token from a running process is safe at any time, because that process is
  refused from then on. It is done only on request, or if the holder was a process of this machine that has ended.

One gap remains: in a cluster, a node that lags behind the consensus accepts the old alias a little longer. The server
waits for all nodes it can reach before it reports that an alias was renamed, and a process that writes statistics
compares the number of documents with its own count first. Knows nothing of documents.
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

#: Seconds to wait for another writer to finish, and between two attempts.
WAIT_SECONDS = 5.0
RETRY_SECONDS = 0.1
#: Holders of a token that no process holds. FREE: the stored statistics are those of the documents. ABANDONED: a
#: writer stopped before it had written them.
FREE, ABANDONED = "free", "left"


class WriterToken(NamedTuple):
    """The number of a fencing token, and its holder: FREE, ABANDONED or `ID_HOST_PID` of a process."""

    number: int
    holder: str


class WriterFence:
    """The fencing token of a collection and of its blobs, as one process sees it.

    :param call: calls a method of the client and turns its errors into StoreError.
    :param location: the collection's address, for error messages.
    """

    def __init__(self, client: Any, name: str, call: Callable[..., Any], location: str) -> None:
        self._client, self._name, self._call, self._location = client, name, call, location
        self._own_name = f"{uuid.uuid4().hex[:12]}_{_get_host_name()}_{os.getpid()}"
        self._token: WriterToken | None = None
        self._statistics_current = True
        self._session_depth = 0
        self._lock = threading.RLock()
        #: Whether the next claim takes the token from a process that holds it.
        self.take_over = False

    def create(self, holder: str = FREE) -> WriterToken:
        """Create the first token of a collection that has none."""
        token = WriterToken(0, holder)
        self._change_aliases(*self._make_create_operations(token))
        return token

    def get_write_alias(self, collection: str) -> str:
        """Return the alias through which this process, which holds the token, writes to a collection."""
        assert self._token is not None
        return _make_alias(collection, self._token)

    def claim(self) -> tuple[int, bool]:
        """Take the token, unless this process holds it.

        :return: the token's number, and whether the stored statistics are those of the documents.
        :raises InUseError: another process holds the token and does not release it in time.
        """
        with self._lock:
            if self._token is None:
                self._take_token()
            assert self._token is not None
            return self._token.number, self._statistics_current

    @contextmanager
    def session(self) -> Iterator[None]:
        """Keep a token that is claimed within the block until the outermost block ends; other threads wait."""
        with self._lock:
            self._session_depth += 1
            try:
                yield
            finally:
                self._session_depth -= 1
                if not self._session_depth:
                    self.release()

    def mark_statistics_stale(self) -> None:
        """Note that a write failed and may still be applied later; the next claim takes a new number."""
        with self._lock:
            self._token, self._statistics_current = None, False

    def mark_statistics_current(self) -> None:
        """Note that the stored statistics are those of the documents."""
        self._statistics_current = True

    def find_new_holder(self) -> str:
        """Return a description of the process that took the token from this one, or "" if this one still holds it."""
        current = self._read_token()
        if current is None or current == self._token:
            return ""
        self._token = None
        return "somebody else" if current.holder in (FREE, ABANDONED) else _describe_holder(current.holder)

    def is_free(self) -> bool:
        """Tell whether no process holds the token, and the last holder finished."""
        current = self._read_token()
        return current is not None and current.holder == FREE

    def release(self) -> None:
        """Give the token back, marked as FREE or, if the statistics are stale, as ABANDONED."""
        with self._lock, suppress(StoreError):
            token = self._token
            if token is None and not self._statistics_current:  # a write failed: the alias may still name this process
                current = self._read_token()
                token = current if current is not None and current.holder == self._own_name else None
            holder = FREE if self._statistics_current else ABANDONED
            self._token, self._statistics_current = None, True
            if token is not None:
                self._replace_token(token, WriterToken(token.number, holder))

    def _take_token(self) -> None:
        """Take the next token, waiting for another holder to release it.

        :raises InUseError: the holder has not released it after WAIT_SECONDS.
        """
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            current = self._read_token() or self.create(ABANDONED)
            if self._may_take_token(current):
                if self._try_to_take_token(current):
                    return
            elif time.monotonic() > deadline:
                raise InUseError(
                    f"{self._location} is being written by another process ({_describe_holder(current.holder)}): wait "
                    "until it has finished, or, if it never will, take over (paragloss index --take-over)"
                )
            else:
                time.sleep(RETRY_SECONDS)

    def _try_to_take_token(self, current: WriterToken) -> bool:
        """Replace the current token by the next one, held by this process; tell whether no other process was faster."""
        token = WriterToken(current.number + 1, self._own_name)
        if not self._replace_token(current, token):
            return False
        self._token = token
        self._statistics_current = current.holder == FREE
        self.take_over = False
        if not self._statistics_current:
            self._wait_for_unfinished_writes()
        return True

    def _may_take_token(self, token: WriterToken) -> bool:
        """Tell whether a token can be taken from its holder without asking."""
        return token.holder in (FREE, ABANDONED, self._own_name) or self.take_over or _has_ended(token.holder)

    def _wait_for_unfinished_writes(self) -> None:
        """Wait until everything that was sent to the server before is done: a write to every shard is queued last."""
        from qdrant_client import models

        no_points = models.FilterSelector(filter=models.Filter(must=[models.HasIdCondition(has_id=[])]))
        for collection in (self._name, get_blob_collection(self._name)):
            self._call(self._client.delete, self.get_write_alias(collection), no_points, wait=True)

    def _read_token(self) -> WriterToken | None:
        """Return the collection's current token; None if it never had one."""
        aliases = self._call(self._client.get_collection_aliases, self._name).aliases
        matches = (re.fullmatch(r".*--writer-(\d+)-(.+)", alias.alias_name) for alias in aliases)
        return max((WriterToken(int(match[1]), match[2]) for match in matches if match), default=None)

    def _replace_token(self, old: WriterToken, new: WriterToken) -> bool:
        """Replace the aliases of one token by those of another; tell whether that succeeded.

        The server applies all operations or none. It refuses the first one if another process was faster, because the
        alias of the old token is gone then.

        :raises StoreError: the server fails for another reason, and the old token is still there.
        """
        from qdrant_client import models

        blobs = get_blob_collection(self._name)
        rename = models.RenameAlias(
            old_alias_name=_make_alias(self._name, old), new_alias_name=_make_alias(self._name, new)
        )
        delete = models.DeleteAlias(alias_name=_make_alias(blobs, old))
        try:
            self._change_aliases(
                models.RenameAliasOperation(rename_alias=rename),
                models.DeleteAliasOperation(delete_alias=delete),
                _make_create_operation(blobs, new),
            )
        except StoreError:
            current = self._read_token()
            if current == old:
                raise
            return current == new
        return True

    def _make_create_operations(self, token: WriterToken) -> list[Any]:
        return [_make_create_operation(name, token) for name in (self._name, get_blob_collection(self._name))]

    def _change_aliases(self, *operations: Any) -> None:
        self._call(self._client.update_collection_aliases, change_aliases_operations=list(operations))


def get_blob_collection(name: str) -> str:
    """Return the name of the collection that holds a collection's blobs."""
    return f"{name}--blobs"


def _make_alias(collection: str, token: WriterToken) -> str:
    return f"{collection}--writer-{token.number}-{token.holder}"


def _make_create_operation(collection: str, token: WriterToken) -> Any:
    from qdrant_client import models

    alias = models.CreateAlias(collection_name=collection, alias_name=_make_alias(collection, token))
    return models.CreateAliasOperation(create_alias=alias)


def _describe_holder(holder: str) -> str:
    _, host, pid = holder.split("_")
    return f"{host}, process {pid}"


def _has_ended(holder: str) -> bool:
    """Tell whether a holder was a process of this machine that has ended; False if that can't be known."""
    _, host, pid = holder.split("_")
    if host != _get_host_name() or sys.platform == "win32":  # signal 0 would interrupt the process on Windows
        return False
    try:
        os.kill(int(pid), 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


def _get_host_name() -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())[:60]
