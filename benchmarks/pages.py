"""Ten thousand long pages in nine languages, and 20,000 passages, through the real server on two cores: how long one
person waits for ten results with snippets and glosses, for all reasons, and for the page; how long fifty people wait
who ask once a second each while documents are added.

    python benchmarks/manuals.py --fetch FOLDER          downloads and unpacks Debian's manuals
    python benchmarks/pages.py FOLDER --pack SOURCES     keeps of them what is needed, in one file
    PARAGLOSS_DATA=... python benchmarks/pages.py SOURCES [--pages 10000] [--passages 20000] [--no-meaning]
                                                         [--users 50] [--seconds 15] [--workers 0 --workers 2]
                                                         [--nodes 1 --nodes 3]

With `--nodes` the pages are instead indexed into a collection on so many nodes of a real Qdrant server, and asked for
through our server; of several nodes the last is killed, and all is asked once more.

Needs no network but for that server, which is fetched once. The longest pages of the manuals come first, then MDN's as
Markdown (`PARAGLOSS_DATA/mdn`); passages are package descriptions (`PARAGLOSS_DATA/ddtp`). The server has two cores to
itself where there is `taskset`, whoever asks has others. One line of JSON a figure; milliseconds by the clock unless it
says processor.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import http.client
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import server
from manuals import LANGUAGES, QUERIES, put, used_by

SOURCE_FOLDER = str(Path(__file__).parents[1] / "src")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([SOURCE_FOLDER, os.environ.get("PYTHONPATH", "")])}
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)
PROGRAM = [sys.executable, "-m", "paragloss"]
QUESTIONS = [" ".join(query.split()) for query in QUERIES.split(";")]
#: The cores that can be used, where the system tells.
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
#: How long a server reads ahead before anything but its start is measured.
AHEAD = 10.0


def manuals(folder: Path) -> Iterator[tuple[str, Path]]:
    """The manuals' pages in the nine languages, each with its language."""
    for lang, code in LANGUAGES.items():
        mdn_code = "zh_CN" if lang == "zh" else lang
        for pattern in (f"{code}/*.html", f"help/{mdn_code}/*.html"):
            yield from ((lang, page) for page in sorted(folder.rglob(pattern)))


def pack(folder: Path, into: Path) -> None:
    with tarfile.open(into, "w:xz") as packed:
        for _, page in manuals(folder):
            packed.add(page, page.relative_to(folder))


def pages(folder: Path, into: Path, number: int) -> int:
    """The longest pages as files, in folders by language; how many."""
    longest = sorted(manuals(folder), key=lambda entry: (-entry[1].stat().st_size, str(entry[1])))[:number]
    for number_of_page, (lang, page) in enumerate(longest):
        put(into / lang / f"{number_of_page}-{page.name}", page.read_bytes())
    rows = []
    for lang in LANGUAGES if len(longest) < number else ():
        path = Path(os.environ.get("PARAGLOSS_DATA", ".")) / "mdn" / f"{lang}.jsonl.gz"
        if path.exists():
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                rows += [(lang, row.get("title", ""), row["text"]) for row in map(json.loads, lines)]
    rows.sort(key=lambda row: (-len(row[2].encode()), row[1]))
    for number_of_page, (lang, title, text) in enumerate(rows[: number - len(longest)]):
        put(into / lang / f"mdn-{number_of_page}.md", f"# {title}\n\n{text}".encode())
    return len(longest) + min(len(rows), number - len(longest))


def figure(label: str, **values: Any) -> None:
    print(json.dumps({"figure": label, **values}, ensure_ascii=False), flush=True)


def spread(label: str, seconds: Sequence[float], **values: Any) -> None:
    p50, p99 = np.percentile(np.array(seconds) * 1000, [50, 99]).round(1).tolist()
    figure(label, unit="ms", p50=p50, p99=p99, number=len(seconds), **values)


