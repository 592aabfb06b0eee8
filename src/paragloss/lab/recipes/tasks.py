"""What the results page asks of every system: documents, sentences, words, questions, graded judgments, a mixed list.

A group is a collection and a pair of languages: something to learn from, and tasks on what is held out. Held out is
what the default model's held build has not seen either: test sentences of Tatoeba and test runs of NTREX and TICO-19 by
the same hashes, all of MDN and LibreOffice help; Debian's descriptions and MUSE it never sees.
"""

from __future__ import annotations

import gzip
import json
import lzma
import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from paragloss.analysis import analyzer
from paragloss.formats.dictionaries import read_pairs
from paragloss.lab import judgments
from paragloss.lab.recipes.sets import digest, drawn, folder, in_all, share, split
from paragloss.types import Concept, Document, Qrels, Query

TALK = ("da", "it", "vi", "fr", "hi", "zh", "ru", "ar")
PAGES = {"ddtp": ("da", "it", "fr", "ru"), "lohelp": ("it", "fr", "es"), "mdn": ("fr", "zh", "ru")}
GROUPS = (
    *(f"{name} en-{lang}" for name, langs in PAGES.items() for lang in langs),
    *(f"talk en-{lang}" for lang in TALK),
    "talk da-vi",
    "talk mixed",
)


class Task(NamedTuple):
    """`measure` is the reciprocal rank, or with grades nDCG@10."""

    name: str
    queries: list[Query]
    documents: list[Document]
    qrels: Qrels
    measure: str = "RR"

    @property
    def targets(self) -> list[str]:
        return sorted({document.lang for document in self.documents})


class Sizes(NamedTuple):
    """How much is learned from, asked and looked through."""

    pairs: int
    pages: int
    queries: int
    documents: int


FULL, SMOKE = Sizes(3000, 1200, 150, 400), Sizes(120, 60, 8, 20)


