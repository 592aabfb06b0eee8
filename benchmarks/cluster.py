"""Three nodes, each with a replica, one of them killed (-9) while documents are written and searched:
`python benchmarks/cluster.py --documents 3000`; with `--fault stop` it stands still instead and answers nobody, as one
that is cut off, with `--fault full` its disk is full (as root).

Starts a real cluster on loopback (the server of tests/stores/conftest.py), writes batches and searches all the while,
harms the third node half-way, goes on, mends it after --away seconds, and holds every acknowledged document,
every count and every node's rankings against each other. What is acknowledged is in two replicas of three, so that
writing goes on; what is refused all the same is tried again. With --replicas 2 one is enough. Prints what a user would
have seen: errors, the longest waits, documents lost, counts that were too low. With --nodes 1 it measures writing and
searching of one node on the same cores.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "stores"))
from conftest import Server

from paragloss.errors import StoreError
from paragloss.index.journal import JournaledIndex
from paragloss.search.lexical import Lexical
from paragloss.stores import Placement
from paragloss.stores._schema import VectorSchema
from paragloss.stores.cluster import ClusterStore
from paragloss.types import Document, Query

NAME, BATCH, DIM = "loss", 100, 16
#: Megabytes of a disk that will be full.
DISK = 1000


class Observations:
    """What a searcher saw: answers, errors, waits, and counts that fell below what had been acknowledged."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.written: list[float] = []
        self.errors: list[str] = []
        self.wrong = 0
        self.acknowledged = 0
        self.stop = False


def search(url: str, observations: Observations) -> None:
    """Search through one node until told to stop."""
    with ClusterStore.open(url, NAME, timeout=30) as store:
        index = JournaledIndex.open(store)
        while not observations.stop:
            before, start = observations.acknowledged, time.perf_counter()
            try:
                index.catch_up()
                Lexical(store, index.statistics).search([Query("", "rain", "en")], 10)
                observations.wrong += store.count() < before
                observations.waits.append(time.perf_counter() - start)
            except StoreError as error:
                observations.errors.append(str(error)[:160])
            time.sleep(0.05)


def written(
    index: JournaledIndex, first: int, number: int, observations: Observations, *, patience: float = 300.0
) -> float:
    """Write batches, each again until it is acknowledged; seconds."""
    rng, start = np.random.default_rng(first), time.perf_counter()
    for at in range(first, first + number, BATCH):
        documents = [Document(f"d{i}", f"rain w{i % 97} w{i % 13}", "en") for i in range(at, at + BATCH)]
        rows = rng.standard_normal((BATCH, DIM)).astype(np.float32)
        began = time.monotonic()
        until = began + patience
        while True:
            try:
                index.add(documents, {"m": rows})
                break
            except StoreError as error:
                observations.errors.append(str(error)[:160])
                if time.monotonic() > until:
                    raise
                time.sleep(0.5)
        observations.acknowledged += BATCH
        observations.written.append(time.monotonic() - began)
    return time.perf_counter() - start


def killed(node: Any) -> Callable[[], None]:
    node.process.kill()
    node.process.wait()
    return node.start_again


def stopped(node: Any) -> Callable[[], None]:
    node.process.send_signal(signal.SIGSTOP)
    return lambda: node.process.send_signal(signal.SIGCONT)


def filled(node: Any) -> Callable[[], None]:
    filler = node.storage / "filler"
    with filler.open("wb") as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 20))
            file.flush()
    return filler.unlink


#: What can happen to a node; each gives back what mends it.
FAULTS = {"kill": killed, "stop": stopped, "full": filled}


def agreed(nodes: list[Any], wanted_count: int, *, patience: float = 300.0) -> bool:
    """Whether every node counts the same and ranks the same, given time."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            answers = []
            for node in nodes:
                with ClusterStore.open(node.url, NAME, timeout=30) as store:
                    index = JournaledIndex.open(store)
                    ranking = Lexical(store, index.statistics).search([Query("", "rain w5", "en")], 20)[0]
                    answers.append((store.count(), ranking))
            if all(answer == answers[0] for answer in answers) and answers[0][0] == wanted_count:
                return True
        except StoreError:
            pass
        time.sleep(1.0)
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=3000)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--replicas", type=int, default=0, help="0 is three, or as many as there are nodes")
    parser.add_argument("--away", type=float, default=10.0, help="seconds until the node is mended")
    parser.add_argument("--fault", choices=FAULTS, default="kill")
    options = parser.parse_args()
    nodes = [Server(clustered=True)]
    nodes += [Server(nodes[0].peer, clustered=True) for _ in range(options.nodes - 2)]
    if options.nodes > 1:
        nodes.append(Server(nodes[0].peer, clustered=True, disk=DISK if options.fault == "full" else 0))
    try:
        run(nodes, options.documents, options.away, options.fault, options.replicas)
    finally:
        for node in nodes:
            node.stop()


def run(nodes: list[Any], documents: int, away: float, fault: str, replicas: int) -> None:
    placement = Placement(shards=len(nodes), replicas=replicas)
    observations, half = Observations(), documents // 2 // BATCH * BATCH
    schema = VectorSchema.build({"m": DIM}, ["terms"])
    with ClusterStore.create(nodes[0].url, NAME, schema, placement, timeout=120) as store:
        index = JournaledIndex.build(store)
        searcher = threading.Thread(target=search, args=(nodes[0].url, observations), daemon=True)
        searcher.start()
        first = written(index, 0, half, observations)
        answered = len(observations.waits)
        if len(nodes) > 1:
            back = threading.Timer(away, FAULTS[fault](nodes[-1]))
            back.start()
        second = written(index, half, half, observations)
        total, during = 2 * half, len(observations.waits) - answered
        if len(nodes) > 1:
            back.join()
        index.refresh()
        index.commit()
        ids = [f"d{i}" for i in range(total)]
        missing = [id for id, record in zip(ids, store.get(ids), strict=True) if record is None]
        observations.stop = True
        searcher.join()
        same = agreed(nodes, total)
    p50, p99 = np.percentile(np.array(observations.waits) * 1e3, [50, 99])
    print(
        f"{len(nodes)} nodes, {total} documents acknowledged, {len(missing)} lost, {observations.wrong} counts too low"
    )
    print(f"written {half / first:,.0f}/s before anything happened; the other half took {second:.1f} s, and {during}")
    print(f"searches were answered meanwhile; the longest wait for a write {max(observations.written):.1f} s")
    print(
        f"{len(observations.waits)} searches, p50 {p50:.0f} ms, p99 {p99:.0f} ms, "
        f"longest {max(observations.waits):.1f} s"
    )
    print(
        f"{len(observations.errors)} errors said, {len(set(observations.errors))} of them different; "
        f"all nodes agree in the end: {same}"
    )
    for error in dict.fromkeys(observations.errors):
        print(f"  {error}")
    if missing or observations.wrong or not same:
        sys.exit(1)


if __name__ == "__main__":
    main()
