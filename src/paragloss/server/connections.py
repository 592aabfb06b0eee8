"""How long a client may take to say what it wants: a connection whose headers don't come is closed."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

#: From the first moment of a connection, or the first byte of a further request, to the end of its headers.
SECONDS = 10.0


class Connection(H11Protocol):
    """uvicorn's own, which waits for headers for ever."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._waiting = self.loop.call_later(SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:  # the headers are there
            self._stop_waiting()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(SECONDS, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
