"""How good is a ranking, and is one really better than another? Knows runs and judgments, nothing of searchers."""

from __future__ import annotations

from paragloss.evaluation.measures import DEFAULT, Scores, evaluate, mean
from paragloss.evaluation.significance import Comparison, compare, holm

__all__ = ["DEFAULT", "Comparison", "Scores", "compare", "evaluate", "holm", "mean"]
