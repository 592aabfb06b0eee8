"""Write the reference pages from the code: commands with their options, settings of methods, names of the library.

    python docs/build_reference.py [FOLDER]     writes commands.md, settings.md and api.md, by default into docs/look-up

`make docs` runs this before it builds the site. The pages are not committed.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import typer.main

import paragloss
from paragloss.cli import app
from paragloss.cli.help_layout import OTHER_COMMANDS, SECTIONS
from paragloss.lab.commands import data_files
from paragloss.lab.commands.flags import format_default, list_flags
from paragloss.lab.settings import describe_values
from paragloss.methods import load_method, load_methods

LOOK_UP = Path(__file__).parent / "look-up"
COMMANDS_INTRODUCTION = """\
# Commands

Every command takes `--help`. `--json` prints JSON. A COLLECTION is a folder or an address. An error is one line on
standard error; `--debug` before a command shows where it came from. Exit codes: 0 success, 1 an error you can fix,
2 wrong usage, 70 a bug, 130 interrupted. `paragloss --install-completion` installs completion for your shell.
"""
SETTINGS_INTRODUCTION = """\
# Settings of every method

The flags of `paragloss train METHOD`, `paragloss tune METHOD` and `train cr5 --add-language`. In Python they are
keyword arguments of the function above each table. The commands themselves are in [commands](commands.md).
"""
#: The functions of a method that take settings.
SETTING_FUNCTIONS = ("fit", "fit_judged", "tune", "add_language")


class ListedCommand(NamedTuple):
    """A command with the section of the help it stands in."""

    section: str
    name: str
    command: Any


def main() -> None:
    """Write all pages into the folder given on the command line."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else LOOK_UP
    for name, build_page in PAGES.items():
        (folder / name).write_text(build_page(), encoding="utf-8")


def build_commands_page() -> str:
    """Return the page of all commands with their arguments and options."""
    parts, current_section = [COMMANDS_INTRODUCTION], ""
    for section, name, command in list_commands():
        if section != current_section:
            current_section = section
            parts.append(f"## {section}\n")
        examples = f"[Examples](commands/{find_example_page(name)}.md#paragloss-{name})"
        parts.append(f"### {name}\n\n{format_help(command)} {examples}\n")
        for heading, rows in list_options(command).items():
            table = [f"| `{usage}` | {escape_cell(description)} |" for usage, description in rows]
            parts += [f"| {heading} | |", "|---|---|", *table, ""]
    return "\n".join(parts).rstrip() + "\n"


def list_commands() -> list[ListedCommand]:
    """Return all commands in the order of the help."""
    group: Any = typer.main.get_command(app)
    commands = [
        ListedCommand(str(command.rich_help_panel or OTHER_COMMANDS), name, command)
        for name, command in group.commands.items()
    ]
    return sorted(commands, key=lambda listed: SECTIONS.index(listed.section))


def list_options(command: Any) -> dict[str, list[tuple[str, str]]]:
    """Return the usage and description of every option, by the heading it stands under."""
    context = typer.Context(command)
    options: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[0] != "--help":
            default_heading = "Arguments" if parameter.param_type_name == "argument" else "Options"
            heading = getattr(parameter, "rich_help_panel", None) or default_heading
            options.setdefault(heading, []).append(record)
    return options


def format_help(command: Any) -> str:
    """Return the help text of a command with the lines of each paragraph joined."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def find_example_page(command_name: str) -> str:
    """Return the name of the page with examples of a command."""
    for page in sorted((LOOK_UP / "commands").glob("*.md")):
        if f"## paragloss {command_name}\n" in page.read_text(encoding="utf-8"):
            return page.stem
    raise SystemExit(f"no page under docs/look-up/commands has a section 'paragloss {command_name}': write one")


def escape_cell(text: str) -> str:
    """Make a text fit into one cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def build_settings_page() -> str:
    """Return the page of all settings of all training methods."""
    return "\n".join([SETTINGS_INTRODUCTION, *map(build_settings_section, sorted(load_methods()))])


def build_settings_section(method_name: str) -> str:
    """Return the section of one method: a table for each of its functions that takes settings."""
    lines = [f"## {method_name}", ""]
    for function_name in SETTING_FUNCTIONS:
        function = getattr(load_method(method_name), function_name, None)
        if function is None:
            continue
        lines += [
            f"`{method_name}.{function_name}`",
            "",
            "| flag | what it does | takes | default |",
            "|---|---|---|---|",
        ]
        for flag, option in list_flags(function).items():
            allowed_values = "files" if data_files.choose_reader(option.type) is not None else describe_values(option)
            cells = [f"`{flag}`", option.setting.help, allowed_values, format_default(option.default)]
            lines.append(f"| {' | '.join(map(escape_cell, cells))} |")
        lines.append("")
    return "\n".join(lines)


def build_api_page() -> str:
    """Return the page of every exported name with signature and docstring."""
    parts = ["# API", "", "What each is for: [library](library.md).", ""]
    for name in sorted(name for name in paragloss.__all__ if not name.startswith("__")):
        parts += [f"## {name}", "", *describe_export(name, getattr(paragloss, name)), ""]
        for member_name, function in list_members(getattr(paragloss, name)):
            signature = format_signature(member_name, function)
            parts += [f"### {name}.{member_name}", "", *signature, inspect.getdoc(function) or "", ""]
    return "\n".join(parts).rstrip() + "\n"


def describe_export(name: str, export: Any) -> list[str]:
    """Return the lines about one exported name."""
    if inspect.ismodule(export):
        return [inspect.getdoc(export) or ""]
    is_alias = not (inspect.isclass(export) or inspect.isfunction(export)) or hasattr(export, "__origin__")
    if is_alias:
        return [f"The same as `{shorten_annotation(str(export))}`."]
    return [*format_signature(name, export), inspect.getdoc(export) or ""]


def list_members(export: Any) -> Iterator[tuple[str, Any]]:
    """Yield the public functions of a class or module."""
    if inspect.ismodule(export):
        members = {name: getattr(export, name) for name in getattr(export, "__all__", ())}
    else:
        members = dict(vars(export)) if inspect.isclass(export) else {}
    for name, member in members.items():
        function = getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, function


def format_signature(name: str, function: Any) -> list[str]:
    """Return a code block with the signature, types by their last name; nothing for what has no signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    parameters = [
        parameter.replace(annotation=shorten_annotation(parameter.annotation))
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    shortened = signature.replace(
        parameters=parameters, return_annotation=shorten_annotation(signature.return_annotation)
    )
    text = re.sub(r"(?<=: )'([^']*)'|(?<=-> )'([^']*)'", lambda quoted: quoted[1] or quoted[2], str(shortened))
    return ["```", *textwrap.wrap(f"{name}{text}", 110, subsequent_indent="    "), "```", ""]


def shorten_annotation(annotation: Any) -> Any:
    """Return an annotation as text without module names."""
    if annotation is inspect.Signature.empty:
        return annotation
    text = getattr(annotation, "__forward_arg__", annotation)
    text = text if isinstance(text, str) else getattr(text, "__name__", str(text))
    return re.sub(r"\b(?:[a-z_]+\.)+([A-Z]\w*)", r"\1", text)


PAGES = {"commands.md": build_commands_page, "settings.md": build_settings_page, "api.md": build_api_page}

if __name__ == "__main__":
    main()
