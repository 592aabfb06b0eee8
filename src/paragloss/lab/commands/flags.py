"""The settings of methods as flags: read off the signatures of their `fit`, `tune` and the like.

A setting's line of help and its bounds stand in its annotation (`lab.settings`); its type says how what was typed
is read. Files are read by `lab.commands.data_files`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

from paragloss.errors import InputError
from paragloss.lab.commands import data_files
from paragloss.lab.settings import Option, alternatives, expected, options, refused, series_of
from paragloss.methods import load_methods

#: What can't be typed, and why; everything else that a method takes is a flag.
PYTHON_ONLY = {"progress": "a function; the command line shows its own progress"}
_YES, _NO = ("yes", "true", "on", "1"), ("no", "false", "off", "0")


def flags(function: Callable[..., Any]) -> dict[str, Option]:
    """Return a function's settings by the flags that set them."""
    return {flag_of(name): option for name, option in options(function).items() if name not in PYTHON_ONLY}


def flag_of(name: str) -> str:
    return f"--{name.strip('_').replace('_', '-')}"


def separated(words: Sequence[str], functions: Sequence[Callable[..., Any]]) -> tuple[list[str], dict[str, list[str]]]:
    """Separate words that are no flags from flags with their values; flags of any of the functions are known."""
    option_by_flag = {flag: option for function in functions for flag, option in flags(function).items()}
    paths: list[str] = []
    texts_by_flag: dict[str, list[str]] = {}
    remaining = list(words)
    while remaining:
        word = remaining.pop(0)
        if not word.startswith("--"):
            paths.append(word)
            continue
        flag, equals, text = word.partition("=")
        if flag.startswith("--no-") and f"--{flag[5:]}" in option_by_flag and not equals:
            flag, text = f"--{flag[5:]}", "no"
        elif not equals and flag in option_by_flag:
            text = "yes" if is_switch(option_by_flag[flag]) else _next(flag, remaining)
        texts_by_flag.setdefault(flag, []).append(text)
    return paths, texts_by_flag


def values(method: str, function: Callable[..., Any], texts_by_flag: dict[str, list[str]]) -> dict[str, Any]:
    """Read the keyword arguments from flags; an error names the flag, its value and what was expected."""
    option_by_flag = flags(function)
    arguments = {}
    for flag, texts in texts_by_flag.items():
        if flag not in option_by_flag:
            raise InputError(f"{method} has no setting {flag}; it has {', '.join(sorted(option_by_flag))}")
        option = option_by_flag[flag]
        arguments[option.name] = value = _read(flag, option, texts)
        if reason := refused(option, value):
            raise InputError(f"{flag} {','.join(texts)}: {reason}")
    return arguments


def _read(flag: str, option: Option, texts: list[str]) -> Any:
    """Convert a value to the setting's type. A flag that is given again adds to a list, else the last one counts."""
    if (reader := data_files.reader(option.type)) is not None:
        return reader(flag, texts)
    series, kinds = series_of(option.type), alternatives(option.type)
    try:
        if series is not None:
            return tuple(series.kind(part) for text in texts for part in text.split(",") if part.strip())
        if _is_grid(option.type):
            return tuple(tuple(float(part) for part in row.split(",")) for text in texts for row in text.split("/"))
        if is_switch(option):
            return _switched(texts[-1])
        kind = next((candidate for candidate in kinds if candidate in (int, float)), str)
        return kind(texts[-1])
    except (ValueError, OverflowError):
        raise InputError(f"{flag} {texts[-1]!r}: expected {expected(option)}") from None


def is_switch(option: Option) -> bool:
    return option.type is bool


def _is_grid(hint: Any) -> bool:
    """Say whether a type is several series of numbers, to be tried one after the other."""
    return any(series_of(inner) is not None for inner in get_args(hint))


def _switched(text: str) -> bool:
    if text.lower() not in (*_YES, *_NO):
        raise ValueError(text)
    return text.lower() in _YES


def _next(flag: str, remaining: list[str]) -> str:
    if not remaining:
        raise InputError(f"{flag} is the last word: say its value behind it")
    return remaining.pop(0)


def summary(name: str, function: str = "fit") -> str:
    """Return the first sentence of a method's file."""
    about = inspect.getdoc(load_methods(function)[name]) or ""
    return " ".join(about.split("\n\n")[0].split()).split(". ")[0].rstrip(".")


def settings_help(usage: str, functions: Iterable[tuple[str, Callable[..., Any]]]) -> str:
    """Write the help of a command: usage, what it does, and a line for each setting, under a heading per function."""
    lines = [f"Usage: paragloss {usage}"]
    explained_flags: set[str] = set()
    for heading, function in functions:
        new_flags = {flag: option for flag, option in flags(function).items() if flag not in explained_flags}
        repeated = [flag for flag in flags(function) if flag in explained_flags]
        explained_flags |= new_flags.keys()
        lines += ["", inspect.getdoc(function) or "", ""] if heading == "Settings" else [""]
        lines.append(f"{heading}:")
        width = max((len(_format_flag(flag, option)) for flag, option in new_flags.items()), default=0)
        lines += [f"  {_format_flag(flag, option):<{width}}  {explained(option)}" for flag, option in new_flags.items()]
        lines += [f"  and of those above: {', '.join(repeated)}"] if repeated else []
    return "\n".join(lines)


def explained(option: Option) -> str:
    """Describe a setting in a line: purpose, values and default."""
    default = option.default
    usual = "" if default in (None, "", ()) or default is inspect.Parameter.empty else f" [{_written(default)}]"
    choice = f" ({', '.join(option.setting.words)})" if option.setting.words else ""
    return f"{option.setting.help}{choice}{usual}".strip()


def _format_flag(flag: str, option: Option) -> str:
    if is_switch(option):
        return f"{flag}, --no-{flag[2:]}"
    series = series_of(option.type)
    if series is not None:
        placeholder = ",".join(["N"] * (series.length or 2)) + ("" if series.length else ",...")
    elif data_files.reader(option.type) is not None:
        placeholder = "FILE"
    else:
        kind = next((candidate for candidate in alternatives(option.type) if candidate in (int, float)), None)
        placeholder = (
            "N" if kind is int else "X" if kind is float else "PATH" if Path in alternatives(option.type) else "WORD"
        )
    return f"{flag} {placeholder}"


def _written(default: Any) -> str:
    if isinstance(default, tuple):
        return ("/" if isinstance(default[0], tuple) else ",").join(map(_written, default))
    return str(default) if not isinstance(default, bool) else "yes" if default else "no"
