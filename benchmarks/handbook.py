"""Speed with what is on by default, the encoder included: 1,016 long HTML pages of a handbook in eight languages.

    python benchmarks/handbook.py --fetch FOLDER           downloads Debian's handbook and unpacks its pages
    python benchmarks/handbook.py FOLDER [--library LIBRARY] [--users 20] [--seconds 30]

Indexes the pages (unless LIBRARY exists), then asks the server for ten results with snippets: first one person, each
English title once; then many people, each once a second. Prints a line of JSON for each figure; milliseconds by the
clock.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from pages import AHEAD, Asking, index, serving, spread

from paragloss.formats.documents import read_documents

LANGUAGES = ("ar-MA", "de-DE", "en-US", "es-ES", "fr-FR", "it-IT", "ja-JP", "ru-RU")
#: Queries that are asked before the time is taken.
WARMING_QUERIES = ["install a package", "network", "backup"]


def main() -> None:
    """Read the command line, and fetch or measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--library", type=Path, help="where the collection is kept; a temporary folder without it")
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30.0)
    arguments = parser.parse_args()
    if arguments.fetch:
        fetch_pages(arguments.folder)
        return
    with tempfile.TemporaryDirectory() as temporary_folder:
        library = arguments.library or Path(temporary_folder) / "library"
        measure(arguments.folder, library, arguments.users, arguments.seconds)


def fetch_pages(folder: Path) -> None:
    """Download the package of the handbook, and keep the pages of some languages without their pictures."""
    with tempfile.TemporaryDirectory() as temporary_folder:
        subprocess.run(["apt-get", "download", "debian-handbook"], cwd=temporary_folder, check=True)
        (package,) = Path(temporary_folder).glob("*.deb")
        subprocess.run(["dpkg", "-x", package, temporary_folder], check=True)
        for path in Path(temporary_folder).rglob("*.html"):
            lang = path.parent.name
            if lang in LANGUAGES:
                (folder / lang).mkdir(parents=True, exist_ok=True)
                shutil.copy(path, folder / lang)


def measure(folder: Path, library: Path, n_users: int, seconds: float) -> None:
    """Index the pages unless that is done, and time searches of one person and of many."""
    n_pages = len(list(folder.rglob("*.html")))
    if not library.exists():
        index("handbook", folder, library, n_pages, True)
    queries = list(dict.fromkeys(page.title for page in read_documents(str(folder / "en-US"))))
    with serving(library, 0, "handbook") as (host, _):
        time.sleep(AHEAD)
        reader = Asking(host)
        for query in WARMING_QUERIES:
            search(reader, query)
        search_seconds = [search(reader, query) for query in queries]
        spread("one person", search_seconds, worst=round(1000 * max(search_seconds), 1))
        spread(f"{n_users} people", search_as_many(host, queries, n_users, seconds))


def search(reader: Asking, query: str) -> float:
    """Search as the page does and return how long it took."""
    return reader.get("/api/search", q=query, lang="en", k=10)[0]


def search_as_many(host: str, queries: Sequence[str], n_users: int, seconds: float) -> list[float]:
    """Let each of many people search once a second, and return how long each search took."""
    search_seconds: list[float] = []

    def search_repeatedly(user: int) -> None:
        reader, start = Asking(host), time.monotonic() + user / n_users
        for turn in range(int(seconds)):
            time.sleep(max(0.0, start + turn - time.monotonic()))
            search_seconds.append(search(reader, queries[(user * 7 + turn) % len(queries)]))

    threads = [threading.Thread(target=search_repeatedly, args=(user,)) for user in range(n_users)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return search_seconds


if __name__ == "__main__":
    main()
