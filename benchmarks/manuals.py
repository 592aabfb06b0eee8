"""Real documents: a folder of long manuals as pages, PDFs and e-books in nine languages is indexed, searched with ten
results and their snippets, asked why, and glossed. Milliseconds of the processor, children included.

    python benchmarks/manuals.py --fetch FOLDER                 downloads and unpacks Debian's manuals (apt-get, dpkg)
    python benchmarks/manuals.py FOLDER [--pages 30] [--books 4] [--queries 10] [--against OTHER/src]

With `--against` the package in another folder does the same in the same run, turn by turn; its figures come first.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

HERE = str(Path(__file__).parents[1] / "src")
PACKAGES = "debian-handbook", *(f"developers-reference-{lang}" for lang in ("de", "fr", "ja", "ru"))
LANGUAGES = ["ar-MA", "de-DE", "en-US", "es-ES", "fr-FR", "ja-JP", "pl-PL", "ru-RU", "zh-CN"]
QUERIES = (
    "configure the network",
    "encrypted file system",
    "upgrade to a new release",
    "package maintainer",
    "mail server with virtual domains",
    "printer",
    "restore a backup",
    "kernel compilation",
    "firewall rules",
    "user accounts and passwords",
)


def fetch(folder: Path) -> None:
    """Download and unpack the packages."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", *PACKAGES], cwd=folder, check=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", str(package), str(folder / "all")], check=True)


def sample(folder: Path, pages: int, books: int, into: Path) -> int:
    """Some pages of each language, PDFs and e-books into a folder of their own; how many files."""
    found = []
    for lang in LANGUAGES:
        here = sorted(folder.rglob(f"{lang}/*.html"))
        found += here[:: max(1, len(here) // pages)][:pages]
    for kind in ("pdf", "epub"):
        found += sorted(folder.rglob(f"developers-reference*.{kind}"))[:books]
    for file in found:
        (into / file.parent.name).mkdir(exist_ok=True)
        shutil.copy(file, into / file.parent.name / file.name)
    return len(found)


def used() -> float:
    """Milliseconds of the processor so far, of this process and of those it has waited for."""
    times = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return 1000 * sum(one.ru_utime + one.ru_stime for one in times)


def measure(files: str, library: str, queries: int) -> dict[str, float]:
    """One round by the package that is imported here."""
    from paragloss.collection import Collection
    from paragloss.formats import sandbox
    from paragloss.types import Query

    rows: dict[str, list[float]] = defaultdict(list)
    with Collection.create(library) as engine:
        began, clock = used(), time.perf_counter()
        count = engine.index_files([files], on_error=lambda _: None).read
        sandbox.READER.close()
        rows["index, a document"] = [(used() - began) / count]
        rows["index, a document, by the clock"] = [1000 * (time.perf_counter() - clock) / count]
    with Collection.open(library) as engine:
        for turn in ("first time", "again"):
            for text in QUERIES[:queries]:
                began = used()
                answer = engine.search(text, lang="en")
                rows[f"search, ten results, {turn}"].append(used() - began)
                began = used()
                for found in answer.results:
                    engine.why(Query("", text, "en"), found.id)
                rows[f"why, all ten, {turn}"].append(used() - began)
                began = used()
                for found in answer.results:
                    engine.gloss(found.snippet, lang=found.lang, to="en", asked=text)
                rows[f"gloss of ten snippets, {turn}"].append(used() - began)
        began = used()
        engine.info()
        rows["what the collection holds"] = [used() - began]
        if hasattr(engine, "summary"):
            began = used()
            engine.summary()
            rows["what /api/collections asks"] = [used() - began]
        else:
            rows["what /api/collections asks"] = rows["what the collection holds"]
    for name, command in (("--help", ["--help"]), ("paragloss search", ["search", "printer", "--in", library])):
        for _ in range(3):
            began = used()
            subprocess.run([sys.executable, "-m", "paragloss", *command], check=True, capture_output=True)
            rows[name].append(used() - began)
    found = {name: statistics.median(values) for name, values in rows.items()}
    found |= {f"{name}, worst": max(values) for name, values in rows.items() if len(values) > 3}
    return found | {"memory at the peak, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--fetch", action="store_true")
    options.add_argument("--pages", type=int, default=30)
    options.add_argument("--books", type=int, default=4)
    options.add_argument("--queries", type=int, default=len(QUERIES))
    options.add_argument("--against", default="")
    options.add_argument("--into", default="", help=argparse.SUPPRESS)  # a round: where its collection goes
    given = options.parse_args()
    if given.fetch:
        fetch(given.folder)
        return
    if given.into:
        print(json.dumps(measure(str(given.folder), given.into, given.queries)))
        return
    with tempfile.TemporaryDirectory() as place:
        files = Path(place) / "files"
        files.mkdir()
        print(f"{sample(given.folder, given.pages, given.books, files)} files", flush=True)
        sources, found = [*filter(None, [given.against]), HERE], list[dict[str, float]]()
        for number, source in enumerate(sources):
            command = [sys.executable, __file__, str(files), "--into", str(Path(place) / f"library{number}")]
            command += ["--queries", str(given.queries)]
            environment = {**os.environ, "PYTHONPATH": source}
            done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
            found.append(json.loads(done.stdout.splitlines()[-1]))
    print("| ms of the processor | " + " | ".join(["before", "after"][-len(found) :]) + " |")
    print("|---" * (1 + len(found)) + "|")
    for name in found[-1]:
        print(f"| {name} | " + " | ".join(f"{round_.get(name, float('nan')):,.1f}" for round_ in found) + " |")


if __name__ == "__main__":
    main()
