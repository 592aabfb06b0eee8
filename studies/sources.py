"""What the default model is learned from: pairs of English and another language, each with its kind and its part.

Read from the folder PARAGLOSS_DATA: `open` (words, names and texts under licences that let a model be shipped),
`tatoeba`, `flores`, `mdn` and `lohelp`. Never read here: MUSE word pairs (not for shipping) and Debian's descriptions.

A part is "test", "valid" or "train", by a hash of what belongs together (an English sentence, a run of twenty sentences
of news or health text), so that no language's test sentence is another's training sentence. FLORES, MDN and
LibreOffice help are all "test": figures come from a model that has seen nothing of them. The model that is shipped is
learned from all parts.
"""

from __future__ import annotations

import gzip
import json
import lzma
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sets import folder

from papers.corpora import assign_partition as share
from paragloss.analysis import analyzer
from paragloss.formats.jsonl import read_concepts

LANGS = """
fr it es de pt nl da sv no fi pl ru uk cs sk sl hr bg hu ro el tr ar he fa hi bn ta th vi id ms tl sw zh ja ko ca
ha ig yo zu xh am so rw
""".split()  # noqa: SIM905
#: Where a language has next to nothing of its own, words of the nearest relative stand in.
RELATIVES = {"ms": ("id",), "ca": ("es", "fr", "it", "pt"), "no": ("da",), "xh": ("zu",)}
KINDS = ("words", "names", "sentences", "documents", "relatives")
#: Longer entries explain, they don't translate.
_LONGEST_ENTRY = 4
MAX_ROWS = {"cataclysm": 30_000, "suttacentral": 10_000, "mdn": 2_000, "jmdict": 150_000}
_FILES = {"no": "nb"}  # Tatoeba and FLORES call Norwegian by its written form


class Pair(NamedTuple):
    """The same thing in English and in the other language."""

    source: str
    kind: str
    part: str
    en: str
    other: str


def pairs(lang: str) -> Iterator[Pair]:
    """Everything there is for one language, in an order that never changes."""
    yield from words(lang)
    yield from names(lang)
    yield from texts(lang)
    yield from tatoeba(lang)
    yield from flores(lang)
    yield from pages(lang)
    for relative in RELATIVES.get(lang, ()):
        for pair in (*words(relative), *names(relative)):
            yield pair._replace(kind="relatives")


def words(lang: str) -> Iterator[Pair]:
    """Dictionary entries; explanations in brackets are dropped, entries of many words too."""
    for path in sorted((folder() / "open" / "words").glob(f"*/en-{lang}.tsv.xz")):
        name = path.parent.name
        words_found = [
            Pair(name, "words", "train", en, other)
            for en, other in _rows(path)
            if en and other and not _han().search(en) and (lang in ("zh", "ja", "ko") or not _han().search(other))
            if len(analyzer("en").terms(en)) <= _LONGEST_ENTRY
        ]
        yield from _sample_rows(list(dict.fromkeys(words_found)), name)


def names(lang: str) -> Iterator[Pair]:
    """The first name with each of a few synonyms of the other side."""
    for path in sorted((folder() / "open" / "names").glob("*.jsonl.xz")):
        for row in _json(path):
            if "en" in row["texts"] and lang in row["texts"]:
                en, other = row["texts"]["en"][:3], row["texts"][lang][:3]
                name_pairs = [(en[0], o) for o in other] + [(e, other[0]) for e in en[1:]]
                for e, o in dict.fromkeys(name_pairs):
                    yield Pair(path.name.split(".")[0], "names", "train", e, o)


def texts(lang: str) -> Iterator[Pair]:
    for path in sorted((folder() / "open" / "text").glob("*.jsonl.xz")):
        name = path.name.split(".")[0]
        texts_found = []
        for number, row in enumerate(_json(path)):
            if lang in row["texts"] and "en" in row["texts"]:
                part = run_part(name, number)
                texts_found.append(Pair(name, "sentences", part, row["texts"]["en"], row["texts"][lang]))
        yield from _sample_rows(texts_found, name)


def run_part(name: str, number: int) -> str:
    """News and health text is held out in runs of twenty sentences; other texts are for training."""
    return share(f"{name}:{number // 20}", 4) if name in ("ntrex", "tico19") else "train"


def rows(name: str) -> list[dict]:
    """All of one text in all languages: {"texts": {lang: text}}."""
    if name == "flores":
        with gzip.open(folder() / "flores" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]
    return _json(folder() / "open" / "text" / f"{name}.jsonl.xz")


def written(lang: str) -> str:
    """What Tatoeba and FLORES call a language."""
    return _FILES.get(lang, lang)


def tatoeba(lang: str) -> Iterator[Pair]:
    path = folder() / "tatoeba" / f"en-{_FILES.get(lang, lang)}.tsv.gz"
    if path.is_file():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                en, other = line.rstrip("\n").split("\t")[:2]
                yield Pair("tatoeba", "sentences", share(en.lower(), 1), en, other)


def flores(lang: str) -> Iterator[Pair]:
    for row in _json(folder() / "flores" / "dev.jsonl.gz"):
        other = row["texts"].get(_FILES.get(lang, lang))
        if other:
            yield Pair("flores", "sentences", "test", row["texts"]["en"], other)


def pages(lang: str) -> Iterator[Pair]:
    """MDN and LibreOffice help: titles as sentences, bodies as documents."""
    for name in ("mdn", "lohelp"):
        path = folder() / name / f"{lang}.jsonl.gz"
        if not path.is_file():
            continue
        concepts = read_concepts([folder() / name / "en.jsonl.gz", path])
        bilingual = [c for c in concepts if {"en", lang} <= c.texts.keys()]
        for c in _sample_rows(bilingual, name):
            yield Pair(name, "documents", "test", c.texts["en"], c.texts[lang])
            if c.titles.get("en") and c.titles.get(lang):
                yield Pair(name, "sentences", "test", c.titles["en"], c.titles[lang])


def _sample_rows(rows: list, name: str) -> list:
    """No more than pays: beyond these numbers a source taught nothing new."""
    max_rows = MAX_ROWS.get(name, len(rows))
    if len(rows) <= max_rows:
        return rows
    sampled = sorted(random.Random(0).sample(range(len(rows)), max_rows))
    return [rows[i] for i in sampled]


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            en, _, other = line.rstrip("\n").partition("\t")
            yield _plain(en), _plain(other)


@cache
def _brackets() -> re.Pattern[str]:
    return re.compile(r"\([^)]*\)|\[[^\]]*\]|,.*$")


@cache
def _han() -> re.Pattern[str]:
    """Some lists spell Vietnamese words in Chinese characters, or put them into English explanations."""
    return re.compile("[\u2e80-\u9fff\uac00-\ud7a3]")


def _plain(text: str) -> str:
    return " ".join(_brackets().sub(" ", text).split())


@cache
def _json(path: Path) -> list[dict]:
    """Kept: every language reads the same files."""
    opened = lzma.open if path.suffix == ".xz" else gzip.open
    with opened(path, "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        wanted_languages = {"en", *LANGS, *_FILES.values()}
        return [
            {"texts": {lang: text for lang, text in row["texts"].items() if lang in wanted_languages}} for row in rows
        ]
