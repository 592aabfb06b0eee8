"""Many people searching one server while documents are being added: how long each waits, at worst.

    PARAGLOSS_DATA=... python benchmarks/server.py [--documents 200000] [--users 50] [--seconds 30] [--think 1.0]

Documents are Debian's package descriptions in all the languages they are translated into (without PARAGLOSS_DATA:
invented words of four languages by Zipf's law); queries are titles of English ones: every search translates and
finds. Each user asks, reads for about `--think` seconds (0: asks on at once), and asks again; with `--page` also what
the page asks: counts by language, a gloss of what was found, and now and then why.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import httpx
import numpy as np

from paragloss.collection import Collection
from paragloss.types import Document

LANGS = ("en", "da", "it", "vi")
WORDS, LENGTH = 30_000, 60


def words(lang: str) -> list[str]:
    syllables = [c + v for c in "bdfgklmnprstv" for v in "aeiou"]
    chosen = random.Random(lang)
    return ["".join(chosen.choices(syllables, k=chosen.randint(2, 4))) for _ in range(WORDS)]


def invented(count: int, seed: int, prefix: str = "d"):
    vocabulary = {lang: words(lang) for lang in LANGS}
    numbers = np.random.default_rng(seed)
    for number in range(count):
        lang = LANGS[number % len(LANGS)]
        ranks = np.minimum(numbers.zipf(1.2, LENGTH) - 1, WORDS - 1)
        text = " ".join(vocabulary[lang][rank] for rank in ranks)
        yield Document(f"{prefix}{number}", text, lang, text[:40])


def documents(count: int, start: int = 0, prefix: str = "d"):
    """Real ones where there are, a language after another and from the beginning again when they run out."""
    files = sorted((Path(os.environ.get("PARAGLOSS_DATA", "")) / "ddtp").glob("*.jsonl.gz"))
    if not os.environ.get("PARAGLOSS_DATA") or not files:
        yield from invented(count, start, prefix)
        return
    for number, document in enumerate(islice(_rows(files), start, start + count)):
        yield document._replace(id=f"{prefix}{start + number}")


def _rows(files):
    while True:
        for path in files:
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                for line in lines:
                    row = json.loads(line)
                    yield Document("", row["text"], row["lang"], row.get("title", ""))


def questions() -> list[str]:
    english = [d.title for d in islice((d for d in documents(400_000) if d.lang == "en"), 500) if d.title]
    if english:
        return english
    vocabulary, mind = words("en"), random.Random(0)
    return [" ".join(vocabulary[int(mind.paretovariate(0.6)) % 5000] for _ in range(3)) for _ in range(500)]


async def beside(client: httpx.AsyncClient, parameters: dict, answer: dict, mind: random.Random, out: list) -> None:
    """What the page asks once it has an answer."""
    results = answer.get("results", [])
    texts = [{"text": text, "lang": r["lang"]} for r in results for text in (r["title"], r["snippet"]) if text]
    asks = [client.get("/api/counts", params=parameters), client.post("/api/gloss", json={"to": "en", "texts": texts})]
    if results and mind.random() < 0.2:
        asks.append(client.get("/api/why", params={**parameters, "id": results[0]["id"]}))
    out += await asyncio.gather(*(timed(request) for request in asks))


async def timed(request) -> tuple[float, int]:
    started = time.perf_counter()
    answer = await request
    return time.perf_counter() - started, answer.status_code


async def user(
    client: httpx.AsyncClient, queries: list[str], until: float, think: float, seed: int, out: list, page: bool
) -> None:
    mind = random.Random(seed)
    await asyncio.sleep(mind.random() * max(think, 0.1))
    while time.perf_counter() < until:
        started = time.perf_counter()
        parameters = {"q": mind.choice(queries), "lang": "en"}
        answer = await client.get("/api/search", params={**parameters, "k": 10})
        out.append((time.perf_counter() - started, answer.status_code))
        if page:
            await beside(client, parameters, answer.json(), mind, out)
        if think:
            await asyncio.sleep(mind.expovariate(1 / think))


async def writer(client: httpx.AsyncClient, until: float, added: list) -> None:
    """A steady stream: 50 documents, then a breath."""
    batch = 0
    while time.perf_counter() < until:
        batch_documents = documents(50, 50 * batch, prefix="new")
        lines = "".join(
            json.dumps({"id": d.id, "lang": d.lang, "title": d.title, "text": d.text}) + "\n" for d in batch_documents
        )
        answer = await client.post("/api/bulk", content=lines.encode())
        added.append(answer.json()["indexed"])
        batch += 1
        await asyncio.sleep(0.5)


async def load(
    address: str, users: int, seconds: float, think: float, page: bool, queries: list[str]
) -> tuple[list[tuple[float, int]], int]:
    """How long each request took and how it ended; how many documents were added meanwhile."""
    limits = httpx.Limits(max_connections=users + 2)
    async with httpx.AsyncClient(base_url=address, timeout=30, limits=limits) as client:
        for query in queries[:20]:
            await client.get("/api/search", params={"q": query, "lang": "en"})
        times: list[tuple[float, int]] = []
        added: list[int] = []
        until = time.perf_counter() + seconds
        asking = [user(client, queries, until, think, seed, times, page) for seed in range(users)]
        await asyncio.gather(*asking, writer(client, until, added))
    return times, sum(added)


def print_figures(users: int, seconds: float, think: float, times: list[tuple[float, int]], added: int) -> None:
    waited = np.array([t for t, _ in times]) * 1000
    wrong = sum(status != 200 for _, status in times)
    p50, p95, p99 = np.percentile(waited, [50, 95, 99])
    print(
        f"{users} users, think {think} s, {seconds:.0f} s: {len(times)} searches ({len(times) / seconds:.0f}/s), "
        f"p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms, worst {waited.max():.0f} ms, {wrong} errors, "
        f"{added} documents added meanwhile"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--documents", type=int, default=200_000)
    options.add_argument("--users", type=int, default=50)
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--think", type=float, action="append", help="may be given again; 1 and 0 by default")
    options.add_argument("--workers", type=int, default=0, help="processes that search beside the server")
    options.add_argument("--page", action="store_true", help="ask what the page asks besides")
    options.add_argument("--keep", help="a folder to keep the collection in, and to use it again from")
    arguments = options.parse_args()
    folder = Path(arguments.keep or tempfile.mkdtemp()) / "library"
    if not folder.exists():
        started = time.perf_counter()
        with Collection.create(str(folder), meaning=False) as engine:
            engine.index(documents(arguments.documents))
        print(f"indexed {arguments.documents:,} documents in {time.perf_counter() - started:.0f} s")
    started = time.perf_counter()
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "paragloss",
            "serve",
            str(folder),
            "--port",
            "8765",
            "--workers",
            str(arguments.workers),
        ],
        stderr=subprocess.DEVNULL,
    )
    try:
        while True:
            try:
                httpx.get("http://127.0.0.1:8765/api/health", timeout=5)
                break
            except httpx.HTTPError:
                time.sleep(0.02)
        print(f"started in {time.perf_counter() - started:.2f} s")
        time.sleep(20)  # while it reads ahead
        for think in arguments.think or [1.0, 0.0]:
            how = arguments.users, arguments.seconds, think
            print_figures(*how, *asyncio.run(load("http://127.0.0.1:8765", *how, arguments.page, questions())))
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
