"""Summarize the recipe `results`, and write it: every system's means by task, its costs, and paired tests.

A collection's set is a kind of task on it ("documents, ddtp") over all its language pairs. Two systems are compared on
the queries that both were asked, after averaging seeds; p-values are by randomisation, with Holm's correction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from papers.markdown import format_cell, format_figure, format_grid
from papers.runner import read_cells
from paragloss.evaluation import Comparison, compare, holm

#: task -> system -> seed -> one value per query
QueryScores: TypeAlias = dict[str, dict[str, dict[int, list[float]]]]
#: What other systems are compared with: words and the default model, what `paragloss search` does by itself.
BASELINE = "fast"
PAPER_METHODS = ("K-NRM behind the table", "CL-LSI", "OPCA", "CCA", "Cr5", "S2Net", "BAE", "XCNN", "SOSL")
#: Which system is expected to be above which rivals, and these in words.
RIVALS = {"fast": PAPER_METHODS, "fast with own table and Cr5": PAPER_METHODS, "best": ("e5",)}
RIVALS_IN_WORDS = ("every single method of the papers", "the same methods", "e5 alone")
SIGNIFICANCE = 0.05
COST_COLUMNS = {"seconds": "training, s", "MB": "model, MB", "documents/s": "documents/s", "ms/query": "ms a query"}


def summarize_results(folder: Path) -> dict[str, Any]:
    """Summarize the cells that the `results` recipe measured under a folder."""
    scores: QueryScores = {}
    costs: dict[str, dict[str, list[float]]] = {}
    cells = read_cells("results", folder)
    for cell in cells:
        for row, columns in cell["rows"].items():
            task, _, system = row.partition(" | ")
            if task == "cost":
                for column, value in columns.items():
                    costs.setdefault(system, {}).setdefault(column, []).append(value)
            else:
                scores.setdefault(task, {}).setdefault(system, {})[cell["seed"]] = columns["measure"]
    return {
        "tasks": {task: _summarize_task(systems) for task, systems in sorted(scores.items())},
        "costs": {name: {c: _mean(values, 3) for c, values in columns.items()} for name, columns in costs.items()},
        "comparisons": compare_with_baseline(scores),
        "claims": compare_with_rivals(scores),
        "machine": "; ".join(dict.fromkeys(cell["machine"] for cell in cells)),
        "seconds": round(sum(cell["seconds"] for cell in cells)),
    }


def _summarize_task(systems: Mapping[str, Mapping[int, Sequence[float]]]) -> dict[str, Any]:
    queries = max(len(values) for seeds in systems.values() for values in seeds.values())
    means = {name: [_mean(values, 4) for _, values in sorted(seeds.items())] for name, seeds in systems.items()}
    return {"queries": queries, "systems": means}


def _mean(values: Sequence[float], digits: int) -> float:
    return round(float(np.mean(values)), digits)


def compare_with_baseline(scores: QueryScores) -> dict[str, dict[str, dict[str, float]]]:
    """Compare every system with the baseline: kind of task -> system -> means, difference and corrected p."""
    comparisons: dict[str, dict[str, dict[str, float]]] = {}
    for kind in dict.fromkeys(task.split(",")[0] for task in scores):
        tasks = {task: by for task, by in scores.items() if task.split(",")[0] == kind and BASELINE in by}
        systems = dict.fromkeys(name for by in tasks.values() for name in by if name != BASELINE)
        tests, corrected = _run_tests({name: _pair_scores(tasks, BASELINE, name) for name in systems})
        comparisons[kind] = {
            name: {
                "queries": test.queries,
                "fast": round(test.first, 4),
                "mean": round(test.second, 4),
                "difference": round(test.difference, 4),
                "p": round(corrected[name], 5),
            }
            for name, test in tests.items()
        }
    return comparisons


def compare_with_rivals(scores: QueryScores) -> dict[str, dict[str, Any]]:
    """Compare each system of RIVALS with its rivals: set -> system -> rival -> both means and corrected p."""
    comparisons: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(task.rpartition(", ")[0] for task in scores):
        tasks = {task: systems for task, systems in scores.items() if task.rpartition(", ")[0] == name}
        for system, rivals in RIVALS.items():
            tests, corrected = _run_tests({rival: _pair_scores(tasks, rival, system) for rival in rivals})
            for rival, test in tests.items():
                comparisons.setdefault(name, {}).setdefault(system, {})[rival] = {
                    "queries": test.queries,
                    "mean": round(test.second, 4),
                    "rival": round(test.first, 4),
                    "p": round(corrected[rival], 5),
                }
    return comparisons


#: The scores of two systems for the same queries: query -> score.
ScorePair: TypeAlias = tuple[dict[str, float], dict[str, float]]


def _pair_scores(tasks: QueryScores, first: str, second: str) -> ScorePair:
    """Return two systems' scores of the queries that both were asked, averaged over seeds."""
    first_scores: dict[str, float] = {}
    second_scores: dict[str, float] = {}
    for task, systems in tasks.items():
        if first in systems and second in systems:
            for name, scores in ((first, first_scores), (second, second_scores)):
                means = np.mean(list(systems[name].values()), axis=0).tolist()
                scores.update({f"{task} {number}": mean for number, mean in enumerate(means)})
    return first_scores, second_scores


def _run_tests(pairs: Mapping[str, ScorePair]) -> tuple[dict[str, Comparison], dict[str, float]]:
    """Compare each pair that has queries; return the comparisons, and their p-values corrected by Holm's method."""
    tests = {name: compare(*pair) for name, pair in pairs.items() if pair[0]}
    return tests, holm({name: test.p_randomisation for name, test in tests.items()})


