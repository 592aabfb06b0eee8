"""Real documents: long manuals as web pages, PDFs, Word files, e-books and Markdown in nine languages.

    python benchmarks/manuals.py --fetch FOLDER     downloads and unpacks Debian's manuals (apt-get, dpkg-deb)
    python benchmarks/manuals.py FOLDER [--pages 40] [--workers 1] [--queries 20] [--no-meaning] [--kinds html docx]

Indexes the files, searches in the process and through the server for ten results with snippets, explains and glosses
them. Prints milliseconds of the processor, children included, and by the clock; of everything short the best of three.
MDN's pages come in as Markdown where PARAGLOSS_DATA has them. The peers are resiliparse, which extracts the text of
the same web pages, and bm25s, which finds words as they stand, in English pages only.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bm25s
import docx
import numpy as np
from measuring import Client, read_processor_ms, run_command, run_server
from resiliparse.extract.html2text import extract_plain_text

from paragloss.collection import Collection
from paragloss.formats import sandbox
from paragloss.formats.html import read_html
from paragloss.types import Query

GIMP = ("de", "en", "es", "fr", "it", "ja", "ko", "ru", "zh-cn")
BOOKS = ("developers-reference", *(f"developers-reference-{lang}" for lang in ("de", "fr", "ja", "ru")))
PACKAGES = "debian-handbook", *BOOKS, *(f"gimp-help-{lang}" for lang in GIMP)
#: Each language as the handbook writes it, and as the others do.
CODES = "de-DE", "en-US", "es-ES", "fr-FR", "it-IT", "ja-JP", "ko-KR", "ru-RU", "zh-CN"
LANGUAGES = {code[:2]: code for code in CODES}
QUERIES = """
configure the network; encrypted file system; upgrade to a new release; package maintainer; printer; restore a backup;
mail server with virtual domains; kernel compilation; firewall rules; user accounts and passwords; crop an image;
select by color; rotate a layer; brush size; sharpen a photo; export as a PDF; add text to an image; remove red eyes;
default web browser; partition a disk
"""


#: One Word file is made of so many web pages.
PAGES_PER_WORD_FILE = 8
MIN_TIMES_FOR_P99 = 10


def main() -> None:
    """Read the command line, and fetch or measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--pages", type=int, default=40, help="of each language and manual")
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--no-meaning", dest="with_encoder", action="store_false", help="without the built-in encoder")
    parser.add_argument("--kinds", nargs="*", default=(), help="only these: html, docx, md, pdf, epub")
    arguments = parser.parse_args()
    if arguments.fetch:
        fetch_manuals(arguments.folder)
        return
    queries = [" ".join(query.split()) for query in QUERIES.split(";")][: arguments.queries]
    with tempfile.TemporaryDirectory() as folder:
        files, library = Path(folder) / "files", str(Path(folder) / "library")
        make_files(arguments.folder, files, arguments.pages)
        for kind in files.iterdir():
            if arguments.kinds and kind.name not in arguments.kinds:
                shutil.rmtree(kind)
        times = TimeTable()
        print("| ms of the processor / by the clock | |\n|---|---|")
        measure_indexing(files, library, times, arguments)
        measure_searches(library, queries, times)
        measure_server(library, queries, times)
        for command in (["--help"], ["search", "printer", "--in", library]):
            for _ in range(3):
                ran = run_command(*command)
                times[f"paragloss {command[0]}"].append((ran.processor_ms, ran.elapsed_ms))
        measure_peers(files, queries, times)
        times.print_medians()


def fetch_manuals(folder: Path) -> None:
    """Download and unpack the packages of the manuals."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", *PACKAGES], cwd=folder, check=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(folder / "all")], check=True)


def make_files(folder: Path, into: Path, n_pages: int) -> None:
    """Collect files in folders by kind and language.

    :param n_pages: how many of the longest pages of each language and manual are taken, and of MDN as Markdown. An
        eighth as many Word files are made of them. All PDFs and e-books are taken.
    """
    for lang, code in LANGUAGES.items():
        gimp_code = "zh_CN" if lang == "zh" else lang
        for manual, pattern in (("handbook", f"{code}/*.html"), ("gimp", f"help/{gimp_code}/*.html")):
            longest = sorted(folder.rglob(pattern), key=lambda path: (-path.stat().st_size, path.name))[:n_pages]
            for number, path in enumerate(longest):
                put(into / "html" / lang / f"{manual}-{path.name}", path.read_bytes())
                if number % PAGES_PER_WORD_FILE == 0:
                    write_word_file(path, into / "docx" / lang / f"{manual}-{path.stem}.docx")
        for number, content in zip(range(n_pages), read_mdn_articles(lang), strict=False):
            put(into / "md" / lang / f"{number}.md", content)
    for kind in ("pdf", "epub"):
        for path in folder.rglob(f"developers-reference*.{kind}"):
            put(into / kind / path.parent.name / path.name, path.read_bytes())


def write_word_file(page_path: Path, into: Path) -> None:
    """Make a Word file of a web page."""
    page, word_file = read_html(page_path), docx.Document()
    word_file.add_heading(page.title, 1)
    for line in page.text.split("\n"):
        word_file.add_paragraph(line)
    into.parent.mkdir(parents=True, exist_ok=True)
    word_file.save(str(into))


def read_mdn_articles(lang: str) -> Iterator[bytes]:
    """Yield MDN's articles in a language as Markdown."""
    path = Path(os.environ.get("PARAGLOSS_DATA", ".")) / "mdn" / f"{lang}.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                yield f"# {row.get('title', '')}\n\n{row['text']}".encode()


