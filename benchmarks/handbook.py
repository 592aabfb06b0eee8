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
import time
from pathlib import Path

from measuring import READ_AHEAD_SECONDS, Client, index_files, print_latencies, run_server, search_concurrently

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
        index_files(folder, library, n_pages)
    queries = list(dict.fromkeys(page.title for page in read_documents(str(folder / "en-US"))))
    with run_server(library) as server:
        time.sleep(READ_AHEAD_SECONDS)
        client = Client(server.host)
        for query in WARMING_QUERIES:
            client.search(query)
        search_seconds = [client.search(query)[0] for query in queries]
        print_latencies("one person", search_seconds, worst=round(1000 * max(search_seconds), 1))
        print_latencies(f"{n_users} people", search_concurrently(server.host, queries, n_users, seconds))


if __name__ == "__main__":
    main()
