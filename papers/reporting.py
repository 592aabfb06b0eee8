"""Write results as Markdown: the table of one recipe, the page of all results, and the tables inside other pages.

In a page, `<!-- recipe: NAME -->` stands for a recipe's table and verdicts, `<!-- tasks: KIND, ...: SYSTEM, ... -->`
for some systems of the results page, `<!-- fusion -->` and `<!-- box -->` for the parts of a search alone and fused
(studies/fusion.py). `make docs` fills them in (`papers/site_tables.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from papers import load_recipe, overview, recipe_names
from papers.runner import RECORDED, RECORDED_SMOKE, Results, collect_results, read_recorded, recipe_seeds, recipe_title
from papers.verdicts import (
    PaperTable,
    Values,
    format_figure,
    is_unconverged,
    judge_table,
    list_problems,
    read_paper_table,
)
from paragloss.errors import InputError

_MARKER = re.compile(r"<!-- (recipe|tasks|fusion|box)(?:: (.*?))? -->")
_FUSION_PARTS = {
    "words": "words", "default": "default", "muse": "MUSE", "own": "own table", "cr5": "Cr5",
    "meaning": "meaning", "e5": "e5", "fast": "all but e5", "box": "the box", "fused": "all",
}  # fmt: skip
_INTRODUCTION = """\
Measured by `python -m papers run results`. Learned systems have up to three seeds: mean ± standard deviation. Tasks,
splits and sizes are those of `papers/tasks.py`. `fast` is what `paragloss search` does with the default model (its
held-out build, which has not seen the queries), `best` is `fast` with e5; `own` adds a table and Cr5 learned from the
training part of the same collection. An empty cell: the system does not translate between these languages, or it was
not measured. Costs are of one core; all took {minutes:,.0f} minutes of one core ({machine}).
"""
_RIVALS_INTRODUCTION = """\
`fast`, which has learned nothing from the collection, against each method of the papers, which has; the same with a
table and Cr5 learned from the texts those methods learned from; and `best`, with e5, against e5 alone. On all queries
of a set that both were asked. p by randomisation with Holm's correction; significant: p under .05.
"""


def read_results() -> dict[str, Any]:
    """Read the recorded results of all recipes and of the overview."""
    results: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return results


def recorded_seconds() -> dict[str, float]:
    """Return how many seconds of one core each recorded recipe took."""
    results = read_results()
    return {"results": results["seconds"], **{name: table["seconds"] for name, table in results["tables"].items()}}


def record_results(folder: Path, *, smoke: bool = False) -> None:
    """Replace recorded results by those measured under a folder; parts that were not measured stay."""
    results = read_recorded(smoke=True) if smoke else read_results()
    measured = [name for name in recipe_names() if (folder / name / "cells").is_dir()]
    if not measured:
        raise InputError(f"{folder}: no measured recipe; `python -m papers run NAME --out {folder}` measures one")
    for name in measured:
        if name == "results" and not smoke:
            results |= overview.summarize_results(folder / name)
            continue
        table = select_columns(collect_results(name, folder / name, smoke=smoke))
        if smoke:
            results.setdefault(name, {}).update(table.values)
        else:
            results["tables"][name] = merge_parts(results["tables"].get(name, {"values": {}}), table)
    write_results(dict(sorted(results.items())) if smoke else results, RECORDED_SMOKE if smoke else RECORDED)


def select_columns(results: Results) -> Results:
    """Select the columns of the recipe's table; rows of costs, which no other run gives again, are left out."""
    values = {
        part: {
            row: {name: columns[name] for name in results.columns if name in columns}
            for row, columns in rows.items()
            if not row.startswith("cost | ")
        }
        for part, rows in results.values.items()
    }
    return replace(results, values=values)


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
    path.write_text("\n".join(_json_lines(results, 0)) + "\n", encoding="utf-8")


