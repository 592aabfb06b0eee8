"""What a collection does when its disk is full, its folder can't be written, or its files are broken."""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from paragloss import artefacts, demo
from paragloss.collection import Collection, train
from paragloss.collection.integrity import check, repair
from paragloss.errors import ModelError, ParaglossError, StoreError
from paragloss.lab.methods import cr5
from paragloss.stores import _engine_jobs, _limits, _payload, create_store, open_store
from paragloss.types import Document, Record

DOCUMENTS = [Document(f"d{i}", f"word{i} and more text of it", "en") for i in range(50)]


@pytest.fixture
def whole(tmp_path):
    with Collection.create(str(tmp_path / "whole")) as engine:
        engine.index(DOCUMENTS)
    return tmp_path / "whole"


def killed(home):
    """As if the process that had it open had been killed: nothing says what the files should hold."""
    (home / "seal.json").unlink()
    return home


def test_a_disk_that_is_nearly_full_stops_writing_in_a_sentence_and_not_searching(whole, monkeypatch):
    monkeypatch.setattr(_limits, "FREE_BYTES_TO_WRITE", 1 << 60)
    with Collection.open(str(whole)) as engine:
        with pytest.raises(StoreError, match="MB are needed to write safely"):
            engine.index([Document("new", "text", "en")])
        assert engine.search("word3", lang="en").results[0].id == "d3"
    monkeypatch.undo()
    with Collection.open(str(whole)) as engine:
        assert engine.count() == 50


def test_a_folder_that_cannot_be_written_can_be_searched(whole, monkeypatch):
    before = sorted(p.name for p in whole.rglob("*"))
    can_access = os.access
    # The tests may run as root, who may write anywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != whole and can_access(path, mode))
    with Collection.open(str(whole)) as engine:
        assert engine.search("word3", lang="en").results[0].id == "d3"
        with pytest.raises(StoreError, match="read-only disk"):
            engine.index([Document("new", "text", "en")])
    assert sorted(p.name for p in whole.rglob("*")) == before


def test_documents_that_are_gone_are_missed_at_opening(whole):
    """The engine opens a folder without its segments as an empty one."""
    shutil.rmtree(killed(whole) / "shard" / "segments")
    (whole / "shard" / "segments").mkdir()
    shutil.rmtree(whole / "shard" / "wal")
    with pytest.raises(StoreError):
        Collection.open(str(whole))


@pytest.mark.slow
def test_a_broken_file_is_said_or_harmless(whole, tmp_path):
    """Each file of a small collection in turn: emptied, or with its head overwritten. Either everything is found, or
    one sentence says that something is wrong; never an empty answer. Each is tried in a process of its own, since
    what the engine maps into memory may end it."""
    files = [p.relative_to(whole) for p in sorted(killed(whole).rglob("*")) if p.is_file() and p.name != "lock"]
    code = (
        "import sys\nfrom paragloss.collection import Collection\nfrom paragloss.errors import ParaglossError\n"
        "try:\n"
        "    with Collection.open(sys.argv[1]) as engine:\n"
        "        found = [engine.search(f'word{i}', lang='en', k=1).results for i in range(50)]\n"
        "    right = all(f and f[0].id == f'd{i}' for i, f in enumerate(found))\n"
        "    print('right' if right else 'wrong')\n"
        "except ParaglossError:\n    print('said')\n"
    )
    wrong = []
    for number, name in enumerate(files[::3]):
        for how in ("empty", "noise"):
            copy = tmp_path / f"copy{number}{how}"
            shutil.copytree(whole, copy)
            target = copy / name
            target.write_bytes(b"" if how == "empty" else b"\xa5" * min(64, target.stat().st_size))
            run = subprocess.run([sys.executable, "-c", code, str(copy)], capture_output=True, text=True, check=False)
            if run.stdout.strip() not in ("right", "said"):
                wrong.append((str(name), how, run.stdout, run.returncode, run.stderr[-300:]))
            shutil.rmtree(copy)
    assert not wrong


