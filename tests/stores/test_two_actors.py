"""Two who act at once, by every schedule of short histories and by many of long ones: the code is the real one down to
the calls of the server's client, which its in-memory edition answers.

Whatever the schedule: every acknowledged document is found, every count is that of a recount, and nobody sees anything
but our own errors."""

from __future__ import annotations

import copy
import fcntl
import shutil
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from baton import Asking, Turns, at_random, every

from paragloss import artefacts
from paragloss.analysis import analyzer
from paragloss.collection import Collection
from paragloss.errors import InUseError, ParaglossError, StoreError
from paragloss.index import journal
from paragloss.index.journal import JournaledIndex
from paragloss.index.terms import recount
from paragloss.statistics import Statistics
from paragloss.stores import _server_blobs, _writer_fence, cluster, open_store
from paragloss.stores._schema import VectorSchema
from paragloss.types import Document, Query

qdrant_client = pytest.importorskip("qdrant_client")
PointStruct = qdrant_client.models.PointStruct

PLACE = "http://memory/c"
SNOW = [Document("a", "old snow", "en"), Document("b", "old snow lies", "en")]


def words(lang):
    return analyzer(lang, stem=False, stop=False)


class World:
    """A server with one collection, as it is before anybody acts."""

    def __init__(self, monkeypatch):
        self._patch = monkeypatch
        self.client = qdrant_client.QdrantClient(":memory:")
        monkeypatch.setattr(_writer_fence, "WAIT_SECONDS", -1.0)
        monkeypatch.setattr(_server_blobs, "_PART_SIZE", 200)  # most blobs have parts
        self.connect(Turns([]))
        with Collection.create(PLACE, default=False) as engine:
            engine.index(SNOW)
        self._before = copy.deepcopy(self.client)

    def connect(self, turns):
        self._patch.setattr(cluster, "connect", lambda url, timeout: Asking(self.client, turns))
        self._patch.setattr(_writer_fence.time, "sleep", lambda seconds: turns.pause(waits=True))

    def anew(self, turns):
        self.client = copy.deepcopy(self._before)
        self.connect(turns)

    def run(self, actors, schedule):
        """Everybody acts; then what must be true is."""
        turns = Turns(schedule)
        self.anew(turns)
        told = []
        engines = [Collection.open(PLACE, default=False) for _ in actors]  # nobody has to wait for that
        turns.run(*(partial(actor, engine, told) for actor, engine in zip(actors, engines, strict=True)))
        for error in turns.errors:
            assert isinstance(error, ParaglossError), repr(error)
        self._right(told)
        return turns

    def counted(self):
        """Whoever reads now knows what there is."""
        with open_store(PLACE) as store:
            read, whole, _, _ = journal.read_statistics(store)
            counted = Statistics(read.layout)
            recount(store, counted)
            assert whole
            assert read.to_bytes() == counted.to_bytes()

    def _right(self, told):
        self.connect(Turns([]))
        with open_store(PLACE) as store:
            if not store.has_no_unfinished_writes():  # somebody was refused and left: the next who writes counts
                JournaledIndex.open(store).add([Document("next", "hail", "en")])
            self.counted()
            for document in told:  # what stands there is that, or what somebody wrote who got no answer
                tried = {other.text for other in [document, *told, *FIRST, *SECOND] if other.id == document.id}
                assert store.get([document.id])[0].document.text in tried


@pytest.fixture
def world(monkeypatch):
    return World(monkeypatch)


def writer(documents, engine, told, *, steal=False):
    """Adds documents one after another, each acknowledged by itself."""
    with engine:
        if steal:
            engine.state.store.take_over_writing()
        for document in documents:
            engine.add([document])
            told.append(document)


def indexer(documents, engine, told, *, steal=False):
    with engine:
        if steal:
            engine.state.store.take_over_writing()
        engine.index(documents)
        told.extend(documents)


FIRST = [Document("a", "rain falls", "en"), Document("c", "rain", "en")]
SECOND = [Document("a", "hail", "de"), Document("d", "hail falls", "en")]


def ran(turns):
    return sum(1 for _ in turns)


def test_two_indexers(world):
    run = partial(world.run, [partial(indexer, FIRST), partial(indexer, SECOND)])
    assert ran(every(run, interruptions=1)) > 50
    assert ran(at_random(run, 20)) == 20


def test_an_indexer_and_one_who_takes_over(world):
    run = partial(world.run, [partial(indexer, FIRST), partial(indexer, SECOND, steal=True)])
    assert ran(every(run, interruptions=1)) > 50
    assert ran(at_random(run, 20)) == 20


def test_three_who_add_and_take_over_from_each_other(world):
    run = partial(
        world.run,
        [partial(writer, FIRST * 2), partial(writer, SECOND * 2, steal=True), partial(writer, FIRST[::-1], steal=True)],
    )
    assert ran(at_random(run, 30)) == 30


def test_who_stalls_is_refused_and_who_took_over_goes_on(world):
    """The owner stops before each of his calls in turn, the thief does all his work, the owner goes on."""
    refused = 0
    for turns in every(
        partial(world.run, [partial(indexer, FIRST), partial(indexer, SECOND, steal=True)]), interruptions=1
    ):
        refused += any(isinstance(error, InUseError) and "taken over" in str(error) for error in turns.errors)
    assert refused > 5


