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
from turn_taking import SteppedClient, Turns, try_every_schedule, try_random_schedules

from paragloss import artefacts
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

LOCATION = "http://memory/c"
SNOW = [Document("a", "old snow", "en"), Document("b", "old snow lies", "en")]


class World:
    """A server with one collection, as it is before anybody acts."""

    def __init__(self, monkeypatch):
        self._patch = monkeypatch
        self.client = qdrant_client.QdrantClient(":memory:")
        monkeypatch.setattr(_writer_fence, "WAIT_SECONDS", -1.0)
        monkeypatch.setattr(_server_blobs, "_PART_SIZE", 200)  # most blobs have parts
        self.connect(Turns([]))
        with Collection.create(LOCATION, default=False) as collection:
            collection.index(SNOW)
        self._before = copy.deepcopy(self.client)

    def connect(self, turns):
        self._patch.setattr(cluster, "connect", lambda url, timeout: SteppedClient(self.client, turns))
        self._patch.setattr(_writer_fence.time, "sleep", lambda seconds: turns.pause(is_waiting=True))

    def reset(self, turns):
        self.client = copy.deepcopy(self._before)
        self.connect(turns)

    def run_actors(self, actors, schedule):
        """Everybody acts; then what must be true is."""
        turns = Turns(schedule)
        self.reset(turns)
        acknowledged = []
        collections = [Collection.open(LOCATION, default=False) for _ in actors]  # nobody has to wait for that
        turns.run_actors(
            *(partial(actor, collection, acknowledged) for actor, collection in zip(actors, collections, strict=True))
        )
        for error in turns.errors:
            assert isinstance(error, ParaglossError), repr(error)
        self.check_documents(acknowledged)
        return turns

    def check_statistics(self):
        """Whoever reads now knows what there is."""
        with open_store(LOCATION) as store:
            statistics, is_complete, _, _ = journal.read_statistics(store)
            recounted = Statistics(statistics.layout)
            recount(store, recounted)
            assert is_complete
            assert statistics.to_bytes() == recounted.to_bytes()

    def check_documents(self, acknowledged):
        self.connect(Turns([]))
        with open_store(LOCATION) as store:
            if store.has_unfinished_writes():  # somebody was refused and left: the next who writes counts
                JournaledIndex.open(store).add([Document("next", "hail", "en")])
            self.check_statistics()
            for document in acknowledged:  # what stands there is that, or what somebody wrote who got no answer
                possible_texts = {
                    candidate.text
                    for candidate in [document, *acknowledged, *FIRST, *SECOND]
                    if candidate.id == document.id
                }
                assert store.get([document.id])[0].document.text in possible_texts


@pytest.fixture
def world(monkeypatch):
    return World(monkeypatch)


def add_one_by_one(documents, collection, acknowledged, *, steal=False):
    """Adds documents one after another, each acknowledged by itself."""
    with collection:
        if steal:
            collection.state.store.take_over_writing()
        for document in documents:
            collection.add([document])
            acknowledged.append(document)


def index_at_once(documents, collection, acknowledged, *, steal=False):
    with collection:
        if steal:
            collection.state.store.take_over_writing()
        collection.index(documents)
        acknowledged.extend(documents)


FIRST = [Document("a", "rain falls", "en"), Document("c", "rain", "en")]
SECOND = [Document("a", "hail", "de"), Document("d", "hail falls", "en")]


def count_runs(turns):
    return sum(1 for _ in turns)


@pytest.mark.parametrize("takes_over", [False, True])
def test_two_indexers_lose_nothing_under_any_schedule(world, takes_over):
    """Whoever had the right to write and lost it on the way is refused."""
    run = partial(world.run_actors, [partial(index_at_once, FIRST), partial(index_at_once, SECOND, steal=takes_over)])
    histories = list(try_every_schedule(run, interruptions=1))
    refusals = [error for turns in histories for error in turns.errors if isinstance(error, InUseError)]
    assert len(histories) > 50
    n_taken_over = sum("taken over" in str(error) for error in refusals)
    assert n_taken_over > 5 if takes_over else n_taken_over == 0
    assert count_runs(try_random_schedules(run, 20)) == 20


def test_three_writers_that_take_over_from_each_other_lose_nothing(world):
    run = partial(
        world.run_actors,
        [
            partial(add_one_by_one, FIRST * 2),
            partial(add_one_by_one, SECOND * 2, steal=True),
            partial(add_one_by_one, FIRST[::-1], steal=True),
        ],
    )
    assert count_runs(try_random_schedules(run, 30)) == 30


def test_a_reader_finds_what_was_acknowledged_when_it_asked(world):
    """A reader knows the statistics of some moment, and finds what had been acknowledged when he asked."""

    def reader(collection, acknowledged, *, reopens=False):
        with Collection.open(LOCATION, default=False) if reopens else collection as collection:
            for _ in range(2):
                acknowledged_before = list(acknowledged)
                collection.maintenance.catch_up()
                for document in acknowledged_before:
                    word = document.text.split()[0]
                    rankings = collection.rank(
                        [Query("", word, document.lang)], k=9, pipeline="bm25", to=[document.lang]
                    )
                    assert document.id in {hit.id for hit in rankings[0]}

    documents = [Document("c", "rain", "en"), Document("d", "hail falls", "de"), Document("a", "sun", "en")]
    run = partial(world.run_actors, [partial(add_one_by_one, documents), reader])
    reopens = partial(world.run_actors, [partial(add_one_by_one, documents), partial(reader, reopens=True)])
    for turns in [*try_every_schedule(run, interruptions=1), *try_random_schedules(reopens, 20)]:
        assert not turns.errors


