"""Liu's Table 6.10, Figures 6.5 and 6.6: how much training data does the bilingual ranker need?

Data: `paragloss.lab.recipes.searchlog`, 4,000 training queries, a hundred times fewer pairs than the thesis had; the
eight sizes are its shares of the whole, in per cent. "terms" are those seen in training.
"""

from __future__ import annotations

from typing import Any

from paragloss.lab.kernel_analysis import first, seen_terms
from paragloss.lab.recipes import searchlog
from paragloss.lab.recipes.plots import by_row
from paragloss.lab.recipes.runner import Measured, Results
from paragloss.lab.recipes.searchlog import SMOKE, Size, in_english, log, measured, rerank, train

MINUTES, COLUMNS = 15, (*searchlog.MEASURES, "pairs", "terms")
DATA, PARTS = searchlog.DATA, ("en-de",)
#: Of the thesis' 8,553,124 pairs: 0.5, 1, 1.5, 2, 4, 6 and 8 million, and all.
SHARES = (5.8, 11.7, 17.5, 23.4, 46.8, 70.2, 93.5, 100.0)


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    made = log(SMOKE if smoke else Size(4000))
    translated = in_english(made, made.train)
    # The log is in alphabetical order of packages: every n-th query is a fair part of it, the first n are not.
    spread = translated._replace(queries=[query for step in range(8) for query in translated.queries[step::8]])
    rows: Measured = {}
    for share in SHARES[:: 7 if smoke else 1]:
        some = first(spread, round(len(spread.queries) * share / 100))
        model = train(some, seed=seed)
        rows[f"share {share}"] = {
            **measured(made, rerank(made, model, made.english)),
            "pairs": float(sum(map(len, some.qrels.values()))),
            "terms": float(seen_terms(model, some)),
        }
    return rows


def plot(results: Results) -> dict[str, Any]:
    axis = "per cent of the training data"
    return {
        "figure-6-5.svg": by_row(results, axis, ("SAME @5", "SAME @10", "DIFF @5", "DIFF @10", "RAW MRR")),
        "figure-6-6.svg": by_row(results, axis, ("terms",)),
    }
