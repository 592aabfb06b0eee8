"""Smooth learning's Table 1: the number of queries and documents, and of partly relevant documents per query.

The sets of Table 2. Theirs: LS-CLIR, 25,000 queries a language, each with 0.6 (Tagalog) to 12.6 (French) partly
relevant documents of 37,000 to 1,894,000.
"""

from __future__ import annotations

from papers.corpora import Rows
from papers.graded_sets import split_judgments
from papers.tables import smooth_table_2

DATA, PARTS, ORIGINAL_PARTS = smooth_table_2.DATA, smooth_table_2.SETS, smooth_table_2.ORIGINAL_PARTS
SEEDS, COLUMNS = (0,), ("queries", "partly relevant", "documents")


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    collection, _, lang = part.rpartition("en-")
    splits = split_judgments(lang, pages=120 if smoke else 1500, smoke=smoke, collection=collection.strip() or "mdn")
    queries = sum(len(split.queries) for split in splits)
    grades = [grade for split in splits for by_document in split.qrels.values() for grade in by_document.values()]
    counts = {"queries": float(queries), "documents": float(len(splits[0].documents))}
    return {"all": {**counts, "partly relevant": grades.count(1) / queries}}
