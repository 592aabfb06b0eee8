"""The settings of methods as flags: read off the signatures of their `fit`."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any

from paragloss.errors import InputError


def methods() -> list[str]:
    names = []
    for folder in ("models", "translation"):
        package = importlib.import_module(f"paragloss.{folder}")
        for found in pkgutil.iter_modules(package.__path__):
            source = Path(package.__path__[0], f"{found.name}.py")
            if found.ispkg or found.name.startswith("_"):
                continue
            if "\ndef fit(" in source.read_text(encoding="utf-8"):
                names.append(f"{folder}.{found.name}")
    return names


def fit_of(method: str) -> Any:
    for name in methods():
        if name.split(".")[1] == method.replace("-", "_"):
            return importlib.import_module(f"paragloss.{name}").fit
    have = ", ".join(sorted(name.split(".")[1] for name in methods()))
    raise InputError(f"no method {method!r}; there are {have}")


#: Settings that may be left out, or be a word or a path.
_WORDS = ("str | None", "str | Path | None", "Path | None")


def flags(fit: Any) -> dict[str, inspect.Parameter]:
    """A fit function's settings that can be said in one word."""
    return {
        f"--{name.replace('_', '-').strip('-')}": parameter
        for name, parameter in inspect.signature(fit).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
        and (isinstance(parameter.default, int | float | str) or parameter.annotation in _WORDS)
    }


def wants_value(fit: Any, word: str) -> bool:
    parameter = flags(fit).get(word)
    return parameter is not None and not isinstance(parameter.default, bool)


def setting(fit: Any, method: str, word: str, value: str | None) -> tuple[str, Any]:
    known = flags(fit)
    if "=" in word:
        word, value = word.split("=", 1)
    negated = word.startswith("--no-") and f"--{word[5:]}" in known
    parameter = known.get(f"--{word[5:]}" if negated else word)
    if parameter is None:
        raise InputError(f"{method} has no setting {word}; it has {', '.join(sorted(known))}")
    if isinstance(parameter.default, bool):
        return parameter.name, not negated
    if parameter.default is None and value is not None:
        return parameter.name, value
    try:
        return parameter.name, type(parameter.default)(value)
    except (TypeError, ValueError):
        raise InputError(f"{word} needs a {type(parameter.default).__name__}, got {value!r}") from None


def settings_help(method: str) -> str:
    fit = fit_of(method)
    lines = [
        f"Usage: paragloss train {method} FILE... --out MODEL [settings]",
        "",
        inspect.getdoc(fit) or "",
        "",
        "Settings:",
    ]
    lines += [f"  {flag} {parameter.default!r}" for flag, parameter in flags(fit).items()]
    return "\n".join(lines)
