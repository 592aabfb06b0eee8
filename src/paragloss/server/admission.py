"""Who may work next: a bounded queue with limits of concurrent and of expensive work per client.

A client whose requests have used more processor time than usual ones do is *above its share*. Its work is not refused:
it goes through a lane that all such clients have in common, so that one expensive request at a time runs beside the
usual ones, however many addresses send them. Knows nothing of HTTP.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from paragloss.errors import DeadlineError, ParaglossError
from paragloss.server.precedence import LONG_WORK_SECONDS

#: Seconds of processor time that a client may use per second beyond `LONG_WORK_SECONDS` of each request, ...
ALLOWED_PER_SECOND = 0.02
#: ... how many of them it may use at once, ...
MAX_AT_ONCE = 0.5
#: ... and how many are held against it at most: after two minutes without expensive requests they are forgotten.
MAX_EXCESS = 2.4
#: Clients whose excess is known at a time.
MAX_KNOWN_CLIENTS = 1000


class BusyError(ParaglossError):
    """Too many requests are waiting already."""


class ExcessTimes:
    """How much processor time clients have lately used beyond what is free."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._excess: dict[str, tuple[float, float]] = {}  # client -> seconds, and when they were counted

    def add(self, client: str, seconds: float) -> None:
        """Count the processor time of one request."""
        beyond_free = seconds - LONG_WORK_SECONDS
        if beyond_free > 0:
            if len(self._excess) >= MAX_KNOWN_CLIENTS:
                self._forget_clients()
            self._excess[client] = min(MAX_EXCESS, self._get(client) + beyond_free), self._clock()

    def is_above_share(self, client: str) -> bool:
        """Tell whether a client has used more than it may."""
        return self._get(client) > MAX_AT_ONCE

    def _get(self, client: str) -> float:
        seconds, counted_at = self._excess.get(client, (0.0, 0.0))
        return max(0.0, seconds - ALLOWED_PER_SECOND * (self._clock() - counted_at))

    def _forget_clients(self) -> None:
        """Forget the clients without any excess left, and at least the half that was counted first."""
        latest = sorted(self._excess.items(), key=lambda item: item[1][1])[len(self._excess) // 2 :]
        self._excess = {client: counted for client, counted in latest if self._get(client) > 0}


class Turn(NamedTuple):
    """The right to do one piece of work."""

    client: str
    is_above_share: bool  # the work goes through the lane


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
        self._excess_times = ExcessTimes()
        self._lane = asyncio.Semaphore(1)

    @property
    def pieces(self) -> int:
        """Count the pieces of work that run or wait for their turn."""
        return sum(client.pieces for client in self._clients.values())

    def is_above_share(self, client: str) -> bool:
        """Tell whether a client has lately used more processor time than it may."""
        return self._excess_times.is_above_share(client)

    async def enter(self, address: str, seconds: float) -> Turn:
        """Wait until a client may do one more piece of work.

        Whoever has entered must call `leave` when the work has ended, whether or not anybody waits for its result.

        :param address: what identifies the client
        :param seconds: how long it may wait
        :raises BusyError: if too many pieces of work run or wait already
        :raises DeadlineError: if its turn does not come in time
        """
        client = self._clients.setdefault(address, _Client(asyncio.Semaphore(self._per_client)))
        total_pieces = self.pieces  # of all clients
        if total_pieces >= self._waiting or client.pieces >= self._waiting_per_client:
            self._forget(address)
            raise BusyError(f"{total_pieces} requests are waiting already: try again in a moment")
        client.pieces += 1
        try:
            return await asyncio.wait_for(self._wait_for_turn(address, client), seconds)
        except TimeoutError:
            self._end_piece(address)
            raise DeadlineError(f"no answer in {seconds:g} s: ask for less, or try again later") from None
        except BaseException:
            self._end_piece(address)
            raise

    async def _wait_for_turn(self, address: str, client: _Client) -> Turn:
        """Wait for a turn of the client, and if it is above its share then for the lane."""
        await client.turns.acquire()
        is_above_share = self.is_above_share(address)
        if is_above_share:
            try:
                await self._lane.acquire()
            except BaseException:
                client.turns.release()
                raise
        return Turn(address, is_above_share)

    def leave(self, turn: Turn, processor_seconds: float = 0.0) -> None:
        """End a piece of work that used some processor time: the next one may begin."""
        self._excess_times.add(turn.client, processor_seconds)
        if turn.is_above_share:
            self._lane.release()
        self._clients[turn.client].turns.release()
        self._end_piece(turn.client)

    def _end_piece(self, address: str) -> None:
        """Count one piece of a client's work less."""
        self._clients[address].pieces -= 1
        self._forget(address)

    def _forget(self, address: str) -> None:
        """Forget a client without work."""
        if not self._clients[address].pieces:
            del self._clients[address]
