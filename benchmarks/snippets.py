"""Measures which share of snippets contains markup or navigation.

    python benchmarks/snippets.py [--cache FOLDER]

Five sites are indexed, one after the other: three manuals of Debian packages in HTML (fetched with `apt-get download`)
and the Markdown documentation of a PyPI and an npm package (fetched with `pip download` and `npm pack`). Ten queries
are asked of each; every snippet of the first ten results is searched for markup and for lines of navigation. Markup in
examples of code is part of the text and not counted: lines that stand in a fenced block of the page.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from paragloss.collection import Collection

DEBIAN_MANUALS = ["debian-faq-fr", "developers-reference-de", "aptitude-doc-es"]
#: Commands that fetch the archive of a package with Markdown documentation.
MARKDOWN_PACKAGES = {
    "starlette": [
        sys.executable,
        *["-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation", "--no-binary", ":all:"],
    ],
    "fastify": ["npm", "pack", "--silent"],
}
QUERIES = [
    "install a package",
    "configuration file",
    "report a bug",
    "upgrade to the next version",
    "search by name",
    "security",
    "user interface colours",
    "license and copyright",
    "command line options",
    "test before release",
]
REQUIRED_SHARE = 0.01
#: Markdown links and definitions, attributes, template instructions, tags, entities; headings' marks and fences.
MARKUP = re.compile(
    r"\]\(|^\[[^\]]+\]:|\]\[|\{:|\{%|\{\{|\{#|<!--|</?(?:a|div|span|p|br|img|nav|li|ul|td|tr|h\d)\b[^>]*>|&\w+;|\*\*|```|"
    r"(?:^|\s)#{2,6}\s|^---$",
    re.MULTILINE,
)
#: Links to neighbouring pages, breadcrumbs and tables of contents.
NAVIGATION = re.compile(
    r"\b(?:Prev|Précédent|Zurück|Anterior)\b.{0,40}\b(?:Next|Suivant|Weiter|Siguiente)\b|"
    r"(?:\S+ [»›>] ){2}|\[ ?(?:previous|next|précédent|suivant) ?\]|(?:\. ?){5}|"
    r"Table of Contents|Table des matières|Inhaltsverzeichnis|Tabla de contenidos|Skip to",
    re.IGNORECASE,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/paragloss/snippets").expanduser())
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    sites = [fetch_manual(options.cache, package) for package in DEBIAN_MANUALS]
    sites += [fetch_documentation(options.cache, package) for package in MARKDOWN_PACKAGES]
    total = flawed = 0
    print("| site | pages | snippets | with markup | with navigation |\n|---|---|---|---|---|")
    for site in sites:
        page_count, snippets = collect_snippets(site)
        code_lines = find_code_lines(site)
        with_markup = [snippet for snippet in snippets if has_markup(snippet, code_lines)]
        with_navigation = [snippet for snippet in snippets if NAVIGATION.search(snippet)]
        print(f"| {site.name} | {page_count} | {len(snippets)} | {len(with_markup)} | {len(with_navigation)} |")
        for snippet in [*with_markup, *with_navigation][:3]:
            print("  ", snippet[:160], file=sys.stderr)
        total += len(snippets)
        flawed += len({*with_markup, *with_navigation})
    print(f"{flawed / total:.4f} of {total} snippets, required below {REQUIRED_SHARE}")


def fetch_manual(cache: Path, package: str) -> Path:
    """Fetch and unpack a Debian package, unless the cache has it."""
    target = cache / package
    if not target.exists():
        subprocess.run(["apt-get", "download", "-qq", package], cwd=cache, check=True)
        (archive,) = cache.glob(f"{package}_*.deb")
        subprocess.run(["dpkg-deb", "-x", str(archive), str(target)], check=True)
    return target


def fetch_documentation(cache: Path, package: str) -> Path:
    """Fetch the archive of a package and unpack its Markdown files, unless the cache has them."""
    target = cache / package
    if not target.exists():
        subprocess.run([*MARKDOWN_PACKAGES[package], package], cwd=cache, check=True)
        archive = next(path for path in cache.glob(f"{package}-*") if path.suffix in (".gz", ".tgz"))
        with tarfile.open(archive) as source:
            pages = [member for member in source.getmembers() if member.name.endswith(".md")]
            source.extractall(target, pages, filter="data")
    return target


def collect_snippets(site: Path) -> tuple[int, list[str]]:
    """Index a site; return the number of its pages, and the snippets of the first ten results of all queries."""
    pages = find_pages(site)
    with tempfile.TemporaryDirectory() as folder, Collection.create(f"{folder}/site", meaning=False) as collection:
        collection.index_files([str(path) for path in pages])
        snippets = [result.snippet for query in QUERIES for result in collection.search(query, k=10).results]
    return len(pages), snippets


def find_code_lines(site: Path) -> set[str]:
    """Return the lines of fenced blocks of code in the Markdown pages of a site, with white space folded."""
    code_lines: set[str] = set()
    for page in site.rglob("*.md"):
        for block in re.findall(r"^[ \t]*```.*?^[ \t]*```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL):
            code_lines.update(" ".join(line.split()) for line in block.split("\n"))
    return code_lines


def has_markup(snippet: str, code_lines: set[str]) -> bool:
    """Return whether a snippet has markup that does not stand in a line of code."""
    matches = [match[0].strip() for match in MARKUP.finditer(snippet)]
    lines_in_snippet = [line for line in code_lines if line and line in snippet]
    return any(not any(match in line for line in lines_in_snippet) for match in matches)


def find_pages(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*") if path.suffix in (".html", ".md") and not path.is_symlink())


if __name__ == "__main__":
    main()