def render_systems(argument: str, results: Mapping[str, Any]) -> str:
    """Write some systems of the results page, a table for each kind of task.

    :param argument: kinds of task and systems, as in "documents, sentences: Cr5, OPCA"
    """
    kinds, _, systems = argument.partition(": ")
    lines = []
    for kind in kinds.split(", "):
        lines += [f"**{kind}**", "", *_task_table(kind, results, systems.split(", ")), ""]
    lines.append("`python -m papers run results`. Three seeds, each with other training texts: mean ± deviation. ")
    return "\n".join(lines) + "Reciprocal rank; nDCG@10 where ad hoc.\n"


def render_comparison(kind: str, results: Mapping[str, Any]) -> str:
    """Write all systems on one kind of task, and how each compares with the baseline."""
    rows = []
    tests = results["comparisons"][kind]
    for name, test in sorted(tests.items(), key=lambda item: -item[1]["difference"]):
        means = [format_figure(test["fast"]), format_figure(test["mean"]), f"{test['difference']:+.3f}"]
        rows.append([name, str(test["queries"]), *means, _format_p(test["p"])])
    caption = "Against `fast` on the same queries; p by randomisation with Holm's correction."
    table = format_grid(["", "queries", "fast", "mean", "difference", "p"], rows)
    return "\n".join([*_task_table(kind, results), "", caption, "", *table])


def render_costs(_: str, results: Mapping[str, Any]) -> str:
    """Write what training and searching cost each system."""
    rows = [
        [name, *(format_figure(cost[column]) if column in cost else "" for column in COST_COLUMNS)]
        for name, cost in sorted(results["costs"].items())
    ]
    minutes = f"{results['seconds'] / 60:,.0f}"
    caption = f"Costs are of one core; all took {minutes} minutes of one core ({results['machine']})."
    return "\n".join([caption, "", *format_grid(["", *COST_COLUMNS.values()], rows)])


def render_rivals(_: str, results: Mapping[str, Any]) -> str:
    """Write which systems are significantly above their rivals, as a table and in sentences."""
    header = ["set", "system", "queries", "mean", "nearest rival", "its mean", "p", "above", "below"]
    claims = results["claims"]
    rows = [_make_rival_row(name, system, tests) for name, by in claims.items() for system, tests in by.items()]
    return "\n".join([*format_grid(header, rows), "", *(f"- {sentence}" for sentence in describe_rivals(claims))])


def is_above(test: Mapping[str, float]) -> bool:
    """Say whether a system is significantly above its rival."""
    return test["mean"] > test["rival"] and test["p"] < SIGNIFICANCE


def is_below(test: Mapping[str, float]) -> bool:
    """Say whether a system is significantly below its rival."""
    return test["mean"] < test["rival"] and test["p"] < SIGNIFICANCE


def describe_rivals(claims: Mapping[str, Any]) -> list[str]:
    """Write a sentence for each system of RIVALS: on which sets it is above all rivals, and below whom."""
    sentences = []
    for system, description in zip(RIVALS, RIVALS_IN_WORDS, strict=True):
        tests_by_set = {name: systems[system] for name, systems in claims.items() if system in systems}
        if not tests_by_set:
            continue
        above = [name for name, tests in tests_by_set.items() if all(map(is_above, tests.values()))]
        parts = [f"above {description} on {len(above)} of {len(tests_by_set)} sets ({'; '.join(above) or 'none'})"]
        for name, tests in tests_by_set.items():
            winners = [rival for rival, test in tests.items() if is_below(test)]
            if winners:
                parts.append(f"below {', '.join(winners)} on {name}")
        sentences.append(f"`{system}` is significantly {'; '.join(parts)}.")
    return sentences


def _make_rival_row(name: str, system: str, tests: Mapping[str, Any]) -> list[str]:
    """Make the row of a system on one set: its nearest rival, and how many rivals it is above and below."""
    rival, test = max(tests.items(), key=lambda item: item[1]["rival"] - item[1]["mean"])
    counts = [f"{sum(map(check, tests.values()))} of {len(tests)}" for check in (is_above, is_below)]
    means = [format_figure(test["mean"]), rival, format_figure(test["rival"]), _format_p(test["p"])]
    return [name, system, str(test["queries"]), *means, *counts]


def _format_p(p: float) -> str:
    return "under .0002" if p < 0.0002 else f"{p:.4f}".replace("0.", ".", 1)


def _task_table(kind: str, results: Mapping[str, Any], systems: Sequence[str] = ()) -> list[str]:
    """Make a row for each system on the tasks of a kind, the best mean first; no mean where a task was not measured."""
    tasks = {task: scores for task, scores in results["tasks"].items() if task.split(",")[0] == kind}
    means: dict[str, list[float]] = {}
    for scores in tasks.values():
        for name, values in scores["systems"].items():
            means.setdefault(name, []).append(float(np.mean(values)))
    rows = []
    for name in sorted(means, key=lambda name: (-np.mean(means[name]), name)):
        if not systems or name in systems:
            cells = [format_cell(scores["systems"].get(name)) for scores in tasks.values()]
            is_complete = len(means[name]) == len(tasks)
            rows.append([name, *cells, format_figure(float(np.mean(means[name]))) if is_complete else ""])
    counts = ["queries", *(str(scores["queries"]) for scores in tasks.values()), ""]
    header = ["", *(", ".join(task.split(", ")[1:]) for task in tasks), "mean"]
    return format_grid(header, [*rows, counts])
