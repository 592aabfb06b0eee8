"""What a collection does when its disk is full, its folder can't be written, or its files are broken."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from collection_copies import copy_collection

from paragloss import artefacts, demo
from paragloss.collection import Collection, train
from paragloss.collection.integrity import check_collection, repair_collection
from paragloss.errors import ModelError, StoreError
from paragloss.lab.methods import cr5
from paragloss.stores import _engine_jobs, _limits, _payload, create_store, open_store
from paragloss.types import Document, Record

DOCUMENTS = [Document(f"d{i}", f"word{i} and more text of it", "en") for i in range(50)]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    location = tmp_path_factory.mktemp("original") / "whole"
    with Collection.create(str(location)) as collection:
        collection.index(DOCUMENTS)
    return location


@pytest.fixture
def intact(original, tmp_path):
    """A copy of a closed collection of fifty documents."""
    return Path(copy_collection(original, tmp_path / "whole"))


@pytest.fixture(scope="module")
def cr5_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "cr5"
    train(cr5.fit, demo.concepts()[:12], dim=4).save(folder)
    return folder


@pytest.fixture
def with_model(intact, cr5_folder):
    """The same with seven documents more, and a model that made vectors of them all."""
    with Collection.open(str(intact)) as collection:
        collection.index(demo.documents()[:7])
        collection.add_model(str(cr5_folder))
    assert check_collection(str(intact)) == []
    return intact


def list_faults(home):
    return [finding.fault for finding in check_collection(str(home))]


def unseal(home):
    """As if the process that had it open had been killed: nothing says what the files should hold."""
    (home / "seal.json").unlink()
    return home


def test_a_nearly_full_disk_stops_writing_but_not_searching(intact, monkeypatch):
    monkeypatch.setattr(_limits, "FREE_BYTES_TO_WRITE", 1 << 60)
    with Collection.open(str(intact)) as collection:
        with pytest.raises(StoreError, match="MB are needed to write safely"):
            collection.index([Document("new", "text", "en")])
        assert collection.search("word3", lang="en").results[0].id == "d3"
    monkeypatch.undo()
    with Collection.open(str(intact)) as collection:
        assert collection.count() == 50


def test_a_folder_that_cannot_be_written_can_be_searched(intact, monkeypatch):
    before = sorted(p.name for p in intact.rglob("*"))
    can_access = os.access
    # The tests may run as root, who may write anywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != intact and can_access(path, mode))
    with Collection.open(str(intact)) as collection:
        assert collection.search("word3", lang="en").results[0].id == "d3"
        with pytest.raises(StoreError, match="read-only disk"):
            collection.index([Document("new", "text", "en")])
    assert sorted(p.name for p in intact.rglob("*")) == before


def test_missing_documents_are_noticed_at_opening(intact):
    """The engine opens a folder without its segments as an empty one."""
    shutil.rmtree(unseal(intact) / "shard" / "segments")
    (intact / "shard" / "segments").mkdir()
    shutil.rmtree(intact / "shard" / "wal")
    with pytest.raises(StoreError):
        Collection.open(str(intact))


#: Reads locations of collections and prints for each how a process ends that searches it: with 0 if everything is
#: found or one sentence says what is wrong. Each has a process of its own, since what the engine maps into memory may
#: end it; they are forked from this one, which has imported everything.
SEARCH_EACH = """
import os, sys, traceback
from paragloss.collection import Collection, retrieval
from paragloss.errors import ParaglossError
from paragloss.stores import embedded
from paragloss.translation import default
from paragloss.types import Query
default.open()
def search(location):
    try:
        with Collection.open(location) as collection:
            rankings = collection.rank([Query(f"d{i}", f"word{i}", "en") for i in range(50)], k=1)
    except ParaglossError:
        return 0
    return 0 if [hit.id for ranking in rankings for hit in ranking] == [f"d{i}" for i in range(50)] else 1
for line in sys.stdin:
    process = os.fork()
    if process == 0:
        try:
            os._exit(search(line.strip()))
        except BaseException:
            traceback.print_exc()
            os._exit(2)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


@pytest.mark.slow
def test_a_broken_file_is_reported_or_harmless(intact, tmp_path):
    """Each third file of a small collection in turn: emptied, or with its head overwritten. Either everything is found,
    or one sentence says that something is wrong; never an empty answer."""
    files = [p.relative_to(intact) for p in sorted(unseal(intact).rglob("*")) if p.is_file() and p.name != "lock"]
    damages = [(name, damage) for name in files[::3] for damage in ("empty", "noise")]
    locations = [tmp_path / f"copy{number}" for number in range(len(damages))]
    for location, (name, damage) in zip(locations, damages, strict=True):
        copy_collection(intact, location)
        target = location / name
        target.write_bytes(b"" if damage == "empty" else b"\xa5" * min(64, target.stat().st_size))
    command, lines = [sys.executable, "-c", SEARCH_EACH], "".join(f"{location}\n" for location in locations)
    run = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    exit_codes = run.stdout.split()
    assert len(exit_codes) == len(damages)
    assert not [item for item in zip(damages, exit_codes, strict=True) if item[1] != "0"], run.stderr[-2000:]


