"""From a folder to a real server and back: the same collection to the last bit, and the same answers; a score may
differ in its last bit, since the two engines add up in different orders."""

from contextlib import closing

import pytest
from collection_copies import read_records
from qdrant_client import QdrantClient, models

from paragloss import demo
from paragloss.collection import Collection, train
from paragloss.collection.transfer import compute_record_digest, copy
from paragloss.lab.methods import cr5
from paragloss.stores import Placement
from paragloss.types import Query


def digest_records(collection):
    return {record.document.id: compute_record_digest(record) for record in read_records(collection)}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Models of a collection on a server are fetched into it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_collection_moved_to_a_server_and_back_is_identical(remote, tmp_path):
    train(cr5.fit, demo.concepts(), dim=20).save(tmp_path / "cr5")
    source, returned = str(tmp_path / "here"), str(tmp_path / "back")
    with Collection.create(source, models=[str(tmp_path / "cr5")]) as collection:
        collection.index(demo.documents())
    assert copy(source, remote) == copy(remote, returned) == 720
    queries = [q for q in demo.queries()[0] if q.lang == "en"][:10]
    with Collection.open(source) as here, Collection.open(remote) as there, Collection.open(returned) as back:
        assert digest_records(here) == digest_records(there) == digest_records(back)
        assert there.info()["models"].keys() == {"cr5"}
        for pipeline in ("bm25", "default", "cr5", None):
            expected = here.rank(queries, k=20, pipeline=pipeline)
            for collection in (there, back):
                for a, b in zip(expected, collection.rank(queries, k=20, pipeline=pipeline), strict=True):
                    assert [hit.id for hit in a] == [hit.id for hit in b]
                    assert [hit.score for hit in a] == pytest.approx([hit.score for hit in b], rel=1e-6, abs=1e-8)
        assert there.delete(["volcano.fr"]) == 1


def test_an_alias_switches_to_another_collection_without_a_gap(server, remote, tmp_path):
    """Who opened the name before the switch goes on with the old model, who opens it afterwards has the new one."""
    for dim, folder in ((8, "one"), (12, "two")):
        train(cr5.fit, demo.concepts(), dim=dim).save(tmp_path / folder / "cr5")
    first, second, name = (f"{remote}-{word}" for word in ("first", "second", "name"))
    with Collection.create(
        first, models=[str(tmp_path / "one" / "cr5")], placement=Placement(2, 1, True)
    ) as collection:
        collection.index(d for d in demo.documents() if d.lang in ("en", "fr"))
    set_alias(server, name, first)
    queries = [Query("", "lava and ash", "en")]
    with Collection.open(name) as before:
        old = before.rank(queries, k=5, pipeline="cr5")
        copy(first, second, models=[str(tmp_path / "two" / "cr5")])
        set_alias(server, name, second)
        assert before.rank(queries, k=5, pipeline="cr5") == old
        with Collection.open(name) as after:
            assert (before.state.models["cr5"].dim, after.state.models["cr5"].dim) == (8, 12)
            assert len(after.rank(queries, k=5, pipeline="cr5")[0]) == 5
            assert after.count() == before.count() == 120


def set_alias(server: str, alias: str, location: str) -> None:
    """Let a name on the server mean a collection, in one step."""
    alias, name = (address.rpartition("/")[2] for address in (alias, location))
    with closing(QdrantClient(url=server, check_compatibility=False)) as client:
        exists = alias in {existing.alias_name for existing in client.get_aliases().aliases}
        deletions = [models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))] if exists else []
        creation = models.CreateAlias(collection_name=name, alias_name=alias)
        client.update_collection_aliases([*deletions, models.CreateAliasOperation(create_alias=creation)])