def learned_from(group: str, seed: int, *, smoke: bool) -> list[Concept]:
    """What models of this group learn from: whole concepts, in its languages only."""
    name, pair = group.split(" ")
    sizes = SMOKE if smoke else FULL
    if name == "talk":
        langs = TALK if pair == "mixed" else [lang for lang in pair.split("-") if lang != "en"]
        each = max(sizes.pairs // len(langs), sizes.pairs // 4)
        return [c for lang in langs for c in talk(lang, each, seed)]
    lang = pair.removeprefix("en-")
    both = in_all(split(name, ["en", lang], lines=300 if smoke else None).train, ["en", lang])
    return drawn(both, sizes.pages, seed)


def talk(lang: str, most: int, seed: int) -> list[Concept]:
    """Sentence pairs with English: two thirds from Tatoeba, a third from the training runs of news and health text."""
    everyday = drawn([c for c in pairs(lang) if share(c.texts["en"].lower(), 1) == "train"], most * 2 // 3, seed)
    told = [
        Concept(f"{lang}:{name}:{number}", {"en": row["en"], lang: row[lang]})
        for name in ("ntrex", "tico19")
        for number, row in enumerate(rows(name))
        if run_part(name, number) == "train" and {"en", lang} <= row.keys()
    ]
    return [*everyday, *drawn(told, most - len(everyday), seed)]


def tasks(group: str, *, smoke: bool) -> list[Task]:
    """What is asked of the group's systems; always the same."""
    name, pair = group.split(" ")
    sizes = SMOKE if smoke else FULL
    if pair == "mixed":
        return [questions("en", TALK, sizes)]
    source, lang = pair.split("-")
    if name != "talk":
        found = [titles(name, lang, sizes, smoke)]
        return [*found, graded(lang, sizes, smoke)] if name == "mdn" else found
    if source != "en":
        return [questions(source, [lang], sizes)]
    made = [sentences(lang, sizes), words(lang, sizes), questions("en", [lang], sizes)]
    return [*made, questions("hi", ["en"], sizes)] if lang == "hi" else made


def titles(name: str, lang: str, sizes: Sizes, smoke: bool) -> Task:
    """English titles find pages among held-out ones."""
    held_out = in_all(split(name, ["en", lang], lines=600 if smoke else None).test, [lang])
    some = drawn(held_out, sizes.documents, 0)
    asking = drawn([c for c in some if c.titles.get("en")], sizes.queries, 1)
    documents = [Document(c.id, c.texts[lang], lang, c.titles.get(lang, "")) for c in some]
    queries = [Query(c.id, c.titles["en"], "en") for c in asking]
    return Task(f"documents, {name}, en-{lang}", queries, documents, {q.id: {q.id: 1} for q in queries})


def graded(lang: str, sizes: Sizes, smoke: bool) -> Task:
    """First sentences without the title's words; the page itself counts 2, pages linked with it both ways 1."""
    held_out = in_all(split("mdn", ["en", lang], lines=600 if smoke else None).test, ["en", lang])
    links = judgments.read_links(folder() / "mdn" / "mutual_links.tsv.gz")
    judged = judgments.from_aligned(drawn(held_out, sizes.documents, 0), source="en", target=lang, links=links)
    queries = drawn(judged.queries, sizes.queries, 1)
    qrels = {query.id: judged.qrels[query.id] for query in queries}
    return Task(f"ad hoc, mdn, en-{lang}", queries, list(judged.documents.values()), qrels, "nDCG@10")


def sentences(lang: str, sizes: Sizes) -> Task:
    """Tatoeba's test sentences find their translations."""
    held_out = [c for c in pairs(lang) if share(c.texts["en"].lower(), 1) == "test"]
    some = drawn(held_out, sizes.documents, 0)
    queries = [Query(c.id, c.texts["en"], "en") for c in drawn(some, sizes.queries, 1)]
    documents = [Document(c.id, c.texts[lang], lang) for c in some]
    return Task(f"sentences, tatoeba, en-{lang}", queries, documents, {q.id: {q.id: 1} for q in queries})


def words(lang: str, sizes: Sizes) -> Task:
    """English words find any of their translations among as many words."""
    found: dict[str, set[str]] = {}
    for entry in read_pairs(folder() / "muse" / f"en-{lang}.tsv.gz"):
        if entry.source.lower() != entry.target.lower():
            found.setdefault(entry.source, set()).add(entry.target)
    asked = drawn([Query(word, word, "en") for word in list(found)[:5000]], sizes.documents // 2, 0)
    other = sorted({word for query in asked for word in found[query.id]})
    queries = drawn(asked, sizes.queries, 1)
    return Task(
        f"words, muse, en-{lang}",
        queries,
        [Document(word, word, lang) for word in other],
        {query.id: dict.fromkeys(found[query.id], 1) for query in queries},
    )


def questions(source: str, langs: Sequence[str], sizes: Sizes) -> Task:
    """Five neighbouring words of a sentence find the passage of four that it stands in, in every language asked for."""
    documents, queries, qrels = [], [], {}
    for number, passage in enumerate(passages([source, *langs])):
        for lang in langs:
            documents.append(Document(f"{number}.{lang}", " ".join(row[lang] for row in passage), lang))
        for place, row in enumerate(passage):
            text = neighbours(row[source], source, 5, f"{number}.{place}")
            if text:
                queries.append(Query(f"{number}.{place}", text, source))
                qrels[queries[-1].id] = {f"{number}.{lang}": 1 for lang in langs}
    asked = drawn(queries, sizes.queries, 1)
    name = "mixed list" if len(langs) > 1 else f"{source}-{langs[0]}"
    return Task(f"questions, news, {name}", asked, documents, {query.id: qrels[query.id] for query in asked})


def passages(langs: Sequence[str]) -> Iterator[list[dict[str, str]]]:
    """Four sentences each, from the test runs of news and health text that have all these languages."""
    for name in ("ntrex", "tico19"):
        kept: dict[int, list[dict[str, str]]] = {}
        for number, row in enumerate(rows(name)):
            if run_part(name, number) == "test" and all(lang in row for lang in langs):
                kept.setdefault(number // 20, []).append(row)
        for run in kept.values():
            for start in range(0, len(run), 4):
                yield run[start : start + 4]


def neighbours(text: str, lang: str, most: int, key: str) -> str:
    """A few neighbouring words, stop words between them left out; none of a text of fewer than three."""
    spans = analyzer(lang).spans(text)
    if len(spans) < 3:
        return ""
    first = random.Random(key).randrange(max(len(spans) - most, 0) + 1)
    return " ".join(text[span.start : span.end] for span in spans[first : first + most])


@lru_cache(maxsize=2)
def rows(name: str) -> list[dict[str, str]]:
    """All of one text in all languages."""
    wanted = {"en", *TALK}
    found: list[dict[str, Any]] = []
    with lzma.open(folder() / "open" / "text" / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
        found.extend(map(json.loads, lines))
    return [{lang: text for lang, text in row["texts"].items() if lang in wanted} for row in found]


def run_part(name: str, number: int) -> str:
    """News and health text is held out in runs of twenty sentences."""
    return share(f"{name}:{number // 20}", 4)


@lru_cache(maxsize=2)
def pairs(lang: str) -> list[Concept]:
    """Tatoeba's pairs, each sentence once."""
    seen: set[str] = set()
    found = []
    with gzip.open(folder() / "tatoeba" / f"en-{lang}.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            english, other = line.rstrip("\n").split("\t")[:2]
            if english not in seen and other not in seen:
                seen |= {english, other}
                found.append(Concept(f"t{digest(english)}", {"en": english, lang: other}))
    return found
