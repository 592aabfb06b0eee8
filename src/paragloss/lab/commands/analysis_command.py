"""The command that looks into kernel rankers."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated

import typer

from paragloss.cli.help_layout import MEASURING
from paragloss.cli.output import print_table
from paragloss.cli.program import app
from paragloss.errors import InputError


@app.command(rich_help_panel=MEASURING)
def analyse(
    kind: Annotated[
        str, typer.Argument(help="What to analyse: kernels, translations, exact-match, data-size, quality.")
    ],
    files: Annotated[list[str], typer.Argument(help='Rows {"concept","lang","title","text"}, or en-xx.tsv.')],
    out: Annotated[str, typer.Option(help="Folder for the table and the plot.")],
    lang: Annotated[str, typer.Option(help="Language of the queries.")],
    to: Annotated[str, typer.Option(help="Language of the documents.")],
    model: Annotated[str, typer.Option(help="A trained K-NRM, if the analysis needs one.")] = "",
    by: Annotated[str, typer.Option("--with", help="A saved translator, if the analysis needs one.")] = "",
    categories: Annotated[str, typer.Option(help="quality: file of concepts and their categories.")] = "",
) -> None:
    """Analyse a kernel ranker: weights, word pairs, training data."""
    from paragloss.lab.analyses import KINDS

    if kind not in KINDS:
        raise InputError(f"no analysis {kind!r}; there are {', '.join(KINDS)}")
    given = {"source": lang, "target": to, "model": model, "translator": by, "categories": categories}
    taken = inspect.signature(KINDS[kind]).parameters
    options = {name: value for name, value in given.items() if name in taken and value}
    needed = [n for n in taken if n in given and n not in options and taken[n].default is inspect.Parameter.empty]
    if needed:
        raise InputError(f"{kind} needs --{'with' if needed[0] == 'translator' else needed[0]}")
    made = KINDS[kind](files, Path(out), **options)
    print_table([str(cell) for cell in made.header], [[str(cell) for cell in row] for row in made.rows])
