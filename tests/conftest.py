"""Tests borrow from each other's files: what starts the command line, what makes small dumps. New collections have no
encoder unless a test asks for one: most are not about meaning, and encoding takes time."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

TESTS_FOLDER = Path(__file__).parent
sys.path[:0] = [str(TESTS_FOLDER), str(TESTS_FOLDER / "formats"), str(TESTS_FOLDER / "lab")]
os.environ["PARAGLOSS_MEANING"] = "0"
#: Creating a collection waits a second for a disk, and a tenth of one for a disk in memory.
MEMORY_DISK = Path("/dev/shm")
if "TMPDIR" not in os.environ and os.access(MEMORY_DISK, os.W_OK) and shutil.disk_usage(MEMORY_DISK).free > 8 << 30:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY_DISK)
#: What the person who runs the tests has allowed must not matter, and tests must not allow anything in their name.
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="paragloss-test-config-")


@pytest.fixture(scope="session")
def plain_demo(tmp_path_factory) -> Path:
    """The demonstration's 720 documents, indexed once without models; nobody opens it but to copy it."""
    from paragloss import Collection, demo

    location = tmp_path_factory.mktemp("indexed") / "library"
    with Collection.create(str(location)) as collection:
        collection.index(demo.documents())
    return location


@pytest.fixture(scope="module")
def demo_location(plain_demo, tmp_path_factory) -> str:
    """Where a module's copy of the indexed demonstration lies."""
    from collection_copies import copy_collection

    return copy_collection(plain_demo, tmp_path_factory.mktemp("demo") / "library")


@pytest.fixture(scope="module")
def demo_collection(demo_location):
    """A module's copy of the indexed demonstration, open."""
    from paragloss import Collection

    with Collection.open(demo_location) as collection:
        yield collection
