"""Actors that take turns: each runs in a thread of its own until it is about to ask the store for something, and a
schedule says who goes on. What they do is thereby the same each time, whatever the machine does."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any


class Turns:
    """Runs actors by a schedule: at each step the number of one of those that can go on, the one that went last being
    number 0. Beyond its end everybody goes on as long as he can."""

    def __init__(self, schedule: Sequence[int]) -> None:
        self._schedule = list(schedule)
        self._local = threading.local()
        self._back = threading.Semaphore(0)
        self._waits = False
        self.errors: list[BaseException] = []
        #: At each step: what was chosen, of how many, and whether anything but the first of them interrupts somebody.
        self.trace: list[tuple[int, int, bool]] = []

    def pause(self, *, waits: bool = False) -> None:
        """Called by an actor before whatever others could see; one that waits for others goes on after one of them."""
        go = getattr(self._local, "go", None)
        if go is not None:
            self._waits = waits
            self._back.release()
            go.acquire()

    def run(self, *actors: Callable[[], None]) -> None:
        waiting = [(threading.Semaphore(0), []) for _ in actors]
        for actor, (go, done) in zip(actors, waiting, strict=True):
            threading.Thread(target=self._act, args=(actor, go, done), daemon=True).start()
        last: Any = None
        while alive := [each for each in waiting if not each[1]]:
            waits = self._waits and len(alive) > 1
            if waits:
                alive.remove(last)
            alive.sort(key=lambda each: each is not last)
            step = len(self.trace)
            chosen = self._schedule[step] % len(alive) if step < len(self._schedule) else 0
            self.trace.append((chosen, len(alive), waits or alive[0] is last))
            last, self._waits = alive[chosen], False
            last[0].release()
            if not self._back.acquire(timeout=60):
                raise AssertionError("an actor neither paused nor ended")

    def _act(self, actor: Callable[[], None], go: threading.Semaphore, done: list[bool]) -> None:
        self._local.go = go
        go.acquire()
        try:
            actor()
        except BaseException as error:
            self.errors.append(error)
        done.append(True)
        self._back.release()


def every(run: Callable[[Sequence[int]], Turns], *, interruptions: int) -> Iterator[Turns]:
    """Runs every schedule in which somebody who could go on is interrupted no more often than that."""
    schedule: list[int] = []
    while True:
        turns = run(schedule)
        yield turns
        trace = turns.trace
        for step in range(len(trace) - 1, -1, -1):
            chosen, number, goes_on = trace[step]
            before = sum(there and which > 0 for which, _, there in trace[:step])
            if chosen + 1 < number and before + goes_on <= interruptions:
                schedule = [which for which, _, _ in trace[:step]] + [chosen + 1]
                break
        else:
            return


def at_random(run: Callable[[Sequence[int]], Turns], number: int, *, length: int = 2000) -> Iterator[Turns]:
    for seed in range(number):
        rng = random.Random(seed)
        often = rng.choice((0.05, 0.2, 0.5))
        yield run([rng.randrange(1, 3) if rng.random() < often else 0 for _ in range(length)])


class Asking:
    """A client of the server whose every call is a step."""

    def __init__(self, client: Any, turns: Turns) -> None:
        self._client, self._turns = client, turns

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._client, name)

        def step(*args: Any, **options: Any) -> Any:
            self._turns.pause()
            return call(*args, **options)

        return step

    def close(self) -> None:
        """The others go on with it."""
