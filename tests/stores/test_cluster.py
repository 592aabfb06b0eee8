"""What only a server can do wrong, and a collection spread over two of them."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest
from qdrant_client import models
from writer import unstemmed_analyzer

from paragloss.collection import Collection
from paragloss.collection.integrity import check_collection
from paragloss.errors import InUseError, StoreError
from paragloss.index import journal
from paragloss.index.journal import JournaledIndex
from paragloss.index.terms import TermIndex, recount
from paragloss.search.lexical import Lexical
from paragloss.statistics import Statistics
from paragloss.stores import Placement, _writer_fence, create_store, open_store
from paragloss.stores._schema import VectorSchema
from paragloss.stores.cluster import ClusterStore
from paragloss.types import Document, Query


@pytest.mark.parametrize("location", ["http://127.0.0.1:1", "http://", "https://host/"])
def test_an_address_without_a_collection_name_is_an_error(location):
    with pytest.raises(StoreError, match=r"names no collection: expected qdrant\+http\(s\)://host:port/collection"):
        open_store(location)


def test_an_unreachable_server_is_an_error():
    with pytest.raises(StoreError, match="is the server running"):
        open_store("http://127.0.0.1:1/collection")


def test_a_missing_collection_is_an_error(server):
    with pytest.raises(StoreError, match="is not a collection of ours"):
        open_store(f"{server}/nothing")


def test_a_server_that_cannot_add_a_vector_says_what_to_do(remote):
    with create_store(remote, dense={"m": 2}, sparse=["terms"]) as store:
        with pytest.raises(StoreError, match="index into a new one that keeps both models"):
            store.add_dense_vector("other", 2)
        assert dict(store.dense) == {"m": 2}


@pytest.mark.slow
def test_either_of_two_replicated_nodes_answers_alone(start_server):
    """Two shards, each on both nodes: either node finds everything, and one is enough to go on reading."""
    first = start_server(clustered=True)
    second = start_server(first.peer, clustered=True)
    rng = np.random.default_rng(0)
    documents = [Document(f"d{i}", f"w{i % 7} w{i % 11}", "en") for i in range(200)]
    rows = rng.standard_normal((200, 8)).astype(np.float32)
    options = {"dense": {"m": 8}, "sparse": ["terms"], "placement": Placement(shards=2, replicas=2)}
    with create_store(f"{first.url}/both", **options) as store:
        index = TermIndex.build(store, fields=["text"], analyze=unstemmed_analyzer)
        index.add(documents, {"m": rows})
        index.refresh()
        index.commit()
    answers = []
    for node in (first, second):
        with ClusterStore.open(node.url, "both") as store:
            assert store.count() == 200
            index = TermIndex.open(store, analyze=unstemmed_analyzer)
            lexical = Lexical(store, index.statistics, analyze=unstemmed_analyzer)
            hits = lexical.search([Query("q", "w3 w5", "en")], 10)[0]
            answers.append((hits, store.search_dense("m", rows[:3], 10)))
    assert answers[0] == answers[1]
    assert len(answers[0][0]) == 10
    first.process.kill()
    first.process.wait()
    for _ in range(100):
        try:
            with ClusterStore.open(second.url, "both", timeout=5) as store:
                assert store.search_dense("m", rows[:3], 10) == answers[0][1]
                return
        except StoreError:  # until the second node knows that the first is gone
            time.sleep(0.2)
    pytest.fail("the second node did not answer alone")


@pytest.mark.slow
def test_writing_continues_while_one_node_is_down(start_server):
    """Three replicas of which two are enough, as they are made by default; two of which one is."""
    nodes = [start_server(clustered=True)]
    nodes += [start_server(nodes[0].peer, clustered=True) for _ in range(2)]
    stores = {}
    for replicas in (0, 2):
        schema, placement = VectorSchema.build({}, ["terms"]), Placement(replicas=replicas)
        stores[replicas] = ClusterStore.create(nodes[0].url, f"k{replicas}", schema, placement, timeout=240)
    params = stores[0]._client.get_collection("k0").config.params
    assert (params.replication_factor, params.write_consistency_factor) == (3, 2)
    indexes = [JournaledIndex.build(store, fields=["text"], analyze=unstemmed_analyzer) for store in stores.values()]
    for index in indexes:
        index.add([Document(f"d{i}", "snow", "en") for i in range(20)])
    nodes[2].process.kill()
    nodes[2].process.wait()
    for index, (replicas, store) in zip(indexes, stores.items(), strict=True):
        index.add([Document(f"d{i}", "rain falls", "en") for i in range(10, 30)])
        index.commit()
        with ClusterStore.open(nodes[1].url, f"k{replicas}", timeout=240) as other:
            assert store.count() == other.count() == 30
            assert {record.document.text for record in other.get(["d0", "d10", "d29"])} == {"snow", "rain falls"}
            assert journal.read_statistics(other)[0].df("text", "en", ["snow", "rain"]).tolist() == [10, 20]
        store.close()


WRITER = """
import sys
from paragloss.collection import Collection, writer
from paragloss.errors import ParaglossError
from paragloss.types import Document

