"""Vectors that a kill left in some of the engine's files and not in others. The engine would refuse to open them; the
model they belong to is noted as unfinished, so they are forgotten. Knows the engine's files, nothing of documents."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from paragloss.stores._files import sweep, write_whole
from paragloss.stores._guards import survives
from paragloss.stores._snapshots import mend


def mended(home: Path, *, vouched: bool) -> None:
    """Finish or take back what somebody who was killed left; read everything once where nobody vouches for it."""
    mend(home)
    sweep(home)
    sweep(home / "blobs")
    settle(home / "shard")
    if not vouched:
        survives(home / "shard")


def settle(shard: Path) -> None:
    """Forget dense vectors that the engine has begun to add, or to drop, and not finished with."""
    try:
        contents = {path: json.loads(path.read_text(encoding="utf-8")) for path in _files(shard)}
        everywhere = set.intersection(*[set(_vectors(content)) for content in contents.values()])
    except (OSError, ValueError, KeyError, TypeError):
        return  # damaged otherwise: opening says so
    for path, content in contents.items():
        if partial := set(_vectors(content)) - everywhere:
            for name in partial:
                del _vectors(content)[name]
            write_whole(path, json.dumps(content).encode())
            for folder in (f"{part}-{name}" for part in ("vector_storage", "vector_index") for name in partial):
                if (path.parent / folder).parent == path.parent:
                    shutil.rmtree(path.parent / folder, ignore_errors=True)


def vectors_of(shard: Path) -> set[str]:
    """The dense vectors that an open shard has."""
    return set(_vectors(json.loads((shard / "edge_config.json").read_text(encoding="utf-8"))))


def _files(shard: Path) -> list[Path]:
    """The segments' own words, then the whole's: a kill of `settle` leaves something that can be settled again."""
    return [*sorted(shard.glob("segments/*/segment.json")), shard / "edge_config.json"]


def _vectors(content: Any) -> dict[str, Any]:
    found: dict[str, Any] = content["config"]["vector_data"] if "config" in content else content["vectors"]
    return found
