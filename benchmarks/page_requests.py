"""What the page asks the server for one search, in the server's processor time, beside another version of this package.

    PARAGLOSS_DATA=... python benchmarks/page_requests.py COLLECTION [--kind pages] [--each 170]
                                                          [--against BEFORE/src] [--turns 4] [--rounds 2]

COLLECTION is made unless it is there: of `pages`, so many of 11,000 characters in each of nine languages (two of MDN
or of LibreOffice's help joined), or of `passages`, so many package descriptions in each of 22. The versions take turns
as servers; of every query the quickest turn counts, over queries the median. "first" is a gloss of words that are new.
Says to how many queries both answer the same to the last byte. Linux only.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import os
import statistics
import subprocess
import sys
import time
import urllib.parse
from collections import defaultdict
from pathlib import Path
from typing import Any

import passages
from manuals import LANGUAGES, QUERIES

HERE = Path(__file__).parents[1] / "src"
#: Seconds in which a server reads ahead before it is asked.
AHEAD, PORT = 6.0, 18_300


def pages(place: str, each: int) -> None:
    from paragloss.collection import Collection
    from paragloss.types import Document

    documents = []
    for lang in LANGUAGES:
        rows: list[dict[str, str]] = []
        for file in Path(os.environ["PARAGLOSS_DATA"]).glob(f"*/{lang}.jsonl.gz"):
            if file.parent.name in ("mdn", "lohelp"):
                with gzip.open(file, "rt", encoding="utf-8") as lines:
                    rows += map(json.loads, lines)
        rows = sorted(rows, key=lambda row: (-len(row["text"]), row["concept"]))[: 2 * each]
        for number, (one, other) in enumerate(zip(rows[::2], rows[1::2], strict=False)):
            text = f"{one['text']}\n\n{other['text']}"
            documents.append(Document(f"{lang}-{number}", text, lang, one.get("title", "")))
    with Collection.create(place, meaning=False) as engine:
        engine.index(documents)


class Server:
    """A version that serves a collection."""

    def __init__(self, source: Path, collection: str, port: int) -> None:
        command = [sys.executable, "-m", "paragloss", "serve", collection, "--port", str(port)]
        environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, env=environment, **quiet)
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while True:
            try:
                self.ask("/api/health")
                break
            except OSError:
                self._line.close()
                time.sleep(0.1)
        time.sleep(AHEAD)

    def ask(self, path: str, said: Any = None, **asked: Any) -> tuple[float, bytes]:
        """Milliseconds of the processor, and the answer."""
        began, body = self._used(), None if said is None else json.dumps(said)
        where, headers = f"{path}?{urllib.parse.urlencode(asked)}", {"Content-Type": "application/json"}
        self._line.request("POST" if body else "GET", where, body, headers)
        answer = self._line.getresponse()
        data = answer.read()
        assert answer.status == 200, f"{where}: {answer.status} {data[:200]!r}"
        return self._used() - began, data

    def _used(self) -> float:
        threads = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e6

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


def measure(
    server: Server, asked: list[str], turns: int, spent: dict[str, dict[str, list[float]]]
) -> list[list[bytes]]:
    """The answers of the first turn."""
    answers = []
    for turn in range(turns):
        for query in asked:
            told = []

            def note(name: str, took: tuple[float, bytes], query: str = query, told: list[bytes] = told) -> bytes:
                spent[name][query].append(took[0])
                told.append(took[1])
                return took[1]

            found = json.loads(note("search", server.ask("/api/search", q=query, lang="en", k=10)))["results"]
            foreign = [
                (row[part], row["lang"]) for row in found for part in ("title", "snippet") if row["lang"] != "en"
            ]
            texts = [{"text": text, "lang": lang} for text, lang in foreign if text]
            said = {"to": "en", "asked": query, "texts": texts}
            note("glosses" if turn else "glosses: first", server.ask("/api/gloss", said))
            note("counts", server.ask("/api/counts", q=query, lang="en"))
            note("search with ten explanations", server.ask("/api/search", q=query, lang="en", k=10, why=True))
            note("nothing but HTTP", server.ask("/api/health"))
            answers += [told] if not turn else []
    return answers


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("collection")
    options.add_argument("--kind", choices=("pages", "passages"), default="pages")
    options.add_argument("--each", type=int, default=170, help="documents of each language")
    options.add_argument("--against", type=Path, help="the sources of another version")
    options.add_argument("--turns", type=int, default=4)
    options.add_argument("--rounds", type=int, default=2)
    given = options.parse_args()
    if not Path(given.collection).exists():
        (pages if given.kind == "pages" else passages.make)(given.collection, given.each)
    titles = [row["title"] for row in passages.rows("en", 24)]
    asked = titles if given.kind == "passages" else [" ".join(query.split()) for query in QUERIES.split(";")]
    versions = {**({"before": given.against} if given.against else {}), "after": HERE}
    spent: dict[str, dict[str, dict[str, list[float]]]] = {
        name: defaultdict(lambda: defaultdict(list)) for name in versions
    }
    answers: dict[str, list[list[bytes]]] = {}
    for turn in range(given.rounds):
        for name, source in versions.items():
            server = Server(source, given.collection, PORT + turn)
            try:
                answers[name] = measure(server, asked, given.turns, spent[name])
            finally:
                server.stop()
    print("| ms of the server's processor | " + " | ".join(versions) + " |\n|---" + "|---" * len(versions) + "|")
    for row in spent["after"]:
        quickest = [statistics.median(map(min, spent[name][row].values())) for name in versions]
        print(f"| {row} | " + " | ".join(f"{each:,.1f}" for each in quickest) + " |")
    if given.against:
        same = sum(one == other for one, other in zip(*answers.values(), strict=True))
        print(f"both answer the same to {same} of {len(asked)} queries")


if __name__ == "__main__":
    main()
