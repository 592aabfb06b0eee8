"""The command line: a thin layer over what is below; one file per family of commands (`commands` has them all)."""

import gc
from typing import Any

__all__ = ["main"]


def __getattr__(name: str) -> Any:
    """`app` is the command line with all commands."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from paragloss.cli import commands

    return commands.app()


def main() -> None:
    """Run a command."""
    gc.set_threshold(10_000, 20, 20)  # nothing that is imported is ever garbage
    from paragloss.cli import commands

    try:
        commands.run()
    finally:
        gc.freeze()  # nor is what is there when the process ends
