"""The papers' tables and figures on data anyone can fetch: a file for each in `tables`, and nothing else there.

A table is a module with a docstring, MINUTES (of one core), DATA (what it reads under PARAGLOSS_DATA), COLUMNS, PARTS
and `measure(part, seed, smoke=...)`; where it differs, QUICK (the parts of a smoke run, otherwise the first), ORIGINALS
(parts of the paper's own data, with their files), SEEDS, ONCE and `plot(results)`. `runner` does the rest. There is no
registry: a file in `tables` is a recipe.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from paragloss.errors import InputError
from paragloss.lab.recipes import tables


def names() -> list[str]:
    return sorted(found.name.replace("_", "-") for found in pkgutil.iter_modules(tables.__path__))


def load(name: str) -> ModuleType:
    """The recipe of that name."""
    if name not in names():
        raise InputError(f"no recipe {name!r}; `paragloss recipes` lists them: {', '.join(names())}")
    return importlib.import_module(f"paragloss.lab.recipes.tables.{name.replace('-', '_')}")
