"""All commands, and which of them are registered for a call."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    """Run the command that the arguments of this process name."""
    with _only_registered(_select_commands(sys.argv[1:])):
        program.main()


def _select_commands(arguments: Sequence[str]) -> list[CommandInfo]:
    """Return the commands that typer has to know for a call: as few as possible, because it reads their options.

    Entry points are loaded only for a command that is not ours, or for the list of all: that takes as long as
    starting does. Registering only the command that runs saves half as much again.

    :param arguments: those of the call, without the name of the program
    """
    command_name = arguments[0] if arguments else ""
    if command_name in _OWN_COMMANDS:
        return [_OWN_COMMANDS[command_name]]
    all_commands = load_all_commands().registered_commands
    if arguments == ["--help"]:
        return [_without_options(command) for command in all_commands]
    return all_commands


@contextmanager
def _only_registered(commands: list[CommandInfo]) -> Iterator[None]:
    """Leave the application with some commands only while the block runs."""
    all_commands = program.app.registered_commands
    program.app.registered_commands = commands
    try:
        yield
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
