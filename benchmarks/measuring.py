"""What benchmarks of the command line and the server share: run commands, serve a collection, ask, and print figures.

A figure is printed as a line of JSON. Times are elapsed milliseconds unless their names say processor.
"""

from __future__ import annotations

import gzip
import http.client
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paragloss.types import Document

SOURCE_FOLDER = str(Path(__file__).parents[1] / "src")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([SOURCE_FOLDER, os.environ.get("PYTHONPATH", "")])}
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)
PARAGLOSS = [sys.executable, "-m", "paragloss"]
#: The processor cores that can be used, where the system tells. With more than two, servers get the first two.
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
N_SERVER_CORES = 2
#: How long a server reads ahead before anything but its start is measured.
READ_AHEAD_SECONDS = 10.0
#: How often documents are added while people search, and how many.
SECONDS_BETWEEN_WRITES = 0.5
DOCUMENTS_PER_WRITE = 50


class CommandTimes(NamedTuple):
    """How long a command took, in milliseconds by the clock and of all processors."""

    elapsed_ms: float
    processor_ms: float


class RunningServer(NamedTuple):
    """A server: its host and port, and its process."""

    host: str
    pid: int


def print_figure(name: str, **values: Any) -> None:
    """Print a figure as a line of JSON."""
    print(json.dumps({"figure": name, **values}, ensure_ascii=False), flush=True)


def print_latencies(name: str, seconds: Sequence[float], **values: Any) -> None:
    """Print the median and the 99th percentile of latencies, in milliseconds."""
    p50, p99 = np.percentile(np.array(seconds) * 1000, [50, 99]).round(1).tolist()
    print_figure(name, p50=p50, p99=p99, requests=len(seconds), **values)


def run_command(*arguments: str) -> CommandTimes:
    """Run `paragloss` with some arguments and return how long it took."""
    usage_before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [*PARAGLOSS, *arguments], env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    elapsed, usage = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = usage.ru_utime + usage.ru_stime - usage_before.ru_utime - usage_before.ru_stime
    return CommandTimes(1000 * elapsed, 1000 * processor)


def index_files(files: Path, library: Path | str, n_documents: int, *, with_encoder: bool = True) -> None:
    """Index files with the command line, and print how long a document took."""
    options = [] if with_encoder else ["--no-meaning"]
    times = run_command("index", str(files), "--into", str(library), *options)
    print_figure(
        "index",
        documents=n_documents,
        with_encoder=with_encoder,
        documents_a_second=round(1000 * n_documents / times.elapsed_ms, 1),
        processor_ms_a_document=round(times.processor_ms / n_documents, 1),
    )


@contextmanager
def run_server(library: Path | str, search_processes: int = 0) -> Iterator[RunningServer]:
    """Serve a collection, on two cores if there are more, and print how long the start took.

    :param search_processes: how many processes search beside the server's own.
    """
    port = _find_free_port()
    command = [*PARAGLOSS, "serve", str(library), "--port", str(port), "--workers", str(search_processes)]
    if shutil.which("taskset") and len(CORES) > N_SERVER_CORES:
        command = ["taskset", "-c", ",".join(map(str, CORES[:N_SERVER_CORES])), *command]
    start = time.perf_counter()
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    host = f"127.0.0.1:{port}"
    try:
        while not _is_answering(host):
            if process.poll() is not None:
                raise SystemExit(f"the server ended: {' '.join(command)}")
            time.sleep(0.01)
        print_figure("start of the server", ms=round(1000 * (time.perf_counter() - start)))
        yield RunningServer(host, process.pid)
    finally:
        process.terminate()
        process.wait()


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_answering(host: str) -> bool:
    try:
        http.client.HTTPConnection(host, timeout=60).request("GET", "/api/health")
    except OSError:
        return False
    return True


def read_processor_ms(pid: int) -> float:
    """Return the milliseconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Client:
    """One person's connection to a server."""

    def __init__(self, host: str) -> None:
        self._connection = http.client.HTTPConnection(host, timeout=60)

    def get(self, path: str, **parameters: Any) -> tuple[float, Any]:
        """Return how many seconds a request took, and the answer: bytes, or what the JSON of an API says."""
        url = f"{path}?{urllib.parse.urlencode(parameters)}" if parameters else path
        return self._request("GET", url, None)

    def post(self, path: str, content: Any) -> tuple[float, Any]:
        """Send JSON, or bytes as they are; return the same as `get`."""
        return self._request("POST", path, content if isinstance(content, bytes) else json.dumps(content))

    def search(self, query: str, **parameters: Any) -> tuple[float, Any]:
        """Search for an English query as the page does: ten results with snippets."""
        return self.get("/api/search", q=query, lang="en", k=10, **parameters)

    def _request(self, method: str, url: str, body: str | bytes | None) -> tuple[float, Any]:
        start = time.perf_counter()
        self._connection.request(method, url, body, {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        data = response.read()
        seconds = time.perf_counter() - start
        if response.status != http.HTTPStatus.OK:
            raise SystemExit(f"{url}: {response.status} {data[:200]!r}")
        return seconds, json.loads(data) if url.startswith("/api") else data


def search_concurrently(host: str, queries: Sequence[str], n_users: int, seconds: float) -> list[float]:
    """Let each of many people search once a second, and return how many seconds each search took."""
    search_seconds: list[float] = []

    def search_repeatedly(user: int) -> None:
        client, start = Client(host), time.monotonic() + user / n_users
        for turn in range(int(seconds)):
            time.sleep(max(0.0, start + turn - time.monotonic()))
            search_seconds.append(client.search(queries[(user * 7 + turn) % len(queries)])[0])

    threads = [threading.Thread(target=search_repeatedly, args=(user,)) for user in range(n_users)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return search_seconds


def add_documents(host: str, seconds: float) -> int:
    """Add package descriptions twice a second, and return how many were added."""
    client, end, n_added = Client(host), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        documents = read_package_descriptions(DOCUMENTS_PER_WRITE, first=n_added, id_prefix="new")
        lines = "".join(format_row(document) for document in documents)
        n_added += client.post("/api/bulk", lines.encode())[1]["indexed"]
        time.sleep(SECONDS_BETWEEN_WRITES)
    return n_added


def read_package_descriptions(count: int, *, first: int = 0, id_prefix: str = "d") -> Iterator[Document]:
    """Yield package descriptions of Debian (PARAGLOSS_DATA/ddtp), from the beginning again when they run out."""
    files = sorted((Path(os.environ["PARAGLOSS_DATA"]) / "ddtp").glob("*.jsonl.gz"))
    for number, row in enumerate(islice(_repeat_rows(files), first, first + count), first):
        yield Document(f"{id_prefix}{number}", row["text"], row["lang"], row.get("title", ""))


def _repeat_rows(files: Sequence[Path]) -> Iterator[dict[str, str]]:
    while True:
        for path in files:
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                yield from map(json.loads, lines)


def format_row(document: Document) -> str:
    """Return a document as a line of JSON."""
    row = {"id": document.id, "lang": document.lang, "title": document.title, "text": document.text}
    return json.dumps(row, ensure_ascii=False) + "\n"
