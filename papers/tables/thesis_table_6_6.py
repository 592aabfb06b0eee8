"""Liu's Tables 6.6 to 6.8: how long the document lists of ambiguous queries are, and how much cleaning leaves.

The log of Table 6.9. "documents": statistics of the lists; "queries": how many lists are that long; "share kept": of
the pairs of query and document, when ambiguous queries with longer lists are removed. The thesis' bounds are 100, 200
and 1,000 documents, ours 20, 50 and 100.
"""

from __future__ import annotations

from papers import simulated_log
from papers.corpora import Rows
from papers.tables.thesis_table_6_9 import BOUNDS, make_ambiguous_log
from paragloss.lab.query_log import measure_judged_counts, remove_ambiguous_queries

SEEDS = (0,)  # nothing is learned but the translator
DATA, PARTS = simulated_log.DATA, ("en-de",)
COLUMNS = ("documents", "queries", "share kept")


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    _, source, translated = make_ambiguous_log(smoke)
    lengths = measure_judged_counts(source, translated, bounds=list(BOUNDS.values()))
    rows: Rows = {
        "average": {"documents": lengths.mean},
        "minimum": {"documents": float(lengths.minimum)},
        "maximum": {"documents": float(lengths.maximum)},
        "standard deviation": {"documents": lengths.deviation},
        **{f"{bounds} documents": {"queries": float(count)} for bounds, count in lengths.ranges.items()},
    }
    for name, bound in BOUNDS.items():
        cleaned = remove_ambiguous_queries(source, translated, max_judged=bound)
        rows[f"{name} bound"] = {"share kept": cleaned.pairs_left / cleaned.pairs}
    return {**rows, "nothing removed": {"share kept": 1.0}}
