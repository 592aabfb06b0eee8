"""Which work goes on while several requests are answered: long work gives way to short work of other clients.

All threads of a process share the interpreter, so that an expensive request makes every usual one beside it several
times as slow.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from paragloss.collection import Deadline

T = TypeVar("T")
#: Seconds of processor time from which on work is long; most searches take less.
LONG_WORK_SECONDS = 0.1
#: Seconds that a piece of work gives way for at most, all its pauses together.
MAX_PAUSE_SECONDS = 3.0


class YieldingDeadline(Deadline):
    """The deadline of a piece of work that runs in a thread of the server."""

    def __init__(self, seconds: float, client: str, precedence: Precedence) -> None:
        super().__init__(seconds)
        self.client, self.is_long = client, False
        self.pause_left = MAX_PAUSE_SECONDS
        self.processor_seconds = 0.0  # that the work has used, once it has ended
        self._precedence, self._thread, self._start_time = precedence, 0, 0.0

    def start(self) -> None:
        """Count the processor time of this thread from now on."""
        self._thread, self._start_time = threading.get_ident(), time.thread_time()

    def stop(self) -> None:
        """Note the processor time that the work has used since `start`."""
        self.processor_seconds = time.thread_time() - self._start_time

    def step(self) -> None:
        """Check the time, and wait if this work has become long and short work of another client runs."""
        self.check()
        if threading.get_ident() == self._thread and (self.is_long or self._has_become_long()):
            self._precedence.give_way(self)
            self.check()

    def _has_become_long(self) -> bool:
        return time.thread_time() - self._start_time > LONG_WORK_SECONDS

    def without_precedence(self) -> Deadline:
        """Return the same deadline for work in another process, which has an interpreter of its own."""
        deadline = Deadline(self.seconds)
        deadline.until = self.until
        return deadline


class Precedence:
    """The pieces of work that run in threads of this process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running: set[YieldingDeadline] = set()

    def run(self, deadline: YieldingDeadline, work: Callable[[Deadline], T]) -> T:
        """Do a piece of work in this thread. Work that is known to be long lets short work go first.

        :param deadline: the deadline of the work, which counts its processor time and tells whether it is long.
        :return: the result of `work(deadline)`.
        """
        deadline.start()
        with self._changed:
            self._running.add(deadline)
        try:
            if deadline.is_long:
                deadline.step()
            return work(deadline)
        finally:
            deadline.stop()
            with self._changed:
                self._running.discard(deadline)
                self._changed.notify_all()

    def give_way(self, deadline: YieldingDeadline) -> None:
        """Wait while short work of other clients runs, but not beyond the deadline and not longer than work may pause.

        :param deadline: that of the work which waits. From now on it counts as long, and the time that it waits is
            taken from what it has left for pauses.
        """
        with self._changed:
            if not deadline.is_long:
                deadline.is_long = True
                self._changed.notify_all()
            while self._has_shorter_work(deadline.client):
                pause = min(deadline.pause_left, deadline.until - time.monotonic())
                if pause <= 0:
                    return
                start_time = time.monotonic()
                self._changed.wait(pause)
                deadline.pause_left -= time.monotonic() - start_time

    def _has_shorter_work(self, client: str) -> bool:
        return any(other.client != client and not other.is_long for other in self._running)
