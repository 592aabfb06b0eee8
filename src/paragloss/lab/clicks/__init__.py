"""Estimate relevance from clicks: from logs (`log_files`) to scores, grades and judgments.

The labels of Xiong et al. (SIGIR 2017) and of Liu's thesis are here: SAME is `dctr`, DIFF is `tacm`, RAW is `raw`.
"""

from __future__ import annotations

from paragloss.lab.clicks.labels import (
    compute_grade_bounds,
    grade_scores,
    make_judged_collection,
    round_to_thousandths,
)
from paragloss.lab.clicks.rates import Scores, dctr, raw, select_by_frequency
from paragloss.lab.clicks.time_aware import ClickModel, tacm

__all__ = [
    "ClickModel", "Scores", "compute_grade_bounds", "dctr", "grade_scores", "make_judged_collection", "raw",
    "round_to_thousandths", "select_by_frequency", "tacm",
]  # fmt: skip
