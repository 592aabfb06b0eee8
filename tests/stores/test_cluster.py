"""What only a server can do wrong, and a collection spread over two of them."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid

import numpy as np
import pytest

from paragloss import demo
from paragloss.engine import Engine
from paragloss.engine.checking import check
from paragloss.engine.moving import copy
from paragloss.errors import StoreError
from paragloss.search import ledger
from paragloss.search.lexical import Lexical
from paragloss.search.terms import TermIndex, recount
from paragloss.statistics import Statistics
from paragloss.stores import Placement, open_store
from paragloss.stores.cluster import ClusterStore
from paragloss.types import Document, Query, Record, SparseVector


class Words:
    def __init__(self, lang):
        self.lang = lang

    def terms(self, text):
        return text.split()


@pytest.mark.parametrize("location", ["http://127.0.0.1:1", "http://", "https://host/"])
def test_an_address_without_a_collection(location):
    with pytest.raises(StoreError, match=r"names no collection: expected http\(s\)://host:port/collection"):
        open_store(location)


def test_nobody_answers():
    with pytest.raises(StoreError, match="is the server running"):
        open_store("http://127.0.0.1:1/collection")


def test_a_collection_that_is_not_there(server):
    with pytest.raises(StoreError, match="is not a collection of ours"):
        open_store(f"{server}/nothing")


def test_this_server_can_not_add_a_model_later(server):
    with ClusterStore.create(server, f"t{uuid.uuid4().hex}", dense={"m": 2}, sparse=["terms"]) as store:
        with pytest.raises(StoreError, match="index into a new one that keeps both models"):
            store.add_dense("other", 2)
        assert dict(store.dense) == {"m": 2}


def test_bm25_over_a_server(server):
    """The same scores as in a folder: ln 2 * 2 / 3.65, see test_lexical."""
    documents = [Document("a", "cat sat cat", "en"), Document("b", "dog", "en"), Document("c", "cat", "de")]
    name = f"t{uuid.uuid4().hex}"
    with ClusterStore.create(server, name, dense={}, sparse=["terms"]) as store:
        index = TermIndex.build(store, fields=["text"], analyze=Words)
        index.add(documents)
        index.refresh()
        index.commit()
    with ClusterStore.open(server, name) as store:
        index = TermIndex.open(store, analyze=Words)
        ((hit,),) = Lexical(store, index.statistics, analyze=Words).search([Query("q", "cat", "en")], 5)
        assert (hit.id, hit.score) == ("a", pytest.approx(np.log(2) * 2 / 3.65, rel=1e-6))


@pytest.mark.slow
def test_two_nodes(start_server):
    """Two shards, each on both nodes: either node finds everything, and one is enough to go on reading."""
    first = start_server(clustered=True)
    second = start_server(first.peer, clustered=True)
    rng = np.random.default_rng(0)
    documents = [Document(f"d{i}", f"w{i % 7} w{i % 11}", "en") for i in range(200)]
    rows = rng.standard_normal((200, 8)).astype(np.float32)
    with ClusterStore.create(
        first.url, "both", dense={"m": 8}, sparse=["terms"], placement=Placement(shards=2, replicas=2)
    ) as store:
        index = TermIndex.build(store, fields=["text"], analyze=Words)
        index.add(documents, {"m": rows})
        index.refresh()
        index.commit()
    answers = []
    for node in (first, second):
        with ClusterStore.open(node.url, "both") as store:
            assert store.count() == 200
            index = TermIndex.open(store, analyze=Words)
            lexical = Lexical(store, index.statistics, analyze=Words).search([Query("q", "w3 w5", "en")], 10)[0]
            answers.append((lexical, store.search_dense("m", rows[:3], 10)))
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
def test_every_language_has_shards_of_its_own(start_server):
    """Found as in one shard; a search in some languages asks only theirs."""
    first = start_server(clustered=True)
    plain, parted = f"{first.url}/plain", f"{first.url}/parted"
    documents = [*demo.documents()[:21], Document("nobody", "zzz", "und")]
    answers = []
    for place, placement in ((plain, None), (parted, Placement(by_language=True))):
        with Engine.create(place, placement=placement) as engine:
            engine.index(documents)
            engine.index([documents[0]._replace(text="un volcan", lang="fr", title="")])  # it was in another language
            assert engine.count() == 22
            assert engine.delete([documents[1].id]) == 1
            asked = [Query("", "volcano honey", "en"), Query("", "abeille", "fr")]
            found = [engine.rank(asked, k=20, to=to) for to in (None, ["fr", "hi"], ["fr", "fi"], ["fi"])]
            answers.append([[(hit.id, round(hit.score, 5)) for hit in hits] for run in found for hits in run])
    assert answers[0] == answers[1]
    assert answers[0][-1] == []  # a language that has no shard
    with Engine.open(parted) as engine:
        assert engine.count() == 21
        langs = {document.lang for document in engine.documents()}
        store = engine.held.store
        about = store._client.collection_cluster_info(store._name)
        keys = {shard.shard_key for shard in [*about.local_shards, *about.remote_shards]}
        assert keys == langs | {"und"}
        inside = store._client.facet(store._name, "lang", shard_key_selector="fr").hits
        assert [hit.value for hit in inside] == ["fr"]
        before = engine.held.index.statistics.to_bytes()
    assert check(parted) == []
    copy(parted, f"{first.url}/again", placement=Placement(by_language=True))
    with Engine.open(f"{first.url}/again") as engine:
        assert engine.held.index.statistics.to_bytes() == before


def test_one_node_alone_has_no_languages_for_shards(server):
    place = f"{server}/alone-{uuid.uuid4().hex}"
    with pytest.raises(StoreError, match="cluster mode"):
        Engine.create(place, default=False, placement=Placement(by_language=True))
    Engine.create(place, default=False).close()  # nothing was left behind


WRITER = """
import sys
from paragloss.engine import Engine, writing
from paragloss.types import Document

