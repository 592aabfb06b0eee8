"""Random histories of a collection against a plain dictionary (tests/history.py): how many were run, what went wrong.

    python benchmarks/histories.py [--histories 10000] [--seed 0] [--seconds 600] [--server http://host:port]

A history is up to twelve steps: files grow, shrink, move and break in two folders that disappear, return and are
renamed; documents are added and deleted by hand; disks are full; processes are killed at a random one of their writes.
A document that should be there and is not is lost; anything else that is not as the dictionary says is wrong. Each
fault is printed with its seed.
"""

from __future__ import annotations

import argparse
import sys
import time
import uuid
import warnings
from pathlib import Path

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from history import History

from paragloss.stores import collection_exists, delete_collection

#: Histories of one seed; one that goes wrong ends its seed's.
HISTORIES_PER_SEED = 10


def make_server_history(url: str) -> type[History]:
    """Return the same state machine for collections on a server."""

    class ServerHistory(History):
        @classmethod
        def choose_location(cls, folder: Path) -> str:
            return f"{url.rstrip('/')}/history-{uuid.uuid4().hex}"

        def teardown(self) -> None:
            super().teardown()
            if collection_exists(self.location):
                delete_collection(self.location)

    return ServerHistory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    parser.add_argument("--server", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    machine = make_server_history(options.server) if options.server else History
    run_settings = settings(
        max_examples=HISTORIES_PER_SEED,
        stateful_step_count=12,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    began, number, faults, counts = time.monotonic(), options.seed * 1_000_000, [], History.counts
    while counts["histories"] < options.histories and time.monotonic() - began < options.seconds:
        try:
            run_state_machine_as_test(seed(number)(machine), settings=run_settings)
        except Exception as error:
            print(f"seed {number}: {error}", *getattr(error, "__notes__", ()), sep="\n", flush=True)
            faults.append(f"seed {number}: {type(error).__name__}: {str(error)[:400]}")
        number += 1
        if number % 5 == 0:  # the seeds so far are those from the first one up to this number
            print(f"{dict(counts)}, {len(faults)} faults, {time.monotonic() - began:.0f} s", flush=True)
    names = ("histories", "kills", "full disks", "two creators", "refused", "lost", "wrong")
    summary = ", ".join(f"{counts[name]} {name}" for name in names)
    print(f"{summary}; {len(faults)} faults; {time.process_time():.0f} s of processor")
    for fault in faults[:20]:
        print(" ", fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
