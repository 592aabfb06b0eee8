"""Measure what normal clients notice while slow and hostile clients use the same server.

    python benchmarks/attack.py [--documents 5000] [--rounds 10] [--hostile 1] [--workers 0] [--kind KIND]

Everything stays on the loopback interface. A normal client (127.0.0.1) searches all along. In every second round,
hostile clients (127.0.0.2 and following, which count as other clients) send the requests that once stopped the server:
words of a thousand letters, filters by fields that nobody has, chains of `feedback`, misspelled words; eight at a time.
Beside them a hundred connections never finish their headers, and twenty clients never read a large answer. `--kind`
leaves out all kinds of requests but one, and these connections. The hostile clients are a process of their own, so that
they do not wait for the interpreter of the normal client; the processor time of each side is printed.

Required: normal searches keep their 99th percentile within twice the one of quiet rounds; no file is added to the
collection; the process ends within 15 s of SIGTERM sent in the midst of it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path

import httpx

from paragloss import demo
from paragloss.collection import Collection

HALF_OPEN_CONNECTIONS = 100
UNREAD_ANSWERS = 20
REQUESTS_AT_A_TIME = 8
ROUND_SECONDS = 3.0
#: Seconds that a hostile client waits after a refusal: it is not a flood of packets that is measured.
REFUSED_PAUSE = 0.05
HOSTILE_KINDS = ("long word", "unspaced", "misspelled", "filters", "explained", "feedback")
QUERIES = ("how do bees make honey", "volcano", "old bread")


def build_collection(path: str, size: int) -> None:
    """Index the demo's documents again and again until there are `size` of them."""
    originals = list(demo.documents())
    with Collection.create(path) as collection:
        collection.index(
            original._replace(id=f"{original.id}-{n}", meta={"year": 1900 + n % 100})
            for n in range(size)
            for original in [originals[n % len(originals)]]
        )