def test_an_indexer_and_a_reader(world):
    """A reader knows the statistics of some moment, and finds what had been acknowledged when he asked."""

    def reader(engine, told, *, anew=False):
        with Collection.open(PLACE, default=False) if anew else engine as engine:
            for _ in range(2):
                known = list(told)
                engine.catch_up()
                for document in known:
                    word = document.text.split()[0]
                    found = engine.rank([Query("", word, document.lang)], k=9, pipeline="bm25", to=[document.lang])
                    assert document.id in {hit.id for hit in found[0]}

    documents = [Document("c", "rain", "en"), Document("d", "hail falls", "de"), Document("a", "sun", "en")]
    run = partial(world.run, [partial(writer, documents), reader])
    anew = partial(world.run, [partial(writer, documents), partial(reader, anew=True)])
    for turns in [*every(run, interruptions=1), *at_random(anew, 20)]:
        assert not turns.errors


def test_an_owner_and_a_thief_of_the_right(world):
    """Every schedule there is: what stands there at the end was written by the last number that was acknowledged."""

    def run(schedule):
        client, turns, acknowledged = qdrant_client.QdrantClient(":memory:"), Turns(schedule), {}
        for name in ("c", "c--blobs"):
            client.create_collection(name, vectors_config={})

        def opened():
            store = cluster.ClusterStore(Asking(client, turns), "c", VectorSchema({}, ()), PLACE)
            return store, store._fence

        def write(store, value):
            with store.write_session():
                number, _ = store.claim_writing()
                store._write(client.upsert, "c--blobs", [PointStruct(id=1, vector={}, payload={"value": value})])
                acknowledged[number] = value

        (owner, fence), (thief, other) = opened(), opened()
        fence.create()
        other.take_over = True
        turns.run(partial(write, owner, 1), partial(write, thief, 2))
        for error in turns.errors:
            assert isinstance(error, InUseError), repr(error)
        assert client.retrieve("c--blobs", [1])[0].payload["value"] == acknowledged[max(acknowledged)]
        assert len(client.get_aliases().aliases) == 2
        return turns

    assert ran(every(run, interruptions=99)) > 100


def test_a_blob_is_read_whole_while_it_is_rewritten(world):
    versions = [bytes([65 + i]) * 500 for i in range(3)]
    with open_store(PLACE) as store:
        store.write_blob("large", versions[0])
    world._before = copy.deepcopy(world.client)

    def save(engine, told):
        with engine.state.store.write_session():
            for version in versions[1:]:
                engine.state.store.write_blob("large", version)

    def load(engine, told):
        assert engine.state.store.read_blob("large") in versions

    for turns in every(partial(world.run, [save, load]), interruptions=1):
        assert not turns.errors


def test_parts_that_are_gone_are_said(world):
    with open_store(PLACE) as store:
        store.write_blob("large", b"x" * 500)
        head = store._blobs.read_head("large")
        store._blobs.remove_points([_server_blobs.list_part_keys("large", head)[1]])
        with pytest.raises(StoreError, match="lost some of its parts"):
            store.read_blob("large")


def test_a_write_that_fails_is_counted_by_what_is_there(world, monkeypatch):
    """The server says no, and does it all the same."""
    with Collection.open(PLACE, default=False) as engine:
        client = engine.state.store._client._client
        real = client.upsert

        def half(name, points, **options):
            real(name, points, **options)
            if name.startswith("c--writer"):
                raise TimeoutError("no answer")

        monkeypatch.setattr(client, "upsert", half)
        with pytest.raises(StoreError, match="no answer"):
            engine.add([Document("c", "rain", "en")])
        monkeypatch.setattr(client, "upsert", real)
        assert not engine.state.store.has_no_unfinished_writes()
        engine.add([Document("d", "rain", "en")])
        assert engine.state.index.statistics.df("text", "en", ["rain", "snow"]).tolist() == [2, 2]
    world._right([Document("d", "rain", "en")])


def test_a_document_that_nobody_counted_is_counted(world):
    with Collection.open(PLACE, default=False) as engine:
        engine.add([Document("c", "rain", "en")])
        store = engine.state.store
        [record] = store.get(["c"], vectors=True)
        store.add([record._replace(document=record.document._replace(id="stray"))])
        engine.index([Document("d", "hail", "en")])
        assert engine.state.index.statistics.df("text", "en", ["rain"]).tolist() == [2]


@pytest.mark.parametrize("savers", [1, 2])
def test_savers_and_a_loader_of_a_model(tmp_path, monkeypatch, savers):
    """Whoever loads gets the old one or the new one, whole; what was saved stays."""
    now = [Turns([])]

    def paused(call):
        def step(*args, **options):
            now[0].pause()
            return call(*args, **options)

        return step

    def lock(place, how):
        while True:
            try:
                return flock(place, how | fcntl.LOCK_NB)
            except BlockingIOError:
                now[0].pause(waits=True)

    flock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", lock)
    monkeypatch.setattr(Path, "rename", paused(Path.rename))
    monkeypatch.setattr(shutil, "rmtree", paused(shutil.rmtree))
    monkeypatch.setattr(np, "load", paused(np.load))
    numbers = count()

    def save(path, version):
        arrays = {name: np.full(2, version) for name in "xy"}
        artefacts.save(path, "bag", meta={"version": version}, arrays=arrays)

    def run(schedule):
        path = tmp_path / str(next(numbers)) / "model"
        save(path, 0)
        now[0] = turns = Turns(schedule)

        def load():
            _, meta, arrays, _ = artefacts.load(path)
            assert {int(value) for name in "xy" for value in arrays[name]} == {meta["version"]}

        turns.run(*(partial(save, path, version) for version in range(1, savers + 1)), load)
        assert not turns.errors, repr(turns.errors)
        assert artefacts.load(path).meta["version"] > 0
        assert [each.name for each in path.parent.iterdir()] == ["model"]
        return turns

    assert ran(every(run, interruptions=3 - savers)) > 10
