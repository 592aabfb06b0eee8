"""Limits on connections: how many there are, how long headers may take, and how slowly answers may be read.

uvicorn waits for headers for ever and keeps answers that nobody reads in memory.
"""

from __future__ import annotations

import asyncio
import socket

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds from the start of a connection, or from the first byte of a further request, to the end of its headers.
HEADER_SECONDS = 10.0
#: Seconds between two looks at an answer that the client does not read as fast as it is written.
WRITE_CHECK_SECONDS = 10.0
#: Bytes of such an answer that the client must have taken between two looks.
MIN_BYTES_TAKEN = 10 * 1024
#: Connections at a time; a further one is closed at once.
MAX_CONNECTIONS = 512
#: Connections that have not sent the headers of a request yet; the oldest makes room for a new one.
MAX_WAITING_FOR_HEADERS = 64


class LimitedConnection(H11Protocol):
    """uvicorn's protocol with limits of number and time."""

    max_connections = MAX_CONNECTIONS
    _open: set[LimitedConnection] = set()  # noqa: RUF012 - shared by all connections of this process
    _waiting_for_headers: dict[LimitedConnection, asyncio.TimerHandle] = {}  # noqa: RUF012 - the oldest first
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, unless there are too many, and start the time for its headers."""
        super().connection_made(transport)
        # asyncio does it only where the listening socket names its protocol: each answer took 40 ms more.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open.add(self)
        if len(self._open) > self.max_connections:
            transport.abort()
            return
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request; its headers must be complete in time."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_expecting_headers()
        elif self not in self._waiting_for_headers:
            self._expect_headers()

    def pause_writing(self) -> None:
        """Start to watch whether the client reads its answer."""
        super().pause_writing()
        if self._write_timer is None:
            self._watch_reading(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Stop watching: the client has read most of its answer."""
        super().resume_writing()
        self._stop_watching()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._stop_expecting_headers()
        self._stop_watching()
        self._open.discard(self)
        super().connection_lost(exc)

    def _expect_headers(self) -> None:
        if len(self._waiting_for_headers) >= MAX_WAITING_FOR_HEADERS:
            oldest = next(iter(self._waiting_for_headers))
            oldest._stop_expecting_headers()
            oldest.transport.abort()
        self._waiting_for_headers[self] = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_expecting_headers(self) -> None:
        timer = self._waiting_for_headers.pop(self, None)
        if timer is not None:
            timer.cancel()

    def _watch_reading(self, previous_size: int) -> None:
        self._write_timer = self.loop.call_later(WRITE_CHECK_SECONDS, self._check_reading, previous_size)

    def _check_reading(self, previous_size: int) -> None:
        """Drop the connection where the client has taken too little since the last look."""
        size = self.transport.get_write_buffer_size()
        if size > previous_size - MIN_BYTES_TAKEN:
            self.transport.abort()
        else:
            self._watch_reading(size)

    def _stop_watching(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
