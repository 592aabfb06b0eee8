"""Open collections and serve them until a signal to stop."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from paragloss.errors import InputError, MissingExtraError
from paragloss.server.keys import Keys, is_loopback, require_keys
from paragloss.server.logs import log_event, log_to_stderr

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp

    from paragloss.server.configuration import WatchedSource
    from paragloss.server.library import Library

#: Seconds that running requests have to end after a signal, and that closing the collections may take then.
GRACEFUL_SECONDS = 5
CLOSING_SECONDS = 9
#: Seconds for which a connection waits for another request.
KEEP_ALIVE_SECONDS = 20
MAX_HEADER_BYTES = 64 * 1024
#: File descriptors that the process asks for: every connection takes one.
WANTED_DESCRIPTORS = 4096


def serve(
    collections: Sequence[str],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    keys: str | None = None,
    origins: Sequence[str] = (),
    log_queries: bool = False,
    workers: int = 0,
    watch: Sequence[WatchedSource] = (),
    on_start: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve collections over HTTP until SIGINT or SIGTERM.

    Running requests have a few seconds to end then; whatever still runs after fifteen is abandoned, and what was
    acknowledged is on disk.

    :param collections: folders, or addresses of collections on a Qdrant server.
    :param host: the address to listen on; `keys` are needed where other machines can reach it.
    :param keys: a file of keys.
    :param origins: other sites whose pages may ask.
    :param log_queries: whether queries are written to the log.
    :param workers: how many processes search beside this one, which searches itself where there are none.
    :param watch: sources that are indexed again and again while the server runs.
    :param on_start: is called with the address of the page once the collections are open.
    :raises InputError: if other machines can reach `host` and there are no keys, or another program has the port.
    """
    allowed_keys = Keys.read(keys) if keys else Keys()
    require_keys(host, allowed_keys)
    build_application = partial(
        _import_application_builder(), keys=allowed_keys, loopback=is_loopback(host), origins=origins
    )
    with open_port(host, port) as listener:
        library = _open_library(collections, workers, watch)
        app = build_application(library, log_queries=log_queries, shutdown_seconds=CLOSING_SECONDS)
        log_event("serving", collections=list(library.collections), host=host, port=port)
        on_start(format_address(host, port))
        serve_until_signal(app, listener)
        log_event("stopped")


def _import_application_builder() -> Callable[..., FastAPI]:
    """Return `build_application`; raise MissingExtraError if the packages of the server are not installed."""
    try:
        from paragloss.server.application import build_application
    except ImportError:
        raise MissingExtraError("the server", "serve") from None
    return build_application


def _open_library(collections: Sequence[str], workers: int, watch: Sequence[WatchedSource]) -> Library:
    """Open collections, watch their sources, and write what happens from now on to the log."""
    from paragloss.server.library import Library

    library = Library.open(collections, workers=workers)
    library.watch_sources(watch)
    log_to_stderr()
    return library


def serve_until_signal(app: ASGIApp, listener: socket.socket) -> None:
    """Answer requests on an open port until SIGINT or SIGTERM.

    The number of connections is limited by the number of files that this process may open: each takes one, and
    collections need the others.
    """
    import uvicorn

    from paragloss.server.connections import MAX_CONNECTIONS, LimitedConnection

    LimitedConnection.max_connections = min(MAX_CONNECTIONS, _raise_descriptor_limit() // 2)
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        http=LimitedConnection,
        ws="none",
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )
    # uvicorn stops at this signal and then raises it again for the handler before it: the work is done by then.
    signal.signal(signal.SIGTERM, lambda *_: None)
    uvicorn.Server(config).run(sockets=[listener])


def open_port(host: str, port: int) -> socket.socket:
    """Listen on a port, before anything is opened that takes time.

    :raises InputError: if another program has the port, or the host is not on this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{host}:{port} can't be listened on ({reason}): choose another --port or --host") from None


def format_address(host: str, port: int) -> str:
    """Return the address by which clients of a server on this machine, or elsewhere, reach it."""
    host_name = "localhost" if is_loopback(host) else host
    return f"http://{host_name}:{port}/"


def _raise_descriptor_limit() -> int:
    """Raise the limit of open files of this process to WANTED_DESCRIPTORS or as far as is allowed; return the limit.

    Some systems allow 256 unless a process asks for more, which is too few for many clients.
    """
    if sys.platform == "win32":
        return WANTED_DESCRIPTORS
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(WANTED_DESCRIPTORS, hard)
    if soft == resource.RLIM_INFINITY or soft >= limit:
        return limit
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return limit
