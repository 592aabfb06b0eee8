"""Runs a recipe part by part and seed by seed, keeps every part as soon as it is measured, and writes what came out.

A run that is stopped goes on where it was: a part and a seed are a file under OUT/cells. OUT/results.json holds every
value, OUT/table.md the means and spreads, OUT/verdict.md what that says of the paper.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from paragloss.errors import InputError
from paragloss.lab.recipes import load, originals
from paragloss.lab.recipes.sets import Columns, folder
from paragloss.lab.recipes.verdicts import verdict

#: What a recipe measures of one part with one seed, row by row.
Measured: TypeAlias = dict[str, Columns]
#: part -> row -> column -> one value for each seed.
Values: TypeAlias = dict[str, dict[str, dict[str, list[float]]]]


class Results(NamedTuple):
    """All that a recipe measured, and on what."""

    recipe: str
    title: str
    columns: tuple[str, ...]
    seeds: tuple[int, ...]
    smoke: bool
    machine: str
    seconds: dict[str, float]  # of one core, by part
    values: Values

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


def title(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().splitlines()[0].rstrip(".")


def missing(module: ModuleType) -> list[str]:
    """What the recipe reads that is not here."""
    return [name for name in module.DATA if not any(folder().glob(name))]


def parts(module: ModuleType, smoke: bool) -> list[str]:
    """What is measured: the recipe's parts, and those of the paper's own data that are here; or the quickest."""
    if smoke:
        return list(getattr(module, "QUICK", module.PARTS[:1]))
    return [*module.PARTS, *originals.present(getattr(module, "ORIGINALS", {}))]


def run(
    name: str,
    out: Path,
    *,
    smoke: bool = False,
    seeds: Sequence[int] | None = None,
    only: Sequence[str] = (),
    report: Callable[[str], None] = lambda _: None,
) -> Results:
    """Measure what is not measured yet and write all there is; `report` is told of each part as it begins."""
    module = load(name)
    if lacking := missing(module):
        raise InputError(
            f"{name} reads {', '.join(lacking)} under {folder()}, which is not there: "
            "set PARAGLOSS_DATA (docs/do/recipes.md says where the sets come from)"
        )
    drawn = tuple(seeds if seeds is not None else (0,) if smoke else getattr(module, "SEEDS", (0, 1, 2)))
    cells = out / "cells"
    cells.mkdir(parents=True, exist_ok=True)
    for part in [part for part in parts(module, smoke) if not only or part in only]:
        for seed in drawn[:1] if part in getattr(module, "ONCE", ()) else drawn:
            path = _cell(cells, part, seed, smoke)
            if not path.is_file():
                report(f"{part}, seed {seed}")
                started = time.process_time()
                rows = module.measure(part, seed, smoke=smoke)
                spent = time.process_time() - started
                _write(path, {"part": part, "seed": seed, "seconds": spent, "machine": machine(), "rows": rows})
    results = collected(name, out, smoke=smoke)
    write(results, out)
    return results


def collected(name: str, out: Path, *, smoke: bool = False) -> Results:
    """What has been measured so far, whether the run ended or not."""
    module = load(name)
    values: Values = {}
    seeds: set[int] = set()
    seconds: dict[str, float] = {}
    machines: dict[str, None] = {}
    for part, seed, cell in cells_of(name, out, smoke=smoke):
        seeds.add(seed)
        machines[cell["machine"]] = None
        seconds[part] = round(seconds.get(part, 0) + cell["seconds"], 1)
        for row, columns in cell["rows"].items():
            for column, value in columns.items():
                seen = values.setdefault(part, {}).setdefault(row, {}).setdefault(column, [])
                seen.append(round(float(np.mean(value)), 4))
    return Results(
        name, title(module), tuple(module.COLUMNS), tuple(sorted(seeds)), smoke, "; ".join(machines), seconds, values
    )


def cells_of(name: str, out: Path, *, smoke: bool = False) -> list[tuple[str, int, dict[str, Any]]]:
    """Every part that was measured, in the recipe's order: (part, seed, what its file says)."""
    order = {part: i for i, part in enumerate(parts(load(name), smoke))}
    ends = ".smoke.json" if smoke else ".json"
    files = [f for f in (out / "cells").glob("*.json") if f.name.endswith(".smoke.json") == smoke]
    read = [json.loads(path.read_text(encoding="utf-8")) for path in files if path.name.endswith(ends)]
    known = [(cell["part"], cell["seed"], cell) for cell in read if cell["part"] in order]
    return sorted(known, key=lambda cell: (order[cell[0]], cell[1]))


def write(results: Results, out: Path) -> None:
    """results.json, table.md, verdict.md, and the recipe's plots, if it draws any."""
    from paragloss.lab.recipes.markdown_tables import table

    _write(out / "results.json", results.as_json())
    (out / "table.md").write_text(table(results.as_json()), encoding="utf-8")
    (out / "verdict.md").write_text(verdict(results.as_json()) + "\n", encoding="utf-8")
    draw = getattr(load(results.recipe), "plot", None)
    if draw is not None:
        for file, figure in draw(results).items():
            figure.savefig(out / file, metadata={"Date": None} if file.endswith(".svg") else None)


def machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def _cell(cells: Path, part: str, seed: int, smoke: bool) -> Path:
    return cells / f"{re.sub(r'[^a-z0-9]+', '-', part.lower()).strip('-')}.{seed}{'.smoke' if smoke else ''}.json"


def _write(path: Path, value: Any) -> None:
    """Whole or not at all."""
    fresh = path.with_suffix(".fresh")
    fresh.write_text(json.dumps(value, ensure_ascii=False, default=_rounded), encoding="utf-8")
    fresh.replace(path)


def _rounded(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else float(value)
