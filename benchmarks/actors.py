"""Random histories of several who write and read one collection of a server at once, take over from each other and are
killed: is every acknowledged document found, and is every count that of a recount?

    python benchmarks/actors.py [--histories 1000] [--seed 0]

Two to four actors add, index, delete and search, batches being of one to three documents. A schedule drawn at random
says at every call of the server's client who goes on; some actors are killed before one of their calls and never heard
of again. The code is the real one; the calls are answered by the client's in-memory edition.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import warnings
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "stores"))
import pytest
from test_two_actors import LOCATION, World
from turn_taking import SteppedClient, Turns

from paragloss.collection import Collection, writer
from paragloss.errors import ParaglossError
from paragloss.index import journal
from paragloss.stores import _limits, _writer_fence
from paragloss.types import Document, Query


class Killed(BaseException):
    """The end of a process."""


class Mortal(SteppedClient):
    """A client whose process dies before one of its calls."""

    def __init__(self, client: Any, turns: Turns, life: int) -> None:
        super().__init__(client, turns)
        self.life = life

    def __getattr__(self, name: str) -> Any:
        self.life -= 1
        if self.life < 0:
            raise Killed
        return super().__getattr__(name)


class Actor:
    """Does some things to documents that are its own, and to one that is everybody's; knows what each may be now."""

    def __init__(self, number: int, rng: random.Random) -> None:
        self.number, self.rng = number, rng
        self.may: dict[str, set[str | None]] = {}
        self.outcomes: Counter[str] = Counter()

    def act(self, engine: Collection) -> None:
        try:
            for step in range(self.rng.randint(1, 4)):
                try:
                    self.do(engine, step)
                    self.outcomes["done"] += 1
                except ParaglossError as error:
                    self.outcomes["taken over" if "taken over" in str(error) else "refused"] += 1
            engine.close()
        except Killed:
            self.outcomes["killed"] += 1

    def do(self, engine: Collection, step: int) -> None:
        if self.rng.random() < 0.3:
            engine.maintenance.take_over_writing()
        action = self.rng.choice(["add", "index", "index", "delete", "search"])
        ids = [f"{self.number}-{self.rng.randrange(4)}" for _ in range(self.rng.randint(1, 4))]
        if action == "search":
            return self.search(engine)
        new = {id: None if action == "delete" else f"{id} step{step} rain" for id in ids}
        for id, text in new.items():
            self.may[id] = self.may.get(id, {None}) | {text}
        if action == "delete":
            engine.delete(list(new))
        else:
            documents = [Document(id, str(text), "en") for id, text in new.items()]
            documents += [Document("all", f"{self.number} of all rain", "en")] if self.rng.random() < 0.5 else []
            (engine.add if action == "add" else engine.index)(documents)
        self.may.update({id: {text} for id, text in new.items()})
        return None

    def search(self, engine: Collection) -> None:
        engine.maintenance.catch_up()
        found_ids = {hit.id for hit in engine.rank([Query("", "rain", "en")], k=99, pipeline="bm25")[0]}
        for id, texts in self.may.items():
            if None not in texts and id not in found_ids:
                raise AssertionError(f"{id} was acknowledged and is not found")


def history(world: World, seed: int) -> Counter[str]:
    rng = random.Random(seed)
    writer.BATCH_SIZE = writer.SMALL_BATCH_SIZE = rng.randint(1, 3)
    _limits.WRITE_BATCH = rng.randint(1, 3)
    journal.MAX_JOURNAL_ENTRIES = rng.randint(1, 4)
    often = rng.choice((0.02, 0.1, 0.4))
    turns = Turns([rng.randrange(1, 4) if rng.random() < often else 0 for _ in range(3000)])
    world.reset(turns)
    actors = [Actor(number, random.Random(f"{seed}-{number}")) for number in range(rng.randint(2, 4))]
    engines = [Collection.open(LOCATION, default=False) for _ in actors]
    for engine in engines:
        if rng.random() < 0.3:
            client = Mortal(world.client, turns, rng.randrange(60))
            store = engine.state.store
            for part in (store, store._blobs, store._fence):
                part._client = client
    turns.run_actors(*(partial(actor.act, engine) for actor, engine in zip(actors, engines, strict=True)))
    if turns.errors:
        raise turns.errors[0]
    world.connect(Turns([]))
    with Collection.open(LOCATION, default=False) as engine:
        engine.maintenance.take_over_writing()
        engine.index([Document("last", "rain", "en")])
        for id, texts in [entry for actor in actors for entry in actor.may.items()]:
            [document] = engine.get([id])
            if (document.text if document else None) not in texts:
                raise AssertionError(f"{id} is {document}, and may be {texts}")
        found_ids = {hit.id for hit in engine.rank([Query("", "rain", "en")], k=99, pipeline="bm25")[0]}
        held_ids = {document.id for document in engine.documents() if "rain" in document.text}
        if found_ids != held_ids:
            raise AssertionError(f"found {found_ids}, and there are {held_ids}")
    world.check_statistics()
    return sum((actor.outcomes for actor in actors), Counter[str]())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    outcomes, wrong, start = Counter[str](), 0, time.perf_counter()
    with pytest.MonkeyPatch.context() as patch:
        world = World(patch)
        patch.setattr(_writer_fence, "WAIT_SECONDS", -1.0)
        for seed in range(options.seed, options.seed + options.histories):
            try:
                outcomes += history(world, seed)
            except Exception as error:
                wrong += 1
                print(f"history {seed}: {type(error).__name__}: {error}", flush=True)
    print(f"{options.histories} histories in {time.perf_counter() - start:.0f} s: {wrong} wrong; {dict(outcomes)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
