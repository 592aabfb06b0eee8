"""Is the default above every single method of the papers, and with an encoder above the encoder alone, on every set?

A set is a kind of task on a collection (documents of ddtp), over all its pairs of languages. A system is held against
each rival on the queries both were asked, seeds averaged; p by randomisation, corrected for the rivals' number (Holm).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paragloss.evaluation import compare, holm
from paragloss.lab.recipes.markdown_tables import figure, grid

#: task -> system -> seed -> one value for each query
Queries = dict[str, dict[str, dict[int, list[float]]]]
METHODS = ("K-NRM behind the table", "CL-LSI", "OPCA", "CCA", "Cr5", "S2Net", "BAE", "XCNN", "SOSL")
OWN = "fast with own table and Cr5"
#: Who should be above whom.
CLAIMS = {"fast": METHODS, OWN: METHODS, "best": ("e5",)}


def paired(tasks: Queries, baseline: str, name: str) -> tuple[dict[str, float], dict[str, float]]:
    """Two systems' values for the queries both were asked, seeds averaged."""
    first: dict[str, float] = {}
    second: dict[str, float] = {}
    for task, systems in tasks.items():
        if name in systems and baseline in systems:
            before, after = (np.mean(list(systems[s].values()), axis=0) for s in (baseline, name))
            for number, (one, other) in enumerate(zip(before.tolist(), after.tolist(), strict=True)):
                first[f"{task} {number}"], second[f"{task} {number}"] = one, other
    return first, second


def sets(tasks: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(task.rpartition(", ")[0] for task in tasks))


def judged(asked: Queries) -> dict[str, dict[str, Any]]:
    """Set -> system -> rival -> both means, the difference and its corrected p."""
    found: dict[str, dict[str, Any]] = {}
    for name in sets(asked):
        tasks = {task: systems for task, systems in asked.items() if task.rpartition(", ")[0] == name}
        for system, rivals in CLAIMS.items():
            values = {rival: paired(tasks, rival, system) for rival in rivals}
            tests = {rival: compare(*both) for rival, both in values.items() if both[0]}
            corrected = holm({rival: test.p_randomisation for rival, test in tests.items()})
            if tests:
                found.setdefault(name, {})[system] = {
                    rival: {
                        "queries": test.queries,
                        "mean": round(test.second, 4),
                        "rival": round(test.first, 4),
                        "p": round(corrected[rival], 5),
                    }
                    for rival, test in tests.items()
                }
    return found


def lines(claims: Mapping[str, Any]) -> list[str]:
    """A table of who is above whom, and what it comes to, in Markdown."""
    rows = [_row(name, system, rivals) for name, systems in claims.items() for system, rivals in systems.items()]
    header = ["set", "system", "queries", "mean", "nearest rival", "its mean", "p", "surely above", "surely below"]
    return [*grid(header, rows), "", *(f"- {line}" for line in sentences(claims)), "", *why(claims)]


def sentences(claims: Mapping[str, Any]) -> list[str]:
    """In plain words, for each claim."""
    found = []
    told = ("every single method of the papers", "the same methods", "e5 alone")
    for system, what in zip(CLAIMS, told, strict=True):
        of = {name: systems[system] for name, systems in claims.items() if system in systems}
        confirmed = [name for name, rivals in of.items() if all(_above(t) for t in rivals.values())]
        not_below = [name for name in of if name not in confirmed and not any(_below(t) for t in of[name].values())]
        lost = {n: [r for r, t in of[n].items() if _below(t)] for n in of if n not in (*confirmed, *not_below)}
        parts = [
            f"surely above {what} on {len(confirmed)} of {len(of)} sets"
            + (f" ({'; '.join(confirmed)})" if confirmed else ""),
            *([f"no surer than chance against one or more on {'; '.join(not_below)}"] if not_below else []),
            *(f"below {', '.join(rivals)} on {name}" for name, rivals in lost.items()),
        ]
        if of:
            found.append(f"`{system}`: {'. '.join(part[0].upper() + part[1:] for part in parts)}.")
    return found


def why(claims: Mapping[str, Any]) -> list[str]:
    """Where the default is not surely ahead: what the others have there, and how one gets it."""
    of = {name: systems for name, systems in claims.items() if "fast" in systems}
    behind = [name for name, systems in of.items() if not all(_above(test) for test in systems["fast"].values())]
    if not behind:
        return []
    lost = [name for name in of if any(_below(test) for test in of[name].get(OWN, {}).values())]
    return [
        f"Why `fast` is not surely ahead on {'; '.join(behind)}:",
        "there the papers' methods have learned the collection's own words from other pages of it, and the default",
        "model has seen none of these pages. Who has pages in two languages teaches `fast` the same:",
        "`paragloss train table PAGES --out table`, `paragloss train cr5 PAGES --out cr5`, and then",
        "`paragloss index ... --model table --model cr5`. So taught it is surely below one of these methods on",
        f"{'; '.join(lost) or 'no set'}.",
    ]


def _row(name: str, system: str, rivals: Mapping[str, Any]) -> list[str]:
    nearest, test = max(rivals.items(), key=lambda item: item[1]["rival"] - item[1]["mean"])
    counts = [sum(so(t) for t in rivals.values()) for so in (_above, _below)]
    told = [figure(test["mean"]), nearest, figure(test["rival"]), _chance(test["p"])]
    return [name, system, str(test["queries"]), *told, *(f"{count} of {len(rivals)}" for count in counts)]


def _above(test: Mapping[str, float]) -> bool:
    return test["mean"] > test["rival"] and test["p"] < 0.05


def _below(test: Mapping[str, float]) -> bool:
    return test["mean"] < test["rival"] and test["p"] < 0.05


def _chance(p: float) -> str:
    return "under .0002" if p < 0.0002 else f"{p:.4f}".replace("0.", ".", 1)
