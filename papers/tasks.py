"""The tasks of the results page: documents, sentences, words, questions, graded judgments, a mixed list.

A group is a collection and a pair of languages: concepts to learn from, and tasks on held-out concepts. The default
model's held-out build has not seen these either: test sentences of Tatoeba and test runs of NTREX and TICO-19 by the
same hashes, all of MDN and LibreOffice help; Debian's descriptions and MUSE it never sees.
"""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from papers.corpora import (
    assign_partition,
    data_folder,
    drop_repeated_sentences,
    hash_text,
    read_sentence_pairs,
    sample_by_hash,
    select_multilingual,
    split_collection,
)
from papers.translators import read_muse
from paragloss.analysis import analyzer
from paragloss.lab import judgments
from paragloss.types import Concept, Document, Qrels, Query

TALK_LANGS = ("da", "it", "vi", "fr", "hi", "zh", "ru", "ar")
NEWS_CORPORA = ("ntrex", "tico19")
#: News and health texts are held out in runs of this many sentences; a passage is this many sentences.
RUN_LENGTH, PASSAGE_LENGTH = 20, 4
QUESTION_WORDS, MIN_SENTENCE_WORDS = 5, 3
MAX_MUSE_WORDS = 5000


class Task(NamedTuple):
    """Queries, documents and judgments; `measure` is the reciprocal rank, or nDCG@10 for graded judgments."""

    name: str
    queries: list[Query]
    documents: list[Document]
    qrels: Qrels
    measure: str = "RR"

    @property
    def targets(self) -> list[str]:
        return sorted({document.lang for document in self.documents})


class Sizes(NamedTuple):
    """Numbers of training sentence pairs, training pages, queries and documents."""

    pairs: int
    pages: int
    queries: int
    documents: int


FULL_SIZES, SMOKE_SIZES = Sizes(3000, 1200, 150, 400), Sizes(120, 60, 8, 20)


