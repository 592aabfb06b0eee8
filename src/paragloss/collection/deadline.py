"""Until when an answer is wanted, for whoever works for it. Knows nothing of what the work is."""

from __future__ import annotations

import time
from typing import Any, cast

from paragloss.errors import DeadlineError
from paragloss.types import Store


class Deadline:
    """Until when an answer is wanted; processes of one machine may hand it on.

    Work for the answer calls `check` between two steps; `cancel` ends the work at the next one.

    Work that repeats something for many documents or texts calls `step` instead, where it holds no lock: a server lets
    others go first there.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.until = seconds, time.monotonic() + seconds

    def check(self) -> None:
        """Raise DeadlineError if the time has passed or the work is cancelled."""
        if time.monotonic() >= self.until:
            raise DeadlineError(f"no answer in {self.seconds:g} s: ask for less, or try again later")

    def step(self) -> None:
        """Check the time before the next of many equal steps."""
        self.check()

    def cancel(self) -> None:
        """End the work at its next check."""
        self.until = 0.0


def limit_time(store: Store, deadline: Deadline) -> Store:
    """Return a store that raises DeadlineError when it is asked after the deadline."""
    return cast(Store, _TimedStore(store, deadline))


class _TimedStore:
    """A store that checks a deadline whenever one of its methods is looked up."""

    def __init__(self, store: Store, deadline: Deadline) -> None:
        self._store, self._deadline = store, deadline

    def __getattr__(self, name: str) -> Any:
        self._deadline.step()
        return getattr(self._store, name)
