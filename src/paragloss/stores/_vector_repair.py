"""Repair a collection's folder after a kill, before the engine opens it.

The engine writes the name of a dense vector into several files. A kill while a vector is added or dropped leaves it in
some of them, and the engine then refuses to open the folder. The model that such a vector belongs to is recorded as
unfinished, so the vector can be removed. Knows the engine's files, nothing of documents.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from paragloss.atomic_files import remove_temporary_files, write_file_atomically
from paragloss.stores._engine_files import recover_engine_files
from paragloss.stores._engine_jobs import check_readable

#: Folders of a segment that hold a vector's data, as `PREFIX-NAME`.
_VECTOR_FOLDERS = ("vector_storage", "vector_index")


def recover_collection(folder: Path, *, was_closed: bool) -> None:
    """Complete or undo what a killed process left unfinished in a collection's folder.

    :param was_closed: whether the collection was closed regularly; otherwise all its files are read once.
    """
    recover_engine_files(folder)
    remove_temporary_files(folder)
    remove_temporary_files(folder / "blobs")
    remove_partial_vectors(folder / "shard")
    if not was_closed:
        check_readable(folder / "shard")


def remove_partial_vectors(shard_folder: Path) -> None:
    """Remove dense vectors that are named in some of the engine's files only."""
    try:
        configs = {path: json.loads(path.read_text(encoding="utf-8")) for path in _list_config_files(shard_folder)}
        names_by_file = {path: set(_get_vectors(config)) for path, config in configs.items()}
        complete_names = set.intersection(*names_by_file.values())
    except (OSError, ValueError, KeyError, TypeError):
        return  # damaged in another way, which is reported when the folder is opened
    for path, config in configs.items():
        partial_names = names_by_file[path] - complete_names
        if not partial_names:
            continue
        for name in partial_names:
            del _get_vectors(config)[name]
        write_file_atomically(path, json.dumps(config).encode())
        _remove_vector_folders(path.parent, partial_names)


def read_vector_names(shard_folder: Path) -> set[str]:
    """Return the names of the dense vectors that the engine has."""
    return set(_get_vectors(json.loads((shard_folder / "edge_config.json").read_text(encoding="utf-8"))))


def _list_config_files(shard_folder: Path) -> list[Path]:
    """Return the files that name vectors: those of the segments, then the one of the whole shard.

    In this order a kill of `remove_partial_vectors` leaves a state that can be repaired again.
    """
    return [*sorted(shard_folder.glob("segments/*/segment.json")), shard_folder / "edge_config.json"]


def _remove_vector_folders(segment: Path, names: set[str]) -> None:
    """Remove the folders of some vectors from a segment; a name that leads elsewhere is ignored."""
    for name in names:
        for prefix in _VECTOR_FOLDERS:
            folder = segment / f"{prefix}-{name}"
            if folder.parent == segment:
                shutil.rmtree(folder, ignore_errors=True)


def _get_vectors(config: Any) -> dict[str, Any]:
    """Return the part of a segment's or a shard's configuration that has an entry for each dense vector."""
    vectors: dict[str, Any] = config["config"]["vector_data"] if "config" in config else config["vectors"]
    return vectors
