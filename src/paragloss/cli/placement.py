"""How a server keeps a new collection, as options of the commands that make one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from paragloss.stores import Placement

Shards = Annotated[int, typer.Option(min=1, help="On a server: parts that a new collection is spread over.")]
Replicas = Annotated[
    int, typer.Option(min=0, help="On a server: nodes that keep each part; 0 is three, or as many as there are.")
]
OnDisk = Annotated[bool, typer.Option("--on-disk", help="On a server: vectors and indexes stay on disk.")]


def placed(shards: int, replicas: int, on_disk: bool) -> Placement:
    from paragloss.stores import Placement

    return Placement(shards, replicas, on_disk)
