"""All commands, and which of them are registered for a call."""

import sys
from copy import copy
from functools import cache

import typer
from typer.models import CommandInfo

from paragloss.cli import (  # noqa: F401 (they add commands)
    batch_command,
    copies,
    demo_command,
    dictionary_command,
    doctor_command,
    documents_commands,
    evaluation_commands,
    gloss_command,
    index_command,
    maintenance,
    program,
    search_commands,
    serve_commands,
)

_OWN_COMMANDS = {
    command.name or command.callback.__name__: command
    for command in program.app.registered_commands
    if command.callback
}


def load_all_commands() -> typer.Typer:
    """Return the application with the commands that other packages add."""
    _load_added_commands()
    return program.app


def run_command() -> None:
    """Run the command that the arguments name.

    Entry points are loaded only for a command that is not ours, or for the list of all: that takes as long as
    starting does. Registering only the command that runs saves half as much again.
    """
    own_command = _OWN_COMMANDS.get(sys.argv[1]) if sys.argv[1:] else None
    if own_command is None:
        _load_added_commands()
    all_commands = program.app.registered_commands
    if own_command:
        program.app.registered_commands = [own_command]
    elif sys.argv[1:] == ["--help"]:
        program.app.registered_commands = [_without_options(command) for command in all_commands]
    try:
        program.main()
    finally:
        program.app.registered_commands = all_commands


def _without_options(command: CommandInfo) -> CommandInfo:
    """Copy a command for the list of all, without its options, which take half of the time to read."""
    bare_command = copy(command)
    bare_command.callback = lambda: None
    for name in ("__name__", "__doc__"):
        setattr(bare_command.callback, name, getattr(command.callback, name))
    return bare_command


@cache
def _load_added_commands() -> None:
    from importlib.metadata import entry_points

    for point in entry_points(group="paragloss.commands"):
        try:
            point.load()
        except ModuleNotFoundError as error:  # its entry point is all that is left of it
            if not error.name or not point.module.startswith(error.name):
                raise
