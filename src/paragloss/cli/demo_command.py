"""The command that shows what it looks like."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paragloss.cli.output import show
from paragloss.cli.program import app


@app.command()
def demo(
    into: Annotated[str, typer.Option("--into", help="Where the demonstration goes.")] = ".demo",
) -> None:
    """Build a small collection in twelve languages and search across them."""
    from paragloss.demo import run

    run(Path(into), show=show, say=print)