def test_a_creation_that_was_killed_can_be_repeated(tmp_path):
    half = tmp_path / "half"
    (half / "shard").mkdir(parents=True)
    (half / ".creating").touch()
    (half / "shard" / "rubbish").write_text("x")
    with Collection.create(str(half)) as collection:
        collection.index(DOCUMENTS)
    assert not (half / ".creating").exists()
    with Collection.open(str(half)) as collection:
        assert collection.count() == 50


def test_a_creation_killed_before_its_statistics_can_be_used(tmp_path):
    with Collection.create(str(tmp_path / "c")):
        pass
    (unseal(tmp_path / "c") / "blobs" / "statistics").unlink()
    with Collection.open_or_create(str(tmp_path / "c")) as collection:
        collection.index(DOCUMENTS)
        assert collection.search("word3", lang="en").results[0].id == "d3"


def test_a_model_whose_replacement_was_killed_is_the_old_one(tmp_path):
    artefacts.save(tmp_path / "m", "thing", meta={"n": 1})
    (tmp_path / "m").rename(tmp_path / ".m.old")  # killed between two renames
    assert artefacts.load(tmp_path / "m").meta == {"n": 1}


@pytest.fixture
def killed(tmp_path):
    """The folder of a store with one document that has a vector, as a killed process leaves it."""
    with create_store(tmp_path / "c", dense={"m": 2}, sparse=["terms"]) as store:
        store.add([Record(Document("a", "text", "en"), {"m": np.ones(2, np.float32)}, {})])
    return unseal(tmp_path / "c")


@pytest.mark.parametrize("where", ["segment.json", "edge_config.json"])
def test_a_vector_that_a_kill_left_in_some_of_the_files_is_dropped(killed, where):
    """Adding or dropping a model's vectors changes several files of the engine, which opens only when they agree."""
    for file in [*killed.glob("shard/segments/*/segment.json"), killed / "shard" / "edge_config.json"]:
        content = json.loads(file.read_text())
        if file.name == where:
            del (content["config"]["vector_data"] if "config" in content else content["vectors"])["m"]
            file.write_text(json.dumps(content))
    with open_store(killed) as store:
        assert store.dense == {}
        assert [record.document.id for records in store.scroll(vectors=True) for record in records] == ["a"]
        store.add_dense_vector("m", 3)  # what was interrupted can be done again
        store.update_dense("m", ["a"], np.ones((1, 3), np.float32))
    with open_store(killed) as store:
        assert store.dense == {"m": 3}
        assert [hit.id for hit in store.search_dense("m", np.ones((1, 3), np.float32), 1)[0]] == ["a"]


@pytest.mark.parametrize("noted_vectors", [{}, {"m": 2, "gone": 3}])
def test_the_list_of_vectors_is_corrected_by_what_the_engine_has(killed, noted_vectors):
    """Killed between the engine's change and our note of it: what only one of them has is forgotten."""
    meta = json.loads((killed / "meta.json").read_text())
    (killed / "meta.json").write_text(json.dumps({**meta, "dense": noted_vectors}))
    with open_store(killed) as store:
        assert set(store.dense) == {"m"} & set(noted_vectors)
        store.add_dense_vector("gone", 1)
    with open_store(killed) as store:
        assert store.count() == 1
        assert store.dense["gone"] == 1


def test_temporary_files_of_a_killed_write_do_not_hinder_a_repair(intact):
    (intact / "blobs" / ".statistics-0123456789ab").write_bytes(b"half")
    (intact / ".meta.json-0123456789ab").write_bytes(b"half")
    assert repair_collection(str(intact))[0] == 50
    with Collection.open(str(intact)) as collection:
        assert collection.count() == 50
    assert not list(intact.rglob(".*-0123456789ab"))


def test_a_repair_killed_between_its_two_renames_is_finished_at_opening(intact):
    intact.rename(intact.with_name(".whole.repaired"))
    with Collection.open_or_create(str(intact)) as collection:  # which would otherwise start an empty one
        assert collection.count() == 50
    assert not intact.with_name(".whole.repaired").exists()


@pytest.mark.parametrize("name", ["blobs/statistics", "meta.json", "shard/edge_config.json", "shard/wal/first-index"])
@pytest.mark.parametrize("change", ["flipped", "removed", "longer"])
def test_a_file_changed_since_the_collection_was_closed_is_reported(intact, name, change):
    before = bytearray((intact / name).read_bytes())
    if change == "removed":
        (intact / name).unlink()
    else:
        (intact / name).write_bytes(before + b" " if change == "longer" else bytes([*before[:-1], before[-1] ^ 1]))
    with pytest.raises(StoreError, match=r"collection|damaged"):
        Collection.open(str(intact))
    assert check_collection(str(intact))