def put(path: Path, data: bytes) -> None:
    """Write a file, and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def read_own_processor_ms() -> float:
    """Return the processor time of this process and of those that it has waited for."""
    usages = [resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return 1000 * sum(usage.ru_utime + usage.ru_stime for usage in usages)


class TimeTable(defaultdict[str, list[tuple[float, float]]]):
    """Milliseconds of the processor and by the clock, by the name of what was timed."""

    def __init__(self) -> None:
        super().__init__(list)

    @contextmanager
    def time_each(self, name: str, count: Callable[[], int]) -> Iterator[None]:
        """Time the body of a `with` statement, and divide by the count that is known at its end."""
        processor_before, start = read_own_processor_ms(), time.perf_counter()
        yield
        elapsed = 1000 * (time.perf_counter() - start)
        self[name].append(((read_own_processor_ms() - processor_before) / count(), elapsed / count()))

    def time_best(
        self, name: str, function: Callable[[], Any], read_ms: Callable[[], float] = read_own_processor_ms
    ) -> Any:
        """Call a function three times, keep the best times, and return its last result.

        :param read_ms: returns the processor time so far of the process that works.
        """
        times, result = [], None
        for _ in range(3):
            processor_before, start = read_ms(), time.perf_counter()
            result = function()
            times.append((read_ms() - processor_before, 1000 * (time.perf_counter() - start)))
        self[name].append((min(processor for processor, _ in times), min(elapsed for _, elapsed in times)))
        return result

    def print_medians(self) -> None:
        """Print the median of each name, and the 99th percentile where there are enough times."""
        for name in sorted(self):
            cells = [np.median(self[name], axis=0)]
            if len(self[name]) >= MIN_TIMES_FOR_P99:
                cells.append(np.quantile(self[name], 0.99, axis=0))
            texts = [f"{processor:,.1f} / {elapsed:,.1f}" for processor, elapsed in cells]
            label = f"{name}; p99" if len(texts) > 1 else name
            print(f"| {label} | {'; '.join(texts)} |")


def measure_indexing(files: Path, library: str, times: TimeTable, arguments: argparse.Namespace) -> None:
    """Index the files of each kind, and print the memory and the disk that it takes."""
    n_documents = 0
    with Collection.create(library, meaning=arguments.with_encoder) as collection:
        for kind in sorted(path.name for path in files.iterdir()):
            counts: list[int] = []
            with times.time_each(f"index a file: {kind}", lambda counts=counts: counts[0]):
                report = collection.index_files([str(files / kind)], on_error=lambda _: None, workers=arguments.workers)
                sandbox.SHARED_READER.close()
                counts.append(report.read)
            n_documents += report.read
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    disk_blocks = sum(path.stat().st_blocks for path in Path(library).rglob("*") if path.is_file())
    print(f"| documents | {n_documents} |")
    print(f"| memory of indexing | {megabytes} MB |")
    print(f"| disk space of a document | {512 * disk_blocks / n_documents / 1000:.1f} kB |")


def measure_searches(library: str, queries: Sequence[str], times: TimeTable) -> None:
    """Time searches, explanations and glosses of ten results in this process."""
    with Collection.open(library) as collection:
        for query in queries:
            answer = times.time_best(
                "search in the process, ten results", lambda query=query: collection.search(query, lang="en")
            )
            times.time_best(
                "explanations of ten results",
                lambda query=query, answer=answer: [
                    collection.why(Query("", query, "en"), result.id) for result in answer.results
                ],
            )
            times.time_best(
                "glosses of ten snippets",
                lambda query=query, answer=answer: [
                    collection.gloss(result.snippet, lang=result.lang, to="en", query=query)
                    for result in answer.results
                ],
            )


def measure_server(library: str, queries: Sequence[str], times: TimeTable) -> None:
    """Time searches through the server, after each query was asked once, and print the memory of the server."""
    with run_server(library) as server:
        client = Client(server.host)
        for query in queries:
            client.search(query)
        for query in queries:
            times.time_best(
                "search through the server, ten results",
                lambda query=query: client.search(query),
                lambda: read_processor_ms(server.pid),
            )
        status = Path(f"/proc/{server.pid}/status").read_text()
    print(f"| memory of the server | {int(status.partition('VmHWM:')[2].split()[0]) >> 10} MB |")


def measure_peers(files: Path, queries: Sequence[str], times: TimeTable) -> None:
    """Time what a user would take instead, with the same web pages."""
    pages = [path.read_text("utf-8", "replace") for path in sorted((files / "html").rglob("*.html"))]
    with times.time_each("peer: resiliparse, a page", lambda: len(pages)):
        texts = [extract_plain_text(page, main_content=True) for page in pages]
    bm25, quiet = bm25s.BM25(), {"show_progress": False}
    with times.time_each("peer: bm25s, index a page", lambda: len(pages)):
        bm25.index(bm25s.tokenize(texts, **quiet), **quiet)
    for query in queries:
        times.time_best(
            "peer: bm25s, ten results without snippets",
            lambda query=query: bm25.retrieve(bm25s.tokenize(query, **quiet), k=10, **quiet),
        )


if __name__ == "__main__":
    main()
