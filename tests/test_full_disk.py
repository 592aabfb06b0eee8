"""A collection on a full disk is read, and says what to free. The disk is a small file system in memory."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress

import pytest
from fastapi.testclient import TestClient

from paragloss.collection import Collection
from paragloss.collection.integrity import check_collection
from paragloss.errors import StoreError
from paragloss.server.application import build_application
from paragloss.server.library import Library
from paragloss.stores import _limits
from paragloss.types import Document

MEGABYTE = 1 << 20


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", f"size={160 * MEGABYTE}", "tmpfs", str(folder)]
    if os.name == "nt" or os.geteuid() != 0 or subprocess.run(options, check=False, capture_output=True).returncode:
        pytest.skip("making a file system in memory needs root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


@pytest.fixture
def full_collection(small_disk, monkeypatch):
    """A collection of ten documents on a disk that was filled after it had been closed."""
    location = str(small_disk / "collection")
    with monkeypatch.context() as patch:
        patch.setattr(_limits, "FREE_BYTES_TO_WRITE", MEGABYTE)  # the disk is smaller than what writing asks for
        with Collection.create(location, default=False, meaning=False) as collection:
            collection.index([Document(f"d{n}", f"number{n} common", "en") for n in range(10)])
    fill(small_disk)
    return location


def fill(disk):
    with suppress(OSError), (disk / "ballast").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    assert shutil.disk_usage(disk).free == 0


def test_a_collection_on_a_full_disk_is_searched_and_found_whole(full_collection):
    for _ in range(2):  # reading leaves nothing behind that would need room
        with Collection.open(full_collection) as collection:
            results = collection.search("number3", lang="en", pipeline="bm25").results
            assert ([result.id for result in results], collection.count()) == (["d3"], 10)
    assert check_collection(full_collection) == []


def test_writing_to_a_full_disk_says_what_to_free(full_collection):
    with Collection.open(full_collection) as collection:
        with pytest.raises(StoreError, match="its disk is full, free 64 MB there and open it again"):
            collection.delete(["d1"])
        with pytest.raises(StoreError, match="its disk is full, free 64 MB"):
            collection.add([Document("new", "text", "en")])
        assert collection.count() == 10


def test_a_server_on_a_full_disk_answers_searches_and_says_what_to_free(full_collection):
    library = Library.open([full_collection])
    with TestClient(build_application(library), base_url="http://localhost") as client:
        answer = client.get("/api/search", params={"q": "number3", "lang": "en"})
        assert [row["id"] for row in answer.json()["results"]] == ["d3"]
        deleted = client.delete("/api/documents/d1")
        added = client.post("/api/bulk", content=json.dumps({"id": "n", "text": "new"}).encode())
        for refused in (deleted, added):
            assert "free 64 MB" in refused.text
            assert full_collection not in refused.text
        assert client.get("/api/documents/d1").status_code == 200


WRITE_UNTIL_FULL = """
import sys
from pathlib import Path
from paragloss.collection import Collection
from paragloss.errors import StoreError
from paragloss.stores import _limits
from paragloss.types import Document

location, ballast = sys.argv[1], Path(sys.argv[2])
_limits.FREE_BYTES_TO_WRITE = 1 << 20
with Collection.open(location) as collection:
    collection.add([Document("before", "acknowledged", "en")])
    with ballast.open("ab", buffering=0) as file:  # another program fills the disk
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    try:
        collection.add([Document("after", "refused", "en")])
    except StoreError as error:
        print(error)
    print([result.id for result in collection.search("acknowledged", lang="en", pipeline="bm25").results])
    try:
        collection.close()
    except StoreError as error:
        print(error)
"""


def test_a_disk_that_becomes_full_meanwhile_ends_no_process(full_collection, small_disk):
    """The engine writes through memory maps: a page without a place on the disk would be a SIGBUS."""
    ballast = small_disk / "ballast"
    os.truncate(ballast, ballast.stat().st_size - 80 * MEGABYTE)
    command = [sys.executable, "-c", WRITE_UNTIL_FULL, full_collection, str(ballast)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert finished.returncode == 0, finished.stderr
    refusal, found, ending = finished.stdout.splitlines()
    assert re.search(r"has 0 MB left, .*: free 1 MB there; everything that was reported as done is kept", refusal)
    assert found == "['before']"
    assert "could not be closed: its disk is full. Free 64 MB there and open it again; everything" in ending
    ballast.unlink()
    with Collection.open(full_collection) as collection:
        assert {document.id for document in collection.documents()} == {"before", *(f"d{n}" for n in range(10))}


def test_documents_can_be_deleted_on_a_nearly_full_disk(full_collection, small_disk):
    os.truncate(small_disk / "ballast", 20 * MEGABYTE)
    with Collection.open(full_collection) as collection:
        with pytest.raises(StoreError, match=r"free \d+ MB there"):
            collection.add([Document("new", "text", "en")])
        assert collection.delete(["d1"]) == 1
        assert collection.count() == 9
    assert check_collection(full_collection) == []