def start_server(path: str, port: int, workers: int) -> subprocess.Popen[bytes]:
    """Start a server and wait until it answers searches."""
    command = [sys.executable, "-m", "paragloss", "serve", path, "--port", str(port), "--workers", str(workers)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        try:
            httpx.get(f"http://localhost:{port}/api/search?q=bread&lang=en", timeout=60).raise_for_status()
            return server
        except httpx.TransportError:
            time.sleep(0.1)


def search_normally(address: str, seconds: float) -> list[float]:
    """Search one query after another for some seconds; return how long each took."""
    durations: list[float] = []
    end = time.monotonic() + seconds
    with httpx.Client(timeout=60) as client:
        while time.monotonic() < end:
            parameters = {"q": QUERIES[len(durations) % len(QUERIES)], "lang": "en"}
            if len(durations) % 2:
                parameters["where"] = "year>1950"
            started = time.perf_counter()
            client.get(f"{address}/api/search", params=parameters).raise_for_status()
            durations.append(time.perf_counter() - started)
            time.sleep(0.02)
    return durations


def make_hostile_parameters(kind: str, generator: random.Random) -> dict[str, object]:
    """Return the parameters of a search that is as expensive as a request may be, or more."""
    match kind:
        case "long word":
            return {"q": "a" * 999, "lang": "en"}
        case "unspaced":
            return {"q": "日" * 199, "lang": "en"}
        case "misspelled":
            words = ("".join(generator.choices("abcdefghij", k=12)) for _ in range(190))
            return {"q": " ".join(words)[:999], "lang": "en"}
        case "filters":
            return {"q": "bread", "lang": "en", "where": [f"f{generator.randrange(10**9)}=1" for _ in range(10)]}
        case "explained":
            return {"q": "bread and honey", "lang": "en", "k": 200, "why": True}
    return {"q": "bread", "lang": "en", "pipeline": "|".join(["bm25"] + ["feedback"] * 7)}  # kind "feedback"


class HostileClient(threading.Thread):
    """A thread that sends hostile requests from its own loopback address while `active` is set."""

    def __init__(self, address: str, source: str, kinds: Sequence[str], seed: int, active: Event, over: Event) -> None:
        super().__init__(daemon=True)
        self._address, self._source, self._kinds, self._generator = address, source, kinds, random.Random(seed)
        self._active, self._over = active, over
        self.statuses: Counter[int] = Counter()

    def run(self) -> None:
        transport = httpx.HTTPTransport(local_address=self._source)
        with httpx.Client(transport=transport, timeout=60) as client:
            while not self._over.is_set():
                if not self._active.wait(0.1):
                    continue
                try:
                    parameters = make_hostile_parameters(self._generator.choice(self._kinds), self._generator)
                    answer = client.get(f"{self._address}/api/search", params=parameters)
                    self.statuses[answer.status_code] += 1
                    if answer.status_code == 503:
                        time.sleep(REFUSED_PAUSE)
                except httpx.TransportError:
                    self.statuses[0] += 1


def attack(port: int, addresses: int, kinds: Sequence[str], active: Event, over: Event, result: Connection) -> None:
    """Send hostile requests from a number of addresses until `over` is set; report how they were answered."""
    clients = [
        HostileClient(f"http://127.0.0.1:{port}", f"127.0.0.{2 + n}", kinds, 100 * n + thread, active, over)
        for n in range(addresses)
        for thread in range(REQUESTS_AT_A_TIME)
    ]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    result.send(sum((client.statuses for client in clients), Counter[int]()))


def open_slow_connections(port: int, sockets: ExitStack) -> None:
    """Open connections that never finish their headers, and some that never read their answer."""
    for _ in range(HALF_OPEN_CONNECTIONS):
        sockets.enter_context(socket.create_connection(("127.0.0.1", port))).sendall(b"GET /api")
    for _ in range(UNREAD_ANSWERS):
        reader = sockets.enter_context(socket.create_connection(("127.0.0.1", port), source_address=("127.0.0.99", 0)))
        reader.sendall(b"GET /api/search?q=bread&lang=en&k=200 HTTP/1.1\r\nHost: localhost\r\n\r\n")


def count_files(path: str) -> int:
    return sum(file.is_file() for file in Path(path).rglob("*"))


def read_processor_time(process_id: int) -> float:
    """Return the seconds of processor time of a process and of its living children."""
    children = Path(f"/proc/{process_id}/task/{process_id}/children").read_text().split()
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds + sum(read_processor_time(int(child)) for child in children)


def read_processor_times(server: int, hostile: int | None) -> dict[str, float]:
    """Return the seconds of processor time that each side has used."""
    assert hostile is not None
    own = time.process_time()
    return {"server": read_processor_time(server), "hostile": read_processor_time(hostile), "normal": own}


def read_memory(process_id: int) -> float:
    """Return the resident memory of a process in MB."""
    status = Path(f"/proc/{process_id}/status").read_text().splitlines()
    (line,) = [line for line in status if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1000


def percentile(durations: list[float], share: float) -> float:
    """Return a percentile of durations in milliseconds."""
    return 1000 * sorted(durations)[min(len(durations) - 1, int(share * len(durations)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--hostile", type=int, default=1, help="hostile addresses, each with eight requests at a time")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--kind", choices=HOSTILE_KINDS, help="only these hostile requests, and no slow connections")
    parser.add_argument("--port", type=int, default=8871)
    options = parser.parse_args()
    address, kinds = f"http://localhost:{options.port}", [options.kind] if options.kind else HOSTILE_KINDS
    with tempfile.TemporaryDirectory() as folder, ExitStack() as sockets:
        path = os.path.join(folder, "library")
        build_collection(path, options.documents)
        server = start_server(path, options.port, options.workers)
        search_normally(address, ROUND_SECONDS)
        files_before, memory_before = count_files(path), read_memory(server.pid)
        context = multiprocessing.get_context("spawn")
        active, over = context.Event(), context.Event()
        receiver, sender = context.Pipe(duplex=False)
        arguments = (options.port, options.hostile, kinds, active, over, sender)
        hostile = context.Process(target=attack, args=arguments)
        hostile.start()
        quiet: list[float] = []
        attacked: list[float] = []
        processor_seconds = Counter[str]()
        for _ in range(options.rounds):  # in turns, so that other work of the machine falls on both
            active.clear()
            time.sleep(1)
            quiet += search_normally(address, ROUND_SECONDS)
            active.set()
            if not options.kind:
                open_slow_connections(options.port, sockets)
            before = read_processor_times(server.pid, hostile.pid)
            attacked += search_normally(address, ROUND_SECONDS)
            processor_seconds.update(read_processor_times(server.pid, hostile.pid))
            processor_seconds.subtract(before)
        files_after, memory_after = count_files(path), read_memory(server.pid)
        started = time.perf_counter()
        server.send_signal(signal.SIGTERM)
        server.wait()
        seconds_to_end = time.perf_counter() - started
        over.set()
        active.set()
        statuses = receiver.recv()
        hostile.join()
    print(f"{options.documents} documents, {options.hostile} hostile addresses, {options.workers} workers")
    print(f"hostile requests: {', '.join(kinds)}; answers by status (0: ended): {dict(sorted(statuses.items()))}")
    seconds = options.rounds * ROUND_SECONDS
    shares = ", ".join(f"{side} {used / seconds:.2f}" for side, used in processor_seconds.items())
    print(f"processors in use during attacks: {shares}")
    print("| normal searches | number | median ms | p99 ms |")
    print("|---|---|---|---|")
    for name, durations in (("quiet", quiet), ("attacked", attacked)):
        median = 1000 * statistics.median(durations)
        print(f"| {name} | {len(durations)} | {median:.1f} | {percentile(durations, 0.99):.1f} |")
    ratio = percentile(attacked, 0.99) / percentile(quiet, 0.99)
    print(f"p99 {ratio:.2f} times; files {files_before} before, {files_after} after; SIGTERM {seconds_to_end:.1f} s")
    print(f"memory {memory_before:.0f} MB before, {memory_after:.0f} MB after")


if __name__ == "__main__":
    main()
