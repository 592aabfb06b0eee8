"""Real documents: long manuals as web pages, PDFs, Word files, e-books and Markdown in nine languages are indexed,
searched through the server with ten results and their snippets, asked why, and glossed; beside it what a user would
take instead.

    python benchmarks/manuals.py --fetch FOLDER     downloads and unpacks Debian's manuals (apt-get, dpkg-deb)
    python benchmarks/manuals.py FOLDER [--pages 40] [--workers 1] [--queries 20] [--against OTHER/src] [--no-meaning]
                                                    [--kinds html docx] [--inside]

With `--against` the package in another folder does the same in the same run; its figures come first. Milliseconds of
the processor, children included, and by the clock; of everything short the best of three. MDN's pages come in as
Markdown where PARAGLOSS_DATA has them. The peer is resiliparse or trafilatura before tantivy or bm25s, whichever are
installed: words as they stand, no translation, so it finds English pages only.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SOURCE_FOLDER = str(Path(__file__).parents[1] / "src")
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


def fetch(folder: Path) -> None:
    """Download and unpack the packages."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", *PACKAGES], cwd=folder, check=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(folder / "all")], check=True)


def make(folder: Path, into: Path, pages: int) -> None:
    """So many of the longest pages of each language and manual; an eighth as many Word files made of them; all PDFs and
    e-books; as many pages of MDN as Markdown."""
    import docx

    from paragloss.formats.html import read_html

    for lang, code in LANGUAGES.items():
        mdn_code = "zh_CN" if lang == "zh" else lang
        for name, path in (
            ("handbook", folder.rglob(f"{code}/*.html")),
            ("gimp", folder.rglob(f"help/{mdn_code}/*.html")),
        ):
            longest = sorted(path, key=lambda file: (-file.stat().st_size, file.name))[:pages]
            for number, file in enumerate(longest):
                put(into / "html" / lang / f"{name}-{file.name}", file.read_bytes())
                if number % 8 == 0:
                    page, written = read_html(file), docx.Document()
                    written.add_heading(page.title, 1)
                    for line in page.text.split("\n"):
                        written.add_paragraph(line)
                    put(target := into / "docx" / lang / f"{name}-{file.stem}.docx", b"")
                    written.save(str(target))
        rows = Path(os.environ.get("PARAGLOSS_DATA", ".")) / "mdn" / f"{lang}.jsonl.gz"
        if rows.exists():
            with gzip.open(rows, "rt", encoding="utf-8") as lines:
                for number, line in zip(range(pages), lines, strict=False):
                    row = json.loads(line)
                    put(into / "md" / lang / f"{number}.md", f"# {row.get('title', '')}\n\n{row['text']}".encode())
    for kind in ("pdf", "epub"):
        for file in folder.rglob(f"developers-reference*.{kind}"):
            put(into / kind / file.parent.name / file.name, file.read_bytes())


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def used() -> float:
    """Milliseconds of the processor so far, of this process and of those it has waited for."""
    times = [resource.getrusage(process_kind) for process_kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return 1000 * sum(usage.ru_utime + usage.ru_stime for usage in times)


def used_by(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Rows(defaultdict[str, list[tuple[float, float]]]):
    """What was measured: milliseconds of the processor and by the clock."""

    def __init__(self) -> None:
        super().__init__(list)

    def best(self, name: str, do: Callable[[], Any], clock: Callable[[], float] = used, times: int = 3) -> Any:
        seconds, answer = [], None
        for _ in range(times):
            before, began = clock(), time.perf_counter()
            answer = do()
            seconds.append((clock() - before, 1000 * (time.perf_counter() - began)))
        self[name].append(tuple(map(min, zip(*seconds, strict=True))))
        return answer

    def table(self) -> dict[str, tuple[float, float]]:
        medians = {name: tuple(np.median(rows, axis=0)) for name, rows in self.items()}
        medians |= {f"{n}, p99": tuple(np.quantile(rows, 0.99, axis=0)) for n, rows in self.items() if len(rows) > 9}
        return dict(sorted(medians.items()))


def measure(
    files: Path, library: str, queries: list[str], workers: int, meaning: bool, through_server: bool
) -> dict[str, Any]:
    """One round by the package that is imported here."""
    from paragloss.collection import Collection
    from paragloss.formats import sandbox
    from paragloss.types import Query

    rows, documents = Rows(), 0
    with Collection.create(library, meaning=meaning) as engine:
        for kind in sorted(path.name for path in files.iterdir()):
            before, began = used(), time.perf_counter()
            number = engine.index_files([str(files / kind)], on_error=lambda _: None, workers=workers).read
            sandbox.SHARED_READER.close()
            spent = used() - before, 1000 * (time.perf_counter() - began)
            rows[f"index a {kind} file"].append((spent[0] / number, spent[1] / number))
            documents += number
    extra = {"documents": documents, "memory of indexing, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10}
    extra["KB on disk a document"] = round(size_of(library) / documents / 1000, 1)
    with Collection.open(library) as engine:
        for text in queries:
            answer = rows.best("search in the process, ten results", lambda text=text: engine.search(text, lang="en"))
            rows.best("why for all ten, in the process", lambda answer=answer, text=text: [
                answer.why(result.id) if hasattr(answer, "why") else engine.why(Query("", text, "en"), result.id)
                for result in answer.results
            ])  # fmt: skip
            rows.best("gloss of ten snippets", lambda answer=answer, text=text: [
                engine.gloss(result.snippet, lang=result.lang, to="en", query=text) for result in answer.results
            ])  # fmt: skip
    if through_server:
        extra |= served(library, queries, rows)
    for name, command in (("--help", ["--help"]), ("paragloss search", ["search", "printer", "--in", library])):
        command = [sys.executable, "-m", "paragloss", *command]
        rows.best(name, lambda command=command: subprocess.run(command, check=True, capture_output=True))
    return {"rows": rows.table(), "extra": extra}


def served(library: str, queries: list[str], rows: Rows) -> dict[str, Any]:
    """The same through the server, as the page asks it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    command = [sys.executable, "-m", "paragloss", "serve", library, "--port", address.rpartition(":")[2]]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                get(f"{address}/api/health")
                break
            except OSError:
                time.sleep(0.1)
        for turn in range(2):
            for text in queries:
                parameters = urllib.parse.urlencode({"q": text, "lang": "en", "k": 10})
                name = "search through the server, ten results"
                seconds = rows.best(
                    name if turn else f"{name}, first time",
                    lambda parameters=parameters: get(f"{address}/api/search?{parameters}"),
                    lambda: used_by(running.pid),
                    3 if turn else 1,
                )
                if turn:
                    rows.best(
                        "why for all ten, through the server",
                        lambda seconds=seconds, text=text: [
                            get(f"{address}/api/why?{urllib.parse.urlencode({'q': text, 'lang': 'en', 'id': r['id']})}")
                            for r in seconds["results"]
                        ],
                        lambda: used_by(running.pid),
                    )
        status = Path(f"/proc/{running.pid}/status").read_text()
    finally:
        running.terminate()
        running.wait()
    return {"memory of the server, MB": int(status.partition("VmHWM:")[2].split()[0]) >> 10}


def get(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=60) as answer:
        return json.loads(answer.read())


def size_of(folder: str) -> int:
    return sum(file.stat().st_blocks * 512 for file in Path(folder).rglob("*") if file.is_file())


def peer(files: Path, queries: list[str]) -> dict[str, Any]:
    """What a user would take instead, of the same web pages."""
    rows, pages = Rows(), sorted((files / "html").rglob("*.html"))
    texts: list[str] = []

    def extract(read: Callable[[str], str | None]) -> None:
        texts[:] = [read(page.read_text("utf-8", "replace")) or "" for page in pages]

    def measure_step(name: str, do: Callable[[], None]) -> None:
        before, began = used(), time.perf_counter()
        do()
        rows[name].append(((used() - before) / len(pages), 1000 * (time.perf_counter() - began) / len(pages)))

    try:
        import trafilatura

        measure_step("peer: trafilatura, a page", lambda: extract(trafilatura.extract))
    except ImportError:
        from resiliparse.extract.html2text import extract_plain_text

        measure_step(
            "peer: resiliparse, a page", lambda: extract(lambda text: extract_plain_text(text, main_content=True))
        )
    try:
        import tantivy
    except ImportError:
        tantivy = None
    if tantivy is not None:
        schema = tantivy.SchemaBuilder().add_text_field("text", stored=True).build()
        index = tantivy.Index(schema)

        def add() -> None:
            writer = index.writer()
            for text in texts:
                writer.add_document(tantivy.Document(text=text))
            writer.commit()
            index.reload()

        measure_step("peer: tantivy, index a page", add)

        def search_text(text: str) -> list[str]:
            searcher, query = index.searcher(), index.parse_query(text, ["text"])
            snippets = tantivy.SnippetGenerator.create(searcher, query, schema, "text")
            hits = searcher.search(query, 10).hits
            return [snippets.snippet_from_doc(searcher.doc(doc_number)).to_html() for _, doc_number in hits]

        for text in queries:
            rows.best("peer: tantivy, ten results with snippets", lambda text=text: search_text(text))
    try:
        import bm25s
    except ImportError:
        return {"rows": rows.table(), "extra": {}}
    bm25, quiet = bm25s.BM25(), {"show_progress": False}
    measure_step("peer: bm25s, index a page", lambda: bm25.index(bm25s.tokenize(texts, **quiet), **quiet))
    for text in queries:
        rows.best(
            "peer: bm25s, ten results without snippets",
            lambda text=text: bm25.retrieve(bm25s.tokenize(text, **quiet), k=10, **quiet),
        )
    return {"rows": rows.table(), "extra": {}}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--fetch", action="store_true")
    options.add_argument("--pages", type=int, default=40, help="of each language and manual")
    options.add_argument("--queries", type=int, default=20)
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--no-meaning", dest="meaning", action="store_false", help="without the built-in encoder")
    options.add_argument("--inside", action="store_true", help="no server: on a machine too busy for its deadlines")
    options.add_argument("--kinds", nargs="*", default=(), help="only these: html, docx, md, pdf, epub")
    options.add_argument("--against", default="")
    options.add_argument("--round", default="", help=argparse.SUPPRESS)  # where its collection goes, or "peer"
    arguments = options.parse_args()
    queries = [" ".join(query.split()) for query in QUERIES.split(";")][: arguments.queries]
    if arguments.fetch:
        fetch(arguments.folder)
        return
    if arguments.round:
        report = peer(arguments.folder, queries) if arguments.round == "peer" else measure(
            arguments.folder, arguments.round, queries, arguments.workers, arguments.meaning, not arguments.inside
        )  # fmt: skip
        print(json.dumps(report))
        return
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "files"
        make(arguments.folder, files, arguments.pages)
        for kind in files.iterdir():
            if arguments.kinds and kind.name not in arguments.kinds:
                shutil.rmtree(kind)
        rounds = {"before": arguments.against} if arguments.against else {}
        rounds_by_name = {}
        for name, source in {**rounds, "after": SOURCE_FOLDER, "peer": SOURCE_FOLDER}.items():
            into = name if name == "peer" else str(Path(folder) / name)
            command = [sys.executable, __file__, str(files), "--round", into, "--queries", str(arguments.queries)]
            command += [
                "--workers",
                str(arguments.workers),
                *["--no-meaning"] * (not arguments.meaning),
                *["--inside"] * arguments.inside,
            ]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
            finished = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
            rounds_by_name[name] = json.loads(finished.stdout.splitlines()[-1])
            shutil.rmtree(into, ignore_errors=True)
    peers = rounds_by_name.pop("peer")
    print(
        "| ms of the processor / by the clock | "
        + " | ".join(rounds_by_name)
        + " |\n|---"
        + "|---" * len(rounds_by_name)
        + "|"
    )
    for name in rounds_by_name["after"]["rows"]:
        cells = [
            f"{cpu:,.1f} / {clock:,.1f}"
            for cpu, clock in (round_report["rows"][name] for round_report in rounds_by_name.values())
        ]
        print(f"| {name} | " + " | ".join(cells) + " |")
    for name in rounds_by_name["after"]["extra"]:
        print(
            f"| {name} | "
            + " | ".join(f"{round_report['extra'][name]:,}" for round_report in rounds_by_name.values())
            + " |"
        )
    for name, (cpu, clock) in peers["rows"].items():
        print(f"| {name} | " + "| " * (len(rounds_by_name) - 1) + f"{cpu:,.1f} / {clock:,.1f} |")


if __name__ == "__main__":
    main()
