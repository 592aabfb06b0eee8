"""The papers' own data, for those who have it: recipes measure it as further parts where its files are here.

Under PARAGLOSS_DATA: `wmt14/*.en` and `.hi`, `europarl/*.en` and `.it` (sentences, line beside line, as they are
published), `dinu/*test*` (Dinu's dictionary), `lsclir/wiki_en.queries`, `wiki_XX.documents`, `en2XX.rel`, `fire/hi` (a
folder of TREC documents) with `fire/topics.en`, `topics.hi` and `qrels`, and Wikipedia's dumps under their own names,
`wikipedia/enwiki-DAY-pages-articles.xml.bz2`, of another language also `langlinks`, `pagelinks` and `linktarget`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from paragloss.formats import lsclir, trec
from paragloss.formats.dictionaries import Entry, read_pairs
from paragloss.formats.rows import group_by_concept
from paragloss.lab import aligned_files, judgments, wikilinks
from paragloss.lab.recipes.adhoc import Pages
from paragloss.lab.recipes.sets import Split, divided, drawn, folder
from paragloss.types import Judged, Query

#: The paper's sentences to learn from.
WMT14 = 100_000


def present(parts: Mapping[str, Sequence[str]]) -> list[str]:
    """The parts all of whose files are here; one with {lang} in its name, for each language that has the last of its
    files."""
    return [
        part.replace("{lang}", lang)
        for part, files in parts.items()
        for lang in _langs(files[-1])
        if all(any(folder().glob(file.replace("{lang}", lang))) for file in files)
    ]


def _langs(file: str) -> list[str]:
    named = re.compile(re.escape(file.rpartition("/")[2]).replace(r"\{lang\}", "([a-z]+)").replace(r"\*", ".*"))
    found = [named.fullmatch(path.name) for path in folder().glob(file.replace("{lang}", "*"))]
    return sorted({match[1] for match in found if match} - {"en"}) if named.groups else [""]


def sentences(name: str, lang: str) -> Split:
    """A corpus of sentence pairs with English; a tenth is held out."""
    files = sorted((folder() / name).glob("*.en"))
    beside = (aligned_files.read_beside(english, english.with_suffix(f".{lang}")) for english in files)
    return divided(chain.from_iterable(beside), lang)


def dinu() -> list[Entry]:
    """The word pairs to be found."""
    (file, *_) = sorted((folder() / "dinu").glob("*test*"))
    return list(read_pairs(file))


def judged(lang: str, most: int) -> Judged:
    """LS-CLIR's English queries, at most so many, and their documents in another language."""
    place = folder() / "lsclir"
    qrels = lsclir.read_lsclir_qrels(place / f"en2{lang}.rel")
    asked = [
        query for query in lsclir.read_lsclir_queries(place / "wiki_en.queries") if query.id in qrels and query.text
    ]
    queries = drawn(asked, most, 0)
    wanted = {name for query in queries for name in qrels[query.id]}
    documents = {d.id: d for d in lsclir.read_lsclir_documents(place / f"wiki_{lang}.documents") if d.id in wanted}
    grades = {query.id: {d: g for d, g in qrels[query.id].items() if d in documents} for query in queries}
    return Judged([query for query in queries if grades[query.id]], documents, {q: g for q, g in grades.items() if g})


def encyclopedia(lang: str, most: int) -> Judged:
    """At most so many English pages ask for the same page in another language; pages it is linked with both ways are
    partly relevant. Only pages that ask or are linked with one are kept."""

    def file(code: str, what: str) -> Path:
        return sorted((folder() / "wikipedia").glob(f"{code}wiki-*{what}*"))[-1]

    dump, tables = file(lang, "pages-articles"), [file(lang, what) for what in ("langlinks", "pagelinks", "linktarget")]
    shared = {title for _, code, title in wikilinks.read_langlinks(tables[0]) if code == "en"}
    asking = {query.id for query in drawn([Query(title, title, "en") for title in sorted(shared)], most, 0)}
    pairs = wikilinks.concept_links(dump, tables[1], tables[0], linktarget=tables[2])
    links = judgments.mutual(pair for pair in pairs if asking.intersection(pair))
    wanted = asking | {other for page in asking for other in links.get(page, ())}
    english = (part for part in wikilinks.read_parts(file("en", "pages-articles")) if part.concept in asking)
    others = (part for part in wikilinks.read_parts(dump, tables[0]) if part.concept in wanted)
    return judgments.from_aligned(group_by_concept(chain(english, others)), source="en", target=lang, links=links)


def fire(source: str, *, smoke: bool) -> Pages:
    """Hindi news, asked in either language; what is learned from are WMT14's sentences."""
    place = folder() / "fire"
    qrels = trec.read_trec_qrels(place / "qrels")
    files = [file for file in sorted((place / "hi").rglob("*")) if file.is_file()]
    documents = [document for file in files for document in trec.read_trec_documents(file, lang="hi")]
    queries = [query for query in trec.read_topics(place / f"topics.{source}", lang=source) if query.id in qrels]
    asked = {query.id: qrels[query.id] for query in queries}
    return Pages(queries, documents, asked, sentences("wmt14", "hi").train, 100 if smoke else WMT14)
