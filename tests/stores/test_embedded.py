"""What only a folder can do wrong: be killed, cut off, opened twice, or not be a collection at all."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import qdrant_edge as edge
from records import list_ids
from writer import SIZE, unstemmed_analyzer

from paragloss.bm25 import Layout
from paragloss.errors import StoreError
from paragloss.index.terms import TermIndex, recount
from paragloss.search.lexical import Lexical
from paragloss.statistics import Statistics
from paragloss.stores import _engine_jobs, _shard, collection_exists, create_store, open_store
from paragloss.stores._shard import Shard
from paragloss.stores.embedded import EmbeddedStore
from paragloss.types import Document, Hit, Query, Record, SparseVector


def make_record(id: str, number: float = 1.0) -> Record:
    vector = SparseVector(np.array([7], np.uint32), np.array([number], np.float32))
    return Record(Document(id, "text", "en"), {"m": np.full(16, number, np.float32)}, {"terms": vector})


def find(store: EmbeddedStore, k: int = 1) -> list[Hit]:
    """The documents with the greatest numbers."""
    return store.search_dense("m", np.ones((1, 16), np.float32), k)[0]


@pytest.fixture
def folder(tmp_path):
    create_store(tmp_path / "c", dense={"m": 16}, sparse=["terms"]).close()
    return tmp_path / "c"


def run_and_kill(folder: Path, seed: int, after: float) -> list[str]:
    """What the writer had acknowledged when it was killed, `after` seconds past its first word."""
    process = subprocess.Popen(
        [sys.executable, Path(__file__).parent / "writer.py", folder, str(seed)], stdout=subprocess.PIPE, text=True
    )
    lines: list[str] = []
    listener = threading.Thread(target=lambda: lines.extend(process.stdout))
    listener.start()
    while not lines and process.poll() is None:
        time.sleep(0.005)
    time.sleep(after)
    process.kill()
    process.wait()
    listener.join()
    return [line.strip() for line in lines]


@pytest.mark.slow
def test_a_writer_killed_at_any_moment_loses_nothing_it_acknowledged(folder):
    """Everything acknowledged is there, no document is half there, the statistics are those of the documents."""
    with EmbeddedStore.open(folder) as store:
        TermIndex.build(store, fields=["text"], analyze=unstemmed_analyzer)
    rng, added, deleted = random.Random(0), set(), set()
    for round in range(8):
        lines = run_and_kill(folder, round, rng.uniform(0, 1.2))
        assert lines, "the writer never got going"
        added |= {int(line.split()[1]) for line in lines if line.startswith("added")}
        deleted |= {int(line.split()[1]) for line in lines if line.startswith("deleted")}
        with EmbeddedStore.open(folder) as store:
            index = TermIndex.open(store, analyze=unstemmed_analyzer)
            stored = {r.document.id: r for batch in store.scroll(vectors=True) for r in batch}
            for batch in added:
                expected_ids = {f"{batch}:{i}" for i in range(SIZE)}
                missing = expected_ids - stored.keys()
                assert missing <= {f"{batch}:{SIZE - 1}"}, f"lost from acknowledged batch {batch}: {sorted(missing)}"
            assert not {f"{batch}:{SIZE - 1}" for batch in deleted} & stored.keys()
            unacknowledged = {int(id.split(":")[0]) for id in stored} - added
            assert len(unacknowledged) <= 1  # the one that was being written
            added |= unacknowledged
            for record in stored.values():
                assert record.dense["m"].tolist() == [1.0] * 16
                assert record.sparse["terms"].values[0] == len(record.document.text.split())
            fresh = Statistics(Layout(["text"]))
            recount(store, fresh)
            assert index.statistics.to_bytes() == fresh.to_bytes()
            lexical = Lexical(store, index.statistics, analyze=unstemmed_analyzer)
            assert len(lexical.search([Query("q", "w1 w2", "en")], 5)[0]) == 5
    assert len(added) > 10


def test_acknowledged_writes_survive_a_power_cut(folder, tmp_path):
    """A power cut loses what was not synced. The log is: with the other files as they were before, nothing is lost."""
    with EmbeddedStore.open(folder) as store:
        shutil.copytree(folder, tmp_path / "after", ignore=shutil.ignore_patterns("lock"))
        store.add([make_record(f"d{i}") for i in range(50)])
        store.add([make_record("d0", 5.0)])
        store.delete(["d1"])
        shutil.rmtree(tmp_path / "after" / "shard" / "wal")
        shutil.copytree(folder / "shard" / "wal", tmp_path / "after" / "shard" / "wal")
    with EmbeddedStore.open(tmp_path / "after") as store:
        assert store.count() == 49
        assert find(store) == [Hit("d0", 80.0)]


def test_unfinished_statistics_are_recounted(folder):
    """What is counted while documents are added, replaced and deleted is what the stored documents say."""
    documents = [Document(f"d{i}", f"w{i} w{i % 3} w1", "en", meta={}) for i in range(30)]
    with EmbeddedStore.open(folder) as store:
        index = TermIndex.build(store, fields=["text"], analyze=unstemmed_analyzer)
        index.add(documents)
        index.add(documents[5:15])
        assert index.delete(["d7", "d29"]) == 2
        expected = index.statistics.to_bytes()
        # Closed without `commit`, as by a kill.
    with EmbeddedStore.open(folder) as store:
        assert not Statistics.from_bytes(store.read_blob("statistics"))[1]
        index = TermIndex.open(store, analyze=unstemmed_analyzer)
        assert index.statistics.to_bytes() == expected
        index.commit()
    with EmbeddedStore.open(folder) as store:
        statistics, is_complete = Statistics.from_bytes(store.read_blob("statistics"))
        assert is_complete
        assert statistics.to_bytes() == expected


def test_a_failed_write_leaves_true_statistics(folder, monkeypatch):
    with EmbeddedStore.open(folder) as store:
        index = TermIndex.build(store, fields=["text"], analyze=unstemmed_analyzer)
        index.add([Document("a", "one two", "en")])
        before = index.statistics.to_bytes()
        with pytest.raises(StoreError, match="surrogate"):
            index.add([Document("a", "three", "en"), Document("b", "\ud800", "en")])
        assert index.statistics.to_bytes() == before
        monkeypatch.setattr(store, "delete", lambda ids: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            index.delete(["a"])
        assert index.statistics.to_bytes() == before


def test_only_one_process_has_a_folder_open(folder):
    with EmbeddedStore.open(folder), pytest.raises(StoreError, match="in use by another process: close it there"):
        EmbeddedStore.open(folder)
    EmbeddedStore.open(folder).close()


def test_opening_anything_else_than_a_collection_is_an_error(tmp_path, folder):
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "nowhere", tmp_path, tmp_path / "file"):
        with pytest.raises(StoreError, match=r"is not a collection: it has no meta.json \(paragloss index makes one\)"):
            open_store(path)
    (folder / "meta.json").write_text("{}")
    with pytest.raises(StoreError, match="damaged"):
        open_store(folder)
    (folder / "meta.json").write_text('{"format": 99, "dense": {}, "sparse": []}')
    with pytest.raises(StoreError, match="has format 99, this version reads 2"):
        open_store(folder)


def test_a_damaged_engine_folder_is_an_error_and_releases_the_lock(folder):
    (folder / "seal.json").unlink()  # which would tell before the engine does
    shutil.rmtree(folder / "shard")
    with pytest.raises(StoreError, match="can't be opened"):
        open_store(folder)
    with pytest.raises(StoreError, match="can't be opened"):  # and the lock was given back
        open_store(folder)


def test_nothing_is_created_over_other_files(tmp_path):
    (tmp_path / "x").write_text("mine")
    with pytest.raises(StoreError, match="not an empty folder"):
        create_store(tmp_path, dense={}, sparse=["terms"])
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_using_a_closed_store_is_an_error(folder):
    store = EmbeddedStore.open(folder)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="has been closed: open it again"):
        store.count()


def test_a_model_can_be_added_later(folder):
    with EmbeddedStore.open(folder) as store:
        store.add([make_record("a"), make_record("b")])
        store.add_dense_vector("other", 2)
        store.update_dense("other", ["b"], np.array([[3, 4]], np.float32))
        with pytest.raises(StoreError, match="already keeps a vector 'other'"):
            store.add_dense_vector("other", 2)
    with EmbeddedStore.open(folder) as store:
        assert dict(store.dense) == {"m": 16, "other": 2}
        assert store.search_dense("other", np.array([[1, 0]], np.float32), 5) == [[Hit("b", 3.0)]]
        store.optimize()
        assert store.get(["a"], vectors=True)[0].dense["m"].tolist() == [1.0] * 16


def test_other_threads_run_while_a_graph_is_built(folder):
    """The engine holds the interpreter while it builds; we must not."""
    with EmbeddedStore.open(folder) as store:
        store.add([make_record(f"d{i}", i + 1.0) for i in range(100)])
        worker = threading.Thread(target=store.optimize)
        worker.start()
        ticks = 0
        while worker.is_alive():
            time.sleep(0.001)
            ticks += 1
        assert ticks > 20  # a new process alone takes longer than that
        assert find(store) == [Hit("d99", 1600.0)]
        store.add([make_record("later", 200.0)])
    with EmbeddedStore.open(folder) as store:
        assert store.count() == 101


@pytest.fixture
def during_building(monkeypatch):
    """Have a function called while graphs are built, after the engine's files have been copied."""

    def call(function):
        build = Shard._build_graphs
        monkeypatch.setattr(Shard, "_build_graphs", lambda *arguments: (build(*arguments), function()))

    return call


