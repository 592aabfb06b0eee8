"""The command that indexes and searches a small built-in collection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paragloss.cli.help_layout import COMMON
from paragloss.cli.output import print_answer
from paragloss.cli.program import app


@app.command(rich_help_panel=COMMON)
def demo(
    into: Annotated[str, typer.Option("--into", help="Folder of the demo.")] = ".demo",
) -> None:
    """Index a small built-in collection in twelve languages, and search it."""
    from paragloss.demo import run

    run(Path(into), show=print_answer, say=print)
