"""What only a server can do wrong, and a collection spread over two of them."""

from __future__ import annotations

import time
import uuid

import numpy as np
import pytest

from paragloss.errors import StoreError
from paragloss.search.lexical import Lexical
from paragloss.search.terms import TermIndex
from paragloss.stores import Placement, open_store
from paragloss.stores.cluster import ClusterStore
from paragloss.types import Document, Query


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


def test_two_writers_take_turns_by_a_lease_and_a_reader_notices(server, monkeypatch):
    from paragloss.engine import Engine
    from paragloss.errors import StoreError
    from paragloss.types import Document

    place = f"{server}/lease-{uuid.uuid4().hex}"
    with Engine.create(place) as first, Engine.open(place) as second, Engine.open(place) as reader:
        first.held.index.add([Document("a", "alpha", "en")])
        with pytest.raises(StoreError, match="is being written by another process"):
            second.index([Document("b", "beta", "en")])
        first.held.index.commit()
        second.index([Document("b", "beta", "en")])
        assert second.held.index.statistics.documents("text", "en") == 2
        reader.held.index._looked = 0.0  # a moment later
        assert [r.id for r in reader.search("beta", lang="en").results] == ["b"]
    with Engine.open(place) as again:
        assert again.count() == 2
        assert {r.id for r in again.search("alpha beta", lang="en").results} == {"a", "b"}
