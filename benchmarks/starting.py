"""How long until the first answer: `paragloss serve` on an existing collection until it is healthy and until a first
search is answered; `paragloss search` from the command line. Seconds by the clock and of the processor.

    python benchmarks/starting.py [COLLECTION] [--times 5] [--documents 20000]

Without a collection one is made, as for benchmarks/server.py. A first start that is not counted compiles the modules
and unpacks what tells languages into the user's cache.
"""

from __future__ import annotations

import argparse
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from server import documents

from paragloss.collection import Collection

ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {
    "PYTHONPATH": str(Path(__file__).parents[1] / "src"),
    "PYTHONPYCACHEPREFIX": tempfile.mkdtemp(),
}


def answered(address: str, patience: float = 60) -> float:
    """When an address first answered."""
    deadline = time.perf_counter() + patience
    while time.perf_counter() < deadline:
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                answer.read()
                return time.perf_counter()
        except OSError:
            time.sleep(0.01)
    raise SystemExit(f"{address} did not answer in {patience:g} s")


def served(collection: str) -> dict[str, float]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    began = time.perf_counter()
    command = [sys.executable, "-m", "paragloss", "serve", collection, "--port", str(port)]
    running = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        healthy = answered(f"http://127.0.0.1:{port}/api/health")
        used = _used(running.pid)
        answer = answered(f"http://127.0.0.1:{port}/api/search?q=water&k=10")
    finally:
        running.terminate()
        running.wait()
    return {"serve: healthy": healthy - began, "serve: processor": used, "serve: first search": answer - began}


def _used(pid: int) -> float:
    """Seconds of the processor a process has used, where /proc tells."""
    path = Path(f"/proc/{pid}/stat")
    if not path.exists():
        return float("nan")
    fields = path.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def searched(collection: str) -> dict[str, float]:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "paragloss", "search", "--in", collection, "water"]
    subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"search: command": time.perf_counter() - began, "search: processor": used}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("collection", nargs="?")
    options.add_argument("--times", type=int, default=5)
    options.add_argument("--documents", type=int, default=20_000)
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        collection = arguments.collection
        if not collection:
            collection = str(Path(folder) / "library")
            with Collection.create(collection, meaning=False) as engine:
                engine.index(documents(arguments.documents))
        served(collection)
        rows = [served(collection) | searched(collection) for _ in range(arguments.times)]
    for name in rows[0]:
        values = sorted(row[name] for row in rows)
        print(f"| {name} | {statistics.median(values):.2f} | {values[0]:.2f} to {values[-1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
