"""The command line: a thin layer over what is below; one file per family of commands. Other packages add theirs, and
the laboratory its own, through the entry points `paragloss.commands`."""

import sys
from copy import copy
from functools import cache
from typing import Any

from typer.models import CommandInfo

from paragloss.cli import (  # noqa: F401 (they add commands)
    copies,
    demo_command,
    dictionary_command,
    doctor_command,
    documents_commands,
    evaluation_commands,
    gloss_command,
    maintenance,
    program,
    search_commands,
    serve_commands,
)

__all__ = ["main"]

_OWN = {
    command.name or command.callback.__name__: command
    for command in program.app.registered_commands
    if command.callback
}


def __getattr__(name: str) -> Any:
    """`app` has the commands of others, too."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _ask_others()
    return program.app


def main() -> None:
    """Run a command; only for one that is not ours, or for a list of all, others are asked for theirs: that takes as
    long as starting does. Of ours only that one is made, which saves half as much."""
    one = _OWN.get(sys.argv[1]) if sys.argv[1:] else None
    if one is None:
        _ask_others()
    every = program.app.registered_commands
    program.app.registered_commands = [one] if one else [*map(_named, every)] if sys.argv[1:] == ["--help"] else every
    try:
        program.main()
    finally:
        program.app.registered_commands = every


def _named(command: CommandInfo) -> CommandInfo:
    """What a list of all commands says of one: nothing of its options, which take half the time to read."""
    shown = copy(command)
    shown.callback = lambda: None
    for name in ("__name__", "__doc__"):
        setattr(shown.callback, name, getattr(command.callback, name))
    return shown


@cache
def _ask_others() -> None:
    from importlib.metadata import entry_points

    for point in entry_points(group="paragloss.commands"):
        try:
            point.load()
        except ModuleNotFoundError as error:  # its entry point is all that is left of it
            if not error.name or not point.module.startswith(error.name):
                raise
