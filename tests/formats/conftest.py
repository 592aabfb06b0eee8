"""Files that the tests of formats write and read."""

import pytest

from paragloss.formats.documents import read_documents


@pytest.fixture
def write(tmp_path):
    """Write a file with some bytes, or text as UTF-8, and return its path; its name may begin with folders."""

    def write_file(name, data):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write_file


@pytest.fixture
def read(write):
    """Write a file and return the documents that are read from it."""
    return lambda name, data, **options: list(read_documents(write(name, data), **options))
