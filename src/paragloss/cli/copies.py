"""Commands that take a collection somewhere else: a copy, a backup in one file, and back."""

from __future__ import annotations

from typing import Annotated

import typer

from paragloss.cli.output import Progress, writable
from paragloss.cli.placement import OnDisk, Replicas, Shards, placed
from paragloss.cli.program import app

Place = Annotated[str, typer.Argument(metavar="COLLECTION", help="A folder, or http://host:port/name.")]
New = Annotated[str, typer.Argument(metavar="NEW", help="Where it is to be: a folder, or http://host:port/name.")]


@app.command()
def copy(
    collection: Place,
    new: New,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="Encode the copy with this model, in place of its name's.")
    ] = None,
    shards: Shards = 1,
    replicas: Replicas = 0,
    on_disk: OnDisk = False,
) -> None:
    """Copy a collection with everything in it, between folders and servers either way, and check the copy. Stopped
    half-way, the same command goes on."""
    from paragloss.collection.transfer import copy as copied

    placement = placed(shards, replicas, on_disk)
    with Progress("copying") as bar:
        count = copied(collection, new, models=model or [], placement=placement, progress=bar)
    print(f"copied {count} documents into {new}: the same, every letter and every vector")


@app.command()
def backup(
    collection: Place, file: Annotated[str, typer.Argument(help="The file to write; .tar, or .tar.gz to compress.")]
) -> None:
    """Write a collection with everything in it into one file."""
    from paragloss.collection.archive_file import backup as written

    writable(file, "the backup")
    with Progress("writing") as bar:
        count = written(collection, file, progress=bar)
    print(f"wrote {count} documents into {file}")


@app.command()
def restore(
    file: Annotated[str, typer.Argument(help="A file that `paragloss backup` wrote.")],
    new: New,
    shards: Shards = 1,
    replicas: Replicas = 0,
    on_disk: OnDisk = False,
) -> None:
    """Make a collection of a backup, in a new place; every part of the file is checked first."""
    from paragloss.collection.archive_file import restore as restored

    with Progress("restoring") as bar:
        count = restored(file, new, placement=placed(shards, replicas, on_disk), progress=bar)
    print(f"restored {count} documents into {new}")
