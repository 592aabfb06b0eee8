"""One owner: a folder belongs to one process, and the others ask it.

The engine lets one process open a folder; that one holds the folder's lock. It listens on a socket of this machine and
answers what only reads (`Host`). Another that opens the folder meanwhile has a `SharedStore`, which asks. Why this is
enough:

- Whoever asks sees what the owner sees, down to what was written a moment ago: there is one engine, one order of
  things, and nothing to keep up to date but blobs that others have read, which carry a version.
- When the owner has closed the folder or was killed, its lock is free. Whoever asks next finds nobody at the socket,
  takes the lock, opens the folder as after any kill, and becomes the owner. Of several that try, one gets the lock.
- Only the owner writes. Who wants to write waits for the lock for a while, then says who has it.

So any number of processes search while one writes, and nothing is copied. What is done on a copy of the folder is
building graphs (`_snapshots`), which no reader ever sees.
"""

from __future__ import annotations

import os
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from paragloss.errors import ClosedError, ParaglossError, StoreError
from paragloss.stores import wire
from paragloss.stores._base import BaseStore
from paragloss.stores._files import read_holder, write_holder
from paragloss.stores._shape import Shape

if TYPE_CHECKING:
    from paragloss.stores.embedded import EmbeddedStore

#: What a host answers, and by what of its store; everything else is refused.
QUESTIONS = {
    **{
        name: name
        for name in (
            "get",
            "read_sparse",
            "count",
            "page",
            "search_dense",
            "search_sparse",
            "search_and_read",
            "schema",
            "blob_versions",
        )
    },
    "read_blob": "blob_files.published",
    "blob_version": "blob_files.published_version",
}
#: How long a reader waits for a folder that is changing hands, and a writer for one that is in use, in seconds.
PATIENCE, WRITER_PATIENCE = 20.0, 5.0
#: What the names of folders with a socket begin with; the rest is random.
_FOLDER_PREFIX = "paragloss-socket-"


def read_address(path: Path) -> Path:
    """Return the socket at which the host of a folder listens, as its lock file says; OSError where it says none."""
    with (path / "lock").open("rb") as lock:
        address = read_holder(lock).get("address")
    if not isinstance(address, str):
        raise FileNotFoundError(f"{path / 'lock'} names no socket")
    return Path(address)


class Host:
    """Answers questions about an open store until it is stopped.

    The socket lies in a new folder of this user's own with a name that nobody can guess, and thus occupy; the lock file
    says where.
    """

    def __init__(self, store: EmbeddedStore, lock: IO[bytes]) -> None:
        self._store = store
        _remove_socket(read_holder(lock).get("address"))  # of a host that was killed: we hold the lock now
        self._address = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX)) / "socket"
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self._address))
        self._socket.listen(64)
        write_holder(lock, address=str(self._address))
        self._links: set[socket.socket] = set()
        threading.Thread(target=self._listen, daemon=True).start()

    def stop(self) -> None:
        _remove_socket(str(self._address))
        for link in [self._socket, *self._links]:
            with suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
            link.close()

    def _listen(self) -> None:
        while True:
            try:
                link, _ = self._socket.accept()
            except OSError:
                return
            self._links.add(link)
            threading.Thread(target=self._answer, args=(link,), daemon=True).start()

    def _answer(self, link: socket.socket) -> None:
        with link, suppress(OSError, EOFError, ValueError):
            while True:
                question, arguments, options = wire.receive(link)
                if question not in QUESTIONS:
                    return
                try:
                    asked = attrgetter(QUESTIONS[question])(self._store)
                    answer = {"answer": asked(*arguments, **options) if callable(asked) else asked}
                except ClosedError:
                    return
                except ParaglossError as error:
                    answer = {"error": str(error)}
                wire.send(link, answer)
        self._links.discard(link)


def _asking(question: str) -> Any:
    return lambda store, *arguments, **options: store._ask(question, *arguments, **options)


def _writing(name: str) -> Any:
    def write(store: SharedStore, *arguments: Any, **options: Any) -> Any:
        own = store._owned()
        answer = getattr(own, name)(*arguments, **options)
        store._shape = own._shape
        return answer

    return write


