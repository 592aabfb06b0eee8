"""Write figures and tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def format_figure(value: float) -> str:
    """Format a value as tables do: .512, 1,234, 12.3."""
    if abs(value) >= 100 or (value == int(value) and abs(value) > 1):
        return f"{value:,.0f}"
    if abs(value) >= 2:
        return f"{value:.1f}"
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def format_cell(values: Sequence[float] | None) -> str:
    """Write the mean over seeds, ± the standard deviation if they differ; "" for a row that was not measured."""
    if not values:
        return ""
    mean = format_figure(float(np.mean(values)))
    return f"{mean} ± {format_figure(float(np.std(values)))}" if np.std(values) else mean


def format_grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Write the lines of a Markdown table."""
    lines = ["| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |" for cells in (header, *rows)]
    return [lines[0], "|" + "---|" * len(header), *lines[1:]]
