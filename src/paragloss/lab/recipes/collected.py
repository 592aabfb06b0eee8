"""From what recipes measured to the one results.json that docs, the advisor and the leaderboard read.

The results recipe's cells become tasks with each system's mean for every seed, what systems cost, and paired tests:
every other system against `fast`, query by query over all tasks of a kind, corrected for their number (Holm).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from paragloss.errors import InputError
from paragloss.evaluation import compare, holm
from paragloss.lab.recipes import claims, load, names, runner
from paragloss.lab.recipes.claims import Queries
from paragloss.lab.recipes.verdicts import verdict

SHIPPED = Path(__file__).with_name("results.json")
#: What others are held against: words and the default model, what `paragloss search` does by itself.
BASELINE = "fast"
KINDS = ("documents", "ad hoc", "sentences", "words", "questions")


@cache
def shipped() -> dict[str, Any]:
    """What this version of the package knows of itself."""
    if not SHIPPED.is_file():
        raise InputError(f"{SHIPPED} is not there: `paragloss recipes --docs docs --out FOLDER` makes it")
    read: dict[str, Any] = json.loads(SHIPPED.read_text(encoding="utf-8"))
    return read


def collect(folder: Path) -> dict[str, Any]:
    """All recipes measured under a folder, FOLDER/NAME each."""
    tables = {}
    for name in names():
        if name != "results" and (folder / name / "cells").is_dir():
            results = runner.collected(name, folder / name).as_json()
            if results["values"]:
                tables[name] = {**results, "verdict": verdict(results)}
    if not tables and not (folder / "results" / "cells").is_dir():
        raise InputError(f"{folder}: no measured recipe; `paragloss recipes NAME --out {folder}/NAME` measures one")
    return {"tables": tables, **overview(folder / "results")}


def joined(known: Mapping[str, Any], measured: Mapping[str, Any]) -> dict[str, Any]:
    """What was measured now in the place of what was known of it; recipes, and parts of one, not measured now stay."""
    told = dict(known.get("tables", {}))
    for name, table in measured["tables"].items():
        told[name] = _with_parts(told.get(name, {}), table)
    newer = {key: value for key, value in measured.items() if measured["tasks"]}
    return {**known, **newer, "tables": {name: told[name] for name in names() if name in told}}


def _with_parts(known: Mapping[str, Any], measured: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe's table with the parts that only an earlier one has, in the recipe's order."""
    spent = known.get("seconds", {}).items()  # of one part, or of several together ("en-fr, en-zh")
    earlier = {some: seconds for some, seconds in spent if not {*some.split(", ")} <= measured["values"].keys()}
    values = {**known.get("values", {}), **measured["values"]}
    if values.keys() == measured["values"].keys():
        return dict(measured)
    joined = {
        **measured,
        "values": {part: values[part] for part in runner.parts(load(measured["recipe"]), False) if part in values},
        "seeds": sorted({*known["seeds"], *measured["seeds"]}),
        "machine": "; ".join(dict.fromkeys(f"{known['machine']}; {measured['machine']}".split("; "))),
        "seconds": earlier | measured["seconds"],
    }
    return {**joined, "verdict": verdict(joined)}


def overview(folder: Path) -> dict[str, Any]:
    asked, costs, seconds, machines = read(folder)
    tasks = {}
    for task, systems in asked.items():
        most = max(len(values) for seeds in systems.values() for values in seeds.values())
        means = {name: [_mean(values, 4) for _, values in sorted(seeds.items())] for name, seeds in systems.items()}
        tasks[task] = {"queries": most, "systems": means}
    return {
        "tasks": tasks,
        "costs": {system: {c: _mean(values, 3) for c, values in columns.items()} for system, columns in costs.items()},
        "comparisons": comparisons(asked),
        "claims": claims.judged(asked),
        "machine": "; ".join(machines),
        "seconds": round(seconds),
    }


def _mean(values: Sequence[float], digits: int) -> float:
    return round(float(np.mean(values)), digits)


def read(folder: Path) -> tuple[Queries, dict[str, dict[str, list[float]]], float, list[str]]:
    """Every task's values, query by query; what systems cost; processor seconds in all; on which machines."""
    asked: Queries = {}
    costs: dict[str, dict[str, list[float]]] = {}
    seconds = 0.0
    machines: dict[str, None] = {}
    for _, seed, cell in runner.cells_of("results", folder):
        seconds += cell["seconds"]
        machines[cell["machine"]] = None
        for row, columns in cell["rows"].items():
            task, _, system = row.partition(" | ")
            if task == "cost":
                for column, value in columns.items():
                    costs.setdefault(system, {}).setdefault(column, []).append(value)
            else:
                asked.setdefault(task, {}).setdefault(system, {})[seed] = columns["measure"]
    return dict(sorted(asked.items())), costs, seconds, list(machines)


def comparisons(asked: Queries) -> dict[str, dict[str, dict[str, float]]]:
    """For each kind of task, every system that was asked the same against the baseline."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for kind in dict.fromkeys(task.split(",")[0] for task in asked):
        alike = {task: systems for task, systems in asked.items() if task.split(",")[0] == kind and BASELINE in systems}
        others = dict.fromkeys(name for systems in alike.values() for name in systems if name != BASELINE)
        tests = {name: compare(*claims.paired(alike, BASELINE, name)) for name in others}
        corrected = holm({name: test.p_randomisation for name, test in tests.items()})
        found[kind] = {
            name: {
                "queries": test.queries,
                "fast": round(test.first, 4),
                "mean": round(test.second, 4),
                "difference": round(test.difference, 4),
                "p": round(corrected[name], 5),
            }
            for name, test in tests.items()
        }
    return found


def of_kind(results: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {task: told for task, told in results["tasks"].items() if task.split(",")[0] == kind}


def systems_of(tasks: Mapping[str, Any]) -> list[str]:
    """By mean over the tasks, the best first."""
    means = {name: np.mean(value) for name, value in averages(tasks).items()}
    return sorted(means, key=lambda name: (-means[name], name))


def averages(tasks: Mapping[str, Any]) -> dict[str, list[float]]:
    """System -> its mean on each task it was asked."""
    found: dict[str, list[float]] = {}
    for told in tasks.values():
        for name, values in told["systems"].items():
            found.setdefault(name, []).append(float(np.mean(values)))
    return found
