import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from paragloss.index.terms import TermIndex
from paragloss.stores import create_store

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def build_index(tmp_path):
    """Index documents, a hundred at a time; returns the index and its store, which is closed at the end."""
    with ExitStack() as stores:
        paths = (tmp_path / f"index{number}" for number in range(1000))

        def build(documents, **options):
            store = stores.enter_context(create_store(next(paths), dense={"model": 2}, sparse=["terms"]))
            index = TermIndex.build(store, **options)
            for start in range(0, len(documents), 100):
                index.add(documents[start : start + 100])
            index.refresh()
            return index, store

        yield build
