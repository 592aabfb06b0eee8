"""Commands that copy, back up, restore and export a collection; options for new collections on a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paragloss.cli.help_layout import COLLECTIONS
from paragloss.cli.output import ProgressBar, check_writable
from paragloss.cli.program import Location, app
from paragloss.errors import InputError
from paragloss.formats.conditions import parse_conditions
from paragloss.types import Document

if TYPE_CHECKING:
    from paragloss.stores import Placement

_SCALE = "Large collections and servers"
Shards = Annotated[
    int, typer.Option(min=1, help="Server only: number of shards of a new collection.", rich_help_panel=_SCALE)
]
Replicas = Annotated[
    int, typer.Option(min=0, help="Server only: copies of each shard; 0 means up to three.", rich_help_panel=_SCALE)
]
OnDisk = Annotated[
    bool, typer.Option("--on-disk", help="Server only: keep vectors and indexes on disk.", rich_help_panel=_SCALE)
]
New = Annotated[
    str, typer.Argument(metavar="NEW", help="The new collection: a folder, or qdrant+http://host:port/name.")
]


@app.command(rich_help_panel=COLLECTIONS)
def copy(
    collection: Location,
    new: New,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help="Add this model to the copy, or replace the one of the same name."),
    ] = None,
    shards: Shards = 1,
    replicas: Replicas = 0,
    on_disk: OnDisk = False,
) -> None:
    """Copy a collection, between folders and servers, and verify the copy.

    If it is interrupted, the same command continues.
    """
    from paragloss.collection.transfer import copy as copy_collection

    placement = make_placement(shards, replicas, on_disk)
    with ProgressBar("copying") as bar:
        count = copy_collection(collection, new, models=model or [], placement=placement, progress=bar)
    print(f"copied {count} documents into {new} and verified every text and vector")


@app.command(rich_help_panel=COLLECTIONS)
def backup(
    collection: Location, file: Annotated[str, typer.Argument(help="The file to write; .tar, or .tar.gz to compress.")]
) -> None:
    """Write a collection into one backup file."""
    from paragloss.collection.archive_file import backup as write_backup

    check_writable(file, "the backup")
    with ProgressBar("writing") as bar:
        count = write_backup(collection, file, progress=bar)
    print(f"wrote {count} documents into {file}")


@app.command(rich_help_panel=COLLECTIONS)
def restore(
    file: Annotated[str, typer.Argument(help="A file that `paragloss backup` wrote.")],
    new: New,
    shards: Shards = 1,
    replicas: Replicas = 0,
    on_disk: OnDisk = False,
) -> None:
    """Restore a backup into a new collection."""
    from paragloss.collection.archive_file import restore as restore_backup

    with ProgressBar("restoring") as bar:
        count = restore_backup(file, new, placement=make_placement(shards, replicas, on_disk), progress=bar)
    print(f"restored {count} documents into {new}")


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
    check_writable(out, "--out")
    conditions = parse_conditions(where or [])
    with Collection.open(collection) as engine, ProgressBar("exporting") as bar:
        documents: Iterator[Document] = bar.counting(engine.documents(where=conditions), engine.count(conditions))
        if kind == ".jsonl":
            count = jsonl.write_jsonl_documents(out, documents)
        elif kind == ".trec":
            count = trec.write_trec_documents(out, documents)
        else:
            header = csv.build_csv_header(engine.documents(where=conditions))
            count = csv.write_csv_documents(out, documents, header)
    print(f"{count} documents: {out}")


def make_placement(shards: int, replicas: int, on_disk: bool) -> Placement:
    """Return how a server is to keep a new collection."""
    from paragloss.stores import Placement

    return Placement(shards, replicas, on_disk)
