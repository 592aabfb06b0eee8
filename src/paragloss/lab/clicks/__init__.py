"""Estimate relevance from clicks: from logs (`log_files`) to scores, grades and judgments.

The labels of Xiong et al. (SIGIR 2017) and of Liu's thesis are here: SAME is `dctr`, DIFF is `tacm`, RAW is `raw`.
"""

from __future__ import annotations

from paragloss.lab.clicks.labels import cuts, graded, judged, thousandths
from paragloss.lab.clicks.rates import Scores, dctr, raw, select_by_frequency
from paragloss.lab.clicks.synthetic import simulate
from paragloss.lab.clicks.time_aware import ClickModel, tacm

__all__ = [
    "ClickModel", "Scores", "cuts", "dctr", "graded", "judged", "raw", "select_by_frequency",
    "simulate", "tacm", "thousandths",
]  # fmt: skip