writer.BATCH_SIZE = 5
with Collection.open(sys.argv[1], default=False) as engine:
    def told(done):
        print(done, flush=True)
        sys.stdin.readline()
    try:
        engine.index([Document(f"d{i}", f"rain w{i % 7}", "en") for i in range(50)], progress=told)
    except ParaglossError as error:
        print(error, flush=True)
"""


def start_writer(location):
    """A process that has written five documents and waits to be told to go on."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, location], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "5\n"
    return process


def recount_statistics(collection):
    counted = Statistics(collection.state.index.statistics.layout)
    recount(collection.state.store, counted)
    return counted


def test_one_process_writes_at_a_time_and_a_killed_writer_is_replaced(remote, monkeypatch):
    monkeypatch.setattr(_writer_fence, "WAIT_SECONDS", 0.5)
    with Collection.create(remote, default=False) as collection:
        collection.index([Document("d0", "old snow", "en")])
        process = start_writer(remote)
        collection.maintenance.catch_up()
        assert len(collection.rank([Query("", "rain", "en")], k=9, pipeline="bm25")[0]) == 5  # readers know all of it
        with pytest.raises(InUseError, match=rf"process {process.pid}\): wait until it has finished"):
            collection.index([Document("e", "hail", "en")])
        process.kill()
        process.wait()
        collection.index([Document("e", "hail", "en")])
        assert collection.count() == 6
        assert collection.state.index.statistics.to_bytes() == recount_statistics(collection).to_bytes()
    assert check_collection(remote) == []


def test_a_stalled_writer_that_was_replaced_is_refused(remote):
    with Collection.create(remote, default=False) as collection:
        process = start_writer(remote)
        collection.maintenance.take_over_writing()
        collection.index([Document("d3", "hail", "en"), Document("e", "hail", "en")])
        output, _ = process.communicate("go on\n" * 20)
        assert "was taken over by" in output
        assert process.returncode == 0
        collection.maintenance.catch_up()
        assert collection.count() == 6
        assert collection.get(["d3"])[0].text == "hail"
        assert collection.state.index.statistics.to_bytes() == recount_statistics(collection).to_bytes()
    assert check_collection(remote) == []


def test_a_collection_without_a_writer_number_gets_one_and_is_recounted(remote):
    """Versions before this one wrote by the collection's own name, and left batches that nobody folded."""
    with Collection.create(remote, default=False) as collection:
        collection.index([Document("a", "snow", "en")])
        store = collection.state.store
        aliases = [alias.alias_name for alias in store._client.get_collection_aliases(store._name).aliases]
        deletions = [models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=name)) for name in aliases]
        store._client.update_collection_aliases(change_aliases_operations=deletions)
        [record] = store.get(["a"], vectors=True)
        point = store._make_point(record._replace(document=record.document._replace(id="b")))
        store._client.upsert(store._name, [point], wait=True)
        collection.index([Document("c", "snow", "en")])
        assert collection.state.index.statistics.df("text", "en", ["snow"]).tolist() == [3]
