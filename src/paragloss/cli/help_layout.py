"""The layout of help texts: commands and options under headings, the common ones first.

The heading of a command or an option is its `rich_help_panel`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class GroupedCommand(TyperCommand):
    """A command whose options are listed under their headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options under their headings."""
        sections: dict[str, list[Any]] = {}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                named = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections.setdefault(getattr(parameter, "rich_help_panel", None) or named, []).append(record)
        write_sections(formatter, sections)


class GroupedCommands(TyperGroup):
    """All commands under their headings, in the order of `SECTIONS`."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under their headings."""
        sections: dict[str, list[Any]] = {name: [] for name in SECTIONS}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                panel = getattr(command, "rich_help_panel", None) or OTHER_COMMANDS
                sections.setdefault(str(panel), []).append((name, command.get_short_help_str(limit=100)))
        write_sections(formatter, sections)


class Program(typer.Typer):
    """A command line whose commands list their options under headings."""

    def command(self, *names: Any, **settings: Any) -> Callable[[Any], Any]:
        """Register a command, whose options are listed under headings unless `cls` is given."""
        return super().command(*names, **{"cls": GroupedCommand, **settings})


#: The headings of commands.
COMMON, COLLECTIONS, MEASURING, TRAINING, OTHER_COMMANDS = (
    "Common commands",
    "Look after a collection",
    "Measure",
    "Train your own models",
    "Other commands",
)
SECTIONS = (COMMON, COLLECTIONS, MEASURING, TRAINING, OTHER_COMMANDS)


def write_sections(formatter: Any, sections: dict[str, list[Any]]) -> None:
    """Write the sections that have rows, each as a heading and a list of definitions."""
    for name, rows in sections.items():
        if rows:
            with formatter.section(name):
                formatter.write_dl(rows)
