"""Measure rankings against judgments, and test whether one is significantly better than another."""

from __future__ import annotations

from paragloss.evaluation.measures import DEFAULT, Scores, evaluate, mean
from paragloss.evaluation.significance import Comparison, compare, holm

__all__ = ["DEFAULT", "Comparison", "Scores", "compare", "evaluate", "holm", "mean"]
