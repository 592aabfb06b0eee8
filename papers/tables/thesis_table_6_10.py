"""Liu's Table 6.10, Figures 6.5 and 6.6: how much training data does the bilingual ranker need?

Data: `papers.simulated_log`, 4,000 training queries, a hundred times fewer pairs than the thesis had; the eight sizes
are its shares of all data, in per cent. "terms" are those seen in training.
"""

from __future__ import annotations

from typing import Any

from papers import simulated_log
from papers.corpora import Rows
from papers.kernel_analysis import count_seen_terms, take_first_queries
from papers.plots import plot_columns
from papers.runner import Results
from papers.simulated_log import simulate_log, train_ranker
from papers.verdicts import CHANCE_ROW

COLUMNS = (*simulated_log.COLUMNS, "pairs", "terms")
DATA, PARTS = simulated_log.DATA, ("en-de",)
#: Of the thesis' 8,553,124 pairs: 0.5, 1, 1.5, 2, 4, 6 and 8 million, and all.
SHARES = (5.8, 11.7, 17.5, 23.4, 46.8, 70.2, 93.5, 100.0)


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    log = simulate_log(4000, smoke=smoke)
    bilingual = log.translate_to_english(log.train)
    # The log is in alphabetical order of packages: every eighth query is a fair sample, the first eighth is not.
    queries = [query for offset in range(8) for query in bilingual.queries[offset::8]]
    interleaved = bilingual._replace(queries=queries)
    rows = log.measure_random_order(seed)
    for share in SHARES[:: 7 if smoke else 1]:
        sample = take_first_queries(interleaved, round(len(queries) * share / 100))
        model = train_ranker(log, sample, seed=seed)
        rows[f"share {share}"] = {
            **log.measure_ranker(model, log.english),
            "pairs": float(sum(map(len, sample.qrels.values()))),
            "terms": float(count_seen_terms(model, sample)),
        }
    return rows


def plot(results: Results) -> dict[str, Any]:
    axis = "per cent of the training data"
    results.values["en-de"].pop(CHANCE_ROW, None)
    return {
        "figure-6-5.svg": plot_columns(results, axis, ("SAME @5", "SAME @10", "DIFF @5", "DIFF @10", "RAW MRR")),
        "figure-6-6.svg": plot_columns(results, axis, ("terms",)),
    }