def test_writes_and_searches_work_while_a_graph_is_built(folder, during_building):
    def write():
        store.add([make_record("new", 500.0), make_record("d7", 300.0)])
        store.delete(["d9", "d8"])
        store.update_dense("m", ["d6"], np.full((1, 16), 400, np.float32))
        ids_meanwhile.extend(list_ids(find(store, 4)))

    ids_meanwhile: list[str] = []
    during_building(write)
    with EmbeddedStore.open(folder) as store:
        store.add([make_record(f"d{i}", i + 1.0) for i in range(10)])
        store.optimize()
        assert list_ids(find(store, 4)) == ids_meanwhile == ["new", "d6", "d7", "d5"]
        assert store.get(["d6"], vectors=True)[0].sparse["terms"].values.tolist() == [7.0]
        assert store.count() == 9
        assert store.count({"meta.year": [1999]}) == 0
    assert not list(folder.glob(".copy-*"))
    with EmbeddedStore.open(folder) as store:
        assert store.count() == 9


def test_two_threads_that_build_graphs_lose_nothing(folder, during_building):
    numbers = iter(range(9))
    during_building(lambda: store.add([make_record(f"new{next(numbers)}")]))
    with EmbeddedStore.open(folder) as store:
        store.add([make_record("a"), make_record("b")])
        threads = [threading.Thread(target=store.optimize) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store.count() == 4


def test_a_vector_added_while_a_graph_is_built_stays(folder, during_building):
    during_building(lambda: store.add_dense_vector("other", 2))
    with EmbeddedStore.open(folder) as store:
        store.add([make_record("a")])
        store.optimize()
        store.update_dense("other", ["a"], np.array([[3, 4]], np.float32))
        assert store.get(["a"], vectors=True)[0].dense["other"].tolist() == [3, 4]


def test_a_kill_while_engines_are_exchanged_is_repaired_at_opening(folder):
    with EmbeddedStore.open(folder) as store:
        store.add([make_record("a"), make_record("b")])
    (folder / "seal.json").unlink()  # who is killed leaves none
    (folder / ".copy-0123").mkdir()
    (folder / "shard").rename(folder / ".copy-0123" / "old")
    assert collection_exists(folder)
    with EmbeddedStore.open(folder) as store:
        assert store.count() == 2
    assert not list(folder.glob(".copy-*"))


def fail_to_build(folder, monkeypatch):
    folder.with_name("worker.py").write_text("raise SystemExit('no room')")
    monkeypatch.setattr(_engine_jobs, "_WORKER", folder.with_name("worker.py"))


def fail_to_exchange(folder, monkeypatch):
    """Fail between the two renames."""

    def exchange(collection, copy):
        (collection / "shard").rename(copy / "old")
        raise OSError("no room")

    monkeypatch.setattr(_shard, "exchange_engine_files", exchange)


@pytest.mark.parametrize(
    ("fail", "reason"),
    [(fail_to_build, r"\(no room\); its documents are unharmed"), (fail_to_exchange, r"\(no room\)")],
)
def test_failing_to_build_graphs_harms_no_document(folder, monkeypatch, fail, reason):
    with EmbeddedStore.open(folder) as store:
        store.add([make_record("a")])
        fail(folder, monkeypatch)
        with pytest.raises(StoreError, match=f"could not be optimized {reason}"):
            store.optimize()
        assert not list(folder.glob(".copy-*"))
        store.add([make_record("b")])
        assert store.count() == 2


def test_searches_during_a_write_see_whole_batches(folder):
    """Readers in other threads see whole documents, before or after a batch."""
    with EmbeddedStore.open(folder) as store:
        store.add([make_record("first")])
        wrong: list[object] = []
        is_finished = threading.Event()

        def read():
            while not is_finished.is_set():
                hits = find(store, 1000)
                if hits[-1] != Hit("first", 16.0) or any(hit.score != 32.0 for hit in hits[:-1]):
                    wrong.append(hits)

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        for batch in range(10):
            store.add([make_record(f"{batch}:{i}", 2.0) for i in range(30)])
        is_finished.set()
        for reader in readers:
            reader.join()
        assert not wrong
        assert store.count() == 301


TERM = SparseVector(np.array([7], np.uint32), np.ones(1, np.float32))


def test_preloaded_vectors_are_those_of_the_documents_until_they_change(folder):
    with EmbeddedStore.open(folder) as store:
        store.add([make_record(f"d{i}", float(i + 1)) for i in range(120)])
        assert list(store.preload_sparse("terms")) == [50, 100, 120]
        assert list_ids(store.search_sparse("terms", [TERM], 3)[0]) == ["d119", "d118", "d117"]
        assert store.read_sparse("terms", ["d5", "d119"])[1].values.tolist() == [6.0, 120.0]
        store.add([make_record("d5", 500.0)])
        assert list_ids(store.search_sparse("terms", [TERM], 1)[0]) == ["d5"]
        assert store.read_sparse("terms", ["d5"])[1].values.tolist() == [500.0]


def test_candidates_have_ids_and_languages_without_reading_documents(folder, monkeypatch):
    """The engine would read whole documents. A folder of before has no index of ids, and reads."""
    with EmbeddedStore.open(folder) as store:
        for i, lang in enumerate(["de", "en", "ja", "ja"]):
            store.add([make_record(f"d{i}", i + 1.0)._replace(document=Document(f"d{i}", "text", lang))])
        monkeypatch.setattr(store._shard, "read_payload_key", lambda points, key: [] if not points else 1 / 0)
        candidates = store.search_and_read("terms", [TERM], 3)
        assert (candidates.ids, candidates.langs) == (["d3", "d2", "d1"], ["ja", "ja", "en"])
        monkeypatch.undo()
        store._shard.update(edge.UpdateOperation.delete_field_index("id"))
    with EmbeddedStore.open(folder) as store:
        assert store.search_and_read("terms", [TERM], 3).ids == ["d3", "d2", "d1"]