def _json_lines(value: Any, depth: int) -> Iterator[str]:
    """Write nested objects on lines of their own, and objects without objects inside on one line."""
    is_nested = isinstance(value, Mapping) and any(isinstance(child, Mapping) for child in value.values())
    if not is_nested:
        yield json.dumps(value, ensure_ascii=False)
        return
    yield "{"
    items = list(value.items())
    for number, (key, child) in enumerate(items):
        first, *more_lines = _json_lines(child, depth + 1)
        lines = [f"{' ' * (depth + 1)}{json.dumps(key, ensure_ascii=False)}: {first}", *more_lines]
        if number < len(items) - 1:
            lines[-1] += ","
        yield from lines
    yield f"{' ' * depth}}}"


def unconverged_rows(results: Results) -> list[str]:
    """Name the rows whose best epoch was the last one: they would have gained from more epochs."""
    if results.smoke:
        return []
    return [
        f"{part}, {row}: the best epoch was the last; train longer"
        for part, rows in results.values.items()
        for row, columns in rows.items()
        if is_unconverged(columns)
    ]


def format_table(results: Results) -> str:
    """Write a recipe's table in Markdown: one for each part, means over seeds ± their standard deviation."""
    lines = []
    for part, rows in results.values.items():
        cells = [[row, *(_format_cell(columns.get(name)) for name in results.columns)] for row, columns in rows.items()]
        lines += [f"**{part}**", "", *format_grid(["", *results.columns], cells), ""]
    smoke = " --smoke" if results.smoke else ""
    command = f"`python -m papers run {results.recipe}{smoke}`"
    cost = f"{results.seconds:,.0f} s of one core; {results.machine}"
    return "\n".join([*lines, f"{command}. {_describe_seeds(results)}. {cost}."]) + "\n"


def _describe_seeds(results: Results) -> str:
    if len(results.seeds) > 1:
        return f"Seeds {', '.join(map(str, results.seeds))}: mean ± deviation"
    is_random = tuple(recipe_seeds(load_recipe(results.recipe))) != (0,)
    return "One seed" if is_random else "Deterministic: no random seed"


def format_grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Write the lines of a Markdown table."""
    return [_format_line(header), "|" + "---|" * len(header), *(_format_line(row) for row in rows)]


def _format_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def _format_cell(values: Sequence[float] | None) -> str:
    if not values:
        return ""
    mean = format_figure(float(np.mean(values)))
    return f"{mean} ± {format_figure(float(np.std(values)))}" if len(values) > 1 and np.std(values) else mean


def fill_tables(text: str, results: Mapping[str, Any]) -> str:
    """Replace the markers in a page by tables."""

    def render(marker: re.Match[str]) -> str:
        kind, argument = marker[1], marker[2] or ""
        if kind == "recipe":
            return render_recipe(argument, results)
        if kind == "tasks":
            kinds, _, systems = argument.partition(": ")
            return render_systems(kinds.split(", "), systems.split(", "), results)
        return render_fusion(results[kind])

    return _MARKER.sub(render, text)


def render_recipe(name: str, results: Mapping[str, Any]) -> str:
    """Write the recorded table of a recipe, and the verdict for each of the paper's columns and statements."""
    recorded = results["tables"].get(name)
    if recorded is None:
        return f"`python -m papers run {name}` has not been run to its end here.\n"
    table = Results(name, **recorded)
    paper = read_paper_table(name)
    lines = describe_verdicts(paper, table.values) or ["No figure of the paper is compared with this."]
    return "\n".join([format_table(table), *lines, "", f"The paper's data: {paper.data}."])


def describe_verdicts(paper: PaperTable, values: Values) -> list[str]:
    """Write a line for each verdict, and for each part or row that gets none."""
    verdicts = [verdict.describe() for verdict in judge_table(paper, values)]
    if paper.columns or paper.statements:
        verdicts += [f"No verdict on {problem}." for problem in list_problems(paper, values)]
    return [f"- {line}" for line in verdicts]


