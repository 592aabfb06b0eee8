"""Several processes create one collection: each removes only what it made, and no acknowledged document is lost."""

import json
import os
import subprocess
import sys
import threading
import time

import pytest

from paragloss.collection import Collection
from paragloss.errors import InUseError, ModelError, StoreError
from paragloss.stores import _folder_layout, collection_exists, delete_collection
from paragloss.stores.embedded import EmbeddedStore
from paragloss.types import Document

QUICK = {"default": False, "meaning": False}


def test_two_index_commands_that_create_one_collection_lose_nothing(tmp_path):
    for name in "ab":
        rows = [{"id": f"{name}{n}", "lang": "en", "text": "some text"} for n in range(3)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    location = str(tmp_path / "new")
    command = [sys.executable, "-m", "paragloss", "index", "--into", location, "--no-meaning", "--workers", "1"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    processes = {
        name: subprocess.Popen([*command, tmp_path / f"{name}.jsonl"], env=environment, **streams) for name in "ab"
    }
    acknowledged = set()
    for name, process in processes.items():
        _, errors = process.communicate(timeout=300)
        assert process.returncode in (0, 1), errors.decode()
        if process.returncode == 0:
            acknowledged |= {f"{name}{n}" for n in range(3)}
    assert acknowledged
    with Collection.open(location) as collection:
        assert acknowledged <= {document.id for document in collection.documents()}


def test_a_creation_that_was_paused_takes_nothing_from_the_one_that_finished_meanwhile(tmp_path, monkeypatch):
    """The paused process has seen an empty folder; when it goes on, there is a collection in it."""
    location, begin, was_created = str(tmp_path / "new"), _folder_layout.begin_creation, []

    def pause(path):
        if not was_created:
            was_created.append(path)
            with Collection.create(location, **QUICK) as other:
                other.index([Document("kept", "some text", "en")])
        return begin(path)

    monkeypatch.setattr(_folder_layout, "begin_creation", pause)
    with Collection.open_or_create(location, **QUICK) as collection:
        assert [document.id for document in collection.documents()] == ["kept"]


def test_a_process_that_fails_does_not_remove_what_another_created(tmp_path):
    location = str(tmp_path / "new")
    with Collection.create(location, **QUICK) as creator:
        other = Collection.open_or_create(location, **QUICK)
        other.maintenance.close_or_remove()  # as a command does that fails
        creator.index([Document("kept", "some text", "en")])
        creator.maintenance.close_or_remove()
    with Collection.open(location) as collection:
        assert collection.count() == 1


def test_a_collection_that_got_no_document_is_removed_by_the_process_that_created_it(tmp_path):
    Collection.create(str(tmp_path / "new"), **QUICK).maintenance.close_or_remove()
    assert not (tmp_path / "new").exists()
    (tmp_path / "mine").mkdir()  # an empty folder of the user's stays
    Collection.create(str(tmp_path / "mine"), **QUICK).maintenance.close_or_remove()
    assert list((tmp_path / "mine").iterdir()) == []
    Collection.create(str(tmp_path / "new"), **QUICK).close()
    assert collection_exists(tmp_path / "new")


def test_a_creator_waits_for_one_that_is_still_creating(tmp_path, monkeypatch):
    location, create, is_creating = str(tmp_path / "new"), EmbeddedStore._write_meta, threading.Event()

    def create_slowly(store):
        is_creating.set()
        time.sleep(2)
        create(store)

    monkeypatch.setattr(EmbeddedStore, "_write_meta", create_slowly)
    opened = []
    thread = threading.Thread(target=lambda: opened.append(Collection.create(location, **QUICK)))
    thread.start()
    is_creating.wait()
    with Collection.open_or_create(location, **QUICK) as second:
        assert second.count() == 0
    thread.join()
    opened[0].close()


def test_deleting_a_collection_leaves_what_else_is_in_its_folder(tmp_path):
    (tmp_path / "folder").mkdir()
    location = str(tmp_path / "folder")
    with Collection.create(location, **QUICK) as collection:
        collection.index([Document("a", "some text", "en")])
        with pytest.raises(InUseError):
            delete_collection(location)
        assert collection.count() == 1
    (tmp_path / "folder/letter.txt").write_text("mine")
    delete_collection(location)
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["letter.txt"]
    with pytest.raises(StoreError, match="is not a collection"):
        delete_collection(location)
    assert (tmp_path / "folder/letter.txt").read_text() == "mine"


def test_a_creation_that_fails_leaves_nothing(tmp_path, monkeypatch):
    with pytest.raises(ModelError, match="nowhere is not a saved model"):
        Collection.create(str(tmp_path / "new"), models=[str(tmp_path / "nowhere")])
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr(EmbeddedStore, "write_blob", None)  # fails when there is a store already
    with pytest.raises(TypeError):
        Collection.create(str(tmp_path / "new"), **QUICK)
    assert not (tmp_path / "new").exists()
