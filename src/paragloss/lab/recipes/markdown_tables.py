"""Results as Markdown: a table for each part, the mean over seeds and behind ± their standard deviation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paragloss.lab.recipes import load


def table(results: Mapping[str, Any], *, heading: bool = True) -> str:
    columns = list(results["columns"])
    lines = [f"# {results['title']}", ""] if heading else []
    for part, rows in results["values"].items():
        cells = [[row, *(_cell(values.get(name)) for name in columns)] for row, values in rows.items()]
        lines += [f"**{part}**", "", *grid(["", *columns], cells), ""]
    lines.append(how(results))
    return "\n".join(lines).strip() + "\n"


def how(results: Mapping[str, Any]) -> str:
    """Under the table: the command that made it, on what."""
    smoke = " --smoke" if results["smoke"] else ""
    return (
        f"`paragloss recipes {results['recipe']}{smoke}`. {_seeds(results)}. "
        f"{sum(results['seconds'].values()):,.0f} s of one core; {results['machine']}."
    )


def _seeds(results: Mapping[str, Any]) -> str:
    if len(results["seeds"]) > 1:
        return f"Seeds {', '.join(map(str, results['seeds']))}: mean ± deviation"
    return "One seed" if draws(results["recipe"]) else "Nothing is drawn: every seed gives the same"


def draws(recipe: str) -> bool:
    """Whether another seed could give something else."""
    return getattr(load(recipe), "SEEDS", None) != (0,)


def grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [_line(header), "|" + "---|" * len(header), *(_line(row) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def _cell(values: Sequence[float] | None) -> str:
    if not values:
        return ""
    shown = figure(float(np.mean(values)))
    return f"{shown} ± {figure(float(np.std(values)))}" if len(values) > 1 and np.std(values) else shown


def figure(value: float) -> str:
    """As people write it: .512, 1,234, 12.3."""
    if abs(value) >= 100 or (value == int(value) and abs(value) > 1):
        return f"{value:,.0f}"
    if abs(value) >= 2:
        return f"{value:.1f}"
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"
