"""Sixty concepts of general interest in twelve languages, written for Paragloss, with queries and judgments.

`concepts.jsonl` is aligned by concept; `queries.jsonl` has a query per concept and language; `related.jsonl` lists the
other concepts that answer a query for a concept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import as_file, files

from paragloss.formats.jsonl import read_concepts, read_jsonl_documents, read_jsonl_queries
from paragloss.types import Concept, Document, Qrels, Query

#: Grades: a document on the concept itself, one on a closely related concept.
ITSELF, RELATED = 2, 1


def concepts() -> list[Concept]:
    """Return the collection as aligned training data."""
    with as_file(files(__package__) / "concepts.jsonl") as path:
        return read_concepts([path])


def documents() -> list[Document]:
    """Return the collection as documents with the ids `CONCEPT.LANG`."""
    with as_file(files(__package__) / "concepts.jsonl") as path:
        return list(read_jsonl_documents(path))


def related() -> dict[str, list[str]]:
    """Return the concepts closely related to each concept, judged by hand from the texts.

    :return: names of concepts by the name of a concept, such as {"volcano": ["earthquake"], "honey-bee": []}. All
        concepts are there; many have none that is related.
    """
    lines = (files(__package__) / "related.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]  # such as {"concept": "volcano", "related": ["earthquake"]}
    return {row["concept"]: row["related"] for row in rows}


def queries() -> tuple[list[Query], Qrels]:
    """Return a query for each concept and language, and the documents that answer it.

    Only documents in other languages than the query's are judged: the demonstration is of cross-language search.

    :return: the queries, with ids such as "volcano-en"; and the judgments, {query id: {document id: grade}}: grade
        `ITSELF` (2) for a document on the same concept, `RELATED` (1) for one on a closely related concept. For example
        {"volcano-en": {"volcano.de": 2, "earthquake.de": 1}}, and likewise in the other languages.
    """
    with as_file(files(__package__) / "queries.jsonl") as path:
        all_queries = list(read_jsonl_queries(path))
    documents_by_concept = _group_by_concept(documents())
    related_concepts = related()
    qrels: Qrels = {}
    for query in all_queries:
        concept = query.id.rsplit("-", 1)[0]  # ids are CONCEPT-LANG
        grade_by_concept = dict.fromkeys(related_concepts[concept], RELATED)  # such as {"earthquake": RELATED}
        grade_by_concept[concept] = ITSELF
        qrels[query.id] = _grade_documents(grade_by_concept, documents_by_concept, query.lang)
    return all_queries, qrels


def _grade_documents(
    grade_by_concept: Mapping[str, int], documents_by_concept: Mapping[str, Sequence[Document]], query_lang: str
) -> dict[str, int]:
    """Return the grade of each document, by id, that is on a graded concept and not in the language of the query."""
    grades: dict[str, int] = {}
    for concept, grade in grade_by_concept.items():
        for document in documents_by_concept[concept]:
            if document.lang != query_lang:
                grades[document.id] = grade
    return grades


def _group_by_concept(all_documents: Iterable[Document]) -> dict[str, list[Document]]:
    """Return the documents of each concept, in several languages."""
    documents_by_concept: dict[str, list[Document]] = {}
    for document in all_documents:
        concept = document.id.rsplit(".", 1)[0]
        documents_by_concept.setdefault(concept, []).append(document)
    return documents_by_concept
