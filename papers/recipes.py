"""The recipes of `recipes.toml`: what a table measures, on which data, and what its paper reports."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from papers.corpora import Rows, data_folder
from paragloss.errors import InputError

RECIPES = Path(__file__).with_name("recipes.toml")


@dataclass(frozen=True)
class PaperColumn:
    """One column of a paper's table: its figures by row, and our parts they are compared with ("all": their mean)."""

    column: str
    parts: Sequence[str]
    rows: Mapping[str, float]
    tolerance: float


@dataclass(frozen=True)
class Statement:
    """Something the paper says in words or shows in a plot: one row is above another.

    It holds where our mean of `higher` is above `factor` times our mean of `lower` plus `margin`.
    """

    text: str
    column: str
    parts: Sequence[str]
    higher: str
    lower: str
    margin: float
    factor: float = 1.0

    def holds(self, ours: Mapping[str, float]) -> bool:
        """Say whether our means, by row, agree with the statement."""
        return ours[self.higher] > self.factor * ours[self.lower] + self.margin


@dataclass(frozen=True)
class Recipe:
    """One table of a paper, measured again. `recipes.toml` explains the fields.

    `requires` says what a part of ours must have to be compared with the paper: "chance", a random order; "budget", the
    best epoch of each trained row.
    """

    name: str
    title: str = ""
    function: str = ""
    data: Sequence[str] = ()
    columns: Sequence[str] = ()
    parts: Sequence[str] = ()
    paper: str = ""
    smoke_parts: Sequence[str] = ()
    original_parts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seeds: Sequence[int] = (0, 1, 2)
    unseeded_parts: Sequence[str] = ()
    plot: str = ""
    figures: Sequence[PaperColumn] = ()
    statements: Sequence[Statement] = ()
    requires: Sequence[str] = ()

    def list_missing_data(self) -> list[str]:
        """List the files that the recipe reads and that are not under PARAGLOSS_DATA."""
        return [file for file in self.data if not _is_present(file)]

    def list_parts(self, *, smoke: bool) -> list[str]:
        """List the parts to measure, including those on the paper's own data where its files are present."""
        if smoke:
            return list(self.smoke_parts or self.parts[:1])
        return [*self.parts, *(part for part, files in self.original_parts.items() if all(map(_is_present, files)))]

    def measure(self, part: str, seed: int, *, smoke: bool) -> Rows:
        """Measure the rows of one part with one seed."""
        rows: Rows = _load_function(self.function)(part, seed, smoke=smoke)
        return rows

    def draw_figures(self, results: Any) -> dict[str, Any]:
        """Draw the paper's figures from results: file name -> figure; none for a table."""
        return dict(_load_function(self.plot)(results)) if self.plot else {}


def _is_present(file: str) -> bool:
    return any(data_folder().glob(file))


def _load_function(name: str) -> Callable[..., Any]:
    """Load a function of `papers.tables` by its name, such as "xcnn.measure_table_1"."""
    module, _, function = name.partition(".")
    loaded: Callable[..., Any] = getattr(importlib.import_module(f"papers.tables.{module}"), function)
    return loaded


@cache
def _read_recipes() -> dict[str, Recipe]:
    recipes = {}
    for name, record in tomllib.loads(RECIPES.read_text(encoding="utf-8")).items():
        figures = [PaperColumn(**figure) for figure in record.pop("figures", ())]
        statements = [Statement(**statement) for statement in record.pop("statements", ())]
        recipes[name] = Recipe(name, figures=figures, statements=statements, **record)
    return recipes


def recipe_names() -> list[str]:
    """List the names of all recipes, such as `cr5-table-1`."""
    return sorted(_read_recipes())


def load_recipe(name: str) -> Recipe:
    """Return a recipe by its name."""
    if name not in _read_recipes():
        raise InputError(f"no recipe {name!r}; `python -m papers list` lists them: {', '.join(recipe_names())}")
    return _read_recipes()[name]
