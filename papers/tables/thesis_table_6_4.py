"""Liu's Table 6.4, Figures 6.2 and 6.3: each kernel's weight, the pairs of words in it, and how it ranks alone.

Data: `papers.simulated_log`, 2,000 training queries; pairs of words are those of the test queries and the documents
shown. A pair belongs to the kernel that responds most; so do words and their best translations.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from papers import simulated_log
from papers.corpora import Rows
from papers.kernel_analysis import list_translation_kernels, measure_kernels_alone, split_into_words, summarize_kernels
from papers.runner import Results
from papers.simulated_log import simulate_log, train_ranker
from paragloss.encoders.kernel_ranker import Knrm
from paragloss.evaluation.report import panels
from paragloss.types import JudgedCollection

DATA, PARTS = simulated_log.DATA, ("en-de",)
COLUMNS = ("weight", "pairs", "monolingual weight", "monolingual pairs", "translations", "DIFF @10 alone")


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    log = simulate_log(2000, smoke=smoke)
    monolingual = train_ranker(log, log.train, seed=seed)
    bilingual = train_ranker(log, log.translate_to_english(log.train), seed=seed)
    result_grades = {query_id: dict.fromkeys(log.results[query_id], 0) for query_id in log.test_ids}
    english = [log.english[query_id] for query_id in log.test_ids]
    native = [log.native[query_id] for query_id in log.test_ids]
    kernels, monolingual_kernels = (
        summarize_kernels(model, JudgedCollection(queries, log.documents, result_grades))
        for model, queries in ((bilingual, english), (monolingual, native))
    )

    def score(model: Knrm) -> float:
        return float(np.mean(log.measure_ranker(model, log.english)["DIFF @10"]))

    scores_alone = measure_kernels_alone(bilingual, score)
    counts = Counter(list_translation_kernels(bilingual, log.fit_translator(), split_into_words(english), log.lang))
    rows: Rows = {}
    for kernel, monolingual_kernel, score_alone in zip(kernels, monolingual_kernels, scores_alone, strict=True):
        rows[f"kernel {kernel.number}, mean {kernel.mean}"] = {
            "weight": kernel.weight,
            "pairs": kernel.pairs,
            "monolingual weight": monolingual_kernel.weight,
            "monolingual pairs": monolingual_kernel.pairs,
            "translations": counts[kernel.number],
            "DIFF @10 alone": score_alone,
        }
    return rows


def plot(results: Results) -> dict[str, Any]:
    """Draw Figure 6.2 (a) pairs in each kernel, (b) weights, (c) their size, and Figure 6.3."""
    (rows,) = results.values.values()
    numbers = range(1, len(rows) + 1)
    figure, axes = panels(4, width=3)
    for column in ("pairs", "monolingual pairs"):
        axes[0].plot(numbers, [np.mean(columns[column]) for columns in rows.values()], marker="o", label=column)
    axes[0].legend(fontsize=7)
    axes[0].set(title="Figure 6.2 (a) pairs", xlabel="kernel", yscale="symlog")
    bars = {
        "(b) weight": [np.mean(columns["weight"]) for columns in rows.values()],
        "(c) size of the weight": [np.mean(np.abs(columns["weight"])) for columns in rows.values()],
        "Figure 6.3: DIFF @10 alone": [np.mean(columns["DIFF @10 alone"]) for columns in rows.values()],
    }
    for panel, (title, heights) in zip(axes[1:], bars.items(), strict=True):
        panel.bar(numbers, heights)
        panel.set(title=title, xlabel="kernel")
    axes[3].set_ylim(bottom=0.9 * min(bars["Figure 6.3: DIFF @10 alone"]))
    return {"figure.svg": figure}
