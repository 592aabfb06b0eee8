"""Liu's Table 6.3: does a monolingual K-NRM need the exact match?"""

from __future__ import annotations

from paragloss.lab.recipes import searchlog
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.searchlog import SMOKE, Size, log, measured, rerank, train

MINUTES, COLUMNS = 4, searchlog.MEASURES
DATA, PARTS = searchlog.DATA, ("de",)


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    made = log(SMOKE if smoke else Size(2000))
    return {
        "Monolingual baseline": measured(made, rerank(made, train(made.train, seed=seed), made.native)),
        "Exact match off": measured(made, rerank(made, train(made.train, seed=seed, off=(0,)), made.native)),
    }