class SharedStore(BaseStore):
    """A folder that another process has open. Reads like `EmbeddedStore`; to write it needs the folder for itself."""

    path: Path

    def __init__(self, path: Path, take: Callable[[Path], EmbeddedStore]) -> None:
        self.path = path
        self._take = take  # opens the folder, or raises when it is in use
        self._own: EmbeddedStore | None = None
        self._link: socket.socket | None = None
        self._turn = threading.RLock()
        self._shape = Shape.from_json(self._ask("schema"))

    # Reading: the owner answers

    get = _asking("get")
    read_sparse = _asking("read_sparse")
    count = _asking("count")
    page = _asking("page")
    search_dense = _asking("search_dense")
    search_sparse = _asking("search_sparse")
    search_and_read = _asking("search_and_read")
    read_blob = _asking("read_blob")
    blob_versions = _asking("blob_versions")

    def blob_version(self, name: str) -> str | None:
        """Changes whenever the blob does, so that a reader knows when to read it again; stays as it is once this
        process has the folder to itself."""
        return self._own.blob_files.token if self._own is not None else str(self._ask("blob_version", name))

    # Writing: by who owns the folder

    add = _writing("add")
    delete = _writing("delete")
    add_dense_vector = _writing("add_dense_vector")
    drop_dense_vector = _writing("drop_dense_vector")
    update_dense = _writing("update_dense")
    scroll_sparse = _writing("scroll_sparse")
    update_sparse = _writing("update_sparse")
    write_blob = _writing("write_blob")
    salvage_records = _writing("salvage_records")
    optimize = _writing("optimize")

    def claim_writing(self) -> tuple[int, bool]:
        self._owned()
        return 0, True

    def publish_blob(self, name: str, version: Callable[[], str], data: Callable[[], bytes]) -> None:
        if self._own is not None:
            self._own.publish_blob(name, version, data)

    def close(self) -> None:
        with self._turn:
            self._hang_up()
            if self._own is not None:
                self._own.close()

    def _owned(self) -> EmbeddedStore:
        with self._turn:
            until = time.monotonic() + WRITER_PATIENCE
            while self._own is None:
                self._hang_up()  # so that a host about to leave need not wait for us
                try:
                    self._own = self._take(self.path)
                except StoreError:
                    if time.monotonic() > until:
                        raise StoreError(
                            f"{self.path} is in use by {holder(self.path)}, which alone may write to it: wait until it "
                            "has finished, or serve the collection (paragloss serve) and write through the server"
                        ) from None
                    time.sleep(0.05)
            return self._own

    def _ask(self, question: str, *arguments: Any, **options: Any) -> Any:
        with self._turn:
            until = time.monotonic() + PATIENCE
            while True:
                if self._own is not None:
                    asked = attrgetter(QUESTIONS[question])(self._own)
                    return asked(*arguments, **options) if callable(asked) else asked
                try:
                    if self._link is None:
                        self._link = _connect(self.path)
                    wire.send(self._link, [question, arguments, options])
                    told = wire.receive(self._link)
                except (OSError, EOFError, ValueError):
                    self._hang_up()
                    with suppress(StoreError):
                        self._own = self._take(self.path)
                    if self._own is None and time.monotonic() > until:
                        raise StoreError(
                            f"{self.path} is in use by {holder(self.path)}, which does not answer"
                        ) from None
                    continue
                if "error" in told:
                    raise StoreError(told["error"])
                return told["answer"]

    def _hang_up(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None
            time.sleep(0.01)


def _remove_socket(address: object) -> None:
    """Remove a host's socket and its folder, and nothing that is anything else."""
    if not isinstance(address, str) or not Path(address).parent.name.startswith(_FOLDER_PREFIX):
        return
    with suppress(OSError):
        if stat.S_ISSOCK(os.lstat(address).st_mode):
            os.unlink(address)
        os.rmdir(os.path.dirname(address))


def _connect(path: Path) -> socket.socket:
    link = socket.socket(socket.AF_UNIX)
    try:
        link.connect(str(read_address(path)))
    except OSError:
        link.close()
        raise
    return link


def holder(path: Path) -> str:
    """Who has a folder open, in words."""
    try:
        with (path / "lock").open("rb") as lock:
            return f"another process ({int(read_holder(lock)['pid'])})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
