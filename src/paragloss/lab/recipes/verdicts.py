"""Does our table order its rows as the paper's does? The papers' figures stand in expected.toml.

A pair of rows is out of order if the paper has one ahead and we have the other ahead by more than the tolerance.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from paragloss.lab.recipes.markdown_tables import draws


@cache
def expected() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("expected.toml").read_text(encoding="utf-8"))


def verdict(results: Mapping[str, Any]) -> str:
    """One sentence for each of the paper's tables that the recipe stands beside, in Markdown."""
    told = expected().get(results["recipe"])
    if told is None:
        return "No figure of a paper stands beside this."
    if results["smoke"]:
        return "Sizes of a smoke run say nothing of the paper."
    lines = []
    for where, pairs in told.get("ahead", {}).items():
        lines.append(_seen(where, pairs, means(results, where, told["column"]), told))
    for where, figures in told.get("figures", {}).items():
        ours = means(results, where, told["column"])
        common = {row: figure for row, figure in figures.items() if row in ours}
        if len(common) > 1:
            lines.append(_judged(where, common, ours, told))
    how = f"Tolerance {told['tolerance']}; {_seeds(results)}; {results['machine']}. The paper's data: {told['data']}."
    return "\n".join(f"{line} {how}" for line in lines) or "Too little was measured to say."


def _seen(where: str, pairs: Sequence[Sequence[str]], ours: Mapping[str, float], told: Mapping[str, Any]) -> str:
    """A figure without numbers: what the paper says is higher than what."""
    known = [(high, low) for high, low in pairs if high in ours and low in ours]
    wrong = [(high, low) for high, low in known if ours[low] > ours[high] + told["tolerance"]]
    verdict = "as the paper says" if not wrong else f"not as the paper says ({len(known) - len(wrong)} of {len(known)})"
    beside = ", ".join(f"{row} {_shown(ours[row])}" for row in dict.fromkeys(row for pair in known for row in pair))
    return f"{where}: **{verdict}**, {told['says']}. {told['column']}, ours: {beside}."


def _seeds(results: Mapping[str, Any]) -> str:
    if not draws(results["recipe"]):
        return "nothing is drawn"
    return f"{len(results['seeds'])} seeds" if len(results["seeds"]) > 1 else "one seed"


def _judged(where: str, paper: Mapping[str, float], ours: Mapping[str, float], told: Mapping[str, Any]) -> str:
    wrong = disagreements(paper, ours, told["tolerance"])
    pairs = len(paper) * (len(paper) - 1) // 2
    beside = ", ".join(f"{row} {_shown(paper[row])} / {_shown(ours[row])}" for row in paper)
    kept = f"{pairs - len(wrong)} of {pairs} pairs of rows as in the paper"
    because = f", because {told['because']}" if told.get("because") else ""
    verdict = "same order" if not wrong else f"not the same order ({kept}){because}"
    name = "" if where == "all" else f"{where}: "
    return f"{name}**{verdict}**. {told['column']}, paper / ours: {beside}."


def _shown(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 2 else f"{value:,.0f}"


def disagreements(paper: Mapping[str, float], ours: Mapping[str, float], tolerance: float) -> list[tuple[str, str]]:
    """Pairs (ahead in the paper, ahead here) that are out of order."""
    ahead = [(a, b) if paper[a] > paper[b] else (b, a) for a, b in combinations(paper, 2) if paper[a] != paper[b]]
    return [(first, second) for first, second in ahead if ours[second] > ours[first] + tolerance]


def means(results: Mapping[str, Any], where: str, column: str) -> dict[str, float]:
    """Each row's mean over seeds, of one part or (where = "all") over all parts that have it."""
    found: dict[str, list[float]] = {}
    for part, rows in results["values"].items():
        if where in ("all", part):
            for row, columns in rows.items():
                if column in columns:
                    found.setdefault(row, []).append(float(np.mean(columns[column])))
    return {row: float(np.mean(values)) for row, values in found.items()}
