"""Passages in 22 languages, searched at once: the processor time of a search, in the process and from the command line,
beside that of another version of this package.

    PARAGLOSS_DATA=... python benchmarks/passages.py COLLECTION [--each 1500] [--against BEFORE/src] [--turns 2]

COLLECTION is made of package descriptions (`PARAGLOSS_DATA/ddtp`), so many in each language, unless it is there. The
versions take turns, and of every query the quickest of six counts: on a busy machine even processor time varies.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

HERE = Path(__file__).parents[1] / "src"
#: Words with a slip of spelling, as they are typed.
SLIPS = ("prnter drivr", "langauge learnng", "netwrok monitr", "databse serer", "keybord layot", "grafical interfce")
OFTEN = 6


def rows(lang: str, number: int) -> list[dict[str, str]]:
    path = Path(os.environ["PARAGLOSS_DATA"]) / "ddtp" / f"{lang}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [{**row, "id": f"{lang}-{n}"} for n, row in enumerate(map(json.loads, islice(lines, number)))]


def make(collection: str, each: int) -> None:
    from paragloss.collection import Collection
    from paragloss.types import Document

    folder = Path(os.environ["PARAGLOSS_DATA"]) / "ddtp"
    langs = [path.name.split(".")[0] for path in sorted(folder.glob("*.jsonl.gz"))]
    every = (row for lang in langs if lang != "pt-br" for row in rows(lang, each))
    with Collection.create(collection, meaning=False) as engine:
        engine.index(Document(row["id"], row["text"], row["lang"], row.get("title", "")) for row in every)


def quickest(ask: Callable[[str], object], asked: Sequence[str], before: Callable[[], object] = lambda: None) -> float:
    """Milliseconds of the processor, on average over queries."""
    found = dict.fromkeys(asked, 1e9)
    for _ in range(OFTEN):
        for text in asked:
            before()
            began = time.process_time()
            ask(text)
            found[text] = min(found[text], time.process_time() - began)
    return 1000 * sum(found.values()) / len(found)


def measure(collection: str) -> dict[str, float]:
    from paragloss.collection import Collection
    from paragloss.collection.arguments import PLAIN
    from paragloss.translation import default

    titles = [row["title"] for row in rows("en", 40)]
    model, sorted_ = default.open(), {"k": 10, "newest": 50} if hasattr(PLAIN, "newest") else {"k": 50}

    def forget() -> None:
        """As if nobody had asked for these words."""
        model._entry.cache_clear()
        model._number.cache_clear()
        getattr(model, "_remembered", getattr(model, "_translations", {})).clear()

    with Collection.open(collection) as engine:
        for _ in engine.read_ahead():
            pass

        def why(text: str) -> None:
            answer = engine.search(text, lang="en", k=10)
            for result in answer.results:
                answer.why(result.id)

        def search(text: str) -> None:
            engine.search(text, lang="en", k=10)

        return {
            "search, words that were asked for before": quickest(search, titles),
            "search, words that were not": quickest(search, titles, forget),
            "search, the newest of the best fifty": quickest(lambda t: engine.search(t, lang="en", **sorted_), titles),
            "search with ten explanations": quickest(why, titles[:15]),
            "search for words with slips": quickest(search, SLIPS),
        }


def starting(collection: str, source: Path) -> dict[str, float]:
    found = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(source, "-m", "paragloss", "search", "printer", "--in", collection)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return {"paragloss search": min(found)}


def run(source: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        [sys.executable, *command], env=environment, check=True, capture_output=True, text=True
    ).stdout


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("collection")
    options.add_argument("--each", type=int, default=1500, help="passages of each language")
    options.add_argument("--against", type=Path, help="the sources of another version")
    options.add_argument("--turns", type=int, default=2)
    options.add_argument("--measure", action="store_true", help="measure this version only")
    given = options.parse_args()
    if given.measure:
        print(json.dumps(measure(given.collection)))
        return
    if not Path(given.collection).exists():
        make(given.collection, given.each)
    best: dict[str, dict[str, float]] = {}
    for _ in range(given.turns):
        for name, source in (("before", given.against), ("after", HERE)):
            if source is not None:
                told = json.loads(run(source, __file__, given.collection, "--measure"))
                for what, value in {**told, **starting(given.collection, source)}.items():
                    mine = best.setdefault(what, {})
                    mine[name] = round(min(value, mine.get(name, value)), 1)
    for what, each in best.items():
        print(json.dumps({"figure": what, "unit": "ms of the processor", **each}), flush=True)


if __name__ == "__main__":
    main()