def sample_training(group: str, seed: int, *, smoke: bool) -> list[Concept]:
    """Sample the concepts that the models of a group learn from; for `group` see `make_tasks`."""
    collection, pair = group.split(" ")
    sizes = SMOKE_SIZES if smoke else FULL_SIZES
    if collection == "talk":
        langs = TALK_LANGS if pair == "mixed" else [lang for lang in pair.split("-") if lang != "en"]
        per_language = max(sizes.pairs // len(langs), sizes.pairs // 4)
        return [concept for lang in langs for concept in sample_sentence_pairs(lang, per_language, seed)]
    lang = pair.removeprefix("en-")
    train = split_collection(collection, ["en", lang], lines=300 if smoke else None).train
    return sample_by_hash(select_multilingual(train, ["en", lang]), sizes.pages, seed)


def sample_sentence_pairs(lang: str, size: int, seed: int) -> list[Concept]:
    """Sample sentence pairs with English: two thirds from Tatoeba, a third from news and health texts."""
    tatoeba = [c for c in read_tatoeba(lang) if assign_partition(c.texts["en"].lower(), 1) == "train"]
    sentences = sample_by_hash(tatoeba, size * 2 // 3, seed)
    news = [
        Concept(f"{lang}:{name}:{number}", {"en": row["en"], lang: row[lang]})
        for name in NEWS_CORPORA
        for number, row in enumerate(read_news(name))
        if partition_of_sentence(name, number) == "train" and {"en", lang} <= row.keys()
    ]
    return [*sentences, *sample_by_hash(news, size - len(sentences), seed)]


def make_tasks(group: str, *, smoke: bool) -> list[Task]:
    """Make the tasks of a group, the same for every seed.

    :param group: a collection and two languages, such as "mdn en-fr"; "talk" has sentences, words and questions, and
        "talk mixed" questions for all languages at once
    """
    collection, pair = group.split(" ")
    sizes = SMOKE_SIZES if smoke else FULL_SIZES
    if pair == "mixed":
        return [make_question_task("en", TALK_LANGS, sizes)]
    source, lang = pair.split("-")
    if collection == "mdn":
        return [make_title_task(collection, lang, sizes, smoke), make_graded_task(lang, sizes, smoke)]
    if collection != "talk":
        return [make_title_task(collection, lang, sizes, smoke)]
    if source != "en":
        return [make_question_task(source, [lang], sizes)]
    tasks = [make_sentence_task(lang, sizes), make_word_task(lang, sizes), make_question_task("en", [lang], sizes)]
    if lang == "hi":
        tasks.append(make_question_task("hi", ["en"], sizes))
    return tasks


def make_title_task(collection: str, lang: str, sizes: Sizes, smoke: bool) -> Task:
    """Let English titles find pages among held-out ones."""
    test = split_collection(collection, ["en", lang], lines=600 if smoke else None).test
    pages = sample_by_hash(select_multilingual(test, [lang]), sizes.documents, 0)
    titled = sample_by_hash([c for c in pages if c.titles.get("en")], sizes.queries, 1)
    documents = [Document(c.id, c.texts[lang], lang, c.titles.get(lang, "")) for c in pages]
    queries = [Query(c.id, c.titles["en"], "en") for c in titled]
    return Task(f"documents, {collection}, en-{lang}", queries, documents, {q.id: {q.id: 1} for q in queries})


def make_graded_task(lang: str, sizes: Sizes, smoke: bool) -> Task:
    """Let first sentences without the title's words find their page (grade 2) and pages linked with it (grade 1)."""
    test = split_collection("mdn", ["en", lang], lines=600 if smoke else None).test
    pages = sample_by_hash(select_multilingual(test, ["en", lang]), sizes.documents, 0)
    links = judgments.read_links(data_folder() / "mdn" / "mutual_links.tsv.gz")
    judged = judgments.from_aligned(pages, source="en", target=lang, links=links)
    queries = sample_by_hash(judged.queries, sizes.queries, 1)
    qrels = {query.id: judged.qrels[query.id] for query in queries}
    return Task(f"ad hoc, mdn, en-{lang}", queries, list(judged.documents.values()), qrels, "nDCG@10")


def make_sentence_task(lang: str, sizes: Sizes) -> Task:
    """Let Tatoeba's test sentences find their translations."""
    test = [c for c in read_tatoeba(lang) if assign_partition(c.texts["en"].lower(), 1) == "test"]
    sentences = sample_by_hash(test, sizes.documents, 0)
    queries = [Query(c.id, c.texts["en"], "en") for c in sample_by_hash(sentences, sizes.queries, 1)]
    documents = [Document(c.id, c.texts[lang], lang) for c in sentences]
    return Task(f"sentences, tatoeba, en-{lang}", queries, documents, {q.id: {q.id: 1} for q in queries})


def make_word_task(lang: str, sizes: Sizes) -> Task:
    """Let English words find any of their translations among the translations of all sampled words."""
    translations: dict[str, set[str]] = {}
    for entry in read_muse(lang):
        if entry.source.lower() != entry.target.lower():
            translations.setdefault(entry.source, set()).add(entry.target)
    words = [Query(word, word, "en") for word in list(translations)[:MAX_MUSE_WORDS]]
    sample = sample_by_hash(words, sizes.documents // 2, 0)
    candidates = sorted({word for query in sample for word in translations[query.id]})
    queries = sample_by_hash(sample, sizes.queries, 1)
    documents = [Document(word, word, lang) for word in candidates]
    qrels = {query.id: dict.fromkeys(translations[query.id], 1) for query in queries}
    return Task(f"words, muse, en-{lang}", queries, documents, qrels)


def make_question_task(source: str, langs: Sequence[str], sizes: Sizes) -> Task:
    """Let five neighbouring words of a sentence find its passage of four sentences, in every target language."""
    documents, queries = [], []
    qrels: Qrels = {}
    for number, passage in enumerate(read_passages([source, *langs])):
        for lang in langs:
            documents.append(Document(f"{number}.{lang}", " ".join(row[lang] for row in passage), lang))
        for index, row in enumerate(passage):
            query_id = f"{number}.{index}"
            text = sample_neighbouring_words(row[source], source, query_id)
            if text:
                queries.append(Query(query_id, text, source))
                qrels[query_id] = {f"{number}.{lang}": 1 for lang in langs}
    sample = sample_by_hash(queries, sizes.queries, 1)
    name = "mixed list" if len(langs) > 1 else f"{source}-{langs[0]}"
    return Task(f"questions, news, {name}", sample, documents, {query.id: qrels[query.id] for query in sample})


def read_passages(langs: Sequence[str]) -> Iterator[list[dict[str, str]]]:
    """Read passages of four sentences from the test runs of news and health texts that have all these languages."""
    for name in NEWS_CORPORA:
        runs: dict[int, list[dict[str, str]]] = {}
        for number, row in enumerate(read_news(name)):
            if partition_of_sentence(name, number) == "test" and all(lang in row for lang in langs):
                runs.setdefault(number // RUN_LENGTH, []).append(row)
        for run in runs.values():
            for start in range(0, len(run), PASSAGE_LENGTH):
                yield run[start : start + PASSAGE_LENGTH]


def sample_neighbouring_words(text: str, lang: str, key: str) -> str:
    """Sample five neighbouring words, without the stop words between them; none of a text of fewer than three."""
    spans = analyzer(lang).spans(text)
    if len(spans) < MIN_SENTENCE_WORDS:
        return ""
    first = random.Random(key).randrange(max(len(spans) - QUESTION_WORDS, 0) + 1)
    return " ".join(text[span.start : span.end] for span in spans[first : first + QUESTION_WORDS])


@lru_cache(maxsize=2)
def read_news(name: str) -> list[dict[str, str]]:
    """Read the sentences of a corpus, each in all languages of the tasks."""
    langs = {"en", *TALK_LANGS}
    with lzma.open(data_folder() / "open" / "text" / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [{lang: text for lang, text in row["texts"].items() if lang in langs} for row in rows]


def partition_of_sentence(name: str, number: int) -> str:
    """Return the partition of a sentence of the news and health texts."""
    return assign_partition(f"{name}:{number // RUN_LENGTH}", 4)


@lru_cache(maxsize=2)
def read_tatoeba(lang: str) -> list[Concept]:
    """Read Tatoeba's pairs with English, each sentence once."""
    return [
        Concept(f"t{hash_text(english)}", {"en": english, lang: translation})
        for _, english, translation in drop_repeated_sentences(read_sentence_pairs(lang))
    ]
