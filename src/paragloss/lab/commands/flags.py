"""Turn the settings of methods into flags of the command line, from the signatures of their `fit`, `tune` and others.

The annotation of a setting (`lab.settings`) holds its help and bounds; its type says how its text is parsed. Files
are read by `lab.commands.data_files`.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from paragloss.errors import InputError
from paragloss.lab.commands import data_files
from paragloss.lab.settings import Option, describe_values, find_problem, find_series, read_options, union_members
from paragloss.methods import load_methods

#: Settings without a flag, and the reason.
PYTHON_ONLY = {"progress": "a function; the command line shows its own progress"}
YES_WORDS, NO_WORDS = ("yes", "true", "on", "1"), ("no", "false", "off", "0")


def list_flags(function: Callable[..., Any]) -> dict[str, Option]:
    """Return the settings of a function by their flags, such as "--min-df"."""
    option_by_flag = {}
    for name, option in read_options(function).items():
        if name not in PYTHON_ONLY:
            option_by_flag[f"--{name.strip('_').replace('_', '-')}"] = option
    return option_by_flag


def split_arguments(
    words: Sequence[str], functions: Sequence[Callable[..., Any]]
) -> tuple[list[str], dict[str, list[str]]]:
    """Split the words of a command line into paths and flags.

    :param words: those behind the name of the method
    :param functions: the functions whose settings may be given as flags
    :return: the words that are no flags, and the texts given for each flag; those of a switch are "yes" and "no"
    :raises InputError: if the last word is a flag that needs a value
    """
    option_by_flag: dict[str, Option] = {}
    for function in functions:
        option_by_flag.update(list_flags(function))
    paths: list[str] = []
    texts_by_flag: dict[str, list[str]] = {}
    remaining_words = deque(words)
    while remaining_words:
        word = remaining_words.popleft()
        if not word.startswith("--"):
            paths.append(word)
            continue
        flag, text = _split_flag(word, option_by_flag)
        if text is None:
            if not remaining_words:
                raise InputError(f"{flag} is the last word: say its value behind it")
            text = remaining_words.popleft()
        texts_by_flag.setdefault(flag, []).append(text)
    return paths, texts_by_flag


def _split_flag(word: str, option_by_flag: Mapping[str, Option]) -> tuple[str, str | None]:
    """Return the flag in a word such as "--dim", "--dim=12" or "--no-stem", and the text given for it.

    For example ("--dim", None) if the next word of the command line is the text, ("--dim", "12") and ("--stem", "no").

    :param word: begins with "--"
    :param option_by_flag: the known flags
    :return: the flag with its text; that of a switch is "yes" or "no", and that of an unknown flag is ""
    """
    flag, equals, text = word.partition("=")
    if equals:
        return flag, text
    positive_flag = f"--{flag.removeprefix('--no-')}"
    if flag.startswith("--no-") and positive_flag in option_by_flag:
        return positive_flag, "no"
    if flag not in option_by_flag:
        return flag, ""
    if is_switch(option_by_flag[flag]):
        return flag, "yes"
    return flag, None


def parse_settings(method: str, function: Callable[..., Any], texts_by_flag: dict[str, list[str]]) -> dict[str, Any]:
    """Convert flags with their texts to keyword arguments of a function.

    :param method: the name of the method, for errors
    :param function: the function whose settings they are
    :param texts_by_flag: the texts given for each flag
    :raises InputError: naming the flag, its value and what was expected
    """
    option_by_flag = list_flags(function)
    arguments = {}
    for flag, texts in texts_by_flag.items():
        if flag not in option_by_flag:
            raise InputError(f"{method} has no setting {flag}; it has {', '.join(sorted(option_by_flag))}")
        option = option_by_flag[flag]
        value = _parse_value(flag, option, texts)
        problem = find_problem(option, value)
        if problem:
            raise InputError(f"{flag} {','.join(texts)}: {problem}")
        arguments[option.name] = value
    return arguments


def _parse_value(flag: str, option: Option, texts: list[str]) -> Any:
    """Convert the texts of a flag to the type of its setting.

    A flag that is repeated adds to a list; of a setting with a single value the last text counts.

    :param flag: such as "--dim"
    :param option: the setting
    :param texts: what was given for the flag, in order
    """
    read_files = data_files.choose_reader(option.type)
    if read_files is not None:
        return read_files(flag, texts)
    try:
        return _convert_texts(option, texts)
    except (ValueError, OverflowError):
        raise InputError(f"{flag} {texts[-1]!r}: expected {describe_values(option)}") from None


def _convert_texts(option: Option, texts: list[str]) -> Any:
    """Convert texts to a series such as 50,1000, a grid such as 0,0.5/0.2,0.7, a switch, a number or a string.

    :raises ValueError: if a text is not of the type of the setting
    :raises OverflowError: if an integer is infinite
    """
    series = find_series(option.type)
    if series is not None:
        parts = ",".join(texts).split(",")
        return tuple(series.kind(part) for part in parts if part.strip())
    if _is_grid(option.type):
        rows = "/".join(texts).split("/")
        return tuple(tuple(map(float, row.split(","))) for row in rows)
    if is_switch(option):
        return _parse_switch(texts[-1])
    value_type = _find_number_type(option.type) or str
    return value_type(texts[-1])


def is_switch(option: Option) -> bool:
    """Tell whether a setting is true or false."""
    return option.type is bool


def _is_grid(hint: Any) -> bool:
    """Tell whether a type holds several series of numbers, to be tried one after the other."""
    return any(find_series(item_type) is not None for item_type in get_args(hint))


def _find_number_type(hint: Any) -> type[int] | type[float] | None:
    """Return the first of int and float among the members of a union."""
    return next((member for member in union_members(hint) if member in (int, float)), None)


def _parse_switch(text: str) -> bool:
    if text.lower() not in (*YES_WORDS, *NO_WORDS):
        raise ValueError(text)
    return text.lower() in YES_WORDS


def summarize_method(name: str, function: str = "fit") -> str:
    """Return the first sentence of the docstring of a method's file."""
    docstring = inspect.getdoc(load_methods(function)[name]) or ""
    first_paragraph = " ".join(docstring.split("\n\n")[0].split())
    return first_paragraph.split(". ")[0].rstrip(".")


