"""Reproductions of the papers' tables and figures on public data. Run from a clone: `python -m papers list`.

Each file in `papers/tables` is one recipe and declares, as module constants:

- `DATA`: files it reads under PARAGLOSS_DATA; `COLUMNS`: the measures of its table;
- `PARTS`: what is measured separately, usually a pair of languages; `measure(part, seed, smoke=...)` returns the rows;
- optionally `SMOKE_PARTS` (the parts of a smoke run; the first part by default), `ORIGINAL_PARTS` (parts on the paper's
  own data, with the files they need), `SEEDS` ((0, 1, 2) by default), `UNSEEDED_PARTS` (parts that draw nothing at
  random) and `plot(results)`.

The papers' own figures are in `paper_figures.toml`, ours in `results.json`, those of smoke runs in `smoke.json`.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from papers import tables
from paragloss.errors import InputError


def recipe_names() -> list[str]:
    """List the names of all recipes, such as `cr5-table-1`."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(tables.__path__))


def load_recipe(name: str) -> ModuleType:
    """Import the module of a recipe."""
    if name not in recipe_names():
        raise InputError(f"no recipe {name!r}; `python -m papers list` lists them: {', '.join(recipe_names())}")
    return importlib.import_module(f"papers.tables.{name.replace('-', '_')}")
