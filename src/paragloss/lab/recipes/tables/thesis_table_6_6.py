"""Liu's Tables 6.6 to 6.8: how long the document lists of ambiguous queries are, and what cleaning leaves.

The log of Table 6.9. "documents": statistics over the lists; "queries": how many lists are so long; "share kept": of
the pairs of query and document, when ambiguous queries with longer lists are taken out. The thesis' bounds are 100,
200 and 1,000 documents, ours 20, 50 and 100.
"""

from __future__ import annotations

from paragloss.lab.query_log import clean, list_lengths
from paragloss.lab.recipes import searchlog
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.tables.thesis_table_6_9 import BOUNDS, logs

MINUTES, SEEDS = 1, (0,)  # nothing is learned but the translator
DATA, PARTS = searchlog.DATA, ("en-de",)
COLUMNS = ("documents", "queries", "share kept")


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    _, source, translated = logs(smoke)
    lengths = list_lengths(source, translated, bounds=list(BOUNDS.values()))
    rows: Measured = {
        "average": {"documents": lengths.mean},
        "minimum": {"documents": float(lengths.minimum)},
        "maximum": {"documents": float(lengths.maximum)},
        "standard deviation": {"documents": lengths.deviation},
        **{f"{range} documents": {"queries": float(count)} for range, count in lengths.ranges.items()},
    }
    for name, bound in BOUNDS.items():
        cleaned = clean(source, translated, longest=bound)
        rows[f"{name} bound"] = {"share kept": cleaned.kept / cleaned.pairs}
    return {**rows, "nothing removed": {"share kept": 1.0}}
