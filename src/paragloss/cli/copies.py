"""Commands that take a collection somewhere else: a copy, a backup in one file, and back."""

from __future__ import annotations

from typing import Annotated

import typer

from paragloss.cli.help_layout import COLLECTIONS
from paragloss.cli.output import Progress, writable
from paragloss.cli.placement import OnDisk, Replicas, Shards, placed
from paragloss.cli.program import app

Place = Annotated[str, typer.Argument(metavar="COLLECTION", help="A folder, or http://host:port/name.")]
New = Annotated[str, typer.Argument(metavar="NEW", help="The new collection: a folder, or http://host:port/name.")]


@app.command(rich_help_panel=COLLECTIONS)
def copy(
    collection: Place,
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
    from paragloss.collection.transfer import copy as copied

    placement = placed(shards, replicas, on_disk)
    with Progress("copying") as bar:
        count = copied(collection, new, models=model or [], placement=placement, progress=bar)
    print(f"copied {count} documents into {new}: the same, every letter and every vector")


@app.command(rich_help_panel=COLLECTIONS)
def backup(
    collection: Place, file: Annotated[str, typer.Argument(help="The file to write; .tar, or .tar.gz to compress.")]
) -> None:
    """Write a collection into one backup file."""
    from paragloss.collection.archive_file import backup as written

    writable(file, "the backup")
    with Progress("writing") as bar:
        count = written(collection, file, progress=bar)
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
    from paragloss.collection.archive_file import restore as restored

    with Progress("restoring") as bar:
        count = restored(file, new, placement=placed(shards, replicas, on_disk), progress=bar)
    print(f"restored {count} documents into {new}")
