"""A manual whose pages are half translated: its English titles asked for the page in another language, where nobody
says which language the pages are in and where somebody does; and the pages' own titles asked.

    python studies/half_translated.py HELP [--langs de,es,ru,ja]

HELP has a folder of pages for each language, `en` among them, alike in their names: Debian's gimp-help-LANG packages
unpacked side by side (usr/share/gimp/2.0/help).
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from pathlib import Path

from paragloss.collection import Collection
from paragloss.errors import InputError
from paragloss.formats.html import read_html
from paragloss.types import Document, Query

#: What a heading is numbered with.
NUMBER = re.compile(r"^[\d.\s]+")


def pages(folder: Path) -> dict[str, Document]:
    """The pages of a folder by name, saying no language and with their titles unnumbered."""
    found = {}
    for path in sorted(folder.glob("*.html")):
        try:
            page = read_html(path, id=path.name)
        except InputError:
            continue
        found[path.name] = page._replace(lang="", title=NUMBER.sub("", page.title))
    return found


def titles(pages: dict[str, Document]) -> dict[str, str]:
    """Titles of one to five words that one page has alone."""
    some = {id: page.title for id, page in pages.items() if 1 <= len(page.title.split()) <= 5}
    often = Counter(some.values())
    return {id: title for id, title in some.items() if often[title] == 1}


def reciprocal_rank(engine: Collection, asked: dict[str, str], lang: str, pipeline: str | None = None) -> float:
    run = engine.rank([Query(id, title, lang) for id, title in asked.items()], k=10, pipeline=pipeline)
    ranks = [
        next((1 / (n + 1) for n, hit in enumerate(r) if hit.id == id), 0) for id, r in zip(asked, run, strict=True)
    ]
    return sum(ranks) / len(ranks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("help", type=Path)
    parser.add_argument("--langs", default="de,es,ru,ja")
    args = parser.parse_args()
    english = titles(pages(args.help / "en"))
    print("     English titles: unsaid, said | own titles: unsaid, said, bm25 said | languages found")
    rows = []
    for lang in args.langs.split(","):
        there = pages(args.help / lang)
        asked, own = {id: title for id, title in english.items() if id in there}, titles(there)
        row, spoken = [], Counter[str]()
        for said in ("", lang):
            with tempfile.TemporaryDirectory() as place, Collection.create(str(Path(place) / "c")) as engine:
                engine.index(page._replace(lang=said) for page in there.values())
                row += [reciprocal_rank(engine, asked, "en"), reciprocal_rank(engine, own, lang)]
                row += [reciprocal_rank(engine, own, lang, "bm25")] if said else []
                spoken = spoken or Counter(engine.info()["languages"])
        rows.append([row[i] for i in (0, 2, 1, 3, 4)])
        print(f"{lang}: {len(asked)} {' '.join(f'{x:.3f}' for x in rows[-1])} {dict(spoken)}", flush=True)
    print(f"mean {' '.join(f'{sum(column) / len(rows):.3f}' for column in zip(*rows, strict=True))}")


if __name__ == "__main__":
    main()
