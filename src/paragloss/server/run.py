"""Opens collections and serves them until it is told to stop."""

from __future__ import annotations

import faulthandler
import signal
from collections.abc import Callable, Sequence
from types import FrameType

from paragloss.errors import MissingExtraError
from paragloss.server.keys import Keys, is_loopback, required

#: Seconds for requests that are being answered when the server is told to stop, and for everything.
_GRACE, _END = 5, 14


def run(
    collections: Sequence[str],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    keys: str | None = None,
    origins: Sequence[str] = (),
    log_queries: bool = False,
    workers: int = 0,
    started: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until SIGINT or SIGTERM. Requests that are being answered then have some seconds more; whatever still runs
    after fifteen is left, and what was acknowledged is on disk.

    So many `workers` search beside this process; with none it searches itself. `keys` is a file of keys, needed where
    other machines can reach `host`. `started` is told the address.
    """
    allowed = Keys.read(keys) if keys else Keys()
    required(host, allowed)
    try:
        import uvicorn

        from paragloss.server.application import build
        from paragloss.server.connections import Connection
    except ImportError:
        raise MissingExtraError("the server", "serve") from None
    from paragloss.server import logs
    from paragloss.server.library import Library

    library = Library.open(collections, workers=workers)
    logs.to_stderr()
    app = build(library, keys=allowed, loopback=is_loopback(host), origins=origins, log_queries=log_queries)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        http=Connection,
        ws="none",
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=20,
        h11_max_incomplete_event_size=64 * 1024,
    )
    logs.note("serving", collections=list(library.engines), host=host, port=port)
    started(f"http://{'localhost' if is_loopback(host) else host}:{port}/")
    # The HTTP server stops at this signal and then sends it again, to us: we have stopped already.
    signal.signal(signal.SIGTERM, lambda *_: None)
    server = uvicorn.Server(config)
    stop = server.handle_exit

    def stopping(number: int, frame: FrameType | None) -> None:
        # A thread that does not need the interpreter: whoever holds it then is named, and ended.
        faulthandler.dump_traceback_later(_END, exit=True)
        stop(number, frame)

    server.handle_exit = stopping  # type: ignore[assignment, method-assign]
    try:
        server.run()
    finally:
        faulthandler.cancel_dump_traceback_later()
    logs.note("stopped")
