"""What `paragloss learn` is worth on pages it has not seen: a manual in one language, half of its pages in English too.

    python studies/pages_in_two.py MANUAL [--english en] [--langs de,es,ru,ja] [--part test|dev] [--meaning]

MANUAL has a folder of HTML pages for each language, alike in their names. For each language a folder is made of its
pages and of every other English page, and indexed by `paragloss index`. English titles (one to five words, one page's
alone) of pages that are not there in English ask for the page in the other language: before and after `paragloss
learn`, and beside it the pages' own titles. What is tried is chosen on one half of those titles (`dev`), and reported
on the other (`test`).

Debian's packages unpacked side by side are such manuals: gimp-help-LANG (usr/share/gimp/2.0/help), and
libreoffice-help-LANG (usr/share/libreoffice/help, English is `en-US`).
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from paragloss.cli import app
from paragloss.collection import Collection
from paragloss.errors import InputError
from paragloss.evaluation.significance import compare
from paragloss.formats.html import read_html
from paragloss.types import Query

#: What a heading is numbered with.
NUMBER = re.compile(r"^[\d.\s]+")
#: A page's turn in the sorted list says what it is for: English pages to learn from, and titles asked.
TURNS = {0: "learn", 1: "dev", 2: "learn", 3: "test"}


def titles(folder: Path) -> dict[str, str]:
    """Titles of one to five words that one page has alone, by the page's path in its language's folder."""
    titles_by_id = {}
    for path in sorted(folder.rglob("*.html")):
        try:
            titles_by_id[str(path.relative_to(folder))] = NUMBER.sub("", read_html(path).title)
        except InputError:
            continue
    often = Counter(titles_by_id.values())
    return {id: title for id, title in titles_by_id.items() if often[title] == 1 and 1 <= len(title.split()) <= 5}


def turns(folder: Path) -> dict[str, str]:
    paths = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html"))
    return {path: TURNS[n % 4] for n, path in enumerate(paths)}


def make(manual: Path, english: str, lang: str, into: Path) -> None:
    """The language's pages, and those English ones that are learned from."""
    shutil.copytree(manual / lang, into / lang)
    for path, turn in turns(manual / english).items():
        if turn == "learn" and (into / lang / path).exists():
            (into / "en" / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(manual / english / path, into / "en" / path)


def reciprocal_ranks(library: str, titles_by_id: dict[str, str], lang: str, source: str = "en") -> dict[str, float]:
    with Collection.open(library) as engine:
        ids = {id.partition(f"{lang}/")[2]: id for id in (d.id for d in engine.documents() if d.lang == lang)}
        run = engine.rank([Query(id, title, source) for id, title in titles_by_id.items()], k=10, to=[lang])
    ranks_by_id = {}
    for id, ranking in zip(titles_by_id, run, strict=True):
        ranks = [hit.id for hit in ranking]
        ranks_by_id[id] = 1 / (1 + ranks.index(ids[id])) if ids.get(id) in ranks else 0.0
    return ranks_by_id


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manual", type=Path)
    parser.add_argument("--english", default="en")
    parser.add_argument("--langs", default="de,es,ru,ja")
    parser.add_argument("--part", default="test", choices=["test", "dev"])
    parser.add_argument("--meaning", action="store_true", help="with the encoder in the box")
    args = parser.parse_args()
    all_titles, turn = titles(args.manual / args.english), turns(args.manual / args.english)
    print("| | titles | before | after | gain | p | own titles |\n|---|---|---|---|---|---|---|")
    for lang in args.langs.split(","):
        with tempfile.TemporaryDirectory() as folder:
            pages, library = Path(folder) / "pages", str(Path(folder) / "library")
            make(args.manual, args.english, lang, pages)
            titles_asked = {
                id: t for id, t in all_titles.items() if turn[id] == args.part and (pages / lang / id).exists()
            }
            command = ["index", str(pages), "--into", library, *([] if args.meaning else ["--no-meaning"])]
            app(command, standalone_mode=False)
            before = reciprocal_ranks(library, titles_asked, lang)
            own = {id: NUMBER.sub("", read_html(pages / lang / id).title) for id in titles_asked}
            own_language = reciprocal_ranks(library, own, lang, lang)
            app(["learn", library], standalone_mode=False)
            after = reciprocal_ranks(library, titles_asked, lang)
        comparison = compare(before, after)
        cells = [
            f"{x:.3f}" for x in (comparison.first, comparison.second, comparison.difference, comparison.p_randomisation)
        ]
        ceiling = sum(own_language.values()) / len(own_language)
        print(f"| {lang} | {comparison.queries} | {' | '.join(cells)} | {ceiling:.3f} |", flush=True)


if __name__ == "__main__":
    main()
