"""Run a recipe part by part and seed by seed, and check what it measures against the recorded results.

Each part and seed is saved as a file under OUT/cells as soon as it is measured, so that an interrupted run continues
where it stopped. OUT/results.json holds the mean of every value over queries.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from papers.corpora import data_folder
from papers.data_sets import name_data_sets
from papers.recipes import load_recipe
from papers.verdicts import is_unconverged
from paragloss.atomic_files import write_file_atomically
from paragloss.errors import InputError

FOLDER = Path(__file__).parent
#: Results of full runs and of smoke runs, as measured on our machines.
RECORDED, RECORDED_SMOKE = FOLDER / "results.json", FOLDER / "smoke.json"
#: A mean over seeds may differ from the recorded one by this much, or by two recorded standard deviations if more.
TOLERANCE = 0.02
#: part -> row -> column -> one value per seed
Values = dict[str, dict[str, dict[str, list[float]]]]


@dataclass
class Results:
    """All values that a recipe measured, and what that took."""

    recipe: str
    smoke: bool = False
    seeds: list[int] = field(default_factory=list)
    machine: str = ""
    seconds: float = 0.0  # of one core
    values: Values = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        return list(load_recipe(self.recipe).columns)


class Check(NamedTuple):
    """A measured mean beside the recorded one."""

    place: str  # part, row and column
    measured: float
    recorded: float
    tolerance: float

    @property
    def is_ok(self) -> bool:
        return abs(self.measured - self.recorded) <= self.tolerance


def run_recipe(
    name: str,
    out: Path,
    *,
    smoke: bool = False,
    seeds: Sequence[int] | None = None,
    parts: Sequence[str] = (),
    processes: int = 1,
) -> Results:
    """Measure the parts that are not under `out` yet, and write the results.

    :param parts: measure these parts only
    :param processes: measure so many parts and seeds at a time
    """
    recipe = load_recipe(name)
    missing_files = recipe.list_missing_data()
    if missing_files:
        commands = "; ".join(f"python -m papers data get {data_set}" for data_set in name_data_sets(missing_files))
        files = ", ".join(missing_files)
        raise InputError(f"{name} reads {files} under {data_folder()} (PARAGLOSS_DATA), which is not there: {commands}")
    cells = list(_list_missing_cells(name, out, smoke=smoke, seeds=seeds, parts=parts))
    if processes > 1:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            for future in as_completed([pool.submit(_measure_cell, *cell) for cell in cells]):
                future.result()
    else:
        for cell in cells:
            _measure_cell(*cell)
    results = collect_results(name, out, smoke=smoke)
    _write_json(out / "results.json", asdict(results))
    for file, figure in recipe.draw_figures(results).items():
        figure.savefig(out / file, metadata={"Date": None} if file.endswith(".svg") else None)
    return results


def _list_missing_cells(
    name: str, out: Path, *, smoke: bool, seeds: Sequence[int] | None, parts: Sequence[str]
) -> Iterator[tuple[str, str, int, bool, Path]]:
    """Yield the arguments of `_measure_cell` for each part and seed without a file."""
    recipe = load_recipe(name)
    if seeds is None:
        seeds = (0,) if smoke else recipe.seeds
    for part in recipe.list_parts(smoke=smoke):
        if parts and part not in parts:
            continue
        for seed in seeds[:1] if part in recipe.unseeded_parts else seeds:
            slug = re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")
            path = out / "cells" / f"{slug}.{seed}{'.smoke' if smoke else ''}.json"
            if not path.is_file():
                yield name, part, seed, smoke, path


def _measure_cell(name: str, part: str, seed: int, smoke: bool, path: Path) -> None:
    """Measure one part with one seed, and write its file."""
    sys.stderr.write(f"{name}: {part}, seed {seed}\n")
    started = time.process_time()
    rows = load_recipe(name).measure(part, seed, smoke=smoke)
    seconds = time.process_time() - started
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    _write_json(path, {"part": part, "seed": seed, "seconds": seconds, "machine": machine, "rows": rows})


def collect_results(name: str, out: Path, *, smoke: bool = False) -> Results:
    """Collect what has been measured so far under a folder, whether the run ended or not."""
    results = Results(name, smoke)
    machines: dict[str, None] = {}
    for cell in read_cells(name, out, smoke=smoke):
        results.seeds = sorted({*results.seeds, cell["seed"]})
        results.seconds = round(results.seconds + cell["seconds"], 1)
        machines[cell["machine"]] = None
        for row, columns in cell["rows"].items():
            for column, value in columns.items():
                row_values = results.values.setdefault(cell["part"], {}).setdefault(row, {})
                row_values.setdefault(column, []).append(round(float(np.mean(value)), 4))
    results.machine = "; ".join(machines)
    return results


def read_cells(name: str, out: Path, *, smoke: bool = False) -> list[dict[str, Any]]:
    """Read all measured cells of a recipe, in the order of its parts and seeds."""
    order = {part: i for i, part in enumerate(load_recipe(name).list_parts(smoke=smoke))}
    files = [path for path in (out / "cells").glob("*.json") if path.name.endswith(".smoke.json") == smoke]
    cells = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    expected_cells = [cell for cell in cells if cell["part"] in order]
    return sorted(expected_cells, key=lambda cell: (order[cell["part"]], cell["seed"]))


def check_results(results: Results, recorded: Mapping[str, Any]) -> Iterator[Check]:
    """Compare every mean with the recorded one of the same part, row and column."""
    for part, rows in results.values.items():
        for row, columns in rows.items():
            for column in results.columns:
                expected = recorded.get(part, {}).get(row, {}).get(column)
                if column in columns and expected:
                    tolerance = max(TOLERANCE * max(1.0, abs(np.mean(expected))), 2 * float(np.std(expected)))
                    mean = float(np.mean(columns[column]))
                    yield Check(f"{part}, {row}, {column}", mean, float(np.mean(expected)), tolerance)


def list_unconverged_rows(results: Results) -> list[str]:
    """Name the rows of a full run whose best epoch was the last one: they would have gained from more epochs."""
    if results.smoke:
        return []
    return [
        f"{part}, {row}: the best epoch was the last; train longer"
        for part, rows in results.values.items()
        for row, columns in rows.items()
        if is_unconverged(columns)
    ]


def read_recorded(*, smoke: bool) -> dict[str, Any]:
    """Read the recorded values of all recipes: recipe -> part -> row -> column -> values."""
    recorded = json.loads((RECORDED_SMOKE if smoke else RECORDED).read_text(encoding="utf-8"))
    return recorded if smoke else {name: table["values"] for name, table in recorded["tables"].items()}


def _write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, ensure_ascii=False, default=lambda array: array.tolist())
    write_file_atomically(path, text.encode())
