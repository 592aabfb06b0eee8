"""What collections of a million to ten thousand million documents take, from what was measured of one document:
`python benchmarks/plan.py`. The constants are those of RESULTS.md (documents of 100 words, 300 dimensions, one ARM
core); put in your own. Arithmetic, not a measurement of a cluster."""

from __future__ import annotations

import argparse
import math
from typing import NamedTuple


class Costs(NamedTuple):
    """Of one document, measured; and of one node, chosen."""

    prepare: float = 101.0  # microseconds of a core: analysis 57, Cr5 44
    write: float = 235.0  # weighing, storing, durable: 292 less analysis
    exact: float = 163.0  # weights made exact at the end
    graph: float = 673.0
    disk: float = 4_000.0  # bytes: text, terms, float32 vectors, logs
    ram: float = 1_230.0  # bytes: int8 vector 300, its graph 130, terms 100 x 8
    ram_on_disk: float = 430.0  # the same with the terms' index on disk
    words_ms: float = 9.0  # a BM25 search of a million documents, of one core: 1.8 ms at 200,000
    cores: int = 8
    memory: float = 48e9  # of 64 GB, what is left for vectors
    price: float = 0.40  # an hour of a node; an assumption
    shard: float = 1e6  # documents: what one core searches in about 10 ms


def line(documents: float, replicas: int, costs: Costs) -> list[str]:
    core_hours = documents * (costs.prepare + costs.write + costs.exact + costs.graph) / 3.6e9
    ram, lean = (documents * replicas * per for per in (costs.ram, costs.ram_on_disk))
    nodes = max(1, math.ceil(ram / costs.memory))
    shards = max(1, math.ceil(documents / costs.shard))
    work = shards * costs.words_ms * (costs.shard / 1e6)
    return [
        f"{documents:.0e}",
        f"{core_hours:,.1f}",
        f"{core_hours / (nodes * costs.cores):,.1f}",
        f"{documents * replicas * costs.disk / 1e9:,.0f}",
        f"{ram / 1e9:,.1f} ({lean / 1e9:,.1f})",
        f"{nodes:,} ({max(1, math.ceil(lean / costs.memory)):,})",
        f"{nodes * costs.price * 24:,.0f}",
        f"{shards:,}",
        f"{work / 1e3:,.3f}",
        f"{nodes * costs.cores / (work / 1e3):,.1f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicas", type=int, default=2)
    options = parser.parse_args()
    heads = ["documents", "core hours to build", "hours on those nodes", "GB on disk", "GB of memory (terms on disk)"]
    heads += ["nodes", "a day", "shards", "core seconds a search", "searches/s at most"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for documents in (1e6, 1e8, 1e10):
        replicas = 1 if documents <= 1e6 else options.replicas
        print(f"| {' | '.join(line(documents, replicas, Costs()))} |")


if __name__ == "__main__":
    main()
