"""Smooth learning's Table 1: how many queries and documents there are, and how many are partly relevant to a query.

The sets of Table 2. Theirs: LS-CLIR, 25,000 queries a language, each with 0.6 (Tagalog) to 12.6 (French) partly
relevant documents of 37,000 to 1,894,000.
"""

from __future__ import annotations

from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.tables import smooth_table_2
from paragloss.lab.recipes.tables.smooth_table_2 import divided

DATA, PARTS, ORIGINALS = smooth_table_2.DATA, smooth_table_2.PARTS, smooth_table_2.ORIGINALS
MINUTES, SEEDS, COLUMNS = 2, (0,), ("queries", "partly relevant", "documents")


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    name, _, lang = part.rpartition("en-")
    parted = divided(lang, seed, pages=120 if smoke else 1500, smoke=smoke, name=name.strip() or "mdn")
    queries = sum(len(some.queries) for some in parted)
    partly = sum(grade == 1 for some in parted for grades in some.qrels.values() for grade in grades.values())
    counts = {"queries": float(queries), "documents": float(len(parted[0].documents))}
    return {"all": {**counts, "partly relevant": partly / queries}}
