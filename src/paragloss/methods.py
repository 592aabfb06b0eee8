"""Find the methods that train models: the entry points of the group `paragloss.methods`, of this and other packages.

A package adds a method by naming a module with a function `fit` (docs/look-up/library.md).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from paragloss.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "paragloss.methods"


@cache
def list_entry_points(group: str = GROUP) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, without importing any."""
    from importlib.metadata import entry_points  # takes long to import

    return {point.name: point for point in entry_points(group=group)}


@cache
def load_methods(function: str = "fit") -> dict[str, ModuleType]:
    """Import all methods that have a function, in the order of their names."""
    modules = {name: _import_method(name) for name in sorted(list_entry_points())}
    return {name: module for name, module in modules.items() if module is not None and hasattr(module, function)}


def load_method(name: str, function: str = "fit") -> ModuleType:
    """Import a method that has a function; raise InputError if there is none of this name."""
    module = _import_method(name.replace("-", "_"))
    if module is None or not hasattr(module, function):
        raise InputError(f"no method {name!r}; there are {', '.join(load_methods(function)) or 'none installed'}")
    return module


def find_loader(kind: str) -> Callable[..., object] | None:
    """Return the function of a method that loads models of a kind, or None."""
    return getattr(_import_method(kind), "load", None)


@cache
def _import_method(name: str) -> ModuleType | None:
    """Import a method; None if there is no such method, or if its package is gone and its entry point is left."""
    point = list_entry_points().get(name)
    if point is None:
        return None
    try:
        return importlib.import_module(point.module)
    except ModuleNotFoundError as error:
        if error.name and point.module.startswith(error.name):
            return None
        raise
