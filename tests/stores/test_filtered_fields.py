"""Fields are indexed by who writes them; who reads changes nothing."""

import pytest
from records import make_record, make_sparse

from paragloss.stores import _limits, create_store
from paragloss.types import Range

TERM = make_sparse({1: 1.0})


def make_with_meta(id, **meta):
    return make_record(id, terms={1: 1.0}, meta=meta)


def list_files(folder):
    return {path.relative_to(folder) for path in folder.rglob("*")}


@pytest.fixture
def store(tmp_path):
    with create_store(tmp_path / "c", dense={}, sparse=["terms"]) as store:
        store.add([make_with_meta("a", year=1999, kind="x"), make_with_meta("b", year="2001", open=True)])
        yield store


def test_filtering_writes_nothing(store):
    before = list_files(store.path)
    for number in range(20):
        filters = {f"meta.f{number}": ["1", 1, 1.0, True], "meta.year": [1999], "meta.kind": ["x"]}
        assert store.count(filters) == 0
        assert store.search_sparse("terms", [TERM], 5, filters) == [[]]
    assert store.count({"meta.year": [Range(1999, 2005)]}) == 2
    assert list_files(store.path) == before


def test_fields_of_many_documents_are_indexed_when_they_are_written(store, monkeypatch):
    before = set(store._shard.engine.info().payload_schema)
    monkeypatch.setattr(_limits, "MIN_DOCS_FOR_FIELD_INDEX", 1)
    store.add([make_with_meta("c", year=1999, kind="x", open=True, **{"two words": "y", 'quo"te': "z"})])
    new_indexes = set(store._shard.engine.info().payload_schema) - before
    assert new_indexes == {"meta.year", "numbers.year", "meta.kind", 'meta."two words"'}
    assert store.count({"meta.kind": ["x"], "meta.year": [1999]}) == 2
    assert store.count({"meta.two words": ["y"]}) == 1


def test_fields_beyond_the_limit_are_filtered_without_an_index(store, monkeypatch):
    monkeypatch.setattr(_limits, "MIN_DOCS_FOR_FIELD_INDEX", 1)
    monkeypatch.setattr(_limits, "MAX_FIELD_INDEXES", 4)
    store.add([make_with_meta("c", **{f"f{number}": "x" for number in range(9)})])
    assert len(store._shard.engine.info().payload_schema) == 4
    assert [store.count({f"meta.f{number}": ["x"]}) for number in range(10)] == [1] * 9 + [0]
