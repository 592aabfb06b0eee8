"""Many queries at once against one after the other, over one collection: milliseconds a query.

    PARAGLOSS_DATA=... python benchmarks/many.py [--documents 200000] [--queries 10000] [--keep FOLDER]

Documents and queries are those of benchmarks/server.py: Debian's package descriptions, titles of English ones. One
after the other is what a program does that calls `search` for each, or `rank` for each; all at once is `rankings`,
which `paragloss search --queries` calls, in one process and in as many as there are processors.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from server import documents

from paragloss.collection import Collection
from paragloss.processes import processors
from paragloss.types import Query

#: Queries asked one after the other: enough to know what each takes.
FEW = 500


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--documents", type=int, default=200_000)
    options.add_argument("--queries", type=int, default=10_000)
    options.add_argument("--keep", help="a folder to keep the collection in, and to use it again from")
    given = options.parse_args()
    folder = Path(given.keep or tempfile.mkdtemp()) / "library"
    if not folder.exists():
        with Collection.create(str(folder), meaning=False) as engine:
            engine.index(documents(given.documents))
    titles = islice((d.title for d in documents(1_000_000) if d.lang == "en" and d.title), given.queries)
    queries = [Query(str(number), title, "en") for number, title in enumerate(titles)]
    print(f"{given.documents:,} documents, {len(queries):,} queries, {processors()} processors, ms a query")
    print("| searched | search, each | rank, each | all at once | in processes | search each / in processes |")
    print("|---|---|---|---|---|---|")
    with Collection.open(str(folder)) as engine:
        measure(engine, "words, English", queries, to=["en"], pipeline="bm25")
        measure(engine, "default, en to de", queries, to=["de"])
        measure(engine, "default, fifteen languages", queries[: len(queries) // 5])


def measure(engine: Collection, name: str, queries: list[Query], **how) -> None:
    few = queries[:FEW]
    row = [
        timed(few, lambda: [engine.search(query.text, lang="en", **how) for query in few]),
        timed(few, lambda: [engine.rank([query], k=10, **how) for query in few]),
        timed(queries, lambda: list(engine.rankings(queries, k=10, workers=1, **how))),
        timed(queries, lambda: list(engine.rankings(queries, k=10, workers=processors(), **how))),
    ]
    print(f"| {name} | " + " | ".join(f"{ms:.2f}" for ms in row) + f" | {row[0] / row[3]:.1f} |", flush=True)


def timed(queries: list[Query], work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - started) / len(queries)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