def format_settings_help(usage: str, functions: Iterable[tuple[str, Callable[..., Any]]]) -> str:
    """Write the help of a command: its usage, what it does, and a line for each setting.

    :param usage: the command line, without the program's name
    :param functions: pairs of a heading and the function whose settings are listed under it; a setting that an
        earlier function has is only named
    """
    lines = [f"Usage: paragloss {usage}"]
    explained_flags: set[str] = set()
    for heading, function in functions:
        lines.append("")
        if heading == "Settings":
            lines += [_describe_function(function), ""]
        lines.append(f"{heading}:")
        option_by_flag = list_flags(function)
        new_options = {flag: option for flag, option in option_by_flag.items() if flag not in explained_flags}
        repeated_flags = [flag for flag in option_by_flag if flag in explained_flags]
        lines += _format_options(new_options)
        if repeated_flags:
            lines.append(f"  and of those above: {', '.join(repeated_flags)}")
        explained_flags.update(option_by_flag)
    return "\n".join(lines)


def _describe_function(function: Callable[..., Any]) -> str:
    """Return the docstring of a function without its lists of arguments and results, which are for Python."""
    docstring = inspect.getdoc(function) or ""
    return docstring.partition("\n\n:")[0]


def _format_options(option_by_flag: Mapping[str, Option]) -> list[str]:
    """Write a line for each flag, its usage and its description, as two columns."""
    usages = {flag: _format_usage(flag, option) for flag, option in option_by_flag.items()}
    width = max(map(len, usages.values()), default=0)
    return [f"  {usages[flag]:<{width}}  {describe_setting(option)}" for flag, option in option_by_flag.items()]


def describe_setting(option: Option) -> str:
    """Describe a setting in a line: purpose, allowed words and default."""
    words = f"({', '.join(option.setting.words)})" if option.setting.words else ""
    default = format_default(option.default)
    parts = [option.setting.help, words, f"[{default}]" if default else ""]
    return " ".join(filter(None, parts))


def _format_usage(flag: str, option: Option) -> str:
    """Write a flag as it is used: `--stem, --no-stem`, `--dim N`, `--lengths N,N` or `--vectors FILE`."""
    if is_switch(option):
        return f"{flag}, --no-{flag[2:]}"
    return f"{flag} {_choose_placeholder(option)}"


def _choose_placeholder(option: Option) -> str:
    """Return what stands for the value of a setting in its usage, such as N, N,N or FILE."""
    series, number_type = find_series(option.type), _find_number_type(option.type)
    if series is not None:
        return ",".join(["N"] * series.length) if series.length else "N,N,..."
    if data_files.choose_reader(option.type) is not None:
        return "FILE"
    if number_type is not None:
        return "N" if number_type is int else "X"
    return "PATH" if Path in union_members(option.type) else "WORD"


def format_default(default: Any) -> str:
    """Write a default value as it would be typed, such as "0.2,0.6" or "yes"; "" if there is none."""
    if default in (None, "", ()) or default is inspect.Parameter.empty:
        return ""
    if isinstance(default, tuple):
        separator = "/" if isinstance(default[0], tuple) else ","
        return separator.join(map(format_default, default))
    if isinstance(default, bool):
        return "yes" if default else "no"
    return str(default)