def test_a_creation_that_was_killed_can_be_repeated(tmp_path):
    half = tmp_path / "half"
    (half / "shard").mkdir(parents=True)
    (half / ".creating").touch()
    (half / "shard" / "rubbish").write_text("x")
    with Collection.create(str(half)) as engine:
        engine.index(DOCUMENTS)
    assert not (half / ".creating").exists()
    with Collection.open(str(half)) as engine:
        assert engine.count() == 50


def test_a_creation_killed_before_its_statistics_can_be_used(tmp_path):
    with Collection.create(str(tmp_path / "c")):
        pass
    (killed(tmp_path / "c") / "blobs" / "statistics").unlink()
    with Collection.open_or_create(str(tmp_path / "c")) as engine:
        engine.index(DOCUMENTS)
        assert engine.search("word3", lang="en").results[0].id == "d3"


def test_a_model_whose_replacement_was_killed_is_the_old_one(tmp_path):
    artefacts.save(tmp_path / "m", "thing", meta={"n": 1})
    (tmp_path / "m").rename(tmp_path / ".m.old")  # killed between two renames
    assert artefacts.load(tmp_path / "m").meta == {"n": 1}


def dense(home):
    """The engine's own words on the dense vectors it has."""
    files = [*home.glob("shard/segments/*/segment.json"), home / "shard" / "edge_config.json"]
    return {file: json.loads(file.read_text()) for file in files}


@pytest.mark.parametrize("where", ["segment.json", "edge_config.json"])
def test_a_vector_that_a_kill_left_in_half_the_files_is_forgotten(tmp_path, where):
    """Adding or dropping a model's vectors changes several files of the engine, which opens only when they agree."""
    with create_store(tmp_path / "c", dense={"m": 2}, sparse=["terms"]) as store:
        store.add([Record(Document("a", "text", "en"), {"m": np.ones(2, np.float32)}, {})])
    for file, content in dense(killed(tmp_path / "c")).items():
        if file.name == where:
            del (content["config"]["vector_data"] if "config" in content else content["vectors"])["m"]
            file.write_text(json.dumps(content))
    with open_store(tmp_path / "c") as store:
        assert store.dense == {}
        assert [record.document.id for records in store.scroll(vectors=True) for record in records] == ["a"]
        store.add_dense_vector("m", 3)  # what was interrupted can be done again
        store.update_dense("m", ["a"], np.ones((1, 3), np.float32))
    with open_store(tmp_path / "c") as store:
        assert store.dense == {"m": 3}
        assert [hit.id for hit in store.search_dense("m", np.ones((1, 3), np.float32), 1)[0]] == ["a"]


@pytest.mark.parametrize("noted", [{}, {"m": 2, "gone": 3}])
def test_what_a_collection_says_of_its_vectors_follows_the_engine(tmp_path, noted):
    """Killed between the engine's change and our note of it: what only one of them has is forgotten."""
    with create_store(tmp_path / "c", dense={"m": 2}, sparse=["terms"]) as store:
        store.add([Record(Document("a", "text", "en"), {"m": np.ones(2, np.float32)}, {})])
    meta = json.loads((tmp_path / "c" / "meta.json").read_text())
    (killed(tmp_path / "c") / "meta.json").write_text(json.dumps({**meta, "dense": noted}))
    with open_store(tmp_path / "c") as store:
        assert set(store.dense) == {"m"} & set(noted)
        store.add_dense_vector("gone", 1)
    with open_store(tmp_path / "c") as store:
        assert store.count() == 1
        assert store.dense["gone"] == 1


def test_what_a_killed_writing_left_is_no_obstacle_to_a_repair(whole):
    (whole / "blobs" / ".statistics-0123456789ab").write_bytes(b"half")
    (whole / ".meta.json-0123456789ab").write_bytes(b"half")
    assert repair(str(whole))[0] == 50
    with Collection.open(str(whole)) as engine:
        assert engine.count() == 50
    assert not list(whole.rglob(".*-0123456789ab"))


