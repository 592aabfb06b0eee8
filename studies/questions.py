"""Sets of questions with one right document each, from pieces of real collections that no measured model has seen.

A set is (name, lang, queries, documents, right): queries in English (or in `source`), documents in `lang`, and the
document each query should find. Everything is chosen by hashes and fixed seeds: the same sets each time, for whichever
system is measured. Sets made for tuning take the "valid" part, reported ones the "test" part (see `sources`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import sources
from sets import split

from paragloss.analysis import analyzer
from paragloss.types import Document, Qrels, Query

#: One or more of every script.
LANGS = "es de fr it pt ru uk el ar he fa hi bn ta th vi id tr fi hu zh ja ko sw am"


class Questions(NamedTuple):
    """`qrels` says for each query the one document that answers it; `right` the same as places in `documents`."""

    name: str
    lang: str
    queries: list[Query]
    documents: list[Document]
    right: list[int]

    @property
    def qrels(self) -> Qrels:
        return {q.id: {self.documents[i].id: 1} for q, i in zip(self.queries, self.right, strict=True)}


def sentences(lang: str, *, source: str = "en", name: str = "flores") -> Questions:
    """FLORES dev: each sentence finds its translation among all."""
    rows = sources.rows(name)
    source_code, target_code = (sources.written(code) for code in (source, lang))
    text_pairs = [
        (row["texts"][source_code], row["texts"][target_code])
        for row in rows
        if {source_code, target_code} <= row["texts"].keys()
    ]
    return _aligned(name, lang, source, text_pairs)


def everyday(lang: str, *, source: str = "en", limit: int = 1000) -> Questions:
    """Tatoeba's held-out English sentences; each finds its translation among all that are held out."""
    answers: dict[str, str] = {}
    for pair in sources.tatoeba(lang):
        if pair.part == "test":
            answers.setdefault(pair.en, pair.other)
    other: dict[str, str] = {}
    for en, text in answers.items():
        other.setdefault(text, en)  # a translation that serves two sentences is the answer to one
    text_pairs = [(en, text) for text, en in other.items()]
    return _aligned("tatoeba", lang, source, sorted(random.Random(0).sample(text_pairs, min(limit, len(text_pairs)))))


def claims(lang: str, *, part: str = "test", words: int = 5, draws: int = 1, source: str = "en") -> Questions:
    """A few neighbouring words of one sentence of news or health text find the passage of four sentences it stands
    in; passages of held-out runs, all of one language together."""
    queries, documents, right = [], [], []
    chance = random.Random(0)
    for run in runs(part):
        rows_of_pair = [row for row in run if lang in row and source in row]
        for start in range(0, len(rows_of_pair), 4):
            passage = rows_of_pair[start : start + 4]
            documents.append(Document(f"passage{len(documents)}", " ".join(row[lang] for row in passage), lang))
            for row in [row for row in passage for _ in range(draws)]:
                query_text = keywords(row[source], source, words, chance)
                if query_text:
                    queries.append(Query(f"claim{len(queries)}", query_text, source))
                    right.append(len(documents) - 1)
    return Questions(f"claims-{part}", lang, queries, documents, right)


