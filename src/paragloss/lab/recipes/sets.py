"""The real collections recipes are measured on, split by concept before anything is fitted.

Read from the folder PARAGLOSS_DATA (default ~/.cache/paragloss): mdn (MDN web docs), ddtp (Debian package
descriptions), lohelp (LibreOffice help), as gzipped JSON Lines per language with concept, lang, title and text;
tatoeba (sentence pairs); muse (word pairs). None of their text is part of this repository.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from paragloss.formats.jsonl import read_concepts, read_jsonl_concept_texts
from paragloss.formats.rows import group_by_concept
from paragloss.types import Concept, Document, Qrels, Query


class Named(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=Named)
#: What is measured of one row of a table: column -> value, or values query by query.
Columns: TypeAlias = dict[str, float | list[float]]


class Split(NamedTuple):
    """Training concepts, and the held-out ones as documents to be found and queries to find them with."""

    train: list[Concept]
    test: list[Concept]


def folder() -> Path:
    return Path(os.environ.get("PARAGLOSS_DATA", Path.home() / ".cache" / "paragloss"))


def split(name: str, langs: Sequence[str], *, tenths: int = 2, lines: int | None = None) -> Split:
    """A collection in some languages; `tenths` of its concepts are held out, chosen by a hash of their family, so
    that the split never depends on the languages asked for. Debian's binary packages of one source name and MDN's
    pages stay together: near-duplicates never stand on both sides. `lines` reads the beginning of each file only."""
    concepts = read(name, langs, lines=lines)
    return _parted(concepts, [family(name, concept.id) for concept in concepts], tenths)


def _parted(concepts: Sequence[Concept], keys: Sequence[str], tenths: int) -> Split:
    parts = Split([], [])
    for concept, key in zip(concepts, keys, strict=True):
        parts[digest(key) % 10 < tenths].append(concept)
    return parts


def read(name: str, langs: Sequence[str], *, lines: int | None = None) -> list[Concept]:
    """A collection whole, for what learns nothing from it."""
    return _read(folder() / name, tuple(langs), lines)


@lru_cache(maxsize=2)
def _read(place: Path, langs: tuple[str, ...], lines: int | None) -> list[Concept]:
    paths = [place / f"{lang}.jsonl.gz" for lang in langs]
    if lines is None:
        return read_concepts(paths)
    return group_by_concept(part for path in paths for part in islice(read_jsonl_concept_texts(path), lines))


def in_all(concepts: Sequence[Concept], langs: Sequence[str]) -> list[Concept]:
    """Those that have a text in each of these languages."""
    return [c for c in concepts if all(c.texts.get(lang) for lang in langs)]


def drawn(items: Sequence[T], most: int, seed: int) -> list[T]:
    """At most so many, in their order, chosen by a hash of seed and id: the same ones however many others there are."""
    if len(items) <= most:
        return list(items)
    digests = [digest(f"{seed}:{item.id}") for item in items]
    edge = sorted(digests)[most - 1] if most else -1
    return [item for item, number in zip(items, digests, strict=True) if number <= edge]


def sentences(lang: str, *, tenths: int = 1) -> Split:
    """Tatoeba's sentence pairs with English."""
    with gzip.open(folder() / "tatoeba" / f"en-{lang}.tsv.gz", "rt", encoding="utf-8") as lines:
        return divided((line.rstrip("\n").split("\t")[:2] for line in lines), lang, tenths=tenths)


def divided(pairs: Iterable[Sequence[str]], lang: str, *, tenths: int = 1) -> Split:
    """Sentence pairs with English as concepts, each sentence once; split by a hash of the English one."""
    seen: set[str] = set()
    concepts = []
    for number, (english, other) in enumerate(pairs):
        if english not in seen and other not in seen:
            seen |= {english, other}
            concepts.append(Concept(f"t{number}", {"en": english, lang: other}))
    return _parted(concepts, [concept.texts["en"] for concept in concepts], tenths)


def known_item(test: list[Concept], source: str, targets: list[str]) -> tuple[list[Query], list[Document], Qrels]:
    """Titles in one language as queries, the bodies of the same concepts in the others as what they should find.

    Every held-out document of the target languages can be found, also those without a query."""
    queries, qrels = [], {}
    documents = [
        Document(f"{c.id}.{lang}", c.texts[lang], lang, c.titles.get(lang, ""))
        for c in test
        for lang in targets
        if lang in c.texts
    ]
    for c in test:
        found = {f"{c.id}.{lang}": 1 for lang in targets if lang in c.texts}
        if c.titles.get(source) and found:
            queries.append(Query(f"{c.id}.{source}", c.titles[source], source))
            qrels[f"{c.id}.{source}"] = found
    return queries, documents, qrels


def family(name: str, concept: str) -> str:
    """What must not stand on both sides of a split: Debian's binary packages of one source name, or one concept."""
    if name == "ddtp":
        package = concept.split(":")[0]
        return package.split("-")[0]  # 0ad, 0ad-data, 0ad-data-common
    return concept


def share(key: str, twentieths: int) -> str:
    """Of twenty parts so many are for test, as many for validation; the default model's held build is made so too."""
    place = digest(key) % 20
    return "test" if place < twentieths else "valid" if place < 2 * twentieths else "train"


def digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "little")
