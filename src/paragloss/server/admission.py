"""Who may work next: a bounded queue with a limit of concurrent work per client. Knows nothing of HTTP."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from paragloss.errors import DeadlineError, ParaglossError


class BusyError(ParaglossError):
    """Too many requests are waiting already."""


@dataclass
class _Client:
    """The work of one client: how many pieces of it run or wait, and the turns that are free."""

    turns: asyncio.Semaphore
    pieces: int = 0


class Admission:
    """Let every client do a few pieces of work at a time; the others wait, and too many are refused.

    All methods belong to the thread of the event loop.
    """

    def __init__(self, *, per_client: int, waiting_per_client: int, waiting: int) -> None:
        """Set the limits of work: per client at a time, per client running or waiting, and of all clients."""
        self._per_client, self._waiting_per_client, self._waiting = per_client, waiting_per_client, waiting
        self._clients: dict[str, _Client] = {}

    @property
    def pieces(self) -> int:
        """Count the pieces of work that run or wait for their turn."""
        return sum(client.pieces for client in self._clients.values())

    async def enter(self, address: str, seconds: float) -> None:
        """Wait until a client may do one more piece of work.

        Raises BusyError where too many pieces run or wait already, and DeadlineError after some seconds. Whoever has
        entered must call `leave` when the work has ended, whether or not anybody waits for its result.
        """
        client = self._clients.setdefault(address, _Client(asyncio.Semaphore(self._per_client)))
        total = self.pieces
        if total >= self._waiting or client.pieces >= self._waiting_per_client:
            self._forget(address)
            raise BusyError(f"{total} requests are waiting already: try again in a moment")
        client.pieces += 1
        try:
            await asyncio.wait_for(client.turns.acquire(), seconds)
        except BaseException as error:
            client.pieces -= 1
            self._forget(address)
            if isinstance(error, TimeoutError):
                raise DeadlineError(f"no answer in {seconds:g} s: ask for less, or try again later") from None
            raise

    def leave(self, address: str) -> None:
        """End a piece of work: the next one of this client may begin."""
        client = self._clients[address]
        client.pieces -= 1
        client.turns.release()
        self._forget(address)

    def _forget(self, address: str) -> None:
        if not self._clients[address].pieces:
            del self._clients[address]