def test_a_repair_killed_between_its_two_renames_is_finished_by_whoever_opens(whole):
    whole.rename(whole.with_name(".whole.repaired"))
    with Collection.open_or_create(str(whole)) as engine:  # which would otherwise start an empty one
        assert engine.count() == 50
    assert not whole.with_name(".whole.repaired").exists()


@pytest.mark.parametrize("name", ["blobs/statistics", "meta.json", "shard/edge_config.json", "shard/wal/first-index"])
@pytest.mark.parametrize("how", ["flipped", "removed", "longer"])
def test_a_file_that_was_changed_since_the_collection_was_closed_is_named_and_repair_goes_on(whole, name, how):
    before = bytearray((whole / name).read_bytes())
    if how == "removed":
        (whole / name).unlink()
    else:
        (whole / name).write_bytes(before + b" " if how == "longer" else bytes([*before[:-1], before[-1] ^ 1]))
    with pytest.raises(StoreError, match=r"collection|damaged"):
        Collection.open(str(whole))
    assert check(str(whole))


def test_a_copy_with_its_holes_filled_is_the_same_collection(whole, tmp_path):
    for path in sorted(whole.rglob("*")):  # byte by byte, as a copy to another kind of disk
        to = tmp_path / "copy" / path.relative_to(whole)
        to.mkdir(parents=True) if path.is_dir() else (
            to.parent.mkdir(parents=True, exist_ok=True), to.write_bytes(path.read_bytes()))  # fmt: skip
    with Collection.open(str(tmp_path / "copy")) as engine:
        assert engine.count() == 50


def test_a_document_that_is_not_what_was_added_says_so():
    document = Document("a", "rain", "en", "Rain", {"url": "x"}, {"n": [1, 2.0, True], "m": {"b": 1, "a": 2}})
    kept = _payload.build_payload(Record(document))
    again = json.loads(json.dumps({**kept, "meta": {"m": {"a": 2.0, "b": 1}, "n": [1.0, 2, True]}}))
    assert _payload.parse_document(again).id == "a"
    with pytest.raises(StoreError, match="'a' is damaged"):
        _payload.parse_document({**kept, "text": "rein"})


def test_a_model_that_was_changed_is_found_by_check(whole, tmp_path):
    train(cr5.fit, demo.concepts()[:12], dim=4).save(tmp_path / "cr5")
    with Collection.open(str(whole)) as engine:
        engine.add_model(str(tmp_path / "cr5"))
    assert check(str(whole)) == []
    table = killed(whole) / "models" / "cr5" / "en.table.npy"
    table.write_bytes(table.read_bytes()[:-4] + b"\x3f\x3f\x3f\x3f")
    assert [finding.what for finding in check(str(whole))] == ["model 'cr5' is not as it was given"]


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_model_with_numbers_that_are_not_finite_is_refused(whole, tmp_path, wrong):
    model = train(cr5.fit, demo.concepts()[:12], dim=4)
    model.towers["en"].table[3, 1] = wrong
    model.save(tmp_path / "cr5")
    with Collection.open(str(whole)) as engine:
        with pytest.raises(ModelError, match=r"'en\.table' that are not finite"):
            engine.add_model(str(tmp_path / "cr5"))
        assert engine.info()["models"] == {}
    with pytest.raises(ModelError, match="not finite"):
        Collection.create(str(tmp_path / "new"), models=[str(tmp_path / "cr5")])
    assert not (tmp_path / "new").exists()


def test_vectors_that_the_model_does_not_give_are_counted_by_check(whole, tmp_path):
    train(cr5.fit, demo.concepts()[:12], dim=4).save(tmp_path / "cr5")
    with Collection.open(str(whole)) as engine:
        engine.index(demo.documents()[:7])
        engine.add_model(str(tmp_path / "cr5"))
    assert check(str(whole)) == []
    with open_store(whole) as store:
        store.update_dense("cr5", [demo.documents()[0].id], np.full((1, store.dense["cr5"]), 9, np.float32))
    assert [finding.what[:27] for finding in check(str(whole))] == ["1 documents have other vect"]


