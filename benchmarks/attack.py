"""What others feel while somebody attacks a server: files of the collection, time of searches, memory, SIGTERM.

    python benchmarks/attack.py [--documents 5000] [--rounds 10]

An attacker filters by fields that nobody has, ten or 500 in a request, five requests a second, with long words, beside
a hundred half-open connections; somebody else searches all along. Asked: as many files as before, searches within 1.5
times, and the end within 15 s of SIGTERM sent in the midst of it.
"""

from __future__ import annotations

import argparse
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
from pathlib import Path

import httpx

from paragloss import demo
from paragloss.collection import Collection
from paragloss.types import Document


def collection(place: str, number: int) -> None:
    texts = list(demo.documents())
    with Collection.create(place) as engine:
        engine.index(
            Document(f"{each.id}-{n}", each.text, each.lang, each.title, meta={"year": 1900 + n % 100})
            for n in range(number)
            for each in [texts[n % len(texts)]]
        )


def files(place: str) -> int:
    return sum(path.is_file() for path in Path(place).rglob("*"))


def memory(pid: int) -> float:
    """Resident, in MB."""
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1000


def started(place: str, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "paragloss", "serve", place, "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        try:
            httpx.get(f"http://localhost:{port}/api/search?q=bread&lang=en", timeout=60).raise_for_status()
            return server
        except httpx.TransportError:
            time.sleep(0.1)


def searching(address: str, seconds: float) -> list[float]:
    """How long each of somebody's searches takes, one after another; fields that there are among them."""
    queries, took, until = ["how do bees make honey", "volcano", "old bread"], [], time.monotonic() + seconds
    with httpx.Client(timeout=60) as client:
        while time.monotonic() < until:
            began = time.perf_counter()
            asked = {"q": queries[len(took) % 3], "lang": "en"} | ({"where": "year>1950"} if len(took) % 2 else {})
            client.get(f"{address}/api/search", params=asked).raise_for_status()
            took.append(time.perf_counter() - began)
            time.sleep(0.05)
    return took


def attacking(address: str, on: threading.Event, over: threading.Event, answers: Counter[int]) -> None:
    """Five requests a second while it is on."""
    chosen = random.Random(0)
    with httpx.Client(timeout=60) as client:
        while not over.wait(0.2):
            if not on.wait(0.2):
                continue
            where = [f"f{chosen.randrange(10**9)}=1" for _ in range(chosen.choice((10, 10, 10, 500)))]
            asked = {"q": chosen.choice(("a", "x" * 999, "日" * 199)), "lang": "en", "where": where}
            try:
                answers[client.get(f"{address}/api/search", params=asked).status_code] += 1
            except httpx.TransportError:
                answers[0] += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--port", type=int, default=8871)
    told = parser.parse_args()
    address = f"http://localhost:{told.port}"
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "library")
        collection(place, told.documents)
        server = started(place, told.port)
        searching(address, 2)
        before, resident = files(place), memory(server.pid)
        half = [socket.create_connection(("localhost", told.port)) for _ in range(100)]
        on, over, answers = threading.Event(), threading.Event(), Counter[int]()
        attacker = threading.Thread(target=attacking, args=(address, on, over, answers))
        attacker.start()
        alone: list[float] = []
        beside: list[float] = []
        for _ in range(told.rounds):  # in turns: whatever else the machine does, both have half of it
            on.clear()
            time.sleep(0.3)
            alone += searching(address, 2)
            on.set()
            beside += searching(address, 2)
        after, grown = files(place), memory(server.pid)
        began = time.perf_counter()
        server.send_signal(signal.SIGTERM)
        server.wait()
        ended = time.perf_counter() - began
        over.set()
        attacker.join()
        for each in half:
            each.close()
        server = started(place, told.port)
        restarted = memory(server.pid)
        server.terminate()
        server.wait()
    one, two = statistics.median(alone), statistics.median(beside)
    print(f"{told.documents} documents, {sum(answers.values())} requests of the attacker: {dict(answers)}")
    print(
        f"files {before} before, {after} after; others' searches {1000 * one:.1f} ms without ({len(alone)}),", end=" "
    )
    print(f"{1000 * two:.1f} ms beside the attack ({len(beside)}), {two / one:.2f} times")
    print(f"memory {resident:.0f} MB, {grown:.0f} after it, {restarted:.0f} after a restart; SIGTERM {ended:.1f} s")


if __name__ == "__main__":
    main()
