"""Let other processes read a collection's folder through the process that has it open.

The engine lets one process open a folder, and that process, the owner, holds the folder's lock. The owner listens on a
Unix socket and answers requests that only read (`OwnerServer`). Another process that opens the folder meanwhile gets a
`shared.SharedStore`, which sends such requests. Why this is enough:

- A reader sees what the owner sees, including the last write: there is one engine, and the only copies that can become
  stale are blobs, which have versions.
- When the owner closes the folder or is killed, its lock is released. The next reader that gets no answer takes the
  lock, opens the folder and becomes the owner. Of several that try, one gets the lock.
- Only the owner writes. A process that wants to write waits for the lock, then reports who holds it.

So any number of processes search while one writes, and nothing is copied. Only graphs are built in a copy of the
engine's files (`_engine_files`), which no reader ever sees.
"""

from __future__ import annotations

import os
import socket
import stat
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from paragloss.errors import ClosedError, ParaglossError
from paragloss.stores._base import BaseStore
from paragloss.stores._blob_files import BlobFiles
from paragloss.stores._lock_file import read_lock_holder, write_lock_holder
from paragloss.stores.messages import receive_message, send_message

#: Names of folders that hold a socket start with this; the rest is random.
_FOLDER_PREFIX = "paragloss-socket-"
_MAX_WAITING_CONNECTIONS = 64


def make_request_handlers(store: BaseStore, blob_files: BlobFiles) -> dict[str, Callable[..., Any]]:
    """Return the functions that answer requests, by request name. Everything else is refused."""
    return {
        "get": store.get,
        "read_sparse": store.read_sparse,
        "count": store.count,
        "read_page": store.read_page,
        "search_dense": store.search_dense,
        "search_sparse": store.search_sparse,
        "search_and_read": store.search_and_read,
        "schema": lambda: store.schema,
        "blob_versions": store.blob_versions,
        "read_blob": blob_files.read_published,
        "blob_version": blob_files.get_published_version,
    }


class OwnerServer:
    """Answers the requests of other processes in background threads until it is stopped.

    The socket lies in a new folder of this user with a random name, so that no other user can occupy it. The lock file
    says where.

    :param handlers: functions by request name, from `make_request_handlers`.
    :param lock: the folder's lock file, which this process holds.
    """

    def __init__(self, handlers: dict[str, Callable[..., Any]], lock: IO[bytes]) -> None:
        self._handlers = handlers
        _remove_socket(read_lock_holder(lock).get("address"))  # of an owner that was killed
        self._address = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX)) / "socket"
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self._address))
        self._socket.listen(_MAX_WAITING_CONNECTIONS)
        write_lock_holder(lock, address=str(self._address))
        self._connections: set[socket.socket] = set()
        threading.Thread(target=self._accept_connections, daemon=True).start()

    def stop(self) -> None:
        """Close the socket and all connections."""
        _remove_socket(str(self._address))
        for connection in [self._socket, *self._connections]:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept_connections(self) -> None:
        """Start a thread for each process that connects, until the socket is closed."""
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._connections.add(connection)
            threading.Thread(target=self._answer_requests, args=(connection,), daemon=True).start()

    def _answer_requests(self, connection: socket.socket) -> None:
        """Answer the requests of one process until it disconnects, or sends something that is no valid request."""
        with connection, suppress(OSError, EOFError, ValueError):
            while True:
                request, arguments, options = receive_message(connection)
                if request not in self._handlers:
                    break
                try:
                    response = self._make_response(request, arguments, options)
                except ClosedError:
                    break
                send_message(connection, response)
        self._connections.discard(connection)

    def _make_response(self, request: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one request, or say in the response why it failed.

        :raises ClosedError: the store has been closed meanwhile.
        """
        try:
            return {"answer": self._handlers[request](*arguments, **options)}
        except ClosedError:
            raise
        except ParaglossError as error:
            return {"error": str(error)}


def start_owner_server(store: BaseStore, blob_files: BlobFiles, lock: IO[bytes]) -> OwnerServer | None:
    """Start answering other processes; return None if the system has no Unix sockets or none can be created."""
    if hasattr(socket, "AF_UNIX"):
        with suppress(OSError):
            return OwnerServer(make_request_handlers(store, blob_files), lock)
    write_lock_holder(lock)
    return None


def connect_to_owner(folder: Path) -> socket.socket:
    """Connect to the process that has a collection's folder open; raise OSError if none answers."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(read_socket_address(folder)))
    except OSError:
        connection.close()
        raise
    return connection


def read_socket_address(folder: Path) -> Path:
    """Return the path of the owner's socket, which the lock file names; raise OSError if it names none."""
    with (folder / "lock").open("rb") as lock:
        address = read_lock_holder(lock).get("address")
    if not isinstance(address, str):
        raise FileNotFoundError(f"{folder / 'lock'} names no socket")
    return Path(address)


def _remove_socket(address: object) -> None:
    """Remove an owner's socket and its folder; a path that is anything else is left alone."""
    if not isinstance(address, str) or not Path(address).parent.name.startswith(_FOLDER_PREFIX):
        return
    with suppress(OSError):
        if stat.S_ISSOCK(os.lstat(address).st_mode):
            os.unlink(address)
        os.rmdir(os.path.dirname(address))
