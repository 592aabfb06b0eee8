"""How long a search waits for the slowest of many nodes, simulated: `python benchmarks/fanout.py`.

A search asks one replica of each of some shards and waits for all. A node answers in a time drawn from what was
measured of one (a log-normal fitted to a p50 and a p99), now and then it stalls (a pause, a merge, a neighbour), and a
share of nodes is slow throughout. Hedging asks a second replica when the first has not answered by the time that 95 of
100 have; what that costs in extra work is printed beside what it gives. Nothing here is a measurement of a cluster.
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.float64]


def node_times(
    rng: np.random.Generator, searches: int, shards: int, *, p50: float, p99: float, stall: float, pause: float
) -> Times:
    """Milliseconds of each node for each search."""
    sigma = np.log(p99 / p50) / 2.326  # the 99th percentile of a standard normal
    times = p50 * np.exp(sigma * rng.standard_normal((searches, shards)))
    return np.asarray(times + pause * (rng.random((searches, shards)) < stall))


def waited(first: Times, second: Times, *, hedge: bool) -> tuple[Times, float]:
    """What each search waits for its slowest shard, and how many more questions were asked, as a share."""
    if not hedge:
        return first.max(axis=1), 0.0
    after = float(np.quantile(first, 0.95))
    late = first > after
    return np.where(late, np.minimum(first, after + second), first).max(axis=1), float(late.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--p50", type=float, default=4.0, help="of one node, ms")
    parser.add_argument("--p99", type=float, default=12.0, help="of one node, ms")
    parser.add_argument("--network", type=float, default=0.5, help="there and back, ms")
    parser.add_argument("--stall", type=float, default=0.001, help="how often a node stalls")
    parser.add_argument("--pause", type=float, default=200.0, help="how long, ms")
    parser.add_argument("--slow", type=float, default=0.01, help="share of nodes that take three times as long")
    parser.add_argument("--searches", type=int, default=20_000)
    options = parser.parse_args()
    print("| shards asked | p50 | p99 | p99.9 | with hedging: p50 | p99 | p99.9 | extra questions |")
    print("|---|---|---|---|---|---|---|---|")
    for shards in (1, 4, 16, 64, 256, 1024):
        rng = np.random.default_rng(0)
        searches = max(1000, min(options.searches, 8_000_000 // shards))
        drawn = {"p50": options.p50, "p99": options.p99, "stall": options.stall, "pause": options.pause}
        first, second = (node_times(rng, searches, shards, **drawn) for _ in range(2))
        for times in (first, second):
            times *= np.where(rng.random(times.shape) < options.slow, 3.0, 1.0)
        cells = []
        for hedge in (False, True):
            waits, extra = waited(first, second, hedge=hedge)
            cells += [f"{value + options.network:.1f}" for value in np.percentile(waits, [50, 99, 99.9])]
        print(f"| {shards} | {' | '.join(cells)} | {extra:.0%} |")


if __name__ == "__main__":
    main()
