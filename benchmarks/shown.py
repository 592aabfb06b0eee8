"""What showing ten results costs beside the search that found them: glosses of titles and snippets, and explanations.

    PARAGLOSS_DATA=... python benchmarks/shown.py [--pages 40] [--turns 5] [--against BEFORE/src]

Indexes the longest pages of MDN and of LibreOffice's help in each of their languages (`mdn`, `lohelp`), then asks
in the process; glosses are written as JSON, as the server does. Milliseconds of processor time: of each query the
quickest turn, over queries the median; "first" is the first turn, when words are new. Says whether both versions show
the same, to the last character.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from manuals import QUERIES

from paragloss.collection import Collection
from paragloss.types import Document

HERE = str(Path(__file__).parents[1] / "src")
ASKED = [" ".join(query.split()) for query in QUERIES.split(";")]


def index(into: str, pages: int) -> None:
    found = []
    data = Path(os.environ["PARAGLOSS_DATA"])
    for file in sorted([*data.glob("mdn/*.jsonl.gz"), *data.glob("lohelp/*.jsonl.gz")]):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            rows = sorted(map(json.loads, lines), key=lambda row: -len(row["text"]))[:pages]
        name = f"{file.parent.name}-{file.name.partition('.')[0]}"
        found += [Document(f"{name}-{i}", r["text"], r["lang"], r.get("title", "")) for i, r in enumerate(rows)]
    with Collection.create(into, meaning=False) as engine:
        engine.add(found)


def measure(place: str, turns: int) -> dict[str, object]:
    spent: dict[str, dict[str, list[float]]] = {}
    shown = hashlib.sha256()

    def note(name: str, query: str, began: float) -> None:
        spent.setdefault(name, {}).setdefault(query, []).append(1000 * (time.process_time() - began))

    with Collection.open(place) as engine:
        for turn in range(turns):
            for query in ASKED:
                began = time.process_time()
                answer = engine.search(query, lang="en")
                note("search, ten results with snippets", query, began)
                began = time.process_time()
                why = [answer.why(found.id) for found in answer.results]
                note("explanations", query, began)
                texts = [(text, found.lang) for found in answer.results for text in (found.title, found.snippet)]
                for name, asked in (
                    ("glosses, asked for before", query),
                    ("glosses, another question", f"{query} {turn}"),
                ):
                    began = time.process_time()
                    told = glossed(engine, texts, asked)
                    note(name, query, began)
                    shown.update(json.dumps([why, [*map(json.loads, told)]]).encode())
    rows = {name: statistics.median(map(min, each.values())) for name, each in spent.items()}
    first = {f"{name}: first": statistics.median(one[0] for one in each.values()) for name, each in spent.items()}
    return {"rows": {**rows, **first}, "shown": shown.hexdigest()}


def glossed(engine: Collection, texts: list[tuple[str, str]], asked: str) -> list[str]:
    """As JSON, as the server sends it; older versions gloss one text after the other."""
    if hasattr(engine, "glosses"):
        return [one.written() for one in engine.glosses(texts, to="en", asked=asked)]
    each = [engine.gloss(text, lang=lang, to="en", asked=asked) for text, lang in texts]
    return [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in each]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=40)
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--against", default="")
    options.add_argument("--round", default="", help=argparse.SUPPRESS)  # where its collection is
    given = options.parse_args()
    if given.round:
        print(json.dumps(measure(given.round, given.turns)))
        return
    with tempfile.TemporaryDirectory() as folder:
        place, found = str(Path(folder) / "library"), {}
        index(place, given.pages)
        for name, source in {**({"before": given.against} if given.against else {}), "after": HERE}.items():
            command = [sys.executable, __file__, "--round", place, "--turns", str(given.turns)]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
            done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
            found[name] = json.loads(done.stdout.splitlines()[-1])
    print("| ms of the processor | " + " | ".join(found) + " |\n|---" + "|---" * len(found) + "|")
    for row in found["after"]["rows"]:
        print(f"| {row} | " + " | ".join(f"{each['rows'][row]:,.1f}" for each in found.values()) + " |")
    if given.against:
        print("the same is shown" if len({each["shown"] for each in found.values()}) == 1 else "NOT the same is shown")


if __name__ == "__main__":
    main()
