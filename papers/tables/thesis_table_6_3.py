"""Liu's Table 6.3: does a monolingual K-NRM need the exact match? Data: `papers.simulated_log`, 2,000 queries."""

from __future__ import annotations

from papers import simulated_log
from papers.corpora import Rows
from papers.simulated_log import simulate_log, train_ranker

COLUMNS = simulated_log.COLUMNS
DATA, PARTS = simulated_log.DATA, ("de",)


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    log = simulate_log(2000, smoke=smoke)
    return {
        **log.measure_random_order(seed),
        "Monolingual baseline": log.measure_ranker(train_ranker(log, log.train, seed=seed), log.native),
        "Exact match off": log.measure_ranker(train_ranker(log, log.train, seed=seed, off=(0,)), log.native),
    }