def test_a_copy_without_sparse_files_is_the_same_collection(intact, tmp_path):
    def copy_bytes(source, target):  # as to another kind of disk
        Path(target).write_bytes(Path(source).read_bytes())

    shutil.copytree(intact, tmp_path / "copy", copy_function=copy_bytes)
    with Collection.open(str(tmp_path / "copy")) as collection:
        assert collection.count() == 50


def test_a_document_that_differs_from_what_was_added_is_reported_as_damaged():
    document = Document("a", "rain", "en", "Rain", {"url": "x"}, {"n": [1, 2.0, True], "m": {"b": 1, "a": 2}})
    payload = _payload.build_payload(Record(document))
    stored_again = json.loads(json.dumps({**payload, "meta": {"m": {"a": 2.0, "b": 1}, "n": [1.0, 2, True]}}))
    assert _payload.parse_document(stored_again).id == "a"
    with pytest.raises(StoreError, match="'a' is damaged"):
        _payload.parse_document({**payload, "text": "rein"})


def test_check_finds_a_changed_model(with_model):
    table = unseal(with_model) / "models" / "cr5" / "en.table.npy"
    table.write_bytes(table.read_bytes()[:-4] + b"\x3f\x3f\x3f\x3f")
    assert list_faults(with_model) == ["model 'cr5' is not as it was given"]


@pytest.mark.parametrize("bad_value", [np.nan, np.inf])
def test_a_model_with_numbers_that_are_not_finite_is_refused(intact, tmp_path, bad_value):
    model = train(cr5.fit, demo.concepts()[:12], dim=4)
    model.towers["en"].table[3, 1] = bad_value
    model.save(tmp_path / "cr5")
    with Collection.open(str(intact)) as collection:
        with pytest.raises(ModelError, match=r"'en\.table' that are not finite"):
            collection.add_model(str(tmp_path / "cr5"))
        assert collection.info()["models"] == {}
    with pytest.raises(ModelError, match="not finite"):
        Collection.create(str(tmp_path / "new"), models=[str(tmp_path / "cr5")])
    assert not (tmp_path / "new").exists()


def test_check_counts_vectors_that_differ_from_the_model(with_model):
    with open_store(with_model) as store:
        store.update_dense("cr5", [demo.documents()[0].id], np.full((1, store.dense["cr5"]), 9, np.float32))
    assert [fault[:27] for fault in list_faults(with_model)] == ["1 documents have other vect"]


def test_a_model_without_its_vectors_is_left_out_until_it_is_added_again(with_model, cr5_folder):
    with open_store(with_model) as store:
        store.drop_dense_vector("cr5")
    assert list_faults(with_model) == ["model 'cr5' has lost its vectors"]
    with Collection.open(str(with_model)) as collection:
        assert collection.search("word3", lang="en").results[0].id == "d3"
        assert collection.add_model(str(cr5_folder))
    assert list_faults(with_model) == []


def test_check_finds_a_lost_or_damaged_list_of_models(with_model):
    (unseal(with_model) / "blobs" / "models").write_bytes(b'{"cr5": 7}')
    with pytest.raises(StoreError, match="notes of itself is damaged"):
        Collection.open(str(with_model))
    assert any("notes of itself" in fault for fault in list_faults(with_model))
    (with_model / "blobs" / "models").unlink()
    assert any("not among the models" in fault for fault in list_faults(with_model))


def test_repair_leaves_out_a_damaged_document_and_keeps_the_others(intact, monkeypatch):
    monkeypatch.setattr(_payload, "_checksum_document", lambda document: 7)
    with Collection.open(str(intact)) as collection:
        collection.add([Document("bad", "text with a sum that is not its own", "en")])
    monkeypatch.undo()
    assert any("'bad' is damaged" in fault for fault in list_faults(intact))
    assert repair_collection(str(intact))[:2] == (50, 1)
    assert list_faults(intact) == []


def test_every_damaged_collection_is_set_aside_under_its_own_name(tmp_path):
    with Collection.create(str(tmp_path / "my-library"), default=False):
        pass
    aside = [repair_collection(str(tmp_path / "my-library")).damaged_path.name for _ in range(3)]
    assert aside == ["my-library.damaged", "my-library.damaged-2", "my-library.damaged-3"]


def test_files_that_crash_the_reader_are_reported_after_a_kill(intact, monkeypatch):
    """As a table of ids did whose pages are gone."""
    ending_worker = intact.with_name("worker.py")
    ending_worker.write_text("import os\nos.kill(os.getpid(), 7)")
    monkeypatch.setattr(_engine_jobs, "_WORKER", ending_worker)
    with Collection.open(str(intact)):  # it was closed, and is as it was then
        pass
    with pytest.raises(StoreError, match="reading it ends the process \\(SIGBUS\\)"):
        Collection.open(str(unseal(intact)))
    monkeypatch.undo()
    with Collection.open(str(intact)) as collection:
        assert collection.count() == 50