def test_the_last_acknowledged_writer_number_wins_under_every_schedule(world):
    """Every schedule there is: what stands there at the end was written by the last number that was acknowledged."""

    def run(schedule):
        client, turns, values_by_number = qdrant_client.QdrantClient(":memory:"), Turns(schedule), {}
        for name in ("c", "c--blobs"):
            client.create_collection(name, vectors_config={})

        def open_as_writer():
            store = cluster.ClusterStore(SteppedClient(client, turns), "c", VectorSchema({}, ()), LOCATION)
            return store, store._fence

        def write(store, value):
            with store.write_session():
                number, _ = store.claim_writing()
                store._write(client.upsert, "c--blobs", [PointStruct(id=1, vector={}, payload={"value": value})])
                values_by_number[number] = value

        (owner, fence), (thief, thief_fence) = open_as_writer(), open_as_writer()
        fence.create()
        thief_fence.take_over = True
        turns.run_actors(partial(write, owner, 1), partial(write, thief, 2))
        for error in turns.errors:
            assert isinstance(error, InUseError), repr(error)
        assert client.retrieve("c--blobs", [1])[0].payload["value"] == values_by_number[max(values_by_number)]
        assert len(client.get_aliases().aliases) == 2
        return turns

    assert count_runs(try_every_schedule(run, interruptions=99)) > 100


def test_a_blob_is_read_complete_while_it_is_rewritten(world):
    versions = [bytes([65 + i]) * 500 for i in range(3)]
    with open_store(LOCATION) as store:
        store.write_blob("large", versions[0])
    world._before = copy.deepcopy(world.client)

    def save(collection, acknowledged):
        with collection.state.store.write_session():
            for version in versions[1:]:
                collection.state.store.write_blob("large", version)

    def load(collection, acknowledged):
        assert collection.state.store.read_blob("large") in versions

    for turns in try_every_schedule(partial(world.run_actors, [save, load]), interruptions=1):
        assert not turns.errors


def test_a_blob_with_missing_parts_is_an_error(world):
    with open_store(LOCATION) as store:
        store.write_blob("large", b"x" * 500)
        head = store._blobs._read_point("large")
        store._blobs.remove_points([_server_blobs.list_part_keys("large", head)[1]])
        with pytest.raises(StoreError, match="lost some of its parts"):
            store.read_blob("large")


def test_a_write_that_failed_is_recounted_from_the_documents(world, monkeypatch):
    """The server says no, and does it all the same."""
    with Collection.open(LOCATION, default=False) as collection:
        client = collection.state.store._client._client
        upsert = client.upsert

        def write_and_fail(name, points, **options):
            upsert(name, points, **options)
            if name.startswith("c--writer"):
                raise TimeoutError("no answer")

        monkeypatch.setattr(client, "upsert", write_and_fail)
        with pytest.raises(StoreError, match="no answer"):
            collection.add([Document("c", "rain", "en")])
        monkeypatch.setattr(client, "upsert", upsert)
        assert collection.state.store.has_unfinished_writes()
        collection.add([Document("d", "rain", "en")])
        assert collection.state.index.statistics.df("text", "en", ["rain", "snow"]).tolist() == [2, 2]
    world.check_documents([Document("d", "rain", "en")])


def test_an_uncounted_document_is_counted_at_the_next_write(world):
    with Collection.open(LOCATION, default=False) as collection:
        collection.add([Document("c", "rain", "en")])
        store = collection.state.store
        [record] = store.get(["c"], vectors=True)
        store.add([record._replace(document=record.document._replace(id="stray"))])
        collection.index([Document("d", "hail", "en")])
        assert collection.state.index.statistics.df("text", "en", ["rain"]).tolist() == [2]


def pause_before_file_operations(monkeypatch, current_turns):
    """Make renames, removals and loads of files steps of the schedule, and let locks wait for the other actors."""

    def add_pause(call):
        def step(*args, **options):
            current_turns[0].pause()
            return call(*args, **options)

        return step

    def lock(descriptor, operation):
        while True:
            try:
                return flock(descriptor, operation | fcntl.LOCK_NB)
            except BlockingIOError:
                current_turns[0].pause(is_waiting=True)

    flock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", lock)
    monkeypatch.setattr(Path, "rename", add_pause(Path.rename))
    monkeypatch.setattr(shutil, "rmtree", add_pause(shutil.rmtree))
    monkeypatch.setattr(np, "load", add_pause(np.load))


@pytest.mark.parametrize("savers", [1, 2])
def test_a_model_is_loaded_whole_while_others_save_it(tmp_path, monkeypatch, savers):
    """Whoever loads gets the old one or the new one, whole; what was saved stays."""
    current_turns = [Turns([])]
    pause_before_file_operations(monkeypatch, current_turns)
    numbers = count()

    def save(path, version):
        arrays = {name: np.full(2, version) for name in "xy"}
        artefacts.save(path, "bag", meta={"version": version}, arrays=arrays)

    def run(schedule):
        path = tmp_path / str(next(numbers)) / "model"
        save(path, 0)
        current_turns[0] = turns = Turns(schedule)

        def load():
            _, meta, arrays, _ = artefacts.load(path)
            assert {int(value) for name in "xy" for value in arrays[name]} == {meta["version"]}

        turns.run_actors(*(partial(save, path, version) for version in range(1, savers + 1)), load)
        assert not turns.errors, repr(turns.errors)
        assert artefacts.load(path).meta["version"] > 0
        assert [entry.name for entry in path.parent.iterdir()] == ["model"]
        return turns

    assert count_runs(try_every_schedule(run, interruptions=3 - savers)) > 10
