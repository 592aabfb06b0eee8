"""What should documents in the query's own language count beside those in others, where languages are merged?

    PARAGLOSS_DATA=... python studies/own_language.py [--part valid] [--queries 300]

Two uses pull apart. *One version*: a passage of news or health text stands in one of seven languages, drawn at random;
five English words of it find it. *Every version*: a page of LibreOffice help stands in five languages; its title in one
of them finds that page, not a translation. Words and the default model, no encoder. RR; p of the randomisation test
against 1.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence

import questions
from sets import split

from paragloss.collection import Collection
from paragloss.evaluation import compare
from paragloss.search import calibrated
from paragloss.types import Document, Query

COUNTS = (1.0, 1.1, 1.25, 1.5, 2.0)
LANGS, MANUALS = ("en", "de", "es", "ru", "hi", "vi", "fr"), ("en", "de", "es", "ru", "fr")


def one_version(part: str, most: int) -> tuple[list[Document], list[Query], list[str]]:
    made = {lang: questions.claims(lang, part=part) for lang in LANGS}
    number, chance = min(len(one.documents) for one in made.values()), random.Random(1)
    documents = [made[chance.choice(LANGS)].documents[i]._replace(id=f"p{i}") for i in range(number)]
    asked = [(q, f"p{at}") for q, at in zip(made["en"].queries, made["en"].right, strict=True) if at < number]
    asked = random.Random(2).sample(asked, min(most, len(asked)))
    return documents, [query for query, _ in asked], [right for _, right in asked]


def every_version(part: str, most: int) -> tuple[list[Document], list[Query], list[str]]:
    parts = split("lohelp", list(MANUALS))
    pages = [c for c in (parts.test if part == "test" else parts.train) if all(c.titles.get(lang) for lang in MANUALS)]
    pages = random.Random(0).sample(pages, min(len(pages), 200))
    documents = [Document(f"{c.id}.{lang}", c.texts[lang], lang, c.titles[lang]) for c in pages for lang in MANUALS]
    asked = random.Random(1).sample(documents, min(most, len(documents)))
    return documents, [Query(d.id, d.title, d.lang) for d in asked], [d.id for d in asked]


def measured(documents: Sequence[Document], queries: Sequence[Query], right: Sequence[str]) -> None:
    plain: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place, Collection.create(f"{place}/c", meaning=False) as collection:
        collection.index(documents)
        for counts in COUNTS:
            calibrated.OWN = counts
            found: dict[str, float] = {}
            for number, (query, wanted) in enumerate(zip(queries, right, strict=True)):
                ids = [hit.id for hit in collection.rank([query], k=50)[0]]
                found[str(number)] = 1 / (1 + ids.index(wanted)) if wanted in ids else 0.0
            plain = plain or found
            test = compare(plain, found)
            mean = sum(found.values()) / len(found)
            print(f"  {counts:<5} {mean:.3f}  {test.difference:+.3f}, p {test.p_randomisation:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("valid", "test"), default="valid")
    parser.add_argument("--queries", type=int, default=300)
    args = parser.parse_args()
    for made in (one_version, every_version):
        print(made.__name__.replace("_", " "), flush=True)
        measured(*made(args.part, args.queries))


if __name__ == "__main__":
    main()
