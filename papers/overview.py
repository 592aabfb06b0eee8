"""Summarize the `results` recipe: every system's means by task, its costs, and paired tests between systems.

A collection's set is a kind of task on it ("documents, ddtp") over all its language pairs. Two systems are compared on
the queries that both were asked, after averaging seeds; p-values are by randomisation, with Holm's correction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from papers.runner import read_cells
from papers.verdicts import format_figure
from paragloss.evaluation import compare, holm

#: task -> system -> seed -> one value per query
QueryScores: TypeAlias = dict[str, dict[str, dict[int, list[float]]]]
#: What other systems are compared with: words and the default model, what `paragloss search` does by itself.
BASELINE = "fast"
TASK_KINDS = ("documents", "ad hoc", "sentences", "words", "questions")
PAPER_METHODS = ("K-NRM behind the table", "CL-LSI", "OPCA", "CCA", "Cr5", "S2Net", "BAE", "XCNN", "SOSL")
#: Which system is expected to be above which rivals.
RIVALS = {"fast": PAPER_METHODS, "fast with own table and Cr5": PAPER_METHODS, "best": ("e5",)}
SIGNIFICANCE = 0.05


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


def pair_scores(tasks: QueryScores, first: str, second: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return two systems' scores of the queries that both were asked, averaged over seeds."""
    first_scores: dict[str, float] = {}
    second_scores: dict[str, float] = {}
    for task, systems in tasks.items():
        if first in systems and second in systems:
            means = [np.mean(list(systems[name].values()), axis=0).tolist() for name in (first, second)]
            for number, (first_mean, second_mean) in enumerate(zip(*means, strict=True)):
                first_scores[f"{task} {number}"], second_scores[f"{task} {number}"] = first_mean, second_mean
    return first_scores, second_scores


def compare_with_baseline(scores: QueryScores) -> dict[str, dict[str, dict[str, float]]]:
    """Compare every system with the baseline: kind of task -> system -> means, difference and corrected p."""
    comparisons: dict[str, dict[str, dict[str, float]]] = {}
    for kind in dict.fromkeys(task.split(",")[0] for task in scores):
        tasks = {task: by for task, by in scores.items() if task.split(",")[0] == kind and BASELINE in by}
        systems = dict.fromkeys(name for by in tasks.values() for name in by if name != BASELINE)
        tests = {name: compare(*pair_scores(tasks, BASELINE, name)) for name in systems}
        corrected = holm({name: test.p_randomisation for name, test in tests.items()})
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
            pairs = {rival: pair_scores(tasks, rival, system) for rival in rivals}
            tests = {rival: compare(*pair) for rival, pair in pairs.items() if pair[0]}
            corrected = holm({rival: test.p_randomisation for rival, test in tests.items()})
            for rival, test in tests.items():
                comparisons.setdefault(name, {}).setdefault(system, {})[rival] = {
                    "queries": test.queries,
                    "mean": round(test.second, 4),
                    "rival": round(test.first, 4),
                    "p": round(corrected[rival], 5),
                }
    return comparisons


def is_above(test: Mapping[str, float]) -> bool:
    """Say whether a system is significantly above its rival."""
    return test["mean"] > test["rival"] and test["p"] < SIGNIFICANCE


def is_below(test: Mapping[str, float]) -> bool:
    """Say whether a system is significantly below its rival."""
    return test["mean"] < test["rival"] and test["p"] < SIGNIFICANCE


def describe_rivals(claims: Mapping[str, Any]) -> list[str]:
    """Write a sentence for each system of RIVALS: on which sets it is above all rivals, and below whom."""
    rivals_in_words = ("every single method of the papers", "the same methods", "e5 alone")
    sentences = []
    for system, description in zip(RIVALS, rivals_in_words, strict=True):
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


def format_p(p: float) -> str:
    """Format a p-value."""
    return "under .0002" if p < 0.0002 else f"{p:.4f}".replace("0.", ".", 1)


def rival_row(name: str, system: str, tests: Mapping[str, Any]) -> list[str]:
    """Make the row of a system on one set: its nearest rival, and how many rivals it is above and below."""
    rival, test = max(tests.items(), key=lambda item: item[1]["rival"] - item[1]["mean"])
    counts = [f"{sum(map(check, tests.values()))} of {len(tests)}" for check in (is_above, is_below)]
    means = [format_figure(test["mean"]), rival, format_figure(test["rival"]), format_p(test["p"])]
    return [name, system, str(test["queries"]), *means, *counts]
