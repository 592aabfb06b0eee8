"""The papers' tables, run from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from paragloss.cli.app import AsJson, app
from paragloss.cli.output import print_json, print_table
from paragloss.errors import InputError


@app.command()
def recipes(
    name: Annotated[str, typer.Argument(help="A recipe; none lists them all.")] = "",
    smoke: Annotated[bool, typer.Option("--smoke", help="Tiny sizes: does it run? Seconds.")] = False,
    out: Annotated[str, typer.Option(help="Where results go: a folder. A run that was stopped goes on there.")] = "",
    seeds: Annotated[str, typer.Option(help="Such as 0,1,2.")] = "",
    part: Annotated[list[str] | None, typer.Option(help="Only this part; may be repeated.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a table or figure of the papers: tables, plots, and whether the order is the paper's."""
    from paragloss.recipes import running, showing, verdicts

    if not name:
        _list(as_json)
        return
    folder = Path(out or f"results/{name}")
    drawn = _seeds(seeds)
    results = running.run(
        name,
        folder,
        smoke=smoke,
        seeds=drawn,
        only=part or (),
        said=lambda what: print(f"paragloss: {name}: {what}", file=sys.stderr, flush=True),
    )
    if as_json:
        print_json(results.as_json())
        return
    print(showing.table(results.as_json()))
    print(verdicts.verdict(results.as_json()))
    print(f"written: {folder}", file=sys.stderr)


def _list(as_json: bool) -> None:
    from paragloss.recipes import load, names, running

    rows = []
    for name in names():
        module = load(name)
        lacking = running.missing(module)
        rows.append(
            [name, str(module.MINUTES), "no data: " + lacking[0] if lacking else "ready", running.title(module)]
        )
    if as_json:
        keys = ("name", "minutes", "data", "title")
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    print_table(["recipe", "minutes", "data", "what"], rows)


def _seeds(text: str) -> list[int] | None:
    if not text:
        return None
    if not all(part.strip().isdigit() for part in text.split(",")):
        raise InputError(f"--seeds {text!r}: expected whole numbers with commas between them, such as 0,1,2")
    return [int(part) for part in text.split(",")]
