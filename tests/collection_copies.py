"""Copies of indexed collections for tests that change them."""

from pathlib import Path

from paragloss.stores._engine_files import copy_sparse_files


def copy_collection(source: str | Path, target: str | Path) -> str:
    """Copy a closed collection, and return where the copy lies.

    The engine's files are mostly holes: a small collection has 160 MB, of which 0.3 MB are written.
    """
    copy_sparse_files(Path(source), Path(target))
    return str(target)
