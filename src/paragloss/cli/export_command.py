"""The command that hands documents to other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from paragloss.cli.help_layout import COLLECTIONS
from paragloss.cli.output import Progress, writable
from paragloss.cli.program import Location, app
from paragloss.errors import InputError
from paragloss.formats.conditions import conditions
from paragloss.types import Document


@app.command(rich_help_panel=COLLECTIONS)
def export(
    collection: Location,
    out: Annotated[str, typer.Option("--out", help="A file: .jsonl, .csv, .tsv or .trec, perhaps with .gz.")],
    where: Annotated[list[str] | None, typer.Option(help="Only documents with FIELD=VALUE, as in search.")] = None,
) -> None:
    """Export documents as JSON Lines, CSV, TSV or TREC."""
    from paragloss.collection import Collection
    from paragloss.formats import csv, jsonl, trec

    kind = Path(out.removesuffix(".gz")).suffix
    if kind not in (".jsonl", ".csv", ".tsv", ".trec"):
        raise InputError(f"--out {out}: expected a file called *.jsonl, *.csv, *.tsv or *.trec, or that with .gz")
    writable(out, "--out")
    wanted = conditions(where or [])
    with Collection.open(collection) as engine, Progress("exporting") as bar:
        documents: Iterator[Document] = bar.counting(engine.documents(where=wanted), engine.count(wanted))
        if kind == ".jsonl":
            count = jsonl.write_documents(out, documents)
        elif kind == ".trec":
            count = trec.write_documents(out, documents)
        else:
            count = csv.write_documents(out, documents, csv.columns(engine.documents(where=wanted)))
    print(f"{count} documents: {out}")
