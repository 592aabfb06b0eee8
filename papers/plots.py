"""Plots of results: one panel for each part; a band shows the spread over seeds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from papers.runner import Results
from paragloss.evaluation.report import panels

_ENDS_IN_NUMBER = re.compile(r"[^,]* [\d.]+")


def plot_lines(
    results: Results, axis: str, positions: Sequence[float], *, columns: Sequence[str] = (), log: bool = False
) -> Any:
    """Draw a line for each row; the columns are positions on the axis."""
    figure, axes = panels(max(len(results.values), 1))
    for panel, (part, rows) in zip(axes, results.values.items(), strict=False):
        for row, measured in rows.items():
            values = np.array([measured[name] for name in columns or results.columns if name in measured])
            _draw_line(panel, positions, values, row)
        panel.set(title=part, xlabel=axis, **({"xscale": "log"} if log else {}))
    axes[0].legend(fontsize=7)
    return figure


def plot_columns(results: Results, axis: str, columns: Sequence[str]) -> Any:
    """Draw a line for each column; rows named "epsilon 0.5" are positions on the axis, others are left out."""
    figure, axes = panels(max(len(results.values), 1))
    for panel, (part, rows) in zip(axes, results.values.items(), strict=False):
        positions = {row: float(row.split()[-1]) for row in rows if _ENDS_IN_NUMBER.fullmatch(row)}
        for name in columns:
            _draw_line(panel, list(positions.values()), np.array([rows[row][name] for row in positions]), name)
        panel.set(title=part, xlabel=axis)
    axes[0].legend(fontsize=7)
    return figure


def _draw_line(panel: Any, positions: Sequence[float], values: np.ndarray[Any, Any], label: str) -> None:
    """Draw means over seeds with their range; `values` is (positions, seeds)."""
    panel.plot(positions, values.mean(1), marker="o", markersize=3, label=label)
    panel.fill_between(positions, values.min(1), values.max(1), alpha=0.2)
