"""Ask the English titles of a manual of the pages in one language, and measure how high the right page is ranked.

    python studies/measure_manual.py FOLDER... --languages de it ja hu [--pipeline bm25]

The folders hold HTML pages called NAME.html (English) and NAME.LANG.html, as the Debian packages lilypond-doc-html-LANG
have them under usr/share/doc/lilypond/html/Documentation/. Pages are indexed as `paragloss index` does, each language
as a collection of its own, with the built-in encoder. A query is a title without the name of the manual and the number
of the section, which the titles of the pages keep. Prints the mean reciprocal rank of the page with the same file name,
a ceiling (the page's own title, asked with BM25), and how many pages were asked for. A title that several pages have is
not asked for.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from paragloss.collection import Collection
from paragloss.formats.documents import read_documents
from paragloss.types import Document, Query

#: The number of a section: "4.5.5" or "A.10".
SECTION_NUMBER = re.compile(r"^(?:[A-Z]|\d+)(?:\.\d+)+\s+|^(?:[A-Z]\.|\d+)\s+")


def main() -> None:
    """Read the command line and print a line for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--languages", nargs="+", required=True)
    parser.add_argument("--pipeline", help="search with this pipeline instead of the default")
    arguments = parser.parse_args()
    for lang in arguments.languages:
        pages = {path: english_path(path, lang) for path in list_pages(arguments.folders, lang)}
        print(lang, measure_language(pages, lang, arguments.pipeline), flush=True)


def list_pages(folders: Iterable[Path], lang: str) -> list[Path]:
    """Return the pages in a language that exist in English, too."""
    paths = [path for folder in folders for path in sorted(folder.glob(f"*.{lang}.html"))]
    return [path for path in paths if english_path(path, lang).is_file()]


def english_path(path: Path, lang: str) -> Path:
    """Return where the English version of a page is."""
    return path.with_name(path.name.removesuffix(f".{lang}.html") + ".html")


def measure_language(pages: dict[Path, Path], lang: str, pipeline: str | None) -> str:
    """Index the pages of a language and return a line of figures."""
    documents = {str(path): read_page(path)._replace(id=str(path), lang=lang) for path in pages}
    titles = {str(path): strip_title(read_page(english).title) for path, english in pages.items()}
    frequencies = Counter(titles.values())
    queries = [Query(path, title, "en") for path, title in titles.items() if title and frequencies[title] == 1]
    own_titles = [Query(query.id, strip_title(documents[query.id].title), lang) for query in queries]
    with tempfile.TemporaryDirectory() as folder, Collection.create(f"{folder}/manual") as collection:
        collection.index(documents.values())
        reciprocal_rank = mean_reciprocal_rank(collection, queries, pipeline)
        ceiling = mean_reciprocal_rank(collection, own_titles, "bm25")
    return f"{reciprocal_rank:.3f} (ceiling {ceiling:.3f}), {len(queries)} of {len(pages)} pages"


def strip_title(title: str) -> str:
    """Return a title without the name of the manual before a colon and without the number of the section."""
    return SECTION_NUMBER.sub("", title.rpartition(": ")[2]) or title


def read_page(path: Path) -> Document:
    """Read one file."""
    (document,) = read_documents(path)
    return document


def mean_reciprocal_rank(collection: Collection, queries: Sequence[Query], pipeline: str | None) -> float:
    """Return the mean of 1 / rank of the page that each query is about."""
    total = 0.0
    for query, ranking in zip(queries, collection.rank(queries, k=100, pipeline=pipeline), strict=True):
        ids = [hit.id for hit in ranking]
        total += 1 / (1 + ids.index(query.id)) if query.id in ids else 0.0
    return total / len(queries)


if __name__ == "__main__":
    main()