place, name, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
writing.BATCH = 20
with Engine.open(place, default=False) as engine:
    print("open", flush=True)
    sys.stdin.readline()
    engine.index([Document(f"d{i}", f"{name} rain w{i % 7} " * (1 + i % 3), "en") for i in range(first, last)])
"""


def start(place, name, first, last):
    started = subprocess.Popen(
        [sys.executable, "-c", WRITER, place, name, str(first), str(last)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout.readline() == "open\n"
    return started


def true_counts(engine):
    counted = Statistics(engine.held.index.statistics.layout)
    recount(engine.held.store, counted)
    return counted


def test_two_processes_write_at_once_and_nothing_is_lost_or_counted_twice(server):
    """Each writes a hundred documents, ten of which the other wrote before; one more writer is killed half-way."""
    place = f"{server}/writers-{uuid.uuid4().hex}"
    with Engine.create(place, default=False) as reader:
        reader.index([Document(f"d{i}", "old snow", "en") for i in range(90, 110)])
        writers = [start(place, "alpha", 0, 100), start(place, "beta", 100, 200)]
        for writer in writers:
            writer.stdin.write("go\n")
            writer.stdin.flush()
        assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
        assert reader.count() == 200
        reader.held.index._looked = 0.0  # a moment later
        reader.held.index.catch_up()
        true = true_counts(reader)
        now = reader.held.index.statistics
        assert now.to_bytes() == true.to_bytes()
        assert now.df("text", "en", ["alpha", "beta", "snow"]).tolist() == [100, 100, 0]
        assert not now.stale(0.0)  # the last to commit put all weights right
        assert len(reader.rank([Query("", "alpha", "en")], k=300, pipeline="bm25")[0]) == 100


def test_a_batch_whose_writer_died_is_counted_from_what_is_there(server, monkeypatch):
    place = f"{server}/died-{uuid.uuid4().hex}"
    with Engine.create(place, default=False) as engine:
        engine.index([Document("a", "old snow", "en"), Document("b", "old snow", "en")])
        index, store = engine.held.index, engine.held.store
        # Another writer notes a batch, replaces one of its two documents, and is gone.
        taken = index._counts(["a", "b"])
        index._ledger.begin(["a", "b"], [], taken)
        vector = store.get(["b"], vectors=["terms"])[0].sparse["terms"]
        halved = SparseVector(vector.indices[:-1], vector.values[:-1])
        store.add([Record(Document("a", "new", "en"), {}, {"terms": halved})])
        # Somebody writes the same documents over, before it is known that the other is dead.
        engine.index([Document("a", "new rain falls", "en"), Document("b", "old snow", "en")])
        monkeypatch.setattr(ledger, "DEAD", 0.0)
        engine.index([Document("c", "rain", "en")])
        assert engine.held.index.statistics.to_bytes() == true_counts(engine).to_bytes()
        assert not any(name.startswith("batch-") for name in store.blobs())


def test_two_who_write_one_document_at_one_moment_are_counted_as_one(server):
    place = f"{server}/same-{uuid.uuid4().hex}"
    with Engine.create(place, default=False) as one, Engine.open(place, default=False) as other:
        one.index([Document("a", "old snow", "en"), Document("b", "old snow", "en")])
        index = other.held.index
        with index._batch(["a"]) as added:  # begun, and not finished
            index._store.claimed()
            one.held.index.add([Document("a", "rain falls", "en")])
            vectors = [one.held.store.get(["b"], vectors=["terms"])[0].sparse["terms"]]
            other.held.store.add([Record(Document("a", "old snow", "en"), {}, {"terms": vectors[0]})])
            added.count(["en"], vectors)
        one.index([Document("c", "hail", "en")])  # folds
        assert one.held.index.statistics.to_bytes() == true_counts(one).to_bytes()
        assert one.held.index.statistics.df("text", "en", ["rain", "snow", "hail"]).tolist() == [0, 2, 1]


def test_a_writer_waits_for_the_one_who_folds(server, monkeypatch):
    monkeypatch.setattr(ledger, "PATIENCE", 1.0)
    place = f"{server}/waits-{uuid.uuid4().hex}"
    with Engine.create(place, default=False) as one, Engine.open(place, default=False) as other:
        other.held.store.claim()
        with pytest.raises(StoreError, match="kept this collection to itself"):
            one.index([Document("a", "rain", "en")])
        other.held.store.release()
        one.index([Document("a", "rain", "en")])
        assert other.count() == 1
