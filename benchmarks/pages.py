"""Long pages in nine languages and short passages through the real server, with what is on by default.

    python benchmarks/manuals.py --fetch FOLDER          downloads and unpacks Debian's manuals
    PARAGLOSS_DATA=... python benchmarks/pages.py FOLDER [--pages 10000] [--passages 20000] [--no-meaning]
                                                        [--users 50] [--seconds 15] [--workers 0 --workers 2]
                                                        [--nodes 1 --nodes 3]

How long one person waits for ten results with snippets and glosses, for all explanations and for the page; how long
fifty people wait who search once a second each while documents are added. With `--nodes` the pages are instead indexed
into a collection on so many nodes of a real Qdrant server, and searched through our server; of several nodes the last
is killed, and everything is searched once more.

The longest pages of the manuals come first, then MDN's as Markdown (`PARAGLOSS_DATA/mdn`); passages are package
descriptions (`PARAGLOSS_DATA/ddtp`). Where there are more than two cores, the server has two to itself and the clients
the others.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from manuals import LANGUAGES, QUERIES, put
from measuring import (
    CORES,
    N_SERVER_CORES,
    READ_AHEAD_SECONDS,
    Client,
    RunningServer,
    add_documents,
    format_row,
    index_files,
    print_figure,
    print_latencies,
    read_package_descriptions,
    read_processor_ms,
    run_command,
    run_server,
    search_concurrently,
)

MANUAL_QUERIES = [" ".join(query.split()) for query in QUERIES.split(";")]
MAX_PASSAGE_QUERIES = 500


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of the manuals")
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--passages", type=int, default=20_000)
    parser.add_argument("--no-meaning", dest="with_encoder", action="store_false", help="without the built-in encoder")
    parser.add_argument("--turns", type=int, default=5, help="how often one person asks each query")
    parser.add_argument("--queries", type=int, default=len(MANUAL_QUERIES), help="how many queries one person asks")
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--workers", type=int, action="append", help="processes that search beside the server")
    parser.add_argument("--nodes", type=int, action="append", default=[], help="nodes of a Qdrant server")
    arguments = parser.parse_args()
    if len(CORES) > N_SERVER_CORES:
        os.sched_setaffinity(0, CORES[N_SERVER_CORES:])
    with tempfile.TemporaryDirectory() as temporary_folder:
        work = Path(temporary_folder)
        n_pages = copy_longest_pages(arguments.folder, work / "pages", arguments.pages) if arguments.pages else 0
        if arguments.nodes:
            for n_nodes in arguments.nodes:
                measure_nodes(n_nodes, work / "pages", n_pages, arguments)
            return
        if n_pages:
            index_files(work / "pages", work / "library", n_pages, with_encoder=arguments.with_encoder)
            measure_commands(work / "library")
            measure_server(work / "library", MANUAL_QUERIES[: arguments.queries], arguments)
        if arguments.passages:
            write_passages(work / "passages.jsonl.gz", arguments.passages)
            library = work / "library of passages"
            index_files(work / "passages.jsonl.gz", library, arguments.passages, with_encoder=arguments.with_encoder)
            measure_users(library, read_passage_queries(), arguments)


def copy_longest_pages(folder: Path, into: Path, count: int) -> int:
    """Copy the longest pages of the manuals into folders by language, then MDN's; return how many there are."""
    pages = [(path.stat().st_size, lang, path) for lang, path in list_manual_pages(folder)]
    longest = sorted(pages, key=lambda page: (-page[0], str(page[2])))[:count]
    for number, (_, lang, path) in enumerate(longest):
        put(into / lang / f"{number}-{path.name}", path.read_bytes())
    articles = sorted(read_mdn_articles(), key=lambda article: -len(article[1])) if len(longest) < count else []
    for number, (lang, content) in enumerate(articles[: count - len(longest)]):
        put(into / lang / f"mdn-{number}.md", content)
    return min(count, len(longest) + len(articles))


