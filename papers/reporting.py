"""Record what was measured, and write it as Markdown: the table of a recipe, and the tables inside other pages.

In a page, `<!-- recipe: NAME -->` stands for a recipe's table and verdicts, and `<!-- verdicts -->` for all verdicts.
`<!-- tasks: KIND, ...: SYSTEM, ... -->` is for some systems of the recipe `results`, `<!-- compared: KIND -->` for
all, `<!-- rivals -->` and `<!-- costs -->` for its other tables. `<!-- fusion -->` and `<!-- box -->` are the parts of
a search alone and fused (studies/fusion.py). `make docs` fills them in (`papers/site_tables.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from papers import overview
from papers.markdown import format_cell, format_figure, format_grid
from papers.recipes import load_recipe, recipe_names
from papers.runner import RECORDED, RECORDED_SMOKE, Results, Values, collect_results, read_recorded
from papers.verdicts import describe_verdicts
from paragloss.errors import InputError

_MARKER = re.compile(r"<!-- (recipe|verdicts|tasks|compared|rivals|costs|fusion|box)(?:: (.*?))? -->")
#: An object without objects inside, or a list of values.
_INNERMOST = re.compile(r"\{[^{}]*\}|\[[^{}\[\]]*\]")
_FUSION_PARTS = {
    "words": "words", "default": "default", "muse": "MUSE", "own": "own table", "cr5": "Cr5",
    "meaning": "meaning", "e5": "e5", "fast": "all but e5", "box": "the box", "fused": "all",
}  # fmt: skip


def read_results() -> dict[str, Any]:
    """Read the recorded results of all recipes and of the overview."""
    results: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return results


def record_results(folder: Path, *, smoke: bool = False) -> None:
    """Replace recorded results by those measured under a folder; parts that were not measured stay."""
    results = read_recorded(smoke=True) if smoke else read_results()
    measured = [name for name in recipe_names() if (folder / name / "cells").is_dir()]
    if not measured:
        raise InputError(f"{folder}: no measured recipe; `python -m papers run NAME --out {folder}` measures one")
    for name in measured:
        table = collect_results(name, folder / name, smoke=smoke)
        table.values = select_columns(table)
        if smoke:
            results.setdefault(name, {}).update(table.values)
        elif name == "results":
            results |= overview.summarize_results(folder / name)
        else:
            results["tables"][name] = merge_parts(results["tables"].get(name, {"values": {}}), table)
    write_results(dict(sorted(results.items())) if smoke else results, RECORDED_SMOKE if smoke else RECORDED)


def select_columns(results: Results) -> Values:
    """Return the values of the recipe's columns; rows of costs, which no other run gives again, are left out."""
    return {
        part: {
            row: {name: columns[name] for name in results.columns if name in columns}
            for row, columns in rows.items()
            if not row.startswith("cost | ")
        }
        for part, rows in results.values.items()
    }


def merge_parts(recorded: Mapping[str, Any], measured: Results) -> dict[str, Any]:
    """Put the parts measured now in the place of the recorded ones; the others stay."""
    table = {key: value for key, value in asdict(measured).items() if key not in ("recipe", "smoke")}
    missing = {part: rows for part, rows in recorded["values"].items() if part not in measured.values}
    if missing:
        machines = dict.fromkeys([*recorded["machine"].split("; "), *measured.machine.split("; ")])
        table["machine"] = "; ".join(machines)
        table["seconds"] = round(recorded["seconds"] + measured.seconds, 1)
        table["seeds"] = sorted({*recorded["seeds"], *measured.seeds})
    table["values"] = {**missing, **measured.values}
    return table


def write_results(results: Mapping[str, Any], path: Path) -> None:
    """Write recorded results with one line for each row of each table."""
    text = json.dumps(results, ensure_ascii=False, indent=1)
    text = _INNERMOST.sub(lambda match: json.dumps(json.loads(match[0]), ensure_ascii=False), text)
    path.write_text(f"{text}\n", encoding="utf-8")


def format_table(results: Results) -> str:
    """Write a recipe's table in Markdown: one for each part, means over seeds ± their standard deviation."""
    lines = []
    for part, rows in results.values.items():
        cells = [[row, *(format_cell(columns.get(name)) for name in results.columns)] for row, columns in rows.items()]
        lines += [f"**{part}**", "", *format_grid(["", *results.columns], cells), ""]
    if len(results.seeds) > 1:
        seeds = f"Seeds {', '.join(map(str, results.seeds))}: mean ± deviation"
    else:
        is_random = tuple(load_recipe(results.recipe).seeds) != (0,)
        seeds = "One seed" if is_random else "Deterministic: no random seed"
    command = f"`python -m papers run {results.recipe}{' --smoke' if results.smoke else ''}`"
    return "\n".join([*lines, f"{command}. {seeds}. {results.seconds:,.0f} s of one core; {results.machine}."]) + "\n"


def fill_tables(text: str, results: Mapping[str, Any]) -> str:
    """Replace the markers in a page by tables."""

    renderers: dict[str, Callable[[str, Mapping[str, Any]], str]] = {
        "recipe": render_recipe,
        "verdicts": render_verdicts,
        "tasks": overview.render_systems,
        "compared": overview.render_comparison,
        "rivals": overview.render_rivals,
        "costs": overview.render_costs,
        "fusion": lambda _, results: render_fusion(results["fusion"]),
        "box": lambda _, results: render_fusion(results["box"]),
    }
    return _MARKER.sub(lambda marker: renderers[marker[1]](marker[2] or "", results), text)


def render_recipe(name: str, results: Mapping[str, Any]) -> str:
    """Write the recorded table of a recipe, and the verdict for each of the paper's columns and statements."""
    recorded = results["tables"].get(name)
    if recorded is None:
        return f"`python -m papers run {name}` has not been run to its end here.\n"
    recipe, table = load_recipe(name), Results(name, **recorded)
    lines = describe_verdicts(recipe, table.values) or ["No figure of the paper is compared with this."]
    return "\n".join([format_table(table), *lines, "", f"The paper's data: {recipe.paper}."])


def render_verdicts(_: str, results: Mapping[str, Any]) -> str:
    """Write the verdicts on all recorded tables."""
    lines = []
    for name, recorded in results["tables"].items():
        recipe = load_recipe(name)
        lines.append(f"- {recipe.title}, `python -m papers run {name}`:")
        lines += [f"  {line}" for line in describe_verdicts(recipe, recorded["values"])]
    return "\n".join(lines)


def render_fusion(sets: Mapping[str, Any]) -> str:
    """Write a row for each set: the parts of a search alone, and fused; the best in bold."""
    parts = [part for part in _FUSION_PARTS if any(part in measured["RR"] for measured in sets.values())]
    rows = []
    for measured in sets.values():
        scores = measured["RR"]
        cells = [format_figure(scores[part]) if part in scores else "" for part in parts]
        best = format_figure(max(scores.values()))
        bold = [f"**{cell}**" if cell == best else cell for cell in cells]
        rows.append([measured["name"], str(measured["languages"]), f"{measured['queries']:,}", *bold])
    return "\n".join(format_grid(["RR", "languages", "queries", *(_FUSION_PARTS[part] for part in parts)], rows)) + "\n"
