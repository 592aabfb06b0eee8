"""Liu's Table 6.3: does a monolingual K-NRM need the exact match?"""

from __future__ import annotations

from paragloss.lab.recipes import bilingual
from paragloss.lab.recipes.bilingual import measured, rerank, train
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.searchlog import SMOKE, Size, log

MINUTES, COLUMNS = 4, bilingual.MEASURES
DATA, PARTS = bilingual.DATA, ("de",)


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    made = log(SMOKE if smoke else Size(2000))
    return {
        "Monolingual baseline": measured(made, rerank(made, train(made.train, seed=seed), made.native)),
        "Exact match off": measured(made, rerank(made, train(made.train, seed=seed, off=(0,)), made.native)),
    }
