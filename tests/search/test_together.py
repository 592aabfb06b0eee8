"""Several processes write one collection: what each counts is in the statistics once, whoever folds them together."""

import pytest
from fakes import Process
from reference import Words

from paragloss.errors import StoreError
from paragloss.search import ledger
from paragloss.search.ledger import Ledger
from paragloss.search.terms import STATISTICS, TermIndex, recount
from paragloss.search.together import ManyWriters, index_of
from paragloss.statistics import Statistics
from paragloss.stores.embedded import EmbeddedStore
from paragloss.types import Document

SNOW = [Document("a", "old snow", "en"), Document("b", "old snow falls and falls", "en")]


@pytest.fixture
def processes(tmp_path):
    """Three processes of one collection, whose terms are indexed already."""
    with EmbeddedStore.create(tmp_path / "c", dense={}, sparse=["terms"]) as store:
        lease = {}
        TermIndex.build(store, fields=("text",), analyze=Words)
        yield [Process(store, lease) for _ in range(3)]


@pytest.fixture
def indexes(processes):
    return [ManyWriters.open(process, analyze=Words) for process in processes]


def df(index, *words):
    return index.statistics.df("text", "en", words).tolist()


def batches(process):
    return [name for name in process.blobs() if name.startswith("batch-")]


def exact(process):
    """What there is to count."""
    counted = Statistics(Statistics.from_bytes(process.read_blob(STATISTICS))[0].layout)
    recount(process, counted)
    return counted


def test_a_store_says_whether_many_write_it(processes):
    assert index_of(processes[0]) is ManyWriters
    assert index_of(object()) is TermIndex


def test_one_writes_and_another_catches_up(processes, indexes):
    one, other, _ = indexes
    one.add(SNOW)
    assert (df(one, "snow", "falls"), df(other, "snow", "falls")) == ([2, 1], [0, 0])
    other.catch_up(every=3600)  # it has looked less than an hour ago
    assert df(other, "snow") == [0]
    other.catch_up(every=0)
    assert df(other, "snow", "falls") == [2, 1]
    one.add([Document("a", "rain", "en")])
    assert other.delete(["b", "b", "unknown"]) == 1
    one.catch_up(every=0)
    assert df(one, "snow", "rain") == [0, 1]
    assert ManyWriters.open(processes[2], analyze=Words).statistics.to_bytes() == one.statistics.to_bytes()


def test_what_all_wrote_is_folded_by_the_one_who_commits(processes, indexes):
    one, other, reader = indexes
    one.add(SNOW)
    other.add([Document("c", "snow", "en")])
    assert len(batches(processes[0])) == 2
    reader.commit()  # has written nothing, and was not asked to put weights right
    assert len(batches(processes[0])) == 2
    one.commit()
    assert batches(processes[0]) == []
    assert not processes[1].claimed()
    statistics, loose, whole = Ledger(processes[0], STATISTICS).total()
    assert (statistics.df("text", "en", ["snow"]).tolist(), loose, whole) == ([3], {}, True)
    assert (statistics.records, len(statistics.absorbed)) == (3, 2)
    before = processes[0].blobs()
    one.commit()  # nothing new
    assert processes[0].blobs() == before


def test_weights_are_put_right_at_the_commit_that_follows_a_refresh(processes, indexes, tmp_path):
    one, _, reader = indexes
    one.add(SNOW[:1])
    one.add(SNOW[1:])  # the average length was 2, now it is 3.5
    assert one.statistics.stale(0.0) == {"en"}
    one.commit()
    assert one.statistics.stale(0.0) == {"en"}
    reader.catch_up(every=0)
    reader.refresh()
    reader.commit()
    assert reader.statistics.stale(0.0) == set()
    assert reader.statistics.to_bytes() == exact(processes[0]).to_bytes()
    with EmbeddedStore.create(tmp_path / "fresh", dense={}, sparse=["terms"]) as store:
        TermIndex.build(store, fields=("text",), analyze=Words).add(SNOW)
        for name in ("a", "b"):
            kept, expected = (some.get([name], vectors=["terms"])[0].sparse["terms"] for some in (processes[0], store))
            assert kept.values.tolist() == expected.values.tolist()


def test_what_is_loose_is_folded_by_one_who_was_asked_though_all_weights_are_right(processes, indexes):
    one, _, reader = indexes
    one.add(SNOW)
    reader.refresh(tolerance=1.0)
    reader.commit()
    assert batches(processes[0]) == []


def test_nobody_folds_while_another_has_the_lease(processes, indexes):
    one = indexes[0]
    one.add(SNOW)
    processes[1].claim()
    one.commit()
    assert len(batches(processes[0])) == 1
    assert processes[0].claimed()
    processes[1].release()
    one.commit()
    assert batches(processes[0]) == []


def test_nobody_folds_while_a_batch_is_under_way(processes, indexes):
    one, other, _ = indexes
    one.add(SNOW)
    other._ledger.begin(["c"], [], Statistics(other.statistics.layout))
    assert not one._ledger.alone(patience=-1)
    assert not processes[1].claimed()
    assert len(batches(processes[0])) == 2


def test_a_batch_is_noted_before_it_is_written_and_again_after(processes, indexes):
    one = indexes[0]
    noted = Ledger(processes[1], STATISTICS)
    one.add(SNOW[:1])
    [first] = noted.batches()
    assert noted.loose()
    with one._batch(["a", "c"]):
        [name] = set(noted.batches()) - {first}
        begun = noted.batches()[name]
        assert (begun.ids, begun.added) == (["a", "c"], None)
        assert begun.taken.df("text", "en", ["snow"]).tolist() == [1]  # of a, which is about to be replaced
        statistics, loose, _ = noted.total()
        assert statistics.df("text", "en", ["snow"]).tolist() == [1]  # what is under way is not counted yet
        assert set(loose) == {first, name}
    finished = noted.batches()[name]
    assert finished.added.langs == ()
    noted.withdraw(name)
    assert set(noted.batches()) == {first}


