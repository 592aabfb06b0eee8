"""Does it pay to ask a second node when the first is late? `python benchmarks/hedging.py --searches 400`.

Starts three nodes of a real Qdrant server on loopback and stops one of them (SIGSTOP) for --pause seconds out of every
--every: the one that is asked, or another that holds some of the shards. A search is put to the first node; to the
second as well once it takes longer than 95 of 100 did while nobody was stopped (hedged), or to two replicas of every
shard from the beginning, by the server (`read_fan_out_factor`). Prints what a user waits for, how many questions more
were put, and the processor time of all nodes.
"""

from __future__ import annotations

import argparse
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager

import numpy as np
from cluster import BATCH, DIM, NAME, Seen, Server, written
from manuals import used_by

from paragloss.search.journal import JournaledIndex
from paragloss.search.lexical import Lexical
from paragloss.stores import Placement
from paragloss.stores.cluster import ClusterStore
from paragloss.types import Query, Ranking

Ask = Callable[[], Ranking]


@contextmanager
def stuttering(node: Server, every: float, pause: float) -> Iterator[None]:
    over = threading.Event()

    def stutter() -> None:
        while not over.wait(every - pause):
            node.process.send_signal(signal.SIGSTOP)
            time.sleep(pause)
            node.process.send_signal(signal.SIGCONT)

    thread = threading.Thread(target=stutter)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def waits(searches: int, asked: list[Ask], delay: float | None) -> tuple[list[float], int]:
    """Seconds of each search, and how many were put to the second node as well."""
    found, more = [], 0
    with ThreadPoolExecutor(16) as threads:
        for _ in range(searches):
            began = time.perf_counter()
            asking: list[Future[Ranking]] = [threads.submit(asked[0])]
            if not wait(asking, timeout=delay).done:
                asking.append(threads.submit(asked[1]))
                more += 1
            wait(asking, return_when=FIRST_COMPLETED).done.pop().result()
            found.append(time.perf_counter() - began)
            time.sleep(0.01)
    return found, more


def measure(nodes: list[Server], options: argparse.Namespace) -> None:
    from qdrant_client import models

    placement = Placement(shards=3, replicas=options.replicas)
    how = {"dense": {"m": DIM}, "sparse": ["terms"], "placement": placement, "timeout": 120}
    with (
        ClusterStore.create(nodes[0].url, NAME, **how) as store,
        ClusterStore.open(nodes[1].url, NAME) as second,
    ):
        index = JournaledIndex.build(store)
        written(index, 0, options.documents // BATCH * BATCH, Seen())
        index.commit()
        searchers = [Lexical(each, index.statistics) for each in (store, second)]
        asked: list[Ask] = [lambda each=each: each.search([Query("", "rain w5", "en")], 10)[0] for each in searchers]
        store.optimize()
        waits(options.searches // 4, asked, None)
        late = options.late or float(np.percentile(waits(options.searches, asked, None)[0], 95))
        print(
            f"{options.replicas} replicas, three shards, {options.documents} documents; late is {1000 * late:.0f} ms\n"
        )
        heads = "stopped", "asked", "p50", "p99", "longest", "questions more", "processor ms a search"
        print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
        for name, node in ("nobody", None), ("the node asked", nodes[0]), ("another", nodes[2]):
            for way, delay, fan_out in ("one", None, 0), ("a second when late", late, 0), ("two at once", None, 1):
                changed = models.CollectionParamsDiff(read_fan_out_factor=fan_out)
                store._client.update_collection(NAME, collection_params=changed)
                before = sum(used_by(each.process.pid) for each in nodes)
                if node is None:
                    found, more = waits(options.searches, asked, delay)
                else:
                    with stuttering(node, options.every, options.pause):
                        found, more = waits(options.searches, asked, delay)
                spent = (sum(used_by(each.process.pid) for each in nodes) - before) / options.searches
                p50, p99, longest = np.percentile(np.array(found) * 1000, [50, 99, 100]).round().astype(int).tolist()
                share = f"{more / options.searches:.0%}"
                print(f"| {name} | {way} | {p50} | {p99} | {longest} | {share} | {spent:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=3000)
    parser.add_argument("--searches", type=int, default=400)
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--late", type=float, help="seconds after which the second is asked (default: as measured)")
    parser.add_argument("--every", type=float, default=2.0)
    parser.add_argument("--pause", type=float, default=0.3)
    options = parser.parse_args()
    nodes = [Server(clustered=True)]
    try:
        nodes += [Server(nodes[0].peer, clustered=True) for _ in range(2)]
        measure(nodes, options)
    finally:
        for node in nodes:
            node.stop()


if __name__ == "__main__":
    main()
