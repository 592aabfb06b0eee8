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

    def pause(self, *, is_waiting: bool = False) -> None:
        """Called by an actor before whatever others could see; one that waits for others goes on after one of them."""
        go = getattr(self._local, "go", None)
        if go is not None:
            self._waits = is_waiting
            self._back.release()
            go.acquire()

    def run_actors(self, *actors: Callable[[], None]) -> None:
        actors_left = [(threading.Semaphore(0), []) for _ in actors]
        for actor, (go, is_finished) in zip(actors, actors_left, strict=True):
            threading.Thread(target=self._act, args=(actor, go, is_finished), daemon=True).start()
        current: Any = None
        while alive := [actor_left for actor_left in actors_left if not actor_left[1]]:
            is_waiting = self._waits and len(alive) > 1
            if is_waiting:
                alive.remove(current)
            alive.sort(key=lambda actor_left: actor_left is not current)
            step = len(self.trace)
            chosen = self._schedule[step] % len(alive) if step < len(self._schedule) else 0
            self.trace.append((chosen, len(alive), is_waiting or alive[0] is current))
            current, self._waits = alive[chosen], False
            current[0].release()
            if not self._back.acquire(timeout=60):
                raise AssertionError("an actor neither paused nor ended")

    def _act(self, actor: Callable[[], None], go: threading.Semaphore, is_finished: list[bool]) -> None:
        self._local.go = go
        go.acquire()
        try:
            actor()
        except BaseException as error:
            self.errors.append(error)
        is_finished.append(True)
        self._back.release()


def try_every_schedule(run: Callable[[Sequence[int]], Turns], *, interruptions: int) -> Iterator[Turns]:
    """Runs every schedule in which somebody who could go on is interrupted no more often than that."""
    schedule: list[int] = []
    while True:
        turns = run(schedule)
        yield turns
        trace = turns.trace
        for step in range(len(trace) - 1, -1, -1):
            chosen, number, interrupts = trace[step]
            interruptions_before = sum(interrupted and choice > 0 for choice, _, interrupted in trace[:step])
            if chosen + 1 < number and interruptions_before + interrupts <= interruptions:
                schedule = [choice for choice, _, _ in trace[:step]] + [chosen + 1]
                break
        else:
            return


def try_random_schedules(run: Callable[[Sequence[int]], Turns], number: int, *, length: int = 2000) -> Iterator[Turns]:
    for seed in range(number):
        rng = random.Random(seed)
        interruption_rate = rng.choice((0.05, 0.2, 0.5))
        yield run([rng.randrange(1, 3) if rng.random() < interruption_rate else 0 for _ in range(length)])


class SteppedClient:
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
