"""The options of a part: the keyword arguments of the function that makes it, as `fit`'s are of a method.

A number is said as `depth=50`, a switch by its name alone, one of several words by that word (`nested`), a field by its
name alone (search only there) or with its weight (`title=2`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args, get_origin

from paragloss.errors import LineSyntaxError
from paragloss.search.grammar import Option, Part

#: Fields with their weights; None for a field that was named without one.
Fields: TypeAlias = Mapping[str, float | None]

_DECIMAL = re.compile(r"\d+(\.\d*)?|\.\d+")


class Setting(NamedTuple):
    """A keyword argument: what it takes, and what it is when nothing is said."""

    name: str
    kind: Any  # bool, int, float, str, or the words it may be
    default: Any


def settings(make: Callable[..., Any]) -> dict[str, Setting]:
    """The options of a maker; its fields are none of them."""
    found = {}
    for name, parameter in inspect.signature(make, eval_str=True).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and name != "fields":
            annotation = parameter.annotation
            kind = get_args(annotation) if get_origin(annotation) is Literal else annotation
            found[name] = Setting(name, kind, parameter.default)
    return found


def shown(make: Callable[..., Any]) -> list[str]:
    """The options as a person writes them, with their defaults."""
    lines = []
    for name, kind, default in settings(make).values():
        if isinstance(kind, tuple):
            lines.append("|".join(kind))
        else:
            lines.append(name if kind is bool else f"{name}={default if kind is not str else 'xx'}")
    return lines


def bind(part: Part, text: str, makers: Sequence[Callable[..., Any]], fields: Sequence[str]) -> list[dict[str, Any]]:
    """For each maker the keyword arguments that the part's options give it; the first that knows an option has it.

    A maker with an argument `fields` takes the options that name a field. What nobody takes is an error.
    """
    bound: list[dict[str, Any]] = [{} for _ in makers]
    for option in part.options:
        for make, mine in zip(makers, bound, strict=True):
            if _given(option, make, fields, mine, text):
                break
        else:
            raise LineSyntaxError(_unknown(part, option, makers, fields), text, option.at)
    return bound


def _given(option: Option, make: Callable[..., Any], fields: Sequence[str], mine: dict[str, Any], text: str) -> bool:
    """Whether the option is one of the maker's; if so it is noted."""
    known = settings(make)
    if option.name in known and (option.value is not None or known[option.name].kind is bool):
        mine[option.name] = _value(option, known[option.name], text)
        return True
    if option.value is None:
        for setting in known.values():
            if isinstance(setting.kind, tuple) and option.name in setting.kind:
                mine[setting.name] = option.name
                return True
    if option.name in fields and "fields" in inspect.signature(make).parameters:
        weight = None if option.value is None else _value(option, Setting(option.name, float, 1.0), text)
        mine.setdefault("fields", {})[option.name] = weight
        return True
    return False


def _value(option: Option, setting: Setting, text: str) -> Any:
    written, kind = option.value, setting.kind
    if kind is bool and written in (None, "yes", "no"):
        return written != "no"
    if kind is str and written:
        return written
    if isinstance(kind, tuple) and written in kind:
        return written
    if kind is int and written and written.isdecimal() and int(written) >= min(setting.default, 1):
        return int(written)
    if kind is float and written and _DECIMAL.fullmatch(written):
        return float(written)
    if isinstance(kind, tuple):
        expected = f"one of {', '.join(kind)}"
    else:
        whole = f"a whole number from {min(setting.default, 1) if kind is int else 0} up"
        expected = {bool: "yes or no", int: whole, float: "a number from 0 up"}.get(kind, "a word")
    raise LineSyntaxError(f"{option.name}={written}: expected {expected}", text, option.at)


def _unknown(part: Part, option: Option, makers: Sequence[Callable[..., Any]], fields: Sequence[str]) -> str:
    known = [line for make in makers for line in shown(make)]
    if any("fields" in inspect.signature(make).parameters for make in makers):
        known += [f"{field}=WEIGHT" for field in fields]
    return f"{part.name} has no option {option.name!r}; it has {', '.join(known) or 'none'}"