def list_manual_pages(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the HTML pages of the manuals, each with its language."""
    for lang, code in LANGUAGES.items():
        gimp_code = "zh_CN" if lang == "zh" else lang
        for pattern in (f"{code}/*.html", f"help/{gimp_code}/*.html"):
            for path in sorted(folder.rglob(pattern)):
                yield lang, path


def read_mdn_articles() -> Iterator[tuple[str, bytes]]:
    """Yield MDN's articles as Markdown, each with its language."""
    for lang in LANGUAGES:
        path = Path(os.environ.get("PARAGLOSS_DATA", ".")) / "mdn" / f"{lang}.jsonl.gz"
        if path.exists():
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                for row in map(json.loads, lines):
                    yield lang, f"# {row.get('title', '')}\n\n{row['text']}".encode()


def write_passages(path: Path, count: int) -> None:
    """Write package descriptions as JSON Lines."""
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
        file.writelines(format_row(document) for document in read_package_descriptions(count))


def read_passage_queries() -> list[str]:
    """Return titles of English package descriptions."""
    english = (document.title for document in read_package_descriptions(400_000) if document.lang == "en")
    return list(islice(filter(None, english), MAX_PASSAGE_QUERIES))


def measure_commands(library: Path) -> None:
    """Print how long the command line takes to start and to search; medians of three after a first one."""
    commands = {"paragloss --help": ["--help"], "paragloss search": ["search", "printer", "--in", str(library)]}
    for name, command in commands.items():
        times = [run_command(*command) for _ in range(4)][1:]
        elapsed_ms, processor_ms = np.median(times, axis=0).round().tolist()
        print_figure(name, ms=elapsed_ms, processor_ms=processor_ms)


def measure_server(library: Path, queries: Sequence[str], arguments: argparse.Namespace) -> None:
    """Print how long one person waits, then many."""
    with run_server(library) as server:
        measure_one_reader(server, [server.pid], queries, arguments.turns)
    measure_users(library, queries, arguments)


def measure_users(library: Path, queries: Sequence[str], arguments: argparse.Namespace) -> None:
    """Print how long many people wait while documents are added, with each number of search processes."""
    for search_processes in arguments.workers or [0, 2]:
        with run_server(library, search_processes) as server:
            time.sleep(READ_AHEAD_SECONDS)
            writer = threading.Thread(target=add_documents, args=(server.host, arguments.seconds))
            writer.start()
            search_seconds = search_concurrently(server.host, queries, arguments.users, arguments.seconds)
            writer.join()
            print_latencies(
                f"{arguments.users} people, one search a second each",
                search_seconds,
                search_processes=search_processes,
            )


def measure_one_reader(server: RunningServer, pids: Sequence[int], queries: Sequence[str], turns: int) -> None:
    """Print how long one person waits for what the page asks for; a first turn is not counted.

    :param pids: the processes whose processor time is counted.
    """
    client = Client(server.host)
    page_seconds, collections_seconds = client.get("/")[0], client.get("/api/collections")[0]
    print_figure("first answers", page_ms=round(1000 * page_seconds), collections_ms=round(1000 * collections_seconds))
    time.sleep(READ_AHEAD_SECONDS)
    seconds_by_request: dict[str, list[float]] = defaultdict(list)
    processor_ms: dict[str, float] = defaultdict(float)
    for turn in range(turns + 1):
        if turn == 1:
            seconds_by_request.clear()
            processor_ms.clear()
        for query in queries:
            for request in REQUESTS:
                before = sum(map(read_processor_ms, pids))
                seconds_by_request[request].append(REQUESTS[request](client, query))
                processor_ms[request] += sum(map(read_processor_ms, pids)) - before
    for request, seconds in seconds_by_request.items():
        print_latencies(request, seconds, processor_ms_each=round(processor_ms[request] / len(seconds), 1))


def search_and_gloss(client: Client, query: str) -> float:
    """Search, and gloss titles and snippets of the results; return how many seconds both took."""
    search_seconds, answer = client.search(query)
    texts = [
        {"text": result[part], "lang": result["lang"]}
        for result in answer["results"]
        for part in ("title", "snippet")
        if result[part]
    ]
    if not texts:
        return search_seconds
    return search_seconds + client.post("/api/gloss", {"to": "en", "asked": query, "texts": texts})[0]


#: What the page asks for, each as a function of a client and a query that returns seconds.
REQUESTS = {
    "search, ten results with snippets": lambda client, query: client.search(query)[0],
    "search, and glosses of ten results": search_and_gloss,
    "filter counts": lambda client, query: client.get("/api/counts", q=query, lang="en")[0],
    "search with all ten explanations": lambda client, query: client.search(query, why=True)[0],
}


def measure_nodes(n_nodes: int, files: Path, n_pages: int, arguments: argparse.Namespace) -> None:
    """Measure pages on a Qdrant server of some nodes, each with a copy of all; without the last of several, too."""
    from cluster import Server

    queries = MANUAL_QUERIES[: arguments.queries]
    nodes = [Server(clustered=n_nodes > 1)]
    try:
        nodes += [Server(nodes[0].peer, clustered=True) for _ in range(n_nodes - 1)]
        library = f"{nodes[0].url}/pages"
        index_files(files, library, n_pages, with_encoder=arguments.with_encoder)
        with run_server(library) as server:
            print_figure("nodes", running=n_nodes)
            measure_one_reader(server, [server.pid, *(node.process.pid for node in nodes)], queries, arguments.turns)
            if n_nodes > 1:
                nodes[-1].process.kill()
                nodes[-1].process.wait()
                print_figure("nodes", running=n_nodes - 1)
                pids = [server.pid, *(node.process.pid for node in nodes[:-1])]
                measure_one_reader(server, pids, queries, arguments.turns)
    finally:
        for node in nodes:
            node.stop()


if __name__ == "__main__":
    main()