def read_written_questions(lang: str, *, part: str = "test") -> Questions:
    """Questions that a person would ask, in other words than the text's, and the passage of news that answers each;
    passages are those of `claims`. Written for this project with English passages in view and no ranking."""
    lines = (Path(__file__).parent / "asked.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line.startswith(f"{part}\t")]
    documents = claims(lang, part=part).documents
    row_by_concept = {f"ntrex:{number}": i for i, number in enumerate(_starts(part, lang))}
    queries = [Query(f"asked{i}", question, "en") for i, (_, _, question) in enumerate(rows)]
    return Questions(
        f"asked-{part}", lang, queries, documents, [row_by_concept[f"ntrex:{number}"] for _, number, _ in rows]
    )


def _starts(part: str, lang: str) -> list[int]:
    """Where in the news each passage of `claims` begins; the first passages are the news'."""
    texts = sources.rows("ntrex")
    rows_of_part = [n for n, row in enumerate(texts) if sources.run_part("ntrex", n) == part and lang in row["texts"]]
    runs: dict[int, list[int]] = {}
    for number in rows_of_part:
        runs.setdefault(number // 20, []).append(number)
    return [number for run in runs.values() for number in run[::4]]


def phrases(lang: str, *, part: str = "test", words: int = 8) -> Questions:
    """As `claims`, but so many neighbouring words as they stand in the sentence, small words too."""
    claim_set = claims(lang, part=part, words=words)
    queries, right, doc_number = [], [], 0
    for run in runs(part):
        rows_of_pair = [row for row in run if lang in row and "en" in row]
        for start in range(0, len(rows_of_pair), 4):
            for row in rows_of_pair[start : start + 4]:
                words_of_claim = row["en"].split()
                first = random.Random(row["en"]).randrange(max(len(words_of_claim) - words, 0) + 1)
                if len(words_of_claim) >= 5:
                    text = " ".join(words_of_claim[first : first + words]).strip(".,;:\"'()“”")
                    queries.append(Query(f"phrase{len(queries)}", text, "en"))
                    right.append(doc_number)
            doc_number += 1
    return claim_set._replace(name=f"phrases-{part}", queries=queries, right=right)


@cache
def runs(part: str) -> list[list[dict[str, str]]]:
    """Held-out runs of twenty sentences of NTREX and TICO-19, in all languages."""
    rows_by_run: dict[str, list[dict[str, str]]] = {}
    for name in ("ntrex", "tico19"):
        for number, row in enumerate(sources.rows(name)):
            if sources.run_part(name, number) == part:
                rows_by_run.setdefault(f"{name}:{number // 20}", []).append(row["texts"])
    return list(rows_by_run.values())


def keywords(text: str, lang: str, max_words: int, chance: random.Random) -> str:
    """A few neighbouring words, stop words between them left out; none of a text of fewer than three."""
    spans = analyzer(lang).spans(text)
    if len(spans) < 3:
        return ""
    first = chance.randrange(max(len(spans) - max_words, 0) + 1)
    return " ".join(text[span.start : span.end] for span in spans[first : first + max_words])


def first_sentences(corpus: str, lang: str, *, source: str = "en", limit: int = 500) -> Questions:
    """The first sentence of a page, its title's words taken out, finds the rest of the page in another language,
    without title and first sentence, among all held-out pages of it. With `source` the same language it
    is monolingual search."""
    test = [c for c in split(corpus, ["en", lang]).test if {"en", lang} <= c.texts.keys()]
    documents, queries, right = [], [], []
    for c in test:
        remaining_text = _parted(c.texts[lang], c.titles.get(lang, ""))[1]
        query_text = _without(_parted(c.texts[source], c.titles.get(source, ""))[0], c.titles.get(source, ""), source)
        if len(analyzer(lang).terms(remaining_text)) < 10:
            continue
        documents.append(Document(c.id, remaining_text, lang))
        english = _without(_parted(c.texts["en"], c.titles.get("en", ""))[0], c.titles.get("en", ""), "en")
        if query_text and len(analyzer("en").terms(english)) >= 4:  # the same queries whichever language asks
            queries.append(Query(c.id, query_text, source))
            right.append(len(documents) - 1)
    sampled = sorted(random.Random(0).sample(range(len(queries)), min(limit, len(queries))))
    return Questions(f"{corpus}-first", lang, [queries[i] for i in sampled], documents, [right[i] for i in sampled])


def titles(corpus: str, lang: str, *, part: str = "test", limit: int = 1000) -> Questions:
    """English titles find pages of another language among all held-out ones (title and text)."""
    parts = split(corpus, ["en", lang])
    test = [c for c in (parts.test if part == "test" else parts.train) if lang in c.texts][:3000]
    documents = [Document(c.id, c.texts[lang], lang, c.titles.get(lang, "")) for c in test]
    titled = [i for i, c in enumerate(test) if c.titles.get("en")]
    sampled = sorted(random.Random(0).sample(titled, min(limit, len(titled))))
    queries = [Query(test[i].id, test[i].titles["en"], "en") for i in sampled]
    return Questions(f"{corpus}-titles", lang, queries, documents, sampled)


def limit_documents(questions: Questions, max_documents: int, max_queries: int = 200) -> Questions:
    """Draw at most so many documents, and of the queries those whose answers are among them."""
    if len(questions.documents) > max_documents:
        count = min(len(questions.queries), max_documents * 5 // 8)
        rows = sorted(random.Random(0).sample(range(len(questions.queries)), count))
        answers = list(dict.fromkeys(questions.right[row] for row in rows))
        order = random.Random(1).sample(range(len(questions.documents)), len(questions.documents))
        fillers = [number for number in order if number not in set(answers)]
        chosen = sorted([*answers, *fillers[: max_documents - len(answers)]])
        new_numbers = {document: number for number, document in enumerate(chosen)}
        questions = questions._replace(
            queries=[questions.queries[row] for row in rows],
            documents=[questions.documents[number] for number in chosen],
            right=[new_numbers[questions.right[row]] for row in rows],
        )
    rows = sorted(random.Random(5).sample(range(len(questions.queries)), min(max_queries, len(questions.queries))))
    return questions._replace(
        queries=[questions.queries[row] for row in rows], right=[questions.right[row] for row in rows]
    )


def _parted(text: str, title: str) -> tuple[str, str]:
    """A page's first sentence and what follows it."""
    body = (text[len(title) :] if title and text.startswith(title) else text).strip()
    match = re.search(r"[.!?।؟](?=\s)|[。！？]", body)
    end = min(match.end() if match else 200, 300)
    return body[:end], body[end:]


def _without(sentence: str, title: str, lang: str) -> str:
    cut = analyzer(lang)
    named = set(cut.terms(title))
    return " ".join(sentence[span.start : span.end] for span in cut.spans(sentence) if span.term not in named)


def _aligned(name: str, lang: str, source: str, text_pairs: Sequence[tuple[str, str]]) -> Questions:
    queries = [Query(f"{name}{i}", text, source) for i, (text, _) in enumerate(text_pairs)]
    documents = [Document(f"{name}{i}.{lang}", text, lang) for i, (_, text) in enumerate(text_pairs)]
    return Questions(name, lang, queries, documents, list(range(len(text_pairs))))
