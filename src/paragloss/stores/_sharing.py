"""One folder, many processes: whoever has it open answers the others' questions over a local socket.

The engine lets one process open a folder. That one (a `Host`) listens; another that opens the folder meanwhile gets a
`SharedStore`, which asks the host, takes the folder over when the host has gone, and writes only once it has it.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from paragloss.errors import ParaglossError, StoreError
from paragloss.stores import wire
from paragloss.stores._base import KeptVectors
from paragloss.stores._points import Shape
from paragloss.types import Floats, Looked, Ranking, Record, SparseRows, SparseVector, Where

#: What a host answers, and by what of its store; everything else is refused.
QUESTIONS = {
    **{
        name: name
        for name in ("get", "read_sparse", "count", "page", "search_dense", "search_sparse", "look", "shape", "blobs")
    },
    "read_blob": "published",
    "version": "published_version",
}
#: How long a reader waits for a folder that is changing hands, and a writer for one that is in use, in seconds.
PATIENCE, WRITER_PATIENCE = 20.0, 5.0


def address_of(path: Path) -> Path:
    """Where the host of a folder listens: in a place of this user's own, since a socket's name must be short."""
    home = Path(tempfile.gettempdir()) / f"paragloss-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    state = home.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o077:
        raise StoreError(f"{home} can be entered by others: remove it, or set TMPDIR to a place of your own")
    return home / hashlib.blake2b(str(path.resolve()).encode(), digest_size=12).hexdigest()


class Host:
    """Answers questions about an open store until it is stopped."""

    def __init__(self, store: Any, path: Path) -> None:
        self._store = store
        self._address = address_of(path)
        with suppress(FileNotFoundError):
            self._address.unlink()  # of a host that was killed: we hold the lock now
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self._address))
        self._socket.listen(64)
        self._links: set[socket.socket] = set()
        threading.Thread(target=self._listen, daemon=True).start()

    def stop(self) -> None:
        with suppress(FileNotFoundError):
            self._address.unlink()
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
                    asked = getattr(self._store, QUESTIONS[question])
                    answer = {"answer": asked(*arguments, **options) if callable(asked) else asked}
                except ParaglossError as error:
                    if "has been closed" in str(error):
                        return
                    answer = {"error": str(error)}
                wire.send(link, answer)
        self._links.discard(link)


class SharedStore(KeptVectors):
    """A folder that another process has open. Reads like `EmbeddedStore`; to write it needs the folder for itself."""

    def __init__(self, path: Path, take: Callable[[Path], Any]) -> None:
        self.path = path
        self._take = take  # opens the folder, or raises when it is in use
        self._own: Any = None
        self._link: socket.socket | None = None
        self._turn = threading.RLock()
        self._shape = Shape.from_json(self._ask("shape"))

    def get(
        self, ids: Sequence[str], *, vectors: bool | Sequence[str] = False, text: bool = True
    ) -> list[Record | None]:
        found: list[Record | None] = self._ask("get", list(ids), vectors=vectors, text=text)
        return found

    def read_sparse(self, name: str, ids: Sequence[str]) -> tuple[list[str], SparseRows]:
        langs, rows = self._ask("read_sparse", name, list(ids))
        return langs, rows

    def count(self, where: Where | None = None, *, lacking: str | None = None) -> int:
        return int(self._ask("count", where, lacking=lacking))

    def page(
        self,
        where: Where | None,
        offset: Any,
        batch: int,
        vectors: bool | Sequence[str],
        lacking: str | None = None,
        text: bool = True,
    ) -> tuple[list[Record], Any]:
        records, after = self._ask("page", where, offset, batch, vectors, lacking, text)
        return records, after

    def search_dense(
        self, name: str, vectors: Floats, k: int, where: Where | None = None, *, exact: bool = False
    ) -> list[Ranking]:
        found: list[Ranking] = self._ask("search_dense", name, vectors, k, where, exact=exact)
        return found

    def search_sparse(
        self, name: str, vectors: Sequence[SparseVector], k: int, where: Where | None = None
    ) -> list[Ranking]:
        found: list[Ranking] = self._ask("search_sparse", name, list(vectors), k, where)
        return found

    def look(self, name: str, vectors: Sequence[SparseVector], k: int, where: Where | None = None) -> Looked:
        return Looked(*self._ask("look", name, list(vectors), k, where))

    def read_blob(self, name: str) -> bytes | None:
        found: bytes | None = self._ask("read_blob", name)
        return found

    def blobs(self) -> dict[str, str]:
        found: dict[str, str] = self._ask("blobs")
        return found

    def version(self, name: str) -> str | None:
        """Changes whenever the blob does, so that a reader knows when to read it again; stays as it is once this
        process has the folder to itself."""
        return self._own.token if self._own is not None else str(self._ask("version", name))

    # Writing needs the folder itself

    def claim(self) -> tuple[int, bool]:
        self._owned()
        return 0, True

    def add(self, records: Sequence[Record]) -> None:
        self._owned().add(records)

    def delete(self, ids: Sequence[str]) -> int:
        return int(self._owned().delete(ids))

    def add_dense(self, name: str, dim: int, *, several: bool = False, precision: str = "float32") -> None:
        self._owned().add_dense(name, dim, several=several, precision=precision)
        self._shape = self._own._shape

    def drop_dense(self, name: str) -> None:
        self._owned().drop_dense(name)
        self._shape = self._own._shape

    def update_dense(self, name: str, ids: Sequence[str], vectors: Sequence[Floats] | Floats) -> None:
        self._owned().update_dense(name, ids, vectors)

    def update_sparse(self, name: str, ids: Sequence[str], vectors: Sequence[SparseVector]) -> None:
        self._owned().update_sparse(name, ids, vectors)

    def write_blob(self, name: str, data: bytes) -> None:
        self._owned().write_blob(name, data)

    def publish(self, name: str, version: Callable[[], str], data: Callable[[], bytes]) -> None:
        if self._own is not None:
            self._own.publish(name, version, data)

    def salvage(self) -> Iterator[tuple[list[Record], int]]:
        yield from self._owned().salvage()

    def optimize(self) -> None:
        self._owned().optimize()

    def close(self) -> None:
        with self._turn:
            if self._link is not None:
                self._link.close()
                self._link = None
            if self._own is not None:
                self._own.close()

    def _owned(self) -> Any:
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
                    asked = getattr(self._own, QUESTIONS[question])
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


def _connect(path: Path) -> socket.socket:
    link = socket.socket(socket.AF_UNIX)
    try:
        link.connect(str(address_of(path)))
    except OSError:
        link.close()
        raise
    return link


def holder(path: Path) -> str:
    """Who has a folder open, in words."""
    try:
        told = json.loads((path / "lock").read_text(encoding="utf-8"))
        return f"another process ({int(told['pid'])})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