def index(label: str, files: Path, library: Path | str, number: int, meaning: bool) -> None:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    how = ["--into", str(library), *["--no-meaning"] * (not meaning)]
    command = [*PROGRAM, "index", str(files), *how]
    subprocess.run(command, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
    spent = 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    figure("index", of=label, documents=number, a_second=round(number / seconds), processor_ms_each=spent / number)


@contextmanager
def serving(library: Path | str, workers: int, of: str) -> Iterator[tuple[str, int]]:
    """A server on two cores: where it is, and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{probe.getsockname()[1]}"
    pinned = ["taskset", "-c", ",".join(map(str, CORES[:2]))] if shutil.which("taskset") and CORES[2:] else []
    command = [*pinned, *PROGRAM, "serve", str(library), "--port", host.rpartition(":")[2], "--workers", str(workers)]
    began = time.perf_counter()
    running = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                http.client.HTTPConnection(host, timeout=60).request("GET", "/api/health")
                break
            except OSError:
                if running.poll() is not None:
                    raise SystemExit(f"the server ended: {' '.join(command)}") from None
                time.sleep(0.01)
        figure("start", of=of, workers=workers, unit="ms", value=round(1000 * (time.perf_counter() - began)))
        yield host, running.pid
    finally:
        running.terminate()
        running.wait()


class Asking:
    """One person's connection."""

    def __init__(self, host: str) -> None:
        self._line = http.client.HTTPConnection(host, timeout=60)

    def get(self, path: str, payload: Any = None, **parameters: Any) -> tuple[float, Any]:
        """How long it took, and the answer; a payload is posted."""
        where = f"{path}?{urllib.parse.urlencode(parameters)}" if parameters else path
        body = json.dumps(payload) if payload is not None else None
        began = time.perf_counter()
        self._line.request("POST" if body else "GET", where, body, {"Content-Type": "application/json"})
        answer = self._line.getresponse()
        data = answer.read()
        seconds = time.perf_counter() - began
        if answer.status != 200:
            raise SystemExit(f"{where}: {answer.status} {data[:200]!r}")
        return seconds, json.loads(data) if path.startswith("/api") else data


def measure_one_reader(host: str, pids: Sequence[int], of: str, turns: int) -> None:
    """What one person waits for, as the page asks it; a first turn is not counted."""
    asking = Asking(host)
    seconds = [asking.get(path)[0] for path in ("/", "/api/collections")]
    figure("first answer of the page", of=of, unit="ms", page=1000 * seconds[0], collections=1000 * seconds[1])
    time.sleep(AHEAD)
    seconds_by_step: dict[str, list[float]] = {}
    spent: dict[str, float] = {}

    def used() -> float:
        return sum(map(used_by, pids))

    def note(name: str, seconds: float, before: float) -> None:
        seconds_by_step.setdefault(name, []).append(seconds)
        spent[name] = spent.get(name, 0.0) + used() - before

    for turn in range(turns + 1):
        if turn == 1:
            seconds_by_step.clear()
            spent.clear()
        for text in QUESTIONS:
            before = used()
            searched, answer = asking.get("/api/search", q=text, lang="en", k=10)
            note("search, ten results with snippets", searched, before)
            rows = answer["results"]
            texts_shown = [(row[part], row["lang"]) for row in rows for part in ("title", "snippet") if row[part]]
            texts = [{"text": shown_text, "lang": lang} for shown_text, lang in texts_shown]
            glossed = asking.get("/api/gloss", {"to": "en", "asked": text, "texts": texts})[0] if texts else 0.0
            note("search and glosses of ten results", searched + glossed, before)
            before = used()
            note("counts", asking.get("/api/counts", q=text, lang="en")[0], before)
            before = used()
            note("search with all ten reasons", asking.get("/api/search", q=text, lang="en", k=10, why=True)[0], before)
    for name, seconds in seconds_by_step.items():
        spread(name, seconds, of=of, processor_ms_each=round(spent[name] / len(seconds), 1))


def crowd(host: str, of: str, workers: int, users: int, seconds: float, queries: list[str]) -> None:
    times, added = asyncio.run(server.load(f"http://{host}", users, seconds, 1.0, False, queries))
    wrong = sum(status != 200 for _, status in times)
    report = {"of": of, "workers": workers, "users": users, "errors": wrong, "added": added}
    spread("many people, one search a second each", [t for t, _ in times], **report)


def starting(library: Path) -> None:
    for name, command in (("--help", ["--help"]), ("paragloss search", ["search", "printer", "--in", str(library)])):
        rows = []
        for _ in range(4):
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run([*PROGRAM, *command], env=ENVIRONMENT, check=True, capture_output=True)
            after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
            rows.append((seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
        clock, spent = (1000 * np.median(rows[1:], axis=0)).round().tolist()
        figure(name, unit="ms", value=clock, processor=spent)


def rows(path: Path, number: int) -> None:
    """So many passages as JSON Lines."""
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as out:
        for document in server.documents(number):
            row = {"id": document.id, "lang": document.lang, "title": document.title, "text": document.text}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def measure(arguments: argparse.Namespace, sources: Path, folder: Path) -> None:
    number = pages(sources, folder / "pages", arguments.pages) if arguments.pages else 0
    if arguments.nodes:
        for nodes in arguments.nodes:
            on_nodes(nodes, folder / "pages", number, arguments.turns, arguments.meaning)
        return
    passages = folder / "passages.jsonl.gz"
    if arguments.passages:
        rows(passages, arguments.passages)
    for of, files, documents in (("pages", folder / "pages", number), ("passages", passages, arguments.passages)):
        library = folder / f"library of {of}"
        if not documents:
            continue
        index(of, files, library, documents, arguments.meaning)
        if of == "pages":
            starting(library)
        queries = QUESTIONS if of == "pages" else server.questions()
        for turn, workers in enumerate(arguments.workers):
            with serving(library, workers, of) as (host, pid):
                if turn == 0 and of == "pages":
                    measure_one_reader(host, [pid], of, arguments.turns)
                else:
                    time.sleep(AHEAD)
                crowd(host, of, workers, arguments.users, arguments.seconds, queries)
        shutil.rmtree(library)


def on_nodes(number: int, files: Path, documents: int, turns: int, meaning: bool) -> None:
    """The pages on a Qdrant server of so many nodes, each with a copy of all; without the last of several, too."""
    from cluster import Server

    nodes = [Server(clustered=number > 1)]
    try:
        nodes += [Server(nodes[0].peer, clustered=True) for _ in range(number - 1)]
        of, library = f"pages on {number} nodes", f"{nodes[0].url}/pages"
        index(of, files, library, documents, meaning)
        with serving(library, 0, of) as (host, pid):
            measure_one_reader(host, [pid, *(node.process.pid for node in nodes)], of, turns)
            if nodes[1:]:
                nodes[-1].process.kill()
                nodes[-1].process.wait()
                measure_one_reader(host, [pid, *(node.process.pid for node in nodes[:-1])], f"{of}, one lost", turns)
    finally:
        for node in nodes:
            node.stop()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("sources", type=Path, help="a folder of manuals, or what --pack made of one")
    options.add_argument("--pack", type=Path)
    options.add_argument("--pages", type=int, default=10_000)
    options.add_argument("--passages", type=int, default=20_000)
    options.add_argument("--no-meaning", dest="meaning", action="store_false", help="without the built-in encoder")
    options.add_argument("--turns", type=int, default=5, help="how often one person asks each query")
    options.add_argument("--queries", type=int, default=len(QUESTIONS), help="of how many queries")
    options.add_argument("--users", type=int, default=50)
    options.add_argument("--seconds", type=float, default=15)
    options.add_argument("--workers", type=int, action="append", help="processes that search beside the server")
    options.add_argument("--nodes", type=int, action="append", default=[], help="nodes of a Qdrant server")
    arguments = options.parse_args()
    arguments.workers = arguments.workers or [0, 2]
    del QUESTIONS[arguments.queries :]
    if arguments.pack:
        pack(arguments.sources, arguments.pack)
        return
    if CORES[2:]:
        os.sched_setaffinity(0, CORES[2:])  # the first two are the server's
    with tempfile.TemporaryDirectory() as temporary_folder:
        sources, folder = arguments.sources, Path(temporary_folder)
        if sources.is_file():
            with tarfile.open(sources) as packed:
                packed.extractall(folder / "sources", filter="data")
            sources = folder / "sources"
        measure(arguments, sources, folder)


if __name__ == "__main__":
    main()
