"""Read the papers' own data, for those who have it: recipes measure it as further parts where its files are present.

Under PARAGLOSS_DATA: `wmt14/*.en` and `.hi`, `europarl/*.en` and `.it` (sentences, aligned by line, as they are
published), `dinu/*test*` (Dinu's dictionary), `lsclir/wiki_en.queries`, `wiki_XX.documents`, `en2XX.rel`, `fire/hi` (a
folder of TREC documents) with `fire/topics.en`, `topics.hi` and `qrels`, and Wikipedia's dumps under their own names,
`wikipedia/enwiki-DAY-pages-articles.xml.bz2`, of another language also `langlinks`, `pagelinks` and `linktarget`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path

from papers import wikilinks
from papers.corpora import Split, data_folder, sample_by_hash, split_sentence_pairs
from papers.page_search import PageTask, make_page_task
from paragloss.errors import InputError
from paragloss.formats import lsclir, trec
from paragloss.formats.dictionaries import Entry, read_pairs
from paragloss.formats.rows import group_by_concept
from paragloss.formats.text import read_lines
from paragloss.lab import judgments
from paragloss.types import JudgedCollection, Query

#: The number of sentence pairs that the XCNN paper learns from.
WMT14_TRAIN_SIZE = 100_000


def available_parts(parts: Mapping[str, Sequence[str]]) -> list[str]:
    """List the parts all of whose files are present.

    A part with `{lang}` in its name is listed for each language that has the last of its files.
    """
    return [
        part.replace("{lang}", lang)
        for part, files in parts.items()
        for lang in _find_languages(files[-1])
        if all(any(data_folder().glob(file.replace("{lang}", lang))) for file in files)
    ]


def _find_languages(file: str) -> list[str]:
    name = file.rpartition("/")[2]
    pattern = re.compile(re.escape(name).replace(r"\{lang\}", "([a-z]+)").replace(r"\*", ".*"))
    if not pattern.groups:
        return [""]
    matches = [pattern.fullmatch(path.name) for path in data_folder().glob(file.replace("{lang}", "*"))]
    return sorted({match[1] for match in matches if match} - {"en"})


def split_parallel_corpus(name: str, lang: str) -> Split:
    """Split a corpus of sentence pairs with English; a tenth is held out."""
    files = sorted((data_folder() / name).glob("*.en"))
    pairs = (_read_line_pairs(english, english.with_suffix(f".{lang}")) for english in files)
    return split_sentence_pairs(chain.from_iterable(pairs), lang)


def _read_line_pairs(first: Path, second: Path) -> Iterator[tuple[str, str]]:
    """Pair the lines of two files; pairs with a blank line are left out."""
    for left, right in zip_longest(read_lines(first), read_lines(second)):
        if left is None or right is None:
            raise InputError(f"{first} and {second} have not as many lines: they should say the same, line by line")
        if left[1].strip() and right[1].strip():
            yield left[1].strip(), right[1].strip()


def read_dinu_dictionary() -> list[Entry]:
    """Read the word pairs of Dinu's test dictionary."""
    (file, *_) = sorted((data_folder() / "dinu").glob("*test*"))
    return list(read_pairs(file))


def read_lsclir(lang: str, max_queries: int) -> JudgedCollection:
    """Read a sample of LS-CLIR's English queries and their documents in another language."""
    folder = data_folder() / "lsclir"
    qrels = lsclir.read_lsclir_qrels(folder / f"en2{lang}.rel")
    judged_queries = [q for q in lsclir.read_lsclir_queries(folder / "wiki_en.queries") if q.id in qrels and q.text]
    queries = sample_by_hash(judged_queries, max_queries, 0)
    doc_ids = {doc_id for query in queries for doc_id in qrels[query.id]}
    documents = {d.id: d for d in lsclir.read_lsclir_documents(folder / f"wiki_{lang}.documents") if d.id in doc_ids}
    grades = {
        query.id: {doc_id: grade for doc_id, grade in qrels[query.id].items() if doc_id in documents}
        for query in queries
    }
    answered = [query for query in queries if grades[query.id]]
    return JudgedCollection(answered, documents, {query.id: grades[query.id] for query in answered})


def read_wikipedia(lang: str, max_queries: int) -> JudgedCollection:
    """Make judgments of Wikipedia's dumps: English pages are queries for the same page in another language.

    Pages that link to a page and back are partly relevant to it. Pages that are neither queries nor linked are dropped.
    """

    def find_dump(code: str, table: str) -> Path:
        return sorted((data_folder() / "wikipedia").glob(f"{code}wiki-*{table}*"))[-1]

    pages, langlinks = find_dump(lang, "pages-articles"), find_dump(lang, "langlinks")
    english_titles = {title for _, code, title in wikilinks.read_langlinks(langlinks) if code == "en"}
    titles = [Query(title, title, "en") for title in sorted(english_titles)]
    query_ids = {query.id for query in sample_by_hash(titles, max_queries, 0)}
    all_links = wikilinks.concept_links(
        pages, find_dump(lang, "pagelinks"), langlinks, linktarget=find_dump(lang, "linktarget")
    )
    links = judgments.find_mutual_links(pair for pair in all_links if query_ids.intersection(pair))
    concepts = query_ids | {linked for query_id in query_ids for linked in links.get(query_id, ())}
    english_dump = find_dump("en", "pages-articles")
    english = (part for part in wikilinks.read_article_texts(english_dump) if part.concept in query_ids)
    foreign = (part for part in wikilinks.read_article_texts(pages, langlinks) if part.concept in concepts)
    return judgments.from_aligned(group_by_concept(chain(english, foreign)), source="en", target=lang, links=links)


def make_search_task(part: str, source: str, target: str, *, smoke: bool) -> PageTask:
    """Make the task of a part of XCNN's Tables 2 to 4: FIRE's news if the part is named after it, else MDN's pages."""
    if part.startswith("fire "):
        return make_fire_task(source, smoke=smoke)
    return make_page_task(source, target, smoke=smoke)


def make_fire_task(source: str, *, smoke: bool) -> PageTask:
    """Make a task of FIRE's Hindi news, with topics in either language; models learn from WMT14's sentences."""
    folder = data_folder() / "fire"
    qrels = trec.read_trec_qrels(folder / "qrels")
    files = [file for file in sorted((folder / "hi").rglob("*")) if file.is_file()]
    documents = [document for file in files for document in trec.read_trec_documents(file, lang="hi")]
    topics = trec.read_topics(folder / f"topics.{source}", lang=source)
    queries = [query for query in topics if query.id in qrels]
    train = split_parallel_corpus("wmt14", "hi").train
    query_qrels = {query.id: qrels[query.id] for query in queries}
    return PageTask(queries, documents, query_qrels, train, 100 if smoke else WMT14_TRAIN_SIZE)
