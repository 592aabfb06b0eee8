"""The command line: a thin layer over the library, with one file per group of commands.

Other packages, and the laboratory, add commands through entry points of the group `paragloss.commands`.
"""

from typing import Any

from paragloss.cli.interrupts import report_interrupts

__all__ = ["main"]


def __getattr__(name: str) -> Any:
    """Return the application as `app`, with the commands that other packages add."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from paragloss.cli.commands import load_all_commands

    return load_all_commands()


def main() -> None:
    """Run the command that the arguments name.

    The commands are imported here, after Ctrl-C has got its handler.
    """
    with report_interrupts():
        from paragloss.cli.commands import run_command

        run_command()
