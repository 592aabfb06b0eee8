"""Methods that train models, ours and strangers' alike: the entry points of the group `paragloss.methods`.

A package adds one by naming a module with a `fit` (docs/look-up/library.md); `train`, `tune` and `index --model` find
it by the name of its entry point. Knows nothing of what they learn.
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
def installed() -> dict[str, EntryPoint]:
    """Every method by its name; nothing is imported yet."""
    from importlib.metadata import entry_points  # takes long to import

    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def methods(function: str = "fit") -> dict[str, ModuleType]:
    """The methods that have a function."""
    found = {name: module for name in sorted(installed()) if (module := _module(name)) is not None}
    return {name: module for name, module in found.items() if hasattr(module, function)}


def method(name: str, function: str = "fit") -> ModuleType:
    """The module of a method that has a function."""
    module = _module(name.replace("-", "_"))
    if module is None or not hasattr(module, function):
        raise InputError(f"no method {name!r}; there are {', '.join(methods(function)) or 'none installed'}")
    return module


def loader(kind: str) -> Callable[..., object] | None:
    """What loads models of a kind that a method has saved."""
    return getattr(_module(kind), "load", None)


@cache
def _module(name: str) -> ModuleType | None:
    """None where there is no such method, or only its entry point is left of the package it was in."""
    point = installed().get(name)
    if point is None:
        return None
    try:
        return importlib.import_module(point.module)
    except ModuleNotFoundError as error:
        if error.name and point.module.startswith(error.name):
            return None
        raise
