"""From a folder to a real server and back: the same collection to the last bit, and the same answers; a score may
differ in its last bit, since the two engines add up in different orders."""

import uuid
from contextlib import closing

import pytest
from qdrant_client import QdrantClient, models

from paragloss import demo
from paragloss.collection import Collection, train
from paragloss.collection.transfer import copy, digest
from paragloss.lab.methods import cr5
from paragloss.stores import Placement
from paragloss.types import Query


def records(engine):
    return {r.document.id: digest(r) for r in engine.sample(1000)}


def test_to_a_server_and_back(server, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    train(cr5.fit, demo.concepts(), dim=20).save(tmp_path / "cr5")
    here, there, back = str(tmp_path / "here"), f"{server}/moved-{uuid.uuid4().hex[:8]}", str(tmp_path / "back")
    with Collection.create(here, models=[str(tmp_path / "cr5")]) as engine:
        engine.index(demo.documents())
    assert copy(here, there) == copy(there, back) == 720
    asked = [q for q in demo.queries()[0] if q.lang == "en"][:10]
    with Collection.open(here) as one, Collection.open(there) as two, Collection.open(back) as three:
        assert records(one) == records(two) == records(three)
        for pipeline in ("bm25", "default", "cr5", None):
            first, second, third = (e.rank(asked, k=20, pipeline=pipeline) for e in (one, two, three))
            for a, b in [*zip(first, second, strict=True), *zip(first, third, strict=True)]:
                assert [hit.id for hit in a] == [hit.id for hit in b]
                assert [hit.score for hit in a] == pytest.approx([hit.score for hit in b], rel=1e-6, abs=1e-8)


def test_another_model_behind_an_alias_without_a_gap(server, tmp_path, monkeypatch):
    """Who opened the name before the switch goes on with the old model, who opens it afterwards has the new one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for dim, folder in ((8, "one"), (12, "two")):
        train(cr5.fit, demo.concepts(), dim=dim).save(tmp_path / folder / "cr5")
    unique = uuid.uuid4().hex[:8]
    first, second, name = (f"{server}/{word}-{unique}" for word in ("first", "second", "name"))
    with Collection.create(first, models=[str(tmp_path / "one" / "cr5")], placement=Placement(2, 1, True)) as engine:
        engine.index(d for d in demo.documents() if d.lang in ("en", "fr"))
    mean(server, name, first)
    asked = [Query("", "lava and ash", "en")]
    with Collection.open(name) as before:
        old = before.rank(asked, k=5, pipeline="cr5")
        copy(first, second, models=[str(tmp_path / "two" / "cr5")])
        mean(server, name, second)
        assert before.rank(asked, k=5, pipeline="cr5") == old
        with Collection.open(name) as after:
            assert (before.state.models["cr5"].dim, after.state.models["cr5"].dim) == (8, 12)
            assert len(after.rank(asked, k=5, pipeline="cr5")[0]) == 5
            assert after.count() == before.count() == 120


def mean(server: str, alias: str, location: str) -> None:
    """Let a name on the server mean a collection, in one step."""
    alias, name = (place.rpartition("/")[2] for place in (alias, location))
    with closing(QdrantClient(url=server, check_compatibility=False)) as client:
        there = alias in {one.alias_name for one in client.get_aliases().aliases}
        gone = [models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))] if there else []
        made = models.CreateAlias(collection_name=name, alias_name=alias)
        client.update_collection_aliases([*gone, models.CreateAliasOperation(create_alias=made)])
