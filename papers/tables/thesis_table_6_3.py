"""Liu's Table 6.3: does a monolingual K-NRM need the exact match? Data: `papers.simulated_log`, 2,000 queries."""

from __future__ import annotations

from papers import simulated_log
from papers.corpora import Rows
from papers.simulated_log import (
    SMOKE_SIZE,
    LogSize,
    measure_ranker,
    measure_run,
    rank_randomly,
    simulate_log,
    train_ranker,
)
from papers.verdicts import CHANCE_ROW, PaperColumn, PaperTable

MINUTES, COLUMNS = 4, simulated_log.MEASURES
DATA, PARTS = simulated_log.DATA, ("de",)
PAPER = PaperTable(
    "Sogou-Log, 91,313 Chinese training queries",
    [PaperColumn("DIFF @10", {"de": {"Monolingual baseline": 0.4338, "Exact match off": 0.4407}}, tolerance=0.005)],
)


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    log = simulate_log(SMOKE_SIZE if smoke else LogSize(2000))
    return {
        CHANCE_ROW: measure_run(log, rank_randomly(log, seed)),
        "Monolingual baseline": measure_ranker(log, train_ranker(log.train, seed=seed), log.native),
        "Exact match off": measure_ranker(log, train_ranker(log.train, seed=seed, off=(0,)), log.native),
    }
