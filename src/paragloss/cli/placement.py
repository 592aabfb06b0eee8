"""How a server keeps a new collection, as options of the commands that make one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

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


def placed(shards: int, replicas: int, on_disk: bool) -> Placement:
    from paragloss.stores import Placement

    return Placement(shards, replicas, on_disk)
