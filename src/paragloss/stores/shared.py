"""A collection in a folder that another process has open; `_owner_server` explains how they share it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from paragloss.errors import StoreError
from paragloss.stores._base import BaseStore
from paragloss.stores._lock_file import describe_lock_holder
from paragloss.stores._owner_server import connect_to_owner, make_request_handlers
from paragloss.stores._schema import VectorSchema
from paragloss.stores.embedded import EmbeddedStore
from paragloss.stores.messages import receive_message, send_message

#: Seconds that a reader waits for an answer while a folder changes its owner.
READER_TIMEOUT = 20.0
#: Seconds that a writer waits for the owner to close the folder.
WRITER_TIMEOUT = 5.0
_RETRY_SECONDS = 0.05
#: Seconds to wait after a disconnect, so that an owner that is closing can finish.
_DISCONNECT_PAUSE = 0.01


def _make_reading_method(request: str) -> Any:
    """Make a method that has the owner answer a request."""

    def read(store: SharedStore, *arguments: Any, **options: Any) -> Any:
        return store._request(request, *arguments, **options)

    return read


def _make_writing_method(name: str) -> Any:
    """Make a method that becomes the owner, then calls the method of the same name of `EmbeddedStore`."""

    def write(store: SharedStore, *arguments: Any, **options: Any) -> Any:
        own_store = store._become_owner()
        result = getattr(own_store, name)(*arguments, **options)
        store._schema = own_store._schema
        return result

    return write


class SharedStore(BaseStore):
    """Reads like `EmbeddedStore`, through the folder's owner. To write, it must become the owner.

    :param open_folder: opens the folder, or raises StoreError if it is in use.
    """

    path: Path

    def __init__(self, path: Path, open_folder: Callable[[Path], EmbeddedStore]) -> None:
        self.path = path
        self._open_folder = open_folder
        self._own_store: EmbeddedStore | None = None  # once this process is the owner
        self._connection: socket.socket | None = None
        self._lock = threading.RLock()
        self._schema = VectorSchema.from_json(self._request("schema"))

    get = _make_reading_method("get")
    read_sparse = _make_reading_method("read_sparse")
    count = _make_reading_method("count")
    read_page = _make_reading_method("read_page")
    search_dense = _make_reading_method("search_dense")
    search_sparse = _make_reading_method("search_sparse")
    search_and_read = _make_reading_method("search_and_read")
    read_blob = _make_reading_method("read_blob")
    blob_versions = _make_reading_method("blob_versions")

    def blob_version(self, name: str) -> str | None:
        """Return a version that changes whenever the blob does; it stays the same once this process is the owner."""
        if self._own_store is not None:
            return self._own_store.blob_files.session_id
        return str(self._request("blob_version", name))

    add = _make_writing_method("add")
    delete = _make_writing_method("delete")
    add_dense_vector = _make_writing_method("add_dense_vector")
    drop_dense_vector = _make_writing_method("drop_dense_vector")
    update_dense = _make_writing_method("update_dense")
    scroll_sparse = _make_writing_method("scroll_sparse")
    update_sparse = _make_writing_method("update_sparse")
    write_blob = _make_writing_method("write_blob")
    salvage_records = _make_writing_method("salvage_records")
    optimize = _make_writing_method("optimize")

    def claim_writing(self) -> tuple[int, bool]:
        """Become the only writer, or raise InUseError."""
        self._become_owner()
        return 0, True

    def publish_blob(self, name: str, get_version: Callable[[], str], get_data: Callable[[], bytes]) -> None:
        """Let other processes read what `get_data` returns in place of a blob while this process writes."""
        if self._own_store is not None:
            self._own_store.publish_blob(name, get_version, get_data)

    def close(self) -> None:
        """Release all files and locks."""
        with self._lock:
            self._disconnect()
            if self._own_store is not None:
                self._own_store.close()

    def _become_owner(self) -> EmbeddedStore:
        """Open the folder in this process, as soon as the owner has closed it; raise StoreError if it does not."""
        with self._lock:
            deadline = time.monotonic() + WRITER_TIMEOUT
            while self._own_store is None:
                self._disconnect()  # an owner that is closing need not wait for this process
                try:
                    self._own_store = self._open_folder(self.path)
                except StoreError:
                    if time.monotonic() > deadline:
                        holder = describe_lock_holder(self.path)
                        raise StoreError(
                            f"{self.path} is in use by {holder}, which alone may write to it: wait until it has "
                            "finished, or serve the collection (paragloss serve) and write through the server"
                        ) from None
                    time.sleep(_RETRY_SECONDS)
            return self._own_store

    def _request(self, request: str, *arguments: Any, **options: Any) -> Any:
        """Have the owner answer a request; become the owner, and answer it here, if there is none any more.

        :param request: the name of a request, see `make_request_handlers`.
        :raises StoreError: the request failed, or the owner does not answer.
        """
        with self._lock:
            if self._own_store is None:
                response = self._ask_owner([request, arguments, options])
                if response is not None:
                    return _get_answer(response)
            assert self._own_store is not None
            handlers = make_request_handlers(self._own_store, self._own_store.blob_files)
            return handlers[request](*arguments, **options)

    def _ask_owner(self, message: Any) -> dict[str, Any] | None:
        """Return the owner's response to a message; None if the owner is gone and this process is the owner now.

        An owner that does not answer is asked again until READER_TIMEOUT has passed.
        """
        deadline = time.monotonic() + READER_TIMEOUT
        while True:
            try:
                return self._exchange(message)
            except (OSError, EOFError, ValueError):
                self._disconnect()
            if self._try_to_become_owner():
                return None
            if time.monotonic() > deadline:
                raise StoreError(f"{self.path} is in use by {describe_lock_holder(self.path)}, which does not answer")

    def _try_to_become_owner(self) -> bool:
        """Open the folder in this process; tell whether that succeeded: not while another process has it open."""
        with suppress(StoreError):
            self._own_store = self._open_folder(self.path)
        return self._own_store is not None

    def _exchange(self, message: Any) -> dict[str, Any]:
        """Send a message to the owner and return its response."""
        if self._connection is None:
            self._connection = connect_to_owner(self.path)
        send_message(self._connection, message)
        response: dict[str, Any] = receive_message(self._connection)
        return response

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            time.sleep(_DISCONNECT_PAUSE)


def _get_answer(response: dict[str, Any]) -> Any:
    """Return the answer in an owner's response; raise StoreError if it holds an error."""
    if "error" in response:
        raise StoreError(response["error"])
    return response["answer"]
