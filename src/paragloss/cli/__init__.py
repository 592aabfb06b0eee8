"""The command line: a thin layer over what is below; one file per family of commands."""

from paragloss.cli import collecting, demonstrating, measuring, searching, training  # noqa: F401 (they add commands)
from paragloss.cli.app import app, main

__all__ = ["app", "main"]
