"""How long it takes until the first answer of a server and of the command line.

    python benchmarks/starting.py COLLECTION [--times 5]

`paragloss serve` until it answers, until a first search is answered, and the processor time of its start; `paragloss
search` from the command line. A first start that is not counted compiles the modules and unpacks what identifies
languages into the user's cache.
"""

from __future__ import annotations

import argparse
import statistics
import time

from measuring import Client, read_processor_ms, run_command, run_server

QUERY = "water"


def main() -> None:
    """Read the command line, measure, and print the median and the range of each time in seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--times", type=int, default=5)
    arguments = parser.parse_args()
    measure_server(arguments.collection)
    rows = [measure_server(arguments.collection) | measure_search(arguments.collection) for _ in range(arguments.times)]
    for name in rows[0]:
        values = sorted(row[name] for row in rows)
        print(f"| {name} | {statistics.median(values):.2f} | {values[0]:.2f} to {values[-1]:.2f} |", flush=True)


def measure_server(collection: str) -> dict[str, float]:
    """Start a server and search once; return seconds by name."""
    start = time.perf_counter()
    with run_server(collection) as server:
        healthy = time.perf_counter()
        processor_seconds = read_processor_ms(server.pid) / 1000
        Client(server.host).search(QUERY)
        answered = time.perf_counter()
    return {
        "serve: healthy": healthy - start,
        "serve: processor": processor_seconds,
        "serve: first search": answered - start,
    }


def measure_search(collection: str) -> dict[str, float]:
    """Search from the command line; return seconds by name."""
    times = run_command("search", "--in", collection, QUERY)
    return {"search: command": times.elapsed_ms / 1000, "search: processor": times.processor_ms / 1000}


if __name__ == "__main__":
    main()
