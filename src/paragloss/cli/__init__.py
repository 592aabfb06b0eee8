"""The command line: a thin layer over what is below; one file per family of commands. Other packages add theirs, and
the laboratory its own, through the entry points `paragloss.commands`."""

from importlib.metadata import entry_points

from paragloss.cli import (  # noqa: F401 (they add commands)
    copies,
    demo_command,
    dictionary_command,
    documents_commands,
    evaluation_commands,
    export_command,
    gloss_command,
    maintenance,
    search_commands,
    serve_commands,
)
from paragloss.cli.program import app, main

__all__ = ["app", "main"]

for _point in entry_points(group="paragloss.commands"):
    try:
        _point.load()
    except ModuleNotFoundError as _error:  # its entry point is all that is left of it
        if not _error.name or not _point.module.startswith(_error.name):
            raise
