"""Plots of results: one panel for each part, one line for each row, the spread over seeds as a band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paragloss.evaluation.report import panels

if TYPE_CHECKING:
    from paragloss.lab.recipes.runner import Results


def lines(results: Results, axis: str, at: Sequence[float], *, log: bool = False) -> Any:
    """Columns are places on the axis, rows are lines."""
    figure, axes = panels(max(len(results.values), 1))
    for panel, (part, rows) in zip(axes, results.values.items(), strict=False):
        for row, columns in rows.items():
            values = np.array([columns[name] for name in results.columns])  # (places, seeds)
            panel.plot(at, values.mean(1), marker="o", markersize=3, label=row)
            panel.fill_between(at, values.min(1), values.max(1), alpha=0.2)
        panel.set(title=part, xlabel=axis, **({"xscale": "log"} if log else {}))
    axes[0].legend(fontsize=7)
    return figure


def by_row(results: Results, axis: str, columns: Sequence[str]) -> Any:
    """Rows are numbers on the axis, some columns are lines."""
    figure, axes = panels(max(len(results.values), 1))
    for panel, (part, rows) in zip(axes, results.values.items(), strict=False):
        at = [float(row.split()[-1]) for row in rows]
        for name in columns:
            values = np.array([rows[row][name] for row in rows])
            panel.plot(at, values.mean(1), marker="o", markersize=3, label=name)
            panel.fill_between(at, values.min(1), values.max(1), alpha=0.2)
        panel.set(title=part, xlabel=axis)
    axes[0].legend(fontsize=7)
    return figure
