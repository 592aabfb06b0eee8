"""Copies of indexed collections for tests that change them, and what collections hold."""

from pathlib import Path

from paragloss.stores._engine_files import copy_sparse_files


def copy_collection(source: str | Path, target: str | Path) -> str:
    """Copy a closed collection, and return where the copy lies.

    The engine's files are mostly holes: a small collection has 160 MB, of which 0.3 MB are written.
    """
    copy_sparse_files(Path(source), Path(target))
    return str(target)


def read_records(collection):
    """Return all documents of an open collection with their vectors."""
    return [record for records in collection.state.store.scroll(vectors=True) for record in records]
