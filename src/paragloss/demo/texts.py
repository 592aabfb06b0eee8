"""The texts: sixty concepts of general interest in twelve languages, written for Paragloss, and questions about them.

`concepts.jsonl` is aligned by concept; `queries.jsonl` asks for each concept in each language; `related.jsonl` says
which other concepts a reader who asked for one would also accept.
"""

from __future__ import annotations

import json
from importlib.resources import as_file, files

from paragloss.formats.jsonl import read_concepts, read_jsonl_documents, read_jsonl_queries
from paragloss.types import Concept, Document, Qrels, Query

#: Grades: a document on the concept itself, one on a closely related concept.
ITSELF, RELATED = 2, 1


def concepts() -> list[Concept]:
    """The collection as training data."""
    with as_file(files(__package__) / "concepts.jsonl") as path:
        return read_concepts([path])


def documents() -> list[Document]:
    """The collection as documents, `concept.lang` being their ids."""
    with as_file(files(__package__) / "concepts.jsonl") as path:
        return list(read_jsonl_documents(path))


def related() -> dict[str, list[str]]:
    """The concepts a reader who asked for one would also accept, judged by hand from the texts; often none."""
    lines = (files(__package__) / "related.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["concept"]: row["related"] for row in map(json.loads, lines)}


def queries() -> tuple[list[Query], Qrels]:
    """A query per concept and language, and the documents in other languages that answer it, with their grades."""
    with as_file(files(__package__) / "queries.jsonl") as path:
        asked = list(read_jsonl_queries(path))
    graded = {about: dict.fromkeys(others, RELATED) | {about: ITSELF} for about, others in related().items()}
    by_concept: dict[str, list[Document]] = {}
    for document in documents():
        by_concept.setdefault(document.id.rsplit(".", 1)[0], []).append(document)
    return asked, {
        query.id: {
            document.id: grade
            for concept, grade in graded[query.id.rsplit("-", 1)[0]].items()
            for document in by_concept[concept]
            if document.lang != query.lang
        }
        for query in asked
    }