def test_a_batch_that_is_folded_while_one_looks_is_passed_over(processes, indexes, monkeypatch):
    indexes[0].add(SNOW)
    there = processes[1].blobs()
    monkeypatch.setattr(processes[1]._store, "blobs", lambda: {**there, "batch-gone": "1"})
    assert len(Ledger(processes[1], STATISTICS).batches()) == 1


def test_a_batch_that_failed_counts_what_was_written(processes, indexes, monkeypatch):
    one, other, _ = indexes
    one.add(SNOW)

    def half(records):
        processes[0]._store.add(records[:1])
        raise StoreError("no room")

    monkeypatch.setattr(processes[0], "add", half, raising=False)
    with pytest.raises(StoreError, match="no room"):
        one.add([Document("a", "rain", "en"), Document("b", "rain", "en")])
    other.catch_up(every=0)
    assert df(other, "snow", "rain") == [1, 1]


def test_a_batch_whose_writer_died_is_counted_from_the_documents(processes, indexes, monkeypatch):
    one, other, _ = indexes
    one.add(SNOW)
    other._ledger.begin(["a", "b"], [], other._counts(["a", "b"]))
    processes[1]._store.delete(["a"])  # and is gone
    monkeypatch.setattr(ledger, "DEAD", 0.0)
    one.commit()
    assert df(one, "snow", "falls") == [1, 1]
    assert batches(processes[0]) == []
    assert one.statistics.to_bytes() == exact(processes[0]).to_bytes()


def test_two_who_wrote_one_document_at_one_moment_are_counted_from_the_documents(processes, indexes, monkeypatch):
    one, other, _ = indexes
    one.add(SNOW)
    counts = one._counts

    def meanwhile(ids):  # the other writes the same document after one has read what stands there
        monkeypatch.setattr(one, "_counts", counts)
        taken = counts(ids)
        other.add([Document("a", "rain", "en")])
        return taken

    monkeypatch.setattr(one, "_counts", meanwhile)
    one.add([Document("a", "hail", "en")])
    assert exact(processes[0]).df("text", "en", ["snow", "rain", "hail"]).tolist() == [1, 0, 1]
    one.catch_up(every=0)
    assert df(one, "snow", "rain", "hail") == [0, 1, 1]  # both took the old document away, both added theirs
    one.commit()
    assert one.statistics.to_bytes() == exact(processes[0]).to_bytes()
    assert ManyWriters.open(processes[2], analyze=Words).statistics.to_bytes() == exact(processes[0]).to_bytes()


def test_who_writes_after_another_needs_no_recount(processes, indexes, monkeypatch):
    one, other, _ = indexes
    one.add(SNOW)
    other.add([Document("a", "rain", "en")])
    one.add([Document("a", "hail", "en")])
    monkeypatch.setattr("paragloss.search.together.recount", lambda *_: pytest.fail("all is known"))
    one.commit()
    assert one.statistics.to_bytes() == exact(processes[0]).to_bytes()
    assert not ledger.crossed({})


def test_a_writer_waits_for_the_one_who_folds_but_not_for_ever(processes, indexes, monkeypatch):
    monkeypatch.setattr(ledger, "PATIENCE", -1.0)
    processes[1].claim()
    with pytest.raises(StoreError, match="kept this collection to itself for long"):
        indexes[0].add(SNOW)
    assert batches(processes[0]) == []
    monkeypatch.setattr(ledger, "PATIENCE", 10.0)
    monkeypatch.setattr(ledger.time, "sleep", lambda seconds: processes[1].release())
    indexes[0].add(SNOW)
    assert df(indexes[0], "snow") == [2]


def test_documents_that_are_missing_are_said(processes, indexes):
    one = indexes[0]
    one.add(SNOW)
    one.commit()
    assert df(ManyWriters.open(processes[1]), "snow") == [2]
    processes[0]._store.delete(["a"])
    with pytest.raises(StoreError, match="damaged: 1 of its 2 documents can be found"):
        ManyWriters.open(processes[1])
    processes[0].write_blob(STATISTICS, one.statistics.unfinished())  # who folds was killed
    assert df(ManyWriters.open(processes[1]), "snow") == [1]


def test_a_collection_without_an_index_of_terms(tmp_path):
    with (
        EmbeddedStore.create(tmp_path / "c", dense={}, sparse=["terms"]) as store,
        pytest.raises(StoreError, match="no index of terms"),
    ):
        ManyWriters.open(Process(store, {}))


def test_the_one_writer_of_a_folder_lets_others_write_once_it_has_committed(processes):
    one, other = (TermIndex.open(process, analyze=Words) for process in processes[:2])
    one.add(SNOW)
    assert processes[1].claimed()
    other.catch_up(every=0)
    assert df(other, "snow") == [0]  # the statistics in the store are unfinished
    one.commit()
    assert not processes[1].claimed()
    other.catch_up(every=3600)
    assert df(other, "snow") == [0]
    other.catch_up(every=0)
    assert df(other, "snow") == [2]
    one.add([Document("c", "rain", "en")])
    one.commit()
    other.add([Document("d", "snow", "en")])  # knows all that was written before
    assert df(other, "snow", "rain") == [3, 1]