def test_a_model_that_lost_its_vectors_is_left_out_until_it_is_given_again(whole, tmp_path):
    train(cr5.fit, demo.concepts()[:12], dim=4).save(tmp_path / "cr5")
    with Collection.open(str(whole)) as engine:
        engine.add_model(str(tmp_path / "cr5"))
    with open_store(whole) as store:
        store.drop_dense_vector("cr5")
    assert [finding.what for finding in check(str(whole))] == ["model 'cr5' has lost its vectors"]
    with Collection.open(str(whole)) as engine:
        engine.index(demo.documents()[:7])
        assert engine.search("word3", lang="en").results[0].id == "d3"
        assert engine.add_model(str(tmp_path / "cr5"))
    assert check(str(whole)) == []


def test_a_list_of_models_that_is_lost_or_damaged_is_found(whole, tmp_path):
    train(cr5.fit, demo.concepts()[:12], dim=4).save(tmp_path / "cr5")
    with Collection.open(str(whole)) as engine:
        engine.add_model(str(tmp_path / "cr5"))
    (killed(whole) / "blobs" / "models").write_bytes(b'{"cr5": 7}')
    with pytest.raises(StoreError, match="notes of itself is damaged"):
        Collection.open(str(whole))
    assert any("notes of itself" in finding.what for finding in check(str(whole)))
    (killed(whole) / "blobs" / "models").unlink()
    assert any("not among the models" in finding.what for finding in check(str(whole)))


def test_a_document_that_is_damaged_is_left_out_by_repair_and_the_others_are_kept(whole, monkeypatch):
    monkeypatch.setattr(_payload, "_checksum_document", lambda document: 7)
    with Collection.open(str(whole)) as engine:
        engine.add([Document("bad", "text with a sum that is not its own", "en")])
    monkeypatch.undo()
    assert any("'bad' is damaged" in finding.what for finding in check(str(whole)))
    assert repair(str(whole))[:2] == (50, 1)
    assert check(str(whole)) == []


def test_damaged_collections_are_put_aside_under_names_of_their_own(tmp_path):
    with Collection.create(str(tmp_path / "my-library"), default=False):
        pass
    aside = [repair(str(tmp_path / "my-library")).aside.name for _ in range(3)]
    assert aside == ["my-library.damaged", "my-library.damaged-2", "my-library.damaged-3"]


def test_files_that_end_the_process_that_reads_them_are_said_after_a_kill(whole, monkeypatch):
    """As a table of ids did whose pages are gone."""
    ending_worker = whole.with_name("worker.py")
    ending_worker.write_text("import os\nos.kill(os.getpid(), 7)")
    monkeypatch.setattr(_engine_jobs, "_WORKER", ending_worker)
    with Collection.open(str(whole)):  # it was closed, and is as it was then
        pass
    with pytest.raises(StoreError, match="reading it ends the process \\(SIGBUS\\)"):
        Collection.open(str(killed(whole)))
    monkeypatch.undo()
    with Collection.open(str(whole)) as engine:
        assert engine.count() == 50


def test_many_opening_at_one_moment_leave_standard_error_where_it_was(tmp_path):
    """Each sets it aside while the engine opens."""
    before, places = os.fstat(2), [str(tmp_path / str(n)) for n in range(8)]
    for place in places:
        create_store(place, dense={}, sparse=["terms"]).close()
    barrier = threading.Barrier(len(places))

    def work(place):
        barrier.wait()
        for _ in range(5):
            with open_store(place):
                pass

    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=work, args=(place,)) for place in places]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(0.005)
    after = os.fstat(2)
    assert (after.st_dev, after.st_ino) == (before.st_dev, before.st_ino)


def test_what_is_no_collection_is_never_overwritten(tmp_path):
    (tmp_path / "mine").mkdir()
    Path(tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(ParaglossError, match="not an empty folder"):
        Collection.create(str(tmp_path / "mine"))