def render_systems(kinds: Sequence[str], systems: Sequence[str], results: Mapping[str, Any]) -> str:
    """Write some systems of the results page, a table for each kind of task."""
    lines = []
    for kind in kinds:
        lines += [f"**{kind}**", "", *_task_table(_tasks_of_kind(results, kind), systems), ""]
    lines.append("`python -m papers run results`. Three seeds, each with other training texts: mean ± deviation. ")
    return "\n".join(lines) + "Reciprocal rank; nDCG@10 where ad hoc.\n"


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


def render_results_page(results: Mapping[str, Any]) -> str:
    """Write the page of all results in Markdown."""
    introduction = _INTRODUCTION.format(minutes=results["seconds"] / 60, machine=results["machine"])
    lines = ["# Results: every method on the same splits", "", introduction]
    lines += ["## Above every paper's method?", "", _RIVALS_INTRODUCTION]
    header = ["set", "system", "queries", "mean", "nearest rival", "its mean", "p", "above", "below"]
    claims = results["claims"].items()
    rows = [overview.rival_row(name, system, tests) for name, by in claims for system, tests in by.items()]
    lines += [*format_grid(header, rows), ""]
    lines += [*(f"- {sentence}" for sentence in overview.describe_rivals(results["claims"])), ""]
    for kind in overview.TASK_KINDS:
        tasks = _tasks_of_kind(results, kind)
        if tasks:
            measure = "nDCG@10" if kind == "ad hoc" else "reciprocal rank"
            lines += [f"## {kind.capitalize()}: {measure}", "", *_task_table(tasks), ""]
            lines += _comparison_table(results["comparisons"].get(kind, {}))
    lines += ["## Cost", "", *_cost_table(results["costs"]), "", "## The papers' tables", ""]
    for name, recorded in results["tables"].items():
        recipe = load_recipe(name)
        lines.append(f"- {recipe_title(recipe)}, `python -m papers run {name}`:")
        lines += [f"  {line}" for line in describe_verdicts(read_paper_table(name), recorded["values"])]
    return "\n".join(lines).rstrip() + "\n"


def _tasks_of_kind(results: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {task: scores for task, scores in results["tasks"].items() if task.split(",")[0] == kind}


def _task_table(tasks: Mapping[str, Any], systems: Sequence[str] = ()) -> list[str]:
    """Make a row for each system, the best mean first; the mean is left out where a task was not measured."""
    means: dict[str, list[float]] = {}
    for scores in tasks.values():
        for name, values in scores["systems"].items():
            means.setdefault(name, []).append(float(np.mean(values)))
    names = sorted(means, key=lambda name: (-np.mean(means[name]), name))
    rows = []
    for name in names:
        if systems and name not in systems:
            continue
        cells = [_format_cell(scores["systems"].get(name)) for scores in tasks.values()]
        is_complete = len(means[name]) == len(tasks)
        rows.append([name, *cells, format_figure(float(np.mean(means[name]))) if is_complete else ""])
    counts = ["queries", *(str(scores["queries"]) for scores in tasks.values()), ""]
    header = ["", *(", ".join(task.split(", ")[1:]) for task in tasks), "mean"]
    return format_grid(header, [*rows, counts])


def _comparison_table(tests: Mapping[str, Any]) -> list[str]:
    if not tests:
        return []
    rows = []
    for name, test in sorted(tests.items(), key=lambda item: -item[1]["difference"]):
        means = [format_figure(test["fast"]), format_figure(test["mean"]), f"{test['difference']:+.3f}"]
        rows.append([name, str(test["queries"]), *means, overview.format_p(test["p"])])
    caption = "Against `fast` on the same queries; p by randomisation with Holm's correction."
    return [caption, "", *format_grid(["", "queries", "fast", "mean", "difference", "p"], rows), ""]


def _cost_table(costs: Mapping[str, Any]) -> list[str]:
    columns = ("seconds", "MB", "documents/s", "ms/query")
    rows = [
        [name, *(format_figure(cost[c]) if c in cost else "" for c in columns)] for name, cost in sorted(costs.items())
    ]
    return format_grid(["", "training, s", "model, MB", "documents/s", "ms a query"], rows)
