"""Many people searching one server while documents are being added: how long each waits, at worst.

    python benchmarks/server.py [--documents 200000] [--users 50] [--seconds 30] [--think 1.0]

Documents are drawn from a Zipf distribution over invented words in four languages. Each user asks, reads for about
`--think` seconds (0: asks on at once), and asks again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np

from paragloss.engine import Engine
from paragloss.types import Document

LANGS = ("en", "da", "it", "vi")
WORDS, LENGTH = 30_000, 60


def words(lang: str) -> list[str]:
    syllables = [c + v for c in "bdfgklmnprstv" for v in "aeiou"]
    chosen = random.Random(lang)
    return ["".join(chosen.choices(syllables, k=chosen.randint(2, 4))) for _ in range(WORDS)]


def documents(count: int, seed: int, prefix: str = "d"):
    vocabulary = {lang: words(lang) for lang in LANGS}
    numbers = np.random.default_rng(seed)
    for number in range(count):
        lang = LANGS[number % len(LANGS)]
        ranks = np.minimum(numbers.zipf(1.2, LENGTH) - 1, WORDS - 1)
        text = " ".join(vocabulary[lang][rank] for rank in ranks)
        yield Document(f"{prefix}{number}", text, lang, text[:40])


async def user(client: httpx.AsyncClient, queries: list[str], until: float, think: float, seed: int, out: list) -> None:
    mind = random.Random(seed)
    await asyncio.sleep(mind.random() * max(think, 0.1))
    while time.perf_counter() < until:
        started = time.perf_counter()
        answer = await client.get("/api/search", params={"q": mind.choice(queries), "lang": "en", "k": 10})
        out.append((time.perf_counter() - started, answer.status_code))
        if think:
            await asyncio.sleep(mind.expovariate(1 / think))


async def writer(client: httpx.AsyncClient, until: float, added: list) -> None:
    """A steady stream: 50 documents, then a breath."""
    batch = 0
    while time.perf_counter() < until:
        some = documents(50, seed=batch + 1, prefix=f"new{batch}-")
        lines = "".join(json.dumps({"id": d.id, "lang": d.lang, "title": d.title, "text": d.text}) + "\n" for d in some)
        answer = await client.post("/api/bulk", content=lines.encode())
        added.append(answer.json()["indexed"])
        batch += 1
        await asyncio.sleep(0.5)


async def load(address: str, users: int, seconds: float, think: float) -> None:
    vocabulary, mind = words("en"), random.Random(0)
    queries = [" ".join(vocabulary[int(mind.paretovariate(0.6)) % 5000] for _ in range(3)) for _ in range(500)]
    limits = httpx.Limits(max_connections=users + 2)
    async with httpx.AsyncClient(base_url=address, timeout=30, limits=limits) as client:
        for query in queries[:20]:
            await client.get("/api/search", params={"q": query, "lang": "en"})
        times: list[tuple[float, int]] = []
        added: list[int] = []
        until = time.perf_counter() + seconds
        asking = [user(client, queries, until, think, seed, times) for seed in range(users)]
        await asyncio.gather(*asking, writer(client, until, added))
    waited = np.array([t for t, _ in times]) * 1000
    wrong = sum(status != 200 for _, status in times)
    p50, p95, p99 = np.percentile(waited, [50, 95, 99])
    print(
        f"{users} users, think {think} s, {seconds:.0f} s: {len(times)} searches ({len(times) / seconds:.0f}/s), "
        f"p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms, worst {waited.max():.0f} ms, {wrong} errors, "
        f"{sum(added)} documents added meanwhile"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--documents", type=int, default=200_000)
    options.add_argument("--users", type=int, default=50)
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--think", type=float, action="append", help="may be given again; 1 and 0 by default")
    options.add_argument("--keep", help="a folder to keep the collection in, and to use it again from")
    given = options.parse_args()
    folder = Path(given.keep or tempfile.mkdtemp()) / "library"
    if not folder.exists():
        started = time.perf_counter()
        with Engine.create(str(folder)) as engine:
            engine.index(documents(given.documents, seed=0))
        print(f"indexed {given.documents:,} documents in {time.perf_counter() - started:.0f} s")
    started = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, "-m", "paragloss", "serve", str(folder), "--port", "8765"], stderr=subprocess.DEVNULL
    )
    try:
        while True:
            try:
                httpx.get("http://127.0.0.1:8765/api/health", timeout=5)
                break
            except httpx.HTTPError:
                time.sleep(0.02)
        print(f"started in {time.perf_counter() - started:.2f} s")
        for think in given.think or [1.0, 0.0]:
            asyncio.run(load("http://127.0.0.1:8765", given.users, given.seconds, think))
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
