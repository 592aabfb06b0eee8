"""Run a recipe part by part and seed by seed, and check what it measures against the recorded results.

Each part and seed is saved as a file under OUT/cells as soon as it is measured, so that an interrupted run continues
where it stopped. OUT/table.md holds the means, OUT/results.json every value.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from papers import load_recipe, original_data
from papers.corpora import Rows, data_folder
from papers.data_sets import name_data_sets
from paragloss.errors import InputError

FOLDER = Path(__file__).parent
#: Results of full runs and of smoke runs, as measured on our machines.
RECORDED, RECORDED_SMOKE = FOLDER / "results.json", FOLDER / "smoke.json"
#: A mean over seeds may differ from the recorded one by this much, or by two recorded standard deviations if more.
TOLERANCE = 0.02
DEFAULT_SEEDS = (0, 1, 2)
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
        return list(load_recipe(self.recipe).COLUMNS)


@dataclass(frozen=True)
class Check:
    """A measured mean beside the recorded one."""

    part: str
    row: str
    column: str
    measured: float
    recorded: float
    tolerance: float

    @property
    def is_ok(self) -> bool:
        return abs(self.measured - self.recorded) <= self.tolerance


def recipe_title(recipe: ModuleType) -> str:
    """Return the first line of a recipe's docstring."""
    return (recipe.__doc__ or "").strip().splitlines()[0].rstrip(".")


def missing_data(recipe: ModuleType) -> list[str]:
    """List the files a recipe reads that are not under PARAGLOSS_DATA."""
    return [name for name in recipe.DATA if not any(data_folder().glob(name))]


def recipe_parts(recipe: ModuleType, *, smoke: bool) -> list[str]:
    """List the parts to measure, including those on the paper's own data where its files are present."""
    if smoke:
        return list(getattr(recipe, "SMOKE_PARTS", recipe.PARTS[:1]))
    return [*recipe.PARTS, *original_data.available_parts(getattr(recipe, "ORIGINAL_PARTS", {}))]


def recipe_seeds(recipe: ModuleType) -> Sequence[int]:
    """Return the seeds of a full run; only (0,) for a recipe that draws nothing at random."""
    return getattr(recipe, "SEEDS", DEFAULT_SEEDS)


def run_recipe(
    name: str,
    out: Path,
    *,
    smoke: bool = False,
    seeds: Sequence[int] | None = None,
    parts: Sequence[str] = (),
    processes: int = 1,
    report: Callable[[str], None] = lambda _: None,
) -> Results:
    """Measure the parts that are not under `out` yet, and write the results.

    :param parts: measure these parts only
    :param processes: measure so many parts and seeds at a time
    :param report: called with the name of each part and seed before it is measured
    """
    recipe = load_recipe(name)
    _require_data(name, recipe)
    cells = list(_list_missing_cells(name, recipe, out, smoke=smoke, seeds=seeds, parts=parts))
    if processes > 1:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            for future in as_completed([pool.submit(_measure_cell, *cell) for cell in cells]):
                report(future.result())
    else:
        for cell in cells:
            report(f"{cell[1]}, seed {cell[2]}")
            _measure_cell(*cell)
    results = collect_results(name, out, smoke=smoke)
    _write_json(out / "results.json", asdict(results))
    _write_plots(recipe, results, out)
    return results


def _require_data(name: str, recipe: ModuleType) -> None:
    missing = missing_data(recipe)
    if missing:
        commands = "; ".join(f"python -m papers data get {data_set}" for data_set in name_data_sets(missing))
        raise InputError(
            f"{name} reads {', '.join(missing)} under {data_folder()} (PARAGLOSS_DATA), which is not there: {commands}"
        )


def _list_missing_cells(
    name: str, recipe: ModuleType, out: Path, *, smoke: bool, seeds: Sequence[int] | None, parts: Sequence[str]
) -> Iterator[tuple[str, str, int, bool, Path]]:
    """Yield the arguments of `_measure_cell` for each part and seed without a file."""
    seeds = seeds if seeds is not None else (0,) if smoke else recipe_seeds(recipe)
    for part in recipe_parts(recipe, smoke=smoke):
        if parts and part not in parts:
            continue
        for seed in seeds[:1] if part in getattr(recipe, "UNSEEDED_PARTS", ()) else seeds:
            path = _cell_path(out, part, seed, smoke)
            if not path.is_file():
                yield name, part, seed, smoke, path


def _measure_cell(name: str, part: str, seed: int, smoke: bool, path: Path) -> str:
    """Measure one part with one seed, write its file, and return its name."""
    started = time.process_time()
    rows: Rows = load_recipe(name).measure(part, seed, smoke=smoke)
    seconds = time.process_time() - started
    _write_json(path, {"part": part, "seed": seed, "seconds": seconds, "machine": describe_machine(), "rows": rows})
    return f"{part}, seed {seed}"


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
    order = {part: i for i, part in enumerate(recipe_parts(load_recipe(name), smoke=smoke))}
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
                    yield Check(part, row, column, mean, float(np.mean(expected)), tolerance)


def read_recorded(*, smoke: bool) -> dict[str, Any]:
    """Read the recorded values of all recipes: recipe -> part -> row -> column -> values."""
    recorded = json.loads((RECORDED_SMOKE if smoke else RECORDED).read_text(encoding="utf-8"))
    return recorded if smoke else {name: table["values"] for name, table in recorded["tables"].items()}


def describe_machine() -> str:
    """Describe system, processor, number of cores and Python version in a few words."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def _write_plots(recipe: ModuleType, results: Results, out: Path) -> None:
    plot = getattr(recipe, "plot", None)
    if plot is not None:
        for file, figure in plot(results).items():
            figure.savefig(out / file, metadata={"Date": None} if file.endswith(".svg") else None)


def _cell_path(out: Path, part: str, seed: int, smoke: bool) -> Path:
    slug = re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")
    return out / "cells" / f"{slug}.{seed}{'.smoke' if smoke else ''}.json"


def _write_json(path: Path, value: Any) -> None:
    """Write to a temporary file first, so that an interrupted write leaves no half file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(value, ensure_ascii=False, default=_to_json), encoding="utf-8")
    temporary.replace(path)


def _to_json(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else float(value)
