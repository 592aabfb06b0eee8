"""Liu's Table 6.4, Figures 6.2 and 6.3: each kernel's weight, the pairs of words in it, and how it ranks alone.

Data: `paragloss.lab.recipes.searchlog`, 2,000 training queries; pairs of words are those of the test queries and the
documents shown. A pair is put where the kernel responds most; so are words and their best translations.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from paragloss.lab.kernel_analysis import bins, one_at_a_time, translation_pairs, words_of
from paragloss.lab.recipes import bilingual
from paragloss.lab.recipes.bilingual import in_english, measured, rerank, train
from paragloss.lab.recipes.plots import panels
from paragloss.lab.recipes.runner import Measured, Results
from paragloss.lab.recipes.searchlog import SMOKE, Size, log
from paragloss.types import Judged

MINUTES = 4
DATA, PARTS = bilingual.DATA, ("en-de",)
COLUMNS = ("weight", "pairs", "monolingual weight", "monolingual pairs", "translations", "DIFF @10 alone")


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    made = log(SMOKE if smoke else Size(2000))
    one, two = train(made.train, seed=seed), train(in_english(made, made.train), seed=seed)
    shown = {id: dict.fromkeys(made.shown[id], 0) for id in made.test}
    english = [made.english[id] for id in made.test]
    across = bins(two, Judged(english, made.documents, shown))
    within = bins(one, Judged([made.native[id] for id in made.test], made.documents, shown))
    alone = one_at_a_time(two, lambda one: float(np.mean(measured(made, rerank(made, one, made.english))["DIFF @10"])))
    placed = translation_pairs(two, bilingual.translator(made), words_of(english), made.lang)
    count = Counter(pair.bin for pair in placed)
    return {
        f"kernel {b.number}, mean {b.mean}": dict(
            zip(COLUMNS, (b.weight, b.pairs, m.weight, m.pairs, count[b.number], score), strict=True)
        )
        for b, m, score in zip(across, within, alone, strict=True)
    }


def plot(results: Results) -> dict[str, Any]:
    """6.2 (a) pairs in each kernel, (b) weights, (c) how large they are; 6.3 kernels alone."""
    (rows,) = results.values.values()
    numbers = range(1, len(rows) + 1)
    figure, axes = panels(4, width=3)

    def heights(column: str) -> list[Any]:
        return [np.array(columns[column]) for columns in rows.values()]

    for column in ("pairs", "monolingual pairs"):
        axes[0].plot(numbers, [float(values.mean()) for values in heights(column)], marker="o", label=column)
    axes[0].legend(fontsize=7)
    drawn = {
        "(b) weight": [float(v.mean()) for v in heights("weight")],
        "(c) size of the weight": [float(np.abs(v).mean()) for v in heights("weight")],
        "Figure 6.3: DIFF @10 alone": [float(v.mean()) for v in heights("DIFF @10 alone")],
    }
    axes[0].set(title="Figure 6.2 (a) pairs", xlabel="kernel", yscale="symlog")
    for panel, (name, values) in zip(axes[1:], drawn.items(), strict=True):
        panel.bar(numbers, values)
        panel.set(title=name, xlabel="kernel")
    axes[3].set_ylim(bottom=0.9 * min(drawn["Figure 6.3: DIFF @10 alone"]))
    return {"figure.svg": figure}
