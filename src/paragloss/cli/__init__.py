"""The command line: a thin layer over what is below; one file per family of commands."""

from paragloss.cli import (  # noqa: F401 (they add commands)
    clicking,
    collecting,
    demonstrating,
    exporting,
    glossing,
    keeping,
    measuring,
    moving,
    researching,
    searching,
    serving,
    training,
)
from paragloss.cli.app import app, main

__all__ = ["app", "main"]
