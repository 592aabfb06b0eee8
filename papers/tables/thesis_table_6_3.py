"""Liu's Table 6.3: does a monolingual K-NRM need the exact match?

Data: `papers.simulated_log`, 2,000 training queries, and ten times as many.
"""

from __future__ import annotations

from papers import simulated_log
from papers.corpora import Rows
from papers.simulated_log import simulate_log_of_part, train_ranker

COLUMNS = simulated_log.COLUMNS
DATA = (*simulated_log.DATA, "ddtp/da.jsonl.gz")
PARTS = ("de", "da, 20,000 queries")


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    log = simulate_log_of_part(part, smoke=smoke)
    return {
        **log.measure_random_order(seed),
        "Monolingual baseline": log.measure_ranker(train_ranker(log, log.train, seed=seed), log.native),
        "Exact match off": log.measure_ranker(train_ranker(log, log.train, seed=seed, off=(0,)), log.native),
    }
